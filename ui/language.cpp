// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/language.h"

#include <QFile>
#include <QLibraryInfo>
#include <QLocale>
#include <QTranslator>

namespace decodescope {

namespace {

QString file(const QString& language) {
    return QStringLiteral(":/translations/decodescope_%1.qm").arg(language);
}

QString systemLanguage() {
    for (const QString& name : QLocale::system().uiLanguages()) {
        const QString language = name.section(QLatin1Char('-'), 0, 0);
        if (language == QLatin1String("en") || QFile::exists(file(language))) return language;
    }
    return QStringLiteral("en");
}

}  // namespace

QStringList languageChoices() {
    return {QStringLiteral("system"), QStringLiteral("en"), QStringLiteral("de")};
}

bool hasTranslations() {
    return QFile::exists(file(QStringLiteral("de")));
}

QString installLanguage(QCoreApplication& app, const QString& choice) {
    for (auto* old : app.findChildren<QTranslator*>(QStringLiteral("language"), Qt::FindDirectChildrenOnly))
        delete old;  // which takes it out of the application
    const bool named = languageChoices().mid(1).contains(choice);
    const QString language = named ? choice : systemLanguage();
    if (!QFile::exists(file(language))) return QStringLiteral("en");
    const auto install = [&](const QString& path) {
        auto* translator = new QTranslator(&app);
        translator->setObjectName(QStringLiteral("language"));
        if (translator->load(path)) QCoreApplication::installTranslator(translator);
    };
    install(
        QStringLiteral("%1/qtbase_%2.qm").arg(QLibraryInfo::path(QLibraryInfo::TranslationsPath), language));
    install(file(language));
    return language;
}

}  // namespace decodescope
