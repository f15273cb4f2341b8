// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/chart/table.h"

namespace decodescope {

namespace {

QString quoted(const QString& cell) {
    static const QString special = QStringLiteral(",\"\r\n");
    for (const QChar c : cell) {
        if (special.contains(c)) {
            return QLatin1Char('"') + QString(cell).replace(QLatin1Char('"'), QLatin1String("\"\"")) +
                   QLatin1Char('"');
        }
    }
    return cell;
}

void appendLine(QString& text, const QStringList& cells) {
    for (qsizetype i = 0; i < cells.size(); ++i) {
        if (i > 0) text += QLatin1Char(',');
        text += quoted(cells[i]);
    }
    text += QLatin1String("\r\n");
}

QString oneLine(QString cell) {
    for (QChar& c : cell) {
        if (c == QLatin1Char('\t') || c == QLatin1Char('\n') || c == QLatin1Char('\r')) c = QLatin1Char(' ');
    }
    return cell;
}

}  // namespace

QByteArray toCsv(const Table& table) {
    QString text;
    appendLine(text, table.columns);
    for (const QStringList& row : table.rows) appendLine(text, row);
    return text.toUtf8();
}

QString toTabSeparated(const Table& table) {
    QString text;
    const auto append = [&](const QStringList& cells) {
        for (qsizetype i = 0; i < cells.size(); ++i) {
            if (i > 0) text += QLatin1Char('\t');
            text += oneLine(cells[i]);
        }
        text += QLatin1Char('\n');
    };
    append(table.columns);
    for (const QStringList& row : table.rows) append(row);
    return text;
}

QString identifier(const QString& text) {
    QString result;
    for (const QChar c : text.toLower()) {
        if (c.isLetterOrNumber()) {
            result += c;
        } else if (!result.isEmpty() && !result.endsWith(QLatin1Char('_'))) {
            result += QLatin1Char('_');
        }
    }
    while (result.endsWith(QLatin1Char('_'))) result.chop(1);
    return result;
}

}  // namespace decodescope
