// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/widgets/plain_table.h"

#include <QClipboard>
#include <QContextMenuEvent>
#include <QGuiApplication>
#include <QHeaderView>
#include <QKeyEvent>
#include <QMenu>
#include <QPainter>
#include <QStyledItemDelegate>
#include <QVBoxLayout>

#include <algorithm>
#include <numeric>
#include <utility>

#include "ui/theme/card.h"
#include "ui/widgets/labels.h"

namespace decodescope {

namespace {

// Separates the long form of a text from its shorter one (see QFontMetrics::elidedText).
constexpr QChar variantMark(0x9c);

Qt::Alignment alignmentOf(const QAbstractItemModel& model, int column) {
    const QVariant own = model.headerData(column, Qt::Horizontal, Qt::TextAlignmentRole);
    if (own.isValid()) return Qt::Alignment(own.toInt());
    return (column == 0 ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignVCenter;
}

QString headerOf(const QAbstractItemModel& model, int column) {
    return model.headerData(column, Qt::Horizontal, Qt::DisplayRole).toString();
}

// Where the text of a cell goes: the card's padding at both ends of the row, less between columns.
QRect innerRect(const QRect& cell, int column, int columns, const CardMetrics& metrics) {
    return cell.adjusted(column == 0 ? metrics.padding : metrics.padding / 2, 0,
                         column + 1 == columns ? -metrics.padding : -metrics.padding / 2, 0);
}

/// Header texts in muted small type, on a line that separates them from the rows.
class PlainHeader : public QHeaderView {
public:
    explicit PlainHeader(QWidget* parent) : QHeaderView(Qt::Horizontal, parent) {
        setSectionsClickable(false);
        setHighlightSections(false);
        setSectionResizeMode(QHeaderView::Fixed);
        setMinimumSectionSize(1);
        viewport()->setAutoFillBackground(false);
    }

    QSize sizeHint() const override {
        const CardMetrics metrics(font());
        return {QHeaderView::sizeHint().width(), metrics.line + metrics.padding};
    }

protected:
    void paintSection(QPainter* painter, const QRect& rect, int section) const override {
        const CardMetrics metrics(font());
        const ThemeColors& colors = themeColors(palette());
        painter->save();
        painter->setPen(colors.border);
        painter->drawLine(rect.bottomLeft(), rect.bottomRight());
        painter->setFont(metrics.small_text);
        painter->setPen(colors.muted);
        const QString text = headerOf(*model(), section);
        const QRect inner = innerRect(rect, section, model()->columnCount(), metrics);
        painter->drawText(inner, static_cast<int>(alignmentOf(*model(), section)),
                          QFontMetrics(metrics.small_text).elidedText(text, Qt::ElideRight, inner.width()));
        painter->restore();
    }
};

class PlainDelegate : public QStyledItemDelegate {
public:
    using QStyledItemDelegate::QStyledItemDelegate;

    void paint(QPainter* painter, const QStyleOptionViewItem& option,
               const QModelIndex& index) const override {
        const CardMetrics metrics(option.font);
        const ThemeColors& colors = themeColors(option.palette);
        QRect rect = innerRect(option.rect, index.column(), index.model()->columnCount(), metrics);
        QFont font = metrics.text;
        const int strength = index.data(strongRole).toInt();
        font.setBold(strength > 0);
        if (strength > 1) font.setPixelSize(font.pixelSize() * 11 / 10);
        const QVariant tone = index.data(toneRole);
        const QVariant swatch = index.data(swatchRole);
        const QVariant share = index.data(shareRole);

        painter->save();
        if (share.isValid()) {
            paintBar(*painter, metrics, colors, rect, share.toDouble(), swatch.toInt());
        } else if (swatch.isValid()) {
            const int side = metrics.line * 11 / 20;
            paintSwatch(*painter, QRectF(rect.left(), rect.center().y() - side / 2.0 + 1, side, side),
                        colors.color(ColorRef::lane(swatch.toInt())));
            rect.setLeft(rect.left() + side + metrics.padding / 2);
        }
        if (const QString figure = index.data(figureRole).toString(); !figure.isEmpty()) {
            painter->setFont(metrics.small_text);
            painter->setPen(colors.muted);
            painter->drawText(rect, Qt::AlignRight | Qt::AlignVCenter, figure);
            rect.setRight(rect.right() - QFontMetrics(metrics.small_text).horizontalAdvance(figure) -
                          metrics.padding / 2);
        }
        painter->setFont(font);
        painter->setPen(tone.isValid() ? colors.color({static_cast<ColorRef::Role>(tone.toInt()), 0})
                                       : colors.text);
        painter->drawText(rect, static_cast<int>(alignmentOf(*index.model(), index.column())),
                          QFontMetrics(font).elidedText(index.data(Qt::DisplayRole).toString(),
                                                        Qt::ElideRight, rect.width()));
        painter->restore();
    }

private:
    // Draws the bar at the right end and takes its place away from `rect`.
    static void paintBar(QPainter& painter, const CardMetrics& metrics, const ThemeColors& colors,
                         QRect& rect, double share, int lane) {
        const int width = std::min(rect.width() / 2, metrics.line * 5);
        const qreal height = metrics.line * 0.36;
        const QRectF bar(rect.right() - width, rect.center().y() - height / 2 + 0.5, width, height);
        painter.setRenderHint(QPainter::Antialiasing);
        painter.setPen(Qt::NoPen);
        painter.setBrush(colors.grid);
        painter.drawRoundedRect(bar, height / 2, height / 2);
        QRectF filled = bar;
        filled.setWidth(std::max(height, width * std::clamp(share, 0.0, 1.0)));
        painter.setBrush(colors.color(ColorRef::lane(lane)));
        painter.drawRoundedRect(filled, height / 2, height / 2);
        rect.setRight(static_cast<int>(bar.left()) - metrics.padding * 3 / 4);
    }
};

}  // namespace

PlainTable::PlainTable(QWidget* parent) : QTableView(parent) {
    setHorizontalHeader(new PlainHeader(this));
    verticalHeader()->hide();
    verticalHeader()->setSectionResizeMode(QHeaderView::Fixed);
    setItemDelegate(new PlainDelegate(this));
    setShowGrid(false);
    setFrameShape(QFrame::NoFrame);
    setSelectionMode(QAbstractItemView::NoSelection);
    setEditTriggers(QAbstractItemView::NoEditTriggers);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setCornerButtonEnabled(false);
    setTabKeyNavigation(false);
    viewport()->setAutoFillBackground(false);
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
}

void PlainTable::setTable(QAbstractItemModel* tableModel, std::vector<Column> columns) {
    m_columns = std::move(columns);
    setModel(tableModel);
    connect(tableModel, &QAbstractItemModel::modelReset, this, &PlainTable::updateMetrics);
    connect(tableModel, &QAbstractItemModel::headerDataChanged, this, &PlainTable::updateMetrics);
    updateMetrics();
}

PlainTable* PlainTable::inCard(Card* card, QAbstractItemModel* model, const char* name,
                               const QString& accessibleName, std::vector<Column> columns) {
    const CardMetrics metrics(card->font());
    QMargins margins = card->content()->contentsMargins();
    margins.setLeft(1);
    margins.setRight(1);
    margins.setBottom(metrics.padding / 3);
    card->content()->setContentsMargins(margins);
    auto* table = new PlainTable(card);
    table->setObjectName(QLatin1String(name));
    table->setAccessibleName(accessibleName);
    table->setTable(model, std::move(columns));
    card->content()->addWidget(table);
    card->setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
    return table;
}

void PlainTable::setColumns(std::vector<Column> columns) {
    m_columns = std::move(columns);
    updateMetrics();
}

void PlainTable::updateMetrics() {
    if (model() == nullptr) return;
    const CardMetrics metrics(font());
    verticalHeader()->setDefaultSectionSize(metrics.line + metrics.padding * 3 / 2);
    // Header and sample of every column find room if possible; what is left goes by weight.
    const QFontMetrics headerText(metrics.small_text);
    const QFontMetrics cellText(metrics.title);
    const double room = viewport()->width();
    const double weights =
        std::accumulate(m_columns.begin(), m_columns.end(), 0.0,
                        [](double sum, const Column& column) { return sum + column.weight; });
    std::vector<double> widths(m_columns.size());
    double needed = 0;
    for (const int variant : {0, -1}) {
        for (std::size_t i = 0; i < widths.size(); ++i) {
            const int column = static_cast<int>(i);
            const QString header = headerOf(*model(), column).section(variantMark, variant, variant);
            widths[i] = std::max(headerText.horizontalAdvance(header),
                                 cellText.horizontalAdvance(m_columns[i].sample));
            const QRect inner =
                innerRect(QRect(0, 0, 1000, 1), column, static_cast<int>(widths.size()), metrics);
            widths[i] += 1000 - inner.width() + 2;
        }
        needed = std::accumulate(widths.begin(), widths.end(), 0.0);
        if (needed < room) break;  // the long headers fit
    }
    double right = 0;
    int used = 0;
    for (std::size_t i = 0; i < widths.size(); ++i) {
        right += needed < room ? widths[i] + (room - needed) * m_columns[i].weight / weights
                               : widths[i] * room / needed;
        setColumnWidth(static_cast<int>(i), static_cast<int>(right) - used);
        used = static_cast<int>(right);
    }
    updateGeometry();
}

QString PlainTable::toText() const {
    QString text;
    if (model() == nullptr) return text;
    const int columns = model()->columnCount();
    const auto end = [columns](int column) { return QLatin1Char(column + 1 < columns ? '\t' : '\n'); };
    for (int column = 0; column < columns; ++column)
        text += headerOf(*model(), column).section(variantMark, 0, 0) + end(column);
    for (int row = 0; row < model()->rowCount(); ++row) {
        for (int column = 0; column < columns; ++column) {
            const QModelIndex cell = model()->index(row, column);
            const QString figure = cell.data(figureRole).toString();
            text += cell.data(Qt::DisplayRole).toString();
            if (!figure.isEmpty()) text += QLatin1Char(' ') + figure;
            text += end(column);
        }
    }
    return text;
}

QSize PlainTable::sizeHint() const {
    const int rows = std::max(1, model() == nullptr ? 0 : model()->rowCount());
    return {fontMetrics().averageCharWidth() * 80,
            horizontalHeader()->sizeHint().height() + rows * verticalHeader()->defaultSectionSize()};
}

QSize PlainTable::minimumSizeHint() const {
    return {fontMetrics().averageCharWidth() * 30, sizeHint().height()};
}

void PlainTable::keyPressEvent(QKeyEvent* event) {
    if (event->matches(QKeySequence::Copy))
        QGuiApplication::clipboard()->setText(toText());
    else
        QTableView::keyPressEvent(event);
}

void PlainTable::contextMenuEvent(QContextMenuEvent* event) {
    QMenu menu(this);
    menu.addAction(tr("Copy Table"), this, [this] { QGuiApplication::clipboard()->setText(toText()); });
    menu.exec(event->globalPos());
}

void PlainTable::changeEvent(QEvent* event) {
    QTableView::changeEvent(event);
    if (event->type() == QEvent::FontChange) updateMetrics();
}

void PlainTable::resizeEvent(QResizeEvent* event) {
    QTableView::resizeEvent(event);
    updateMetrics();
}

}  // namespace decodescope
