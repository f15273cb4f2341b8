// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QCoreApplication>
#include <QString>
#include <QStringList>

namespace decodescope {

/// What `installLanguage` takes: "system", "en", "de".
QStringList languageChoices();
/// Whether the translations were built in; without them every text is English.
bool hasTranslations();
/// Lets the window speak `choice`, Qt's own texts included; "system" and anything unknown: the language of
/// the desktop if there is a translation, else English. Returns the language: "en" or "de". Call it before
/// the first widget is made, since texts are looked up when widgets are made; it may be called again, for
/// tests.
QString installLanguage(QCoreApplication& app, const QString& choice);

}  // namespace decodescope
