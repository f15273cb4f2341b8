// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QAbstractTableModel>

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/experiment/record.h"
#include "ui/widgets/plain_table.h"

namespace decodescope {

/// Where the bytes of one lane's cache are at its fullest step, beside what the formula says it must hold.
struct CacheRow {
    QString lane;
    LaneSpec spec;
    bool any = false;                     ///< whether the lane has made a step at all
    StepEvent step;                       ///< the one with the most live bytes, of the newest repetition
    std::optional<std::int64_t> formula;  ///< of `kv_live_formula`; none where it needs every row's length
    std::int64_t copied = 0;              ///< moved by growing, sharing and reordering, whole repetition
    std::int64_t faultsPerStep = -1;      ///< medians of the newest repetition; negative = not measured
    std::int64_t tensorAllocations = -1;
    std::int64_t heapAllocations = -1;

    bool cached() const { return spec.cache.kind != CacheKind::none; }
    /// Payload of valid entries: live bytes less scales and entries in full precision.
    std::int64_t payload() const {
        return step.kv_bytes_live - step.kv_bytes_scales - step.kv_bytes_residual;
    }
    /// Blocks of the pool that nobody uses.
    std::int64_t free() const {
        return step.kv_bytes_reserved - step.kv_bytes_live - step.kv_bytes_padding - step.kv_bytes_slack -
               step.kv_bytes_kept;
    }
    /// What the formula, which knows nothing of sharing, is compared with.
    std::int64_t unshared() const { return step.kv_bytes_live + step.kv_bytes_shared; }
    bool agrees() const { return formula && *formula == unshared(); }
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
