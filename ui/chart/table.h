// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QByteArray>
#include <QStringList>

#include <vector>

namespace decodescope {

/// The data behind a chart: what "Copy data" copies and a CSV file holds. Column names end with the unit.
struct Table {
    QStringList columns;
    std::vector<QStringList> rows;  ///< [row][column], as many cells as `columns`; empty = no value
};

/// RFC 4180 text: comma separated, quoted where needed, lines end with CR LF, UTF-8.
QByteArray toCsv(const Table& table);
/// Tab separated, for pasting into a spreadsheet.
QString toTabSeparated(const Table& table);
/// A text as part of a column or file name: lower case, everything but letters and digits becomes "_".
QString identifier(const QString& text);

}  // namespace decodescope
