// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QAbstractTableModel>

#include <vector>

#include "ui/race/lane_summary.h"
#include "ui/widgets/plain_table.h"

namespace decodescope {

/// The lanes' numbers as a table: one row per lane. Goes into a `PlainTable`.
class LaneTableModel : public QAbstractTableModel {
    Q_OBJECT

public:
    enum Column { lane, firstToken, perToken, tokensPerSecond, against, readRate, kvLive, exact, n_column };
    static std::vector<PlainTable::Column> columns();

    explicit LaneTableModel(QObject* parent = nullptr) : QAbstractTableModel(parent) {}

    void setRecord(const Record& record);
    void setLanes(std::vector<LaneSummary> lanes, const QString& referenceName);
    const std::vector<LaneSummary>& lanes() const { return m_lanes; }

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

private:
    static QString text(const LaneSummary& lane, int column);
    static QVariant tone(const LaneSummary& lane, int column);
    QString toolTip(const LaneSummary& lane, int column) const;

    std::vector<LaneSummary> m_lanes;
    QString m_reference;
};

}  // namespace decodescope
