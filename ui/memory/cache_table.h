// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QAbstractTableModel>

#include <cstdint>
#include <vector>

#include "engine/experiment/record.h"
#include "ui/widgets/plain_table.h"

namespace decodescope {

/// What one lane's cache holds after its newest step, beside what the formula says it must hold.
struct CacheRow {
    QString lane;
    bool cached = false;
    std::int64_t length = 0;
    std::int64_t formula = 0;   ///< 2 x n_layer x n_kv_head x head_dim x length x 4
    std::int64_t measured = 0;  ///< bytes of the tensors
    std::int64_t reserved = 0;
    std::int64_t copied = 0;          ///< moved by growing since the start of the request
    std::int64_t faultsPerStep = -1;  ///< median of the newest repetition; negative = not measured
    bool any = false;                 ///< whether the lane has made a step at all
};

std::vector<CacheRow> cacheRows(const Record& record);

/// Formula against measured, one row per lane. Goes into a `PlainTable`.
class CacheTableModel : public QAbstractTableModel {
    Q_OBJECT

public:
    enum Column { lane, formula, measured, reserved, copied, faults, n_column };
    static std::vector<PlainTable::Column> columns();

    explicit CacheTableModel(QObject* parent = nullptr) : QAbstractTableModel(parent) {}

    void setRecord(const Record& record);

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

private:
    QString text(const CacheRow& row, int column) const;

    std::vector<CacheRow> m_rows;
    ModelConfig m_model;
};

}  // namespace decodescope
