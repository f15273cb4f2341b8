// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/widgets/command_palette.h"

#include <QAction>
#include <QKeyEvent>
#include <QKeySequence>
#include <QLineEdit>
#include <QListView>
#include <QPainter>
#include <QPointer>
#include <QSortFilterProxyModel>
#include <QStandardItemModel>
#include <QStyledItemDelegate>
#include <QTimer>
#include <QVBoxLayout>

#include <algorithm>

#include "ui/theme/card.h"
#include "ui/theme/theme.h"
#include "ui/widgets/slim_scroll_bar.h"

namespace decodescope {

namespace {

enum Role { categoryRole = Qt::UserRole, keysRole, actionRole, searchRole, orderRole };

/// Commands whose texts contain every word that was typed; those whose name begins with it come first.
class CommandFilter : public QSortFilterProxyModel {
public:
    using QSortFilterProxyModel::QSortFilterProxyModel;

    void setTyped(const QString& text) {
        m_words = text.simplified().toLower().split(QLatin1Char(' '), Qt::SkipEmptyParts);
        invalidate();
    }

protected:
    bool filterAcceptsRow(int row, const QModelIndex& parent) const override {
        const QString text = sourceModel()->index(row, 0, parent).data(searchRole).toString();
        return std::all_of(m_words.begin(), m_words.end(),
                           [&](const QString& word) { return text.contains(word); });
    }
    bool lessThan(const QModelIndex& a, const QModelIndex& b) const override {
        const auto rank = [this](const QModelIndex& index) {
            const QString name = index.data(Qt::DisplayRole).toString().toLower();
            const bool first = !m_words.isEmpty() && name.contains(m_words.front());
            return std::tuple(!index.flags().testFlag(Qt::ItemIsEnabled), !first,
                              index.data(orderRole).toInt());
        };
        return rank(a) < rank(b);
    }

private:
    QStringList m_words;
};

/// Name, menu (muted), and keys at the right.
class CommandDelegate : public QStyledItemDelegate {
public:
    using QStyledItemDelegate::QStyledItemDelegate;

    QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex&) const override {
        return {option.fontMetrics.averageCharWidth() * 40, option.fontMetrics.height() * 9 / 5};
    }
    void paint(QPainter* painter, const QStyleOptionViewItem& option,
               const QModelIndex& index) const override {
        const ThemeColors& colors = themeColors(option.palette);
        const bool enabled = index.flags().testFlag(Qt::ItemIsEnabled);
        const int gap = option.fontMetrics.averageCharWidth();
        if (option.state.testFlag(QStyle::State_Selected)) painter->fillRect(option.rect, colors.accent_soft);
        QRect line = option.rect.adjusted(gap, 0, -gap, 0);
        const QString keys = index.data(keysRole).toString();
        painter->setPen(colors.muted);
        painter->drawText(line, Qt::AlignRight | Qt::AlignVCenter, keys);
        line.setRight(line.right() - option.fontMetrics.horizontalAdvance(keys) - gap);
        const QString name = index.data(Qt::DisplayRole).toString();
        painter->setPen(enabled ? colors.text : colors.muted);
        painter->drawText(line, Qt::AlignLeft | Qt::AlignVCenter, name);
        line.setLeft(line.left() + option.fontMetrics.horizontalAdvance(name) + gap * 2);
        painter->setPen(colors.muted);
        painter->drawText(line, Qt::AlignLeft | Qt::AlignVCenter,
                          option.fontMetrics.elidedText(index.data(categoryRole).toString(), Qt::ElideRight,
                                                        std::max(0, line.width())));
    }
};

}  // namespace

