// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QAbstractTableModel>
#include <QStringList>

#include <optional>
#include <vector>

#include "ui/theme/theme.h"

namespace decodescope {

/// Rows of finished texts for a `PlainTable`.
class RowsModel : public QAbstractTableModel {
    Q_OBJECT

public:
    struct Header {
        QString text;
        QString toolTip = {};
        bool left = false;  ///< words, not numbers
    };
    struct Cell {
        QString text;
        QString toolTip = {};
        std::optional<ColorRef::Role> tone = {};
        std::optional<int> lane = {};  ///< whose colour stands before the text
        bool strong = false;
    };

    explicit RowsModel(std::vector<Header> headers, QObject* parent = nullptr);

    void setHeaders(std::vector<Header> headers);
    /// Replaces all rows; each has a cell per header.
    void setRows(std::vector<std::vector<Cell>> rows);

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

private:
    std::vector<Header> m_headers;
    std::vector<std::vector<Cell>> m_rows;
};

}  // namespace decodescope
