// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/experiment_panel/fault_list.h"

#include <QAbstractItemView>
#include <QApplication>
#include <QKeyEvent>
#include <QPainter>
#include <QStyle>

#include <algorithm>

#include "ui/help/fault_kinds.h"
#include "ui/text.h"
#include "ui/theme/card.h"
#include "ui/theme/theme.h"

namespace decodescope {

namespace {

QString text(const char* source) {
    return bundledText(source);
}

}  // namespace

FaultListModel::FaultListModel(QObject* parent) : QAbstractListModel(parent) {
    for (int kind = 0; kind < n_fault_kind; ++kind) {
        const auto first = m_rows.size();
        for (const FaultInfo& info : fault_catalogue()) {
            if (static_cast<int>(info.kind) != kind) continue;
            if (m_rows.size() == first) m_rows.push_back({info.kind, nullptr});
            m_rows.push_back({info.kind, &info});
        }
    }
}

void FaultListModel::setLane(const LaneSpec& lane, const std::optional<ModelConfig>& model) {
    m_lane = lane;
    m_model = model;
    emit dataChanged(index(0), index(rowCount() - 1));
}

bool FaultListModel::isOn(const FaultInfo& info) const {
    return std::find(m_lane.faults.begin(), m_lane.faults.end(), info.id) != m_lane.faults.end();
}

QString FaultListModel::obstacle(Fault fault) const {
    Result<void> fits = fault_fits_lane(fault, m_lane);
    if (fits && m_model) fits = fault_fits_model(fault, m_lane, *m_model);
    return fits ? QString() : QString::fromStdString(fits.error().message);
}

int FaultListModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(m_rows.size());
}

QVariant FaultListModel::data(const QModelIndex& index, int role) const {
    if (!index.isValid() || index.row() >= rowCount()) return {};
    const Row& row = m_rows[static_cast<std::size_t>(index.row())];
    if (role == kindRole) return static_cast<int>(row.kind);
    if (role == headingRole) return row.info == nullptr;
    if (row.info == nullptr) {
        if (role == Qt::DisplayRole || role == Qt::AccessibleTextRole) return faultKindTitle(row.kind);
        if (role == faultRole) return -1;
        return {};
    }
    const FaultInfo& info = *row.info;
    switch (role) {
        case Qt::DisplayRole: return text(info.title);
        case Qt::CheckStateRole: return isOn(info) ? Qt::Checked : Qt::Unchecked;
        case descriptionRole: return text(info.description);
        case faultRole: return static_cast<int>(info.fault);
        case searchRole:
            return QStringList{QString::fromUtf8(info.id), text(info.title),         text(info.description),
                               text(info.fingerprint),     faultKindTitle(row.kind), text(info.fix)}
                .join(QLatin1Char('\n'));
        case Qt::AccessibleTextRole: {
            const QString why = obstacle(info.fault);
            return why.isEmpty() ? text(info.title) : tr("%1, not possible: %2").arg(text(info.title), why);
        }
        case Qt::AccessibleDescriptionRole:
            return tr("%1 What you should see: %2").arg(text(info.description), text(info.fingerprint));
        case Qt::ToolTipRole: {
            const QString why = obstacle(info.fault);
            QString words;
            if (!why.isEmpty())
                words = tr("<p><b>Not for this lane:</b> it %1.</p>").arg(why.toHtmlEscaped());
            words += tr("<p>%1</p><p><b>What you should see:</b> %2</p><p><b>Fix:</b> %3</p>")
                         .arg(text(info.description).toHtmlEscaped(), text(info.fingerprint).toHtmlEscaped(),
                              text(info.fix).toHtmlEscaped());
            return QStringLiteral("<qt>%1</qt>").arg(words);
        }
        default: return {};
    }
}

bool FaultListModel::setData(const QModelIndex& index, const QVariant& value, int role) {
    if (role != Qt::CheckStateRole || !(flags(index) & Qt::ItemIsEnabled)) return false;
    const FaultInfo* info = m_rows[static_cast<std::size_t>(index.row())].info;
    if (info == nullptr) return false;
    const bool on = value.toInt() == Qt::Checked;
    if (on == isOn(*info)) return false;
    if (on)
        m_lane.faults.emplace_back(info->id);
    else
        std::erase(m_lane.faults, info->id);
    // Another fault may be possible now, or no longer.
    emit dataChanged(this->index(0), this->index(rowCount() - 1));
    emit edited();
    return true;
}

Qt::ItemFlags FaultListModel::flags(const QModelIndex& index) const {
    if (!index.isValid()) return Qt::NoItemFlags;
    const FaultInfo* info = m_rows[static_cast<std::size_t>(index.row())].info;
    if (info == nullptr) return Qt::NoItemFlags;
    // What is on can be switched off, whether it fits or not.
    const Qt::ItemFlags look = Qt::ItemIsSelectable | Qt::ItemIsUserCheckable;
    return isOn(*info) || obstacle(info->fault).isEmpty() ? look | Qt::ItemIsEnabled : look;
}

void FaultFilter::setSearch(const QString& text) {
    m_words = text.simplified().split(QLatin1Char(' '), Qt::SkipEmptyParts);
    invalidateFilter();
}

bool FaultFilter::matches(const QModelIndex& index) const {
    const QString where = index.data(FaultListModel::searchRole).toString();
    return std::all_of(m_words.begin(), m_words.end(),
                       [&](const QString& word) { return where.contains(word, Qt::CaseInsensitive); });
}

