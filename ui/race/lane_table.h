// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QAbstractTableModel>

#include <vector>

#include "ui/race/lane_summary.h"
#include "ui/widgets/plain_table.h"

namespace decodescope {

/// The lanes' numbers as a table: one row per lane. Goes into a `PlainTable`. Columns that no lane has
/// anything to say in (type of the weights, queue wait, drafts, quality, total rate of several requests) are
/// left out.
class LaneTableModel : public QAbstractTableModel {
    Q_OBJECT

public:
    enum Column {
        lane,
        weights,
        queue,
        firstToken,
        perToken,
        tokensPerSecond,
        totalPerSecond,
        against,
        drafts,
        readRate,
        kvLive,
        quality,
        exact,
    };

    explicit LaneTableModel(QObject* parent = nullptr) : QAbstractTableModel(parent) {}

    void setRecord(const Record& record);
    void setLanes(std::vector<LaneSummary> lanes, const QString& referenceName, std::vector<Column> columns);
    const std::vector<LaneSummary>& lanes() const { return m_lanes; }
    /// Widths of the columns there are now.
    std::vector<PlainTable::Column> columns() const;
    /// What stands in a column of the table.
    Column columnAt(int section) const { return m_columns.at(static_cast<std::size_t>(section)); }

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

signals:
    void columnsChanged();

private:
    /// Many columns leave no room for bars.
    bool isCrowded() const { return m_columns.size() > 9; }
    QString headerText(Column column) const;
    static QString headerToolTip(Column column);
    static QString text(const LaneSummary& lane, Column column);
    static QString figure(const LaneSummary& lane, Column column);
    static QVariant tone(const LaneSummary& lane, Column column);
    static QString toolTip(const LaneSummary& lane, Column column);

    std::vector<LaneSummary> m_lanes;
    std::vector<Column> m_columns{lane,    firstToken, perToken, tokensPerSecond,
                                  against, readRate,   kvLive,   exact};
    QString m_reference;
};

}  // namespace decodescope
