// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>
#include <QVector>

namespace decodescope {

/// What a number means: which part is timed or counted, from where to where, which tokens, which unit.
struct Definition {
    QString name;   ///< as in records: "ttft_ns"
    QString title;  ///< as on screen: "First token"
    QString text;
};

/// Every number of the program, in the order in which a reader meets them.
const QVector<Definition>& definitions();
/// The text of one of them; empty for an unknown name.
QString definitionOf(const QString& name);
inline QString definitionOf(const char* name) {
    return definitionOf(QString::fromLatin1(name));
}

}  // namespace decodescope
