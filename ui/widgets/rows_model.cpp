// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/widgets/rows_model.h"

#include <utility>

#include "ui/widgets/plain_table.h"

namespace decodescope {

RowsModel::RowsModel(std::vector<Header> headers, QObject* parent)
    : QAbstractTableModel(parent), m_headers(std::move(headers)) {}

void RowsModel::setHeaders(std::vector<Header> headers) {
    beginResetModel();
    m_headers = std::move(headers);
    m_rows.clear();
    endResetModel();
}

void RowsModel::setRows(std::vector<std::vector<Cell>> rows) {
    beginResetModel();
    m_rows = std::move(rows);
    endResetModel();
}

int RowsModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(m_rows.size());
}

int RowsModel::columnCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(m_headers.size());
}

QVariant RowsModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal || section < 0 || section >= columnCount()) return {};
    const Header& header = m_headers[static_cast<std::size_t>(section)];
    switch (role) {
        case Qt::DisplayRole: return header.text;
        case Qt::ToolTipRole: return header.toolTip;
        case Qt::TextAlignmentRole:
            return section == 0 || header.left ? static_cast<int>(Qt::AlignLeft | Qt::AlignVCenter)
                                               : static_cast<int>(Qt::AlignRight | Qt::AlignVCenter);
        default: return {};
    }
}

QVariant RowsModel::data(const QModelIndex& index, int role) const {
    if (!index.isValid() || index.row() >= rowCount() || index.column() >= columnCount()) return {};
    const auto& row = m_rows[static_cast<std::size_t>(index.row())];
    if (static_cast<std::size_t>(index.column()) >= row.size()) return {};
    const Cell& cell = row[static_cast<std::size_t>(index.column())];
    switch (role) {
        case Qt::DisplayRole: return cell.text;
        case Qt::ToolTipRole:
            return cell.toolTip.isEmpty() ? headerData(index.column(), Qt::Horizontal, role).toString()
                                          : cell.toolTip;
        case toneRole: return cell.tone ? QVariant(static_cast<int>(*cell.tone)) : QVariant();
        case swatchRole: return cell.lane ? QVariant(*cell.lane) : QVariant();
        case strongRole: return cell.strong ? 1 : 0;
        default: return {};
    }
}

}  // namespace decodescope
