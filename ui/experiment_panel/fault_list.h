// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QAbstractListModel>
#include <QSortFilterProxyModel>
#include <QStyledItemDelegate>

#include <optional>
#include <string>
#include <vector>

#include "engine/decode/lane_spec.h"
#include "engine/fault/fault_catalogue.h"

namespace decodescope {

/// The fault catalogue as a check list for one lane: headings of the kinds, and below each its faults. What
/// the lane cannot have cannot be switched on, and the tooltip says why.
class FaultListModel : public QAbstractListModel {
    Q_OBJECT

public:
    enum Role {
        descriptionRole = Qt::UserRole,  ///< QString: what the code does wrong
        headingRole,                     ///< bool: a kind, no fault
        kindRole,                        ///< int: `FaultKind`
        faultRole,                       ///< int: `Fault`, -1 for a heading
        searchRole,                      ///< QString: everything that is searched
    };

    explicit FaultListModel(QObject* parent);

    /// `model`: the loaded one when it is the experiment's; without it only the lane decides.
    void setLane(const LaneSpec& lane, const std::optional<ModelConfig>& model);
    /// Ids of the faults that are on: first those that were already, in their order.
    const std::vector<std::string>& faults() const { return m_lane.faults; }
    /// Why the lane cannot have a fault: "needs a cache"; empty when it can.
    QString obstacle(Fault fault) const;

    int rowCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    bool setData(const QModelIndex& index, const QVariant& value, int role) override;
    Qt::ItemFlags flags(const QModelIndex& index) const override;

signals:
    /// One was switched by the user.
    void edited();

private:
    struct Row {
        FaultKind kind;
        const FaultInfo* info;  ///< null: the heading
    };

    bool isOn(const FaultInfo& info) const;

    std::vector<Row> m_rows;
    LaneSpec m_lane;
    std::optional<ModelConfig> m_model;
};

/// Shows the faults that have every word of a search, and the headings of their kinds.
class FaultFilter : public QSortFilterProxyModel {
    Q_OBJECT

public:
    using QSortFilterProxyModel::QSortFilterProxyModel;
    void setSearch(const QString& text);

protected:
    bool filterAcceptsRow(int row, const QModelIndex& parent) const override;

private:
    bool matches(const QModelIndex& index) const;

    QStringList m_words;
};

/// Draws a fault: check box, title, and the description below it, wrapped to the list's width.
class FaultDelegate : public QStyledItemDelegate {
    Q_OBJECT

public:
    using QStyledItemDelegate::QStyledItemDelegate;
    void paint(QPainter* painter, const QStyleOptionViewItem& option,
               const QModelIndex& index) const override;
    QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override;

private:
    struct Layout {
        QRect box;
        QRect title;
        QRect description;
        int height = 0;
    };
    Layout layout(const QStyleOptionViewItem& option, const QModelIndex& index) const;
    bool editorEvent(QEvent* event, QAbstractItemModel* model, const QStyleOptionViewItem& option,
                     const QModelIndex& index) override;
};

}  // namespace decodescope
