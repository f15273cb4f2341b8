// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/memory/memory_page.h"

#include <QAction>
#include <QActionGroup>
#include <QHBoxLayout>
#include <QLabel>
#include <QVBoxLayout>

#include <algorithm>

#include "ui/chart/line_chart.h"
#include "ui/memory/cache_table.h"
#include "ui/report/definitions.h"
#include "ui/text.h"
#include "ui/theme/card.h"
#include "ui/widgets/bar_button.h"
#include "ui/widgets/labels.h"
#include "ui/widgets/plain_table.h"
#include "ui/widgets/rows_model.h"

namespace decodescope {

namespace {

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
    m_unaccounted = addFigure(tr("Unaccounted"), definitionOf("unaccounted"), row);
    m_heapInUse = addFigure(tr("Heap in use"), tr("What the C library's allocator has handed out"), row);
    m_heapMapped = addFigure(tr("Mapped blocks"), tr("Large blocks that the allocator maps one by one"), row);
    m_faults = addFigure(tr("Page faults"), definitionOf("minor_faults_run"), row);
    addPeaksRow(figures->content());
    figures->setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
    column->addWidget(figures);

    const auto addChart = [this](const char* name, const QString& emptyText) {
        auto* chart = new LineChart(this);
        chart->setObjectName(QLatin1String(name));
        chart->setEmptyText(emptyText);
        return chart;
    };
    m_chart = addChart("memoryChart", tr("Press Run to see where the bytes go"));
    column->addWidget(m_chart, 3);
    m_allocator = addChart("allocatorChart", tr("What the allocator does appears here"));
    m_pageFaults = addChart("pageFaultsChart", tr("Page faults appear here"));
    m_copied = addChart("copiedChart", tr("No cache has copied anything"));
    auto* small = new QHBoxLayout;
    small->setSpacing(metrics.spacing);
    for (LineChart* chart : {m_allocator, m_pageFaults, m_copied}) {
        chart->setMinimumHeight(metrics.line * 7);
        small->addWidget(chart, 1);
    }
    column->addLayout(small, 2);

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
    addGpuCard(column);

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

// Memory of the GPUs that lanes computed on; hidden while there is nothing to say.
void MemoryPage::addGpuCard(QVBoxLayout* column) {
    m_gpuCard = new Card(tr("GPU"), tr("when each lane's last repetition ended"), this);
    m_gpuCard->setObjectName(QStringLiteral("gpuCard"));
    std::vector<RowsModel::Header> headers = {
        {tr("Lane")},
        {tr("Device"), {}, true},
        {tr("Allocated"), tr("Handed out to tensors of this program")},
        {tr("Peak"), tr("Most that was handed out since the repetition began")},
        {tr("Reserved"), tr("Taken from the driver, to hand out")},
        {tr("GPU used"), tr("Of the whole GPU, by all programs, as its driver says")},
        {tr("Before"), tr("What was used before anything of the run was loaded")}};
    std::vector<PlainTable::Column> columns = {{1.4, QStringLiteral("■ static+cuda:0")},
                                               {1.0, QStringLiteral("cuda:0")}};
    for (std::size_t owner = 0; owner < n_owner; ++owner)
        headers.push_back(
            {engineWord(to_string(static_cast<Owner>(owner))), tr("Live bytes of these tensors on the GPU")});
    while (columns.size() < headers.size()) columns.push_back({1.0, QStringLiteral("88.8 MiB")});
    m_gpus = new RowsModel(std::move(headers), this);
    PlainTable::inCard(m_gpuCard, m_gpus, "gpuTable", tr("GPU memory of each lane"), std::move(columns));
    m_gpuCard->hide();
    column->addWidget(m_gpuCard);
}

void MemoryPage::updateGpus() {
    const Record& record = m_data.record();
    std::vector<std::vector<RowsModel::Cell>> rows;
    for (std::size_t i = 0; i < record.lanes.size(); ++i) {
        const LaneRecord& lane = record.lanes[i];
        if (!lane.gpu_memory) continue;
        const GpuMemoryUse& use = *lane.gpu_memory;
        auto& row = rows.emplace_back();
        row.push_back({QString::fromStdString(lane.spec.name), {}, {}, static_cast<int>(i)});
        row.push_back({QString::fromStdString(record.experiment.device_of(lane.spec).name())});
        for (const std::int64_t bytes :
             {use.allocated, use.peak_allocated, use.reserved, use.device_used, use.baseline_used})
            row.push_back({bytesText(bytes)});
        for (const std::uint64_t bytes : use.owners) row.push_back({formatBytes(static_cast<double>(bytes))});
    }
    m_gpuCard->setVisible(!rows.empty());
    m_gpus->setRows(std::move(rows));
}

void MemoryPage::addPeaksRow(QVBoxLayout* column) {
    auto* row = new QHBoxLayout;
    m_peaks = mutedLabel(QString(), this);
    m_peaks->setObjectName(QStringLiteral("memoryPeaks"));
    m_peaks->setAccessibleName(tr("Peaks"));
    m_peaks->setToolTip(definitionOf("memory_peak"));
    m_peaks->setWordWrap(true);
    m_peaks->setTextInteractionFlags(Qt::TextSelectableByMouse);
    row->addWidget(m_peaks, 1);
    auto* group = new QActionGroup(this);
    const auto addScale = [&](const QString& text, const char* name, const QString& help, Qt::Key key,
                              MemoryScale scale) {
        auto* action = new QAction(text, group);
        action->setObjectName(QLatin1String(name));
        action->setCheckable(true);
        action->setChecked(scale == m_scale);
        action->setShortcut(key);
        action->setShortcutContext(Qt::WidgetWithChildrenShortcut);
        action->setToolTip(help);
        addAction(action);
        connect(action, &QAction::triggered, this, [this, scale] { setScale(scale); });
        auto* button = new BarButton(action, BarButton::Look::tab, BarButton::Symbol::none, this);
        button->setObjectName(QLatin1String(name) + QStringLiteral("Button"));
        row->addWidget(button);
        return action;
    };
    m_bytesAction = addScale(tr("Bytes"), "memoryBytes", tr("Show the memory chart in bytes (B)"), Qt::Key_B,
                             MemoryScale::bytes);
    m_shareAction =
        addScale(tr("Share"), "memoryShare",
                 tr("Show the memory chart as shares of the resident memory at the same moment (P)"),
                 Qt::Key_P, MemoryScale::share);
    column->addLayout(row);
}

std::vector<Chart*> MemoryPage::charts() const {
    return {m_chart, m_allocator, m_pageFaults, m_copied};
}

void MemoryPage::setScale(MemoryScale scale) {
    (scale == MemoryScale::bytes ? m_bytesAction : m_shareAction)->setChecked(true);
    if (scale == m_scale) return;
    m_scale = scale;
    m_setUp = false;
    refreshIfVisible();
}

void MemoryPage::reset() {
    m_setUp = false;
    if (m_data.isLive())
        m_series.clear();
    else
        m_series.setRecord(m_data.record());
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
    updateCharts();
    if (!m_data.isLive() || !m_sinceFigures.isValid() || m_sinceFigures.hasExpired(figuresIntervalMs)) {
        updateFigures();
        m_sinceFigures.restart();
    }
    for (Chart* chart : charts()) chart->flush();
}

void MemoryPage::setUpCharts() {
    if (m_setUp) {  // thinned: the same series with other points
        for (LineChart* chart : {m_chart, m_allocator, m_pageFaults, m_copied}) chart->clear();
    } else {
        setUpMemoryChart(*m_chart, m_scale);
        setUpAllocatorChart(*m_allocator);
        setUpPageFaultsChart(*m_pageFaults);
        setUpCopiedChart(*m_copied, m_data.record());
    }
    m_setUp = true;
    m_drawnGeneration = m_series.generation();
    m_drawn = 0;
    m_copying = false;
}

void MemoryPage::updateCharts() {
    if (!m_setUp || m_drawnGeneration != m_series.generation()) setUpCharts();
    const auto& samples = m_series.samples();
    const Record& record = m_data.record();
    const bool copied = std::any_of(samples.begin() + static_cast<std::ptrdiff_t>(m_drawn), samples.end(),
                                    [](const MemorySample& sample) { return sample.kv_copied > 0; });
    for (std::size_t i = m_copying ? m_drawn : 0; (copied || m_copying) && i < samples.size(); ++i)
        appendCopied(*m_copied, samples[i], record);
    m_copying = m_copying || copied;
    for (; m_drawn < samples.size(); ++m_drawn) {
        appendMemory(*m_chart, samples[m_drawn], m_scale);
        appendAllocator(*m_allocator, samples[m_drawn]);
        appendPageFaults(*m_pageFaults, samples[m_drawn], m_series.faultsBefore());
    }
    markPeaks(*m_chart, m_series.peaks(), m_scale);
}

void MemoryPage::updateFigures() {
    m_caches->setRecord(m_data.record());
    updateGpus();
    m_peaks->setText(peaksInWords(m_series.peaks(), m_data.record()));
    const Figure all[] = {m_rss, m_tensors, m_unaccounted, m_heapInUse, m_heapFree, m_heapMapped, m_faults};
    const MemorySample* now = m_series.newest();
    if (now == nullptr) {
        for (const Figure& figure : all) figure.value->setText(QStringLiteral("–"));
        m_peaks->setText(tr("The peaks of a run appear here."));
        return;
    }
    m_rss.value->setText(bytesText(now->memory.rss));
    m_tensors.value->setText(formatBytes(static_cast<double>(now->tensor_total())));
    m_heapInUse.value->setText(bytesText(now->memory.heap_in_use));
    m_heapFree.value->setText(bytesText(now->memory.heap_free));
    m_heapMapped.value->setText(bytesText(now->memory.heap_mapped));
    const auto unaccounted = now->unaccounted();
    m_unaccounted.value->setText(unaccounted ? formatValue(static_cast<double>(*unaccounted), Unit::bytes)
                                             : notMeasured());
    const std::int64_t faults = m_series.minorFaults();
    m_faults.value->setText(faults < 0 ? notMeasured() : formatCount(faults));
}

void MemoryPage::showEvent(QShowEvent* event) {
    QWidget::showEvent(event);
    if (m_stale) catchUp();
}

}  // namespace decodescope
