// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QAbstractTableModel>

#include <vector>

#include "engine/experiment/memory_use.h"
#include "ui/widgets/plain_table.h"

namespace decodescope {

/// One lane of the table.
struct CacheRow : CacheUse {
    QString lane;
};

std::vector<CacheRow> cacheRows(const Record& record);

/// Formula against measured, one row per lane. Goes into a `PlainTable`. Kinds of bytes that no lane has are
/// left out.
class CacheTableModel : public QAbstractTableModel {
    Q_OBJECT

public:
    enum Column {
        lane,
        formula,
        measured,
        payload,
        scales,
        residual,
        shared,
        padding,
        slack,
        kept,
        free,
        reserved,
        meta,
        draft,
        copied,
        tensorAllocations,
        heapAllocations,
        faults,
    };

    explicit CacheTableModel(QObject* parent = nullptr) : QAbstractTableModel(parent) {}

    void setRecord(const Record& record);
    std::vector<PlainTable::Column> columns() const;
    Column columnAt(int section) const { return m_columns.at(static_cast<std::size_t>(section)); }

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

signals:
    void columnsChanged();

private:
    bool isCrowded() const { return m_columns.size() > 8; }
    QString text(const CacheRow& row, Column column) const;
    QString formulaText(const CacheRow& row) const;
    static QString headerText(Column column);
    static QString headerToolTip(Column column);
    QVariant toolTip(const CacheRow& row, Column column) const;
    static QVariant tone(const CacheRow& row, Column column);

    std::vector<CacheRow> m_rows;
    std::vector<Column> m_columns{lane, formula, measured, reserved, copied, faults};
    ModelConfig m_model;
};

}  // namespace decodescope
