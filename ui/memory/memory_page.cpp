// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/memory/memory_page.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QVBoxLayout>

#include <limits>

#include "ui/chart/line_chart.h"
#include "ui/memory/cache_table.h"
#include "ui/report/definitions.h"
#include "ui/report/record_charts.h"
#include "ui/theme/card.h"
#include "ui/widgets/labels.h"
#include "ui/widgets/plain_table.h"

namespace decodescope {

namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr int figuresIntervalMs = 250;

QString bytesText(std::int64_t bytes) {
    return bytes == ProcessMemory::not_measured ? notMeasured() : formatBytes(static_cast<double>(bytes));
}

}  // namespace

MemoryPage::MemoryPage(const RunData& run, QWidget* parent)
    : QWidget(parent), m_data(run), m_caches(new CacheTableModel(this)) {
    const CardMetrics metrics(font());
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(metrics.spacing, metrics.spacing, metrics.spacing, metrics.spacing);
    column->setSpacing(metrics.spacing);

    auto* figures = new Card(this);
    figures->setObjectName(QStringLiteral("memoryFigures"));
    auto* row = new QHBoxLayout;
    row->setSpacing(metrics.padding);
    figures->content()->addLayout(row);
    m_rss = addFigure(tr("Resident (RSS)"),
                      tr("Pages of this process that are in memory, as the system counts them"), row);
    m_tensors = addFigure(tr("Tensors"), tr("Live bytes of all tensors of all lanes, as asked for"), row);
    m_heapFree = addFigure(tr("Allocator keeps"),
                           tr("Freed, but kept by the C library's allocator for the next request"), row);
    m_unaccounted = addFigure(
        tr("Unaccounted"),
        tr("Resident, less tensors, less what the allocator keeps: program, libraries, window, tokenizer"),
        row);
    m_heapInUse = addFigure(tr("Heap in use"), tr("What the C library's allocator has handed out"), row);
    m_heapMapped = addFigure(tr("Mapped blocks"), tr("Large blocks that the allocator maps one by one"), row);
    m_faults = addFigure(tr("Page faults"), tr("Minor page faults of this process since the run began"), row);
    figures->setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
    column->addWidget(figures);

    m_chart = new LineChart(this);
    m_chart->setObjectName(QStringLiteral("memoryChart"));
    m_chart->setEmptyText(tr("Press Run to see where the bytes go"));
    column->addWidget(m_chart, 1);

    auto* caches = new Card(tr("Cache"), tr("formula against measured, at each lane's fullest step"), this);
    caches->setObjectName(QStringLiteral("cacheCard"));
    QMargins margins = caches->content()->contentsMargins();
    margins.setLeft(1);
    margins.setRight(1);
    margins.setBottom(metrics.padding / 3);
    caches->content()->setContentsMargins(margins);
    m_table = new PlainTable(caches);
    m_table->setObjectName(QStringLiteral("cacheTable"));
    m_table->setAccessibleName(tr("Cache bytes by formula and measured"));
    m_table->setTable(m_caches, m_caches->columns());
    connect(m_caches, &CacheTableModel::columnsChanged, this,
            [this] { m_table->setColumns(m_caches->columns()); });
    caches->content()->addWidget(m_table);
    caches->setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
    column->addWidget(caches);

    connect(&run, &RunData::reset, this, &MemoryPage::reset);
    connect(&run, &RunData::appended, this, &MemoryPage::append);
    reset();
}

MemoryPage::Figure MemoryPage::addFigure(const QString& name, const QString& definition, QHBoxLayout* row) {
    auto* column = new QVBoxLayout;
    column->setSpacing(0);
    Figure figure{mutedLabel(name, this), new QLabel(this)};
    figure.value->setFont(CardMetrics(font()).title);
    figure.value->setAccessibleName(name);
    figure.value->setTextInteractionFlags(Qt::TextSelectableByMouse);
    for (QLabel* label : {figure.name, figure.value}) {
        label->setToolTip(definition);
        column->addWidget(label);
    }
    row->addLayout(column, 1);
    return figure;
}

void MemoryPage::reset() {
    if (m_data.isLive())
        m_series.clear();
    else
        m_series.setRecord(m_data.record());
    m_drawnGeneration = -1;
    m_sinceFigures.invalidate();
    refreshIfVisible();
}

void MemoryPage::append(const std::vector<RunEvent>& events) {
    for (const RunEvent& event : events) {
        if (const auto* step = std::get_if<StepEvent>(&event)) m_series.add(*step);
    }
    refreshIfVisible();
}

void MemoryPage::refreshIfVisible() {
    m_stale = true;
    if (isVisible()) catchUp();
}

void MemoryPage::catchUp() {
    m_stale = false;
    updateChart();
    if (!m_data.isLive() || !m_sinceFigures.isValid() || m_sinceFigures.hasExpired(figuresIntervalMs)) {
        updateFigures();
        m_sinceFigures.restart();
    }
    m_chart->flush();
}

void MemoryPage::updateChart() {
    const auto& samples = m_series.samples();
    const int rssSeries = static_cast<int>(n_owner);
    if (m_drawnGeneration != m_series.generation()) {
        setUpMemoryChart(*m_chart);
        m_drawnGeneration = m_series.generation();
    }
    for (auto i = static_cast<std::size_t>(m_chart->pointCount(rssSeries)); i < samples.size(); ++i) {
        const MemorySeries::Sample& sample = samples[i];
        for (std::size_t owner = 0; owner < n_owner; ++owner)
            m_chart->append(static_cast<int>(owner), sample.seconds,
                            static_cast<double>(sample.tensors[owner]));
        m_chart->append(rssSeries, sample.seconds,
                        sample.memory.rss < 0 ? nan : static_cast<double>(sample.memory.rss));
    }
}

void MemoryPage::updateFigures() {
    m_caches->setRecord(m_data.record());
    const auto& samples = m_series.samples();
    const Figure all[] = {m_rss, m_tensors, m_unaccounted, m_heapInUse, m_heapFree, m_heapMapped, m_faults};
    if (samples.empty()) {
        for (const Figure& figure : all) figure.value->setText(QStringLiteral("–"));
        return;
    }
    const MemorySeries::Sample& now = samples.back();
    m_rss.value->setText(bytesText(now.memory.rss));
    m_tensors.value->setText(formatBytes(static_cast<double>(totalBytes(now.tensors))));
    m_heapInUse.value->setText(bytesText(now.memory.heap_in_use));
    m_heapFree.value->setText(bytesText(now.memory.heap_free));
    m_heapMapped.value->setText(bytesText(now.memory.heap_mapped));
    const std::int64_t unaccounted = unaccountedBytes(now.memory, now.tensors);
    if (now.memory.rss < 0)
        m_unaccounted.value->setText(notMeasured());
    else if (unaccounted < 0)
        m_unaccounted.value->setText(QStringLiteral("−") + formatBytes(static_cast<double>(-unaccounted)));
    else
        m_unaccounted.value->setText(formatBytes(static_cast<double>(unaccounted)));
    const std::int64_t before = samples.front().memory.minor_faults;
    const std::int64_t faults = now.memory.minor_faults;
    m_faults.value->setText(before < 0 || faults < 0 ? notMeasured() : formatCount(faults - before));
}

void MemoryPage::showEvent(QShowEvent* event) {
    QWidget::showEvent(event);
    if (m_stale) catchUp();
}

}  // namespace decodescope
