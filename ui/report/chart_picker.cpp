// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/report/chart_picker.h"

#include <QEvent>
#include <QHBoxLayout>
#include <QListWidget>
#include <QToolButton>
#include <QVBoxLayout>

#include <algorithm>

#include "ui/chart/export.h"
#include "ui/theme/card.h"

namespace decodescope {

namespace {

constexpr int nameRole = Qt::UserRole;
constexpr double drawnLarger = 2;  // than they are shown

QSize pictureSize(const CardMetrics& metrics) {
    return {metrics.line * 11 / 2, metrics.line * 5 / 2};
}

}  // namespace

ChartPicker::ChartPicker(QWidget* parent) : QWidget(parent), m_list(new QListWidget(this)) {
    const CardMetrics metrics(font());
    m_list->setObjectName(QStringLiteral("reportCharts"));
    m_list->setAccessibleName(tr("Charts of the report"));
    m_list->setToolTip(tr("Check what goes into the report; drag to change the order"));
    m_list->setFrameShape(QFrame::NoFrame);
    m_list->setWordWrap(true);
    m_list->setUniformItemSizes(true);
    m_list->setIconSize(pictureSize(metrics));
    m_list->setDragDropMode(QAbstractItemView::InternalMove);
    m_list->setDefaultDropAction(Qt::MoveAction);
    m_list->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    m_list->setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    auto* row = new QHBoxLayout;
    row->setSpacing(metrics.padding / 3);
    const auto add = [&](const char* name, const QString& text, const QString& toolTip) {
        auto* button = new QToolButton(this);
        button->setObjectName(QLatin1String(name));
        button->setText(text);
        button->setToolTip(toolTip);
        button->setAccessibleName(toolTip);
        row->addWidget(button);
        return button;
    };
    m_up = add("reportChartUp", {}, tr("Move the chart up"));
    m_up->setArrowType(Qt::UpArrow);
    m_down = add("reportChartDown", {}, tr("Move the chart down"));
    m_down->setArrowType(Qt::DownArrow);
    row->addStretch(1);
    m_copyImage = add("reportCopyImage", tr("Copy Picture"), tr("Copy the selected chart as a picture"));
    m_copyData = add("reportCopyData", tr("Copy Data"), tr("Copy the numbers of the selected chart"));
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(metrics.padding / 3);
    column->addWidget(m_list);
    column->addLayout(row);

    connect(m_up, &QToolButton::clicked, this, [this] { move(-1); });
    connect(m_down, &QToolButton::clicked, this, [this] { move(1); });
    connect(m_copyImage, &QToolButton::clicked, this, [this] {
        if (LineChart* chart = currentChart()) {
            copyImage(*chart);
            emit notice(tr("The picture of “%1” is on the clipboard.").arg(chart->title()));
        }
    });
    connect(m_copyData, &QToolButton::clicked, this, [this] {
        if (LineChart* chart = currentChart()) {
            copyData(*chart);
            emit notice(tr("The numbers of “%1” are on the clipboard.").arg(chart->title()));
        }
    });
    connect(m_list, &QListWidget::currentRowChanged, this, &ChartPicker::updateButtons);
    connect(m_list, &QListWidget::itemChanged, this, &ChartPicker::remember);
    connect(m_list->model(), &QAbstractItemModel::rowsMoved, this, &ChartPicker::remember);
}

void ChartPicker::setCharts(const std::vector<RecordChart>& charts) {
    m_charts = &charts;
    fill();
}

void ChartPicker::fill() {
    m_filling = true;
    const int current = std::max(0, m_list->currentRow());
    m_list->clear();
    for (const RecordChart& chart : *m_charts)
        if (!m_order.contains(chart.name)) m_order << chart.name;
    const CardMetrics metrics(font());
    for (const QString& name : m_order) {
        const auto chart = std::find_if(m_charts->begin(), m_charts->end(),
                                        [&](const RecordChart& each) { return each.name == name; });
        if (chart == m_charts->end()) continue;
        auto* item = new QListWidgetItem(chart->chart->title(), m_list);
        item->setData(nameRole, name);
        item->setFlags(Qt::ItemIsEnabled | Qt::ItemIsSelectable | Qt::ItemIsUserCheckable |
                       Qt::ItemIsDragEnabled);
        item->setCheckState(m_off.contains(name) ? Qt::Unchecked : Qt::Checked);
        item->setSizeHint({0, pictureSize(metrics).height() + metrics.padding * 2 / 3});
    }
    drawPictures();
    m_list->setCurrentRow(std::min(current, m_list->count() - 1));
    m_list->setFixedHeight(
        m_list->count() == 0 ? 0 : m_list->count() * m_list->sizeHintForRow(0) + 2 * m_list->frameWidth());
    m_filling = false;
    updateButtons();
}

void ChartPicker::drawPictures() {
    const bool filling = std::exchange(m_filling, true);
    const ThemeColors& colors = themeColors(palette());
    // A picture of the selected chart is as clear as the others.
    QPalette soft = palette();
    for (const auto group : {QPalette::Active, QPalette::Inactive}) {
        soft.setColor(group, QPalette::Highlight, colors.accent_soft);
        soft.setColor(group, QPalette::HighlightedText, colors.text);
    }
    m_list->setPalette(soft);
    const QSize size = pictureSize(CardMetrics(font()));
    const double ratio = devicePixelRatioF();
    ExportOptions options;
    options.size = size * drawnLarger;
    options.dark = colors.dark;
    options.scale = std::clamp(ratio, 1.0, 4.0);
    QFont tiny = font();
    tiny.setPointSizeF(font().pointSizeF() * 0.4);
    for (int row = 0; row < m_list->count(); ++row) {
        QListWidgetItem* item = m_list->item(row);
        for (const RecordChart& chart : *m_charts) {
            if (chart.name != item->data(nameRole).toString()) continue;
            // Small letters, and none above the plot, leave room for the curves, whose lines keep their
            // width.
            const QFont usual = chart.chart->font();
            const QString title = chart.chart->title();
            const QString subtitle = chart.chart->subtitle();
            chart.chart->setFont(tiny);
            chart.chart->setTitle({});
            chart.chart->setSubtitle({});
            const QImage drawn = toImage(*chart.chart, options);
            chart.chart->setFont(usual);
            chart.chart->setTitle(title);
            chart.chart->setSubtitle(subtitle);
            QImage image = drawn.scaled(size * ratio, Qt::IgnoreAspectRatio, Qt::SmoothTransformation);
            image.setDevicePixelRatio(ratio);
            const QPixmap pixmap = QPixmap::fromImage(image);
            QIcon icon(pixmap);
            icon.addPixmap(pixmap, QIcon::Selected);
            item->setIcon(icon);
        }
    }
    m_filling = filling;
}

void ChartPicker::changeEvent(QEvent* event) {
    QWidget::changeEvent(event);
    if (event->type() == QEvent::PaletteChange && m_charts != nullptr) drawPictures();
}

void ChartPicker::move(int direction) {
    const int row = m_list->currentRow();
    const int to = row + direction;
    if (row < 0 || to < 0 || to >= m_list->count()) return;
    m_filling = true;
    m_list->insertItem(to, m_list->takeItem(row));
    m_list->setCurrentRow(to);
    m_filling = false;
    remember();
}

void ChartPicker::remember() {
    if (m_filling) return;
    QStringList shown;
    for (int row = 0; row < m_list->count(); ++row) {
        const QListWidgetItem* item = m_list->item(row);
        const QString name = item->data(nameRole).toString();
        shown << name;
        if (item->checkState() == Qt::Checked)
            m_off.remove(name);
        else
            m_off.insert(name);
    }
    // Charts that this record does not have keep their place among the others.
    qsizetype next = 0;
    for (QString& name : m_order)
        if (shown.contains(name)) name = shown[next++];
    updateButtons();
    emit changed();
}

void ChartPicker::updateButtons() {
    const int row = m_list->currentRow();
    m_up->setEnabled(row > 0);
    m_down->setEnabled(row >= 0 && row + 1 < m_list->count());
    m_copyImage->setEnabled(row >= 0);
    m_copyData->setEnabled(row >= 0);
}

LineChart* ChartPicker::currentChart() const {
    const QListWidgetItem* item = m_list->currentItem();
    if (item == nullptr || m_charts == nullptr) return nullptr;
    for (const RecordChart& chart : *m_charts)
        if (chart.name == item->data(nameRole).toString()) return chart.chart.get();
    return nullptr;
}

std::optional<QStringList> ChartPicker::picked() const {
    QStringList names, all;
    for (int row = 0; row < m_list->count(); ++row) {
        if (m_list->item(row)->checkState() == Qt::Checked)
            names << m_list->item(row)->data(nameRole).toString();
    }
    if (m_charts != nullptr)
        for (const RecordChart& chart : *m_charts) all << chart.name;
    return names == all ? std::nullopt : std::optional(names);
}

}  // namespace decodescope