CommandPalette::CommandPalette(const QList<Command>& commands, QWidget* parent)
    : QDialog(parent),
      m_line(new QLineEdit(this)),
      m_model(new QStandardItemModel(this)),
      m_found(new CommandFilter(this)),
      m_list(new QListView(this)) {
    setObjectName(QStringLiteral("commandPalette"));
    setAttribute(Qt::WA_DeleteOnClose);
    setWindowTitle(tr("Find a Command"));
    const CardMetrics metrics(font());
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(metrics.padding, metrics.padding, metrics.padding, metrics.padding);
    m_line->setObjectName(QStringLiteral("paletteLine"));
    m_line->setPlaceholderText(tr("What do you want to do?"));
    m_line->setAccessibleName(tr("Search for a command"));
    m_line->setClearButtonEnabled(true);
    m_line->installEventFilter(this);
    m_list->setObjectName(QStringLiteral("paletteList"));
    m_list->setAccessibleName(tr("Commands"));
    m_list->setModel(m_found);
    m_list->setItemDelegate(new CommandDelegate(m_list));
    m_list->setEditTriggers(QAbstractItemView::NoEditTriggers);
    m_list->setUniformItemSizes(true);
    m_list->setFrameShape(QFrame::NoFrame);
    SlimScrollBar::install(m_list);
    m_list->setMinimumSize(fontMetrics().averageCharWidth() * 72, fontMetrics().height() * 22);
    column->addWidget(m_line);
    column->addWidget(m_list, 1);

    for (const Command& command : commands) {
        QString name = command.action->text();
        name.remove(QLatin1Char('&'));
        name.remove(QStringLiteral("…"));
        auto* item = new QStandardItem(name);
        QString about = command.action->toolTip();
        const QString keys = command.action->shortcut().toString(QKeySequence::NativeText);
        item->setData(command.category, categoryRole);
        item->setData(keys, keysRole);
        item->setData(QVariant::fromValue(QPointer<QAction>(command.action)), actionRole);
        item->setData(QStringList{command.category, name, about}.join(QLatin1Char(' ')).toLower(),
                      searchRole);
        item->setData(m_model->rowCount(), orderRole);
        item->setToolTip(about);
        item->setEnabled(command.action->isEnabled());
        m_model->appendRow(item);
    }
    m_found->setSourceModel(m_model);
    m_found->sort(0);
    connect(m_line, &QLineEdit::textChanged, this, &CommandPalette::filter);
    connect(m_line, &QLineEdit::returnPressed, this, &CommandPalette::trigger);
    connect(m_list, &QListView::clicked, this, &CommandPalette::trigger);
    filter();
    m_line->setFocus();
}

void CommandPalette::filter() {
    static_cast<CommandFilter*>(m_found)->setTyped(m_line->text());
    m_list->setCurrentIndex(m_found->index(0, 0));
}

void CommandPalette::trigger() {
    const QModelIndex index = m_list->currentIndex();
    if (!index.isValid() || !index.flags().testFlag(Qt::ItemIsEnabled)) return;
    const auto action = index.data(actionRole).value<QPointer<QAction>>();
    close();
    // After the palette: what the command opens gets the keyboard.
    if (action) QTimer::singleShot(0, action, &QAction::trigger);
}

bool CommandPalette::eventFilter(QObject* watched, QEvent* event) {
    if (watched == m_line && event->type() == QEvent::KeyPress) {
        const int key = static_cast<QKeyEvent*>(event)->key();
        const int page = std::max(1, m_list->height() / std::max(1, m_list->sizeHintForRow(0)) - 1);
        const int by = key == Qt::Key_Down       ? 1
                       : key == Qt::Key_Up       ? -1
                       : key == Qt::Key_PageDown ? page
                       : key == Qt::Key_PageUp   ? -page
                                                 : 0;
        if (by != 0 && m_found->rowCount() > 0) {
            const int row = std::clamp(m_list->currentIndex().row() + by, 0, m_found->rowCount() - 1);
            m_list->setCurrentIndex(m_found->index(row, 0));
            return true;
        }
    }
    return QDialog::eventFilter(watched, event);
}

}  // namespace decodescope
