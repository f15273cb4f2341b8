// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QCoreApplication>
#include <QString>

#include <string_view>

namespace decodescope {

/// Translates a text that is said outside of a class. In a class it would be found under another name than
/// it is looked for: a QObject has its own tr(), other classes get one by Q_DECLARE_TR_FUNCTIONS.
inline QString tr(const char* text) {
    return QCoreApplication::translate("decodescope", text);
}

/// Translates a text of the catalogue of faults or of a bundled file.
inline QString bundledText(const char* text) {
    return QCoreApplication::translate("Bundled", text);
}
inline QString bundledText(const QString& text) {
    return bundledText(text.toUtf8().constData());
}

/// Translates a word that the engine puts into tables and legends, as "prefill" or "weights". Words that are
/// not listed in text.cpp stay what they are.
QString engineWord(std::string_view word);

}  // namespace decodescope