bool FaultFilter::filterAcceptsRow(int row, const QModelIndex& parent) const {
    const QModelIndex index = sourceModel()->index(row, 0, parent);
    if (!index.data(FaultListModel::headingRole).toBool()) return matches(index);
    for (int below = row + 1; below < sourceModel()->rowCount(parent); ++below) {
        const QModelIndex fault = sourceModel()->index(below, 0, parent);
        if (fault.data(FaultListModel::headingRole).toBool()) return false;
        if (matches(fault)) return true;
    }
    return false;
}

FaultDelegate::Layout FaultDelegate::layout(const QStyleOptionViewItem& option,
                                            const QModelIndex& index) const {
    const CardMetrics metrics(option.font);
    int width = option.rect.width();
    if (const auto* view = qobject_cast<const QAbstractItemView*>(option.widget))
        width = view->viewport()->width();
    Layout made;
    const int gap = metrics.padding / 3;
    if (index.data(FaultListModel::headingRole).toBool()) {
        made.title = {0, gap, width, metrics.line};
        made.height = made.title.bottom() + 1 + gap / 2;
        return made;
    }
    const int side = QApplication::style()->pixelMetric(QStyle::PM_IndicatorWidth, nullptr, option.widget);
    made.box = {0, gap + (metrics.line - side) / 2, side, side};
    const int left = side + metrics.padding / 2;
    const int wrap = std::max(width - left - gap, metrics.line * 4);
    const QFontMetrics title(metrics.text);
    const int flags = Qt::TextWordWrap;
    made.title = QRect(left, gap, wrap,
                       title.boundingRect(0, 0, wrap, 10'000, flags, index.data().toString()).height());
    const QFontMetrics small(metrics.small_text);
    const QString description = index.data(FaultListModel::descriptionRole).toString();
    made.description = QRect(left, made.title.bottom() + 1, wrap,
                             small.boundingRect(0, 0, wrap, 10'000, flags, description).height());
    made.height = made.description.bottom() + 1 + gap;
    return made;
}

QSize FaultDelegate::sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const {
    return {0, layout(option, index).height};
}

void FaultDelegate::paint(QPainter* painter, const QStyleOptionViewItem& option,
                          const QModelIndex& index) const {
    const CardMetrics metrics(option.font);
    const ThemeColors& colors = themeColors(option.palette);
    const Layout place = layout(option, index);
    const QPoint origin = option.rect.topLeft();
    painter->save();
    if (index.data(FaultListModel::headingRole).toBool()) {
        QFont font = metrics.small_text;
        font.setBold(true);
        painter->setFont(font);
        painter->setPen(colors.muted);
        painter->drawText(place.title.translated(origin), Qt::AlignLeft | Qt::AlignVCenter,
                          index.data().toString());
        painter->restore();
        return;
    }
    const bool possible = option.state & QStyle::State_Enabled;
    const bool on = index.data(Qt::CheckStateRole).toInt() == Qt::Checked;
    if (on) {
        painter->setPen(Qt::NoPen);
        painter->setBrush(colors.warn_soft);
        painter->drawRect(option.rect);
    }
    if ((option.state & QStyle::State_HasFocus) || (option.state & QStyle::State_Selected)) {
        painter->setPen(option.state & QStyle::State_HasFocus ? colors.accent : colors.border);
        painter->setBrush(Qt::NoBrush);
        painter->drawRect(option.rect.adjusted(0, 0, -1, -1));
    }
    QStyleOptionButton box;
    box.rect = place.box.translated(origin + QPoint(metrics.padding / 4, 0));
    box.palette = option.palette;
    box.state =
        (on ? QStyle::State_On : QStyle::State_Off) | (possible ? QStyle::State_Enabled : QStyle::State_None);
    const QStyle* style = option.widget != nullptr ? option.widget->style() : QApplication::style();
    style->drawPrimitive(QStyle::PE_IndicatorCheckBox, &box, painter, option.widget);
    const QColor faint = option.palette.color(QPalette::Disabled, QPalette::Text);
    painter->setFont(metrics.text);
    painter->setPen(possible ? colors.text : faint);
    const QPoint shift = origin + QPoint(metrics.padding / 4, 0);
    painter->drawText(place.title.translated(shift), Qt::TextWordWrap, index.data().toString());
    painter->setFont(metrics.small_text);
    painter->setPen(possible ? colors.muted : faint);
    painter->drawText(place.description.translated(shift), Qt::TextWordWrap,
                      index.data(FaultListModel::descriptionRole).toString());
    painter->restore();
}

// A click anywhere on the row switches it, not only one on the small box.
bool FaultDelegate::editorEvent(QEvent* event, QAbstractItemModel* model, const QStyleOptionViewItem& option,
                                const QModelIndex& index) {
    const Qt::ItemFlags flags = model->flags(index);
    if (!(flags & Qt::ItemIsUserCheckable) || !(flags & Qt::ItemIsEnabled)) return false;
    bool wanted = false;
    if (event->type() == QEvent::MouseButtonRelease) {
        const auto* mouse = static_cast<QMouseEvent*>(event);
        wanted = mouse->button() == Qt::LeftButton && option.rect.contains(mouse->position().toPoint());
    } else if (event->type() == QEvent::KeyPress) {
        const int key = static_cast<QKeyEvent*>(event)->key();
        wanted = key == Qt::Key_Space || key == Qt::Key_Select;
    }
    if (!wanted) return false;
    const bool on = index.data(Qt::CheckStateRole).toInt() == Qt::Checked;
    return model->setData(index, on ? Qt::Unchecked : Qt::Checked, Qt::CheckStateRole);
}

}  // namespace decodescope
