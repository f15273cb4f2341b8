// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/inside/inside_views.h"

#include <QComboBox>
#include <QGridLayout>
#include <QStackedWidget>

#include "ui/chart/format.h"
#include "ui/theme/card.h"
#include "ui/widgets/labels.h"

namespace decodescope {

namespace {

template <class Type>
Type* make(const char* name, const QString& title, const char* exportName, const QString& definition,
           QWidget* parent) {
    auto* chart = new Type(parent);
    chart->setObjectName(QLatin1String(name));
    chart->setTitle(title);
    chart->setExportName(QLatin1String(exportName));
    chart->setDefinition(definition);
    return chart;
}

}  // namespace

InsideViews::InsideViews(QWidget* parent) : QWidget(parent) {
    const CardMetrics metrics(font());
    m_mask = make<CellGrid>("maskGrid", tr("Who sees whom"), "attention_mask",
                            tr("One line per token that this call computes, one column per key it could "
                               "read. A query sees a key when "
                               "its position is not later, the key is neither padding nor an empty slot, and "
                               "it is inside the window. "
                               "Rows of a batch stand below each other."),
                            this);
    m_mask->setNames(tr("query"), tr("key"));
    m_mask->setMaxCellSize(2.2, 2.2);
    m_attention = new QStackedWidget(this);
    m_weights =
        make<HeatMap>("weightMap", tr("Attention weights"), "attention_weights",
                      tr("How much each query looks at each key, in one head of one layer: the softmax over "
                         "the keys it sees. Every line adds up to 1."),
                      m_attention);
    m_weights->setNames(tr("query"), tr("key"));
    m_weights->setValueName(tr("weight"));
    m_weights->setMaxCellSize(2.2, 2.2);
    m_heads = make<SmallMultiples>(
        "headTiles", tr("Attention weights"), "attention_heads",
        tr("The same for every head of the layer. Where there are more than 64 queries or "
           "keys, each cell shows the largest weight of those it stands for."),
        m_attention);
    m_attention->addWidget(m_weights);
    m_attention->addWidget(m_heads);
    m_positions =
        make<CellGrid>("positionGrid", tr("Position ids"), "position_ids",
                       tr("The position id that each key was made with, or its query used. Where it is not "
                          "the place of the token in its text, that is written below."),
                       this);
    m_positions->setNames(tr("row"), tr("key"));
    m_positions->setSubtitle(tr("used, with the expected one below where it differs"));
    m_positions->setMaxCellSize(2.4, 1.7);
    m_cache = make<CellGrid>(
        "cacheGrid", tr("Cache cells"), "cache_cells",
        tr("Every slot of the cache after this call, block by block where it has blocks: whose "
           "token it holds, how long, and in what form."),
        this);
    m_cache->setNames(tr("row"), tr("slot"));
    m_cache->setMaxCellSize(2.4, 1.7);
    m_label = new QComboBox(m_cache);
    m_label->setObjectName(QStringLiteral("cacheLabel"));
    m_label->setAccessibleName(tr("What is written into the cache cells"));
    m_label->setToolTip(tr("What is written into the cells"));
    m_label->addItems({tr("age in steps"), tr("position"), tr("block"), tr("bits")});
    guardWheel(m_label);
    m_times = make<BarChart>(
        "layerTimes", tr("Time per layer"), "time_per_layer",
        tr("Where the time of this step goes: from another pass with time stamps inside, so that "
           "its total is not the measured one."),
        this);
    m_grid = new QGridLayout(this);
    m_grid->setContentsMargins(0, 0, 0, 0);
    m_grid->setSpacing(metrics.spacing);
    m_grid->addWidget(m_mask, 0, 0, 1, 3);
    m_grid->addWidget(m_attention, 0, 3, 1, 3);
    m_grid->addWidget(m_positions, 1, 0, 1, 2);
    m_grid->addWidget(m_cache, 1, 2, 1, 2);
    m_grid->addWidget(m_times, 1, 4, 1, 2);
    for (int column = 0; column < 6; ++column) m_grid->setColumnStretch(column, 1);
    m_grid->setRowStretch(0, 5);
    m_grid->setRowStretch(1, 4);

    connectGrid(m_mask, From::mask);
    connectGrid(m_weights, From::mask);
    connectGrid(m_positions, From::positions);
    connectGrid(m_cache, From::cache);
    connect(m_heads, &SmallMultiples::picked, this, &InsideViews::headPicked);
    connect(m_times, &BarChart::barClicked, this, [this](int bar) {
        if (bar < static_cast<int>(m_times->bars().size()) - 2) emit layerPicked(bar);
    });
    connect(m_label, &QComboBox::currentIndexChanged, this, [this] {
        fillRoom();
        flush();
    });
    clear({});
}

std::vector<Chart*> InsideViews::charts() const {
    return {m_mask, m_weights, m_heads, m_positions, m_cache, m_times};
}

void InsideViews::clear(const QString& why) {
    m_words.reset();
    m_step.reset();
    m_chosen = {};
    for (Chart* chart : charts()) chart->setEmptyText(why);
    for (CellGrid* grid : {m_mask, m_positions, m_cache}) grid->setCells(0, 0, {});
    m_weights->setValues(0, 0, {});
    m_weights->setNote({});
    m_heads->setTiles({});
    m_mask->setSubtitle({});
    m_mask->setNote({});
    m_weights->setSubtitle({});
    m_cache->setSubtitle({});
    m_label->hide();
    showTimes(nullptr, why);
    flush();
}

void InsideViews::showStep(std::shared_ptr<const StepView> step, std::shared_ptr<const Tokenizer> tokenizer) {
    m_words.reset();
    m_step = std::move(step);
    m_tokenizer = std::move(tokenizer);
    m_words = std::make_unique<StepWords>(*m_step, m_tokenizer.get());
    const CallView& view = m_step->view;
    fillMask(*m_mask, *m_step);
    m_mask->setSubtitle(m_words->heading());
    m_mask->setNote(m_words->keys());
    m_mask->setEmptyText(view.error.empty() ? tr("Nothing was computed")
                                            : QString::fromStdString(view.error));
    m_weights->setEmptyText(m_mask->emptyText());
    fillWeights(*m_weights, *m_step);
    fillHeads(*m_heads, *m_step);
    const bool all = !m_step->heads.empty();
    m_attention->setCurrentWidget(all ? static_cast<QWidget*>(m_heads) : m_weights);
    if (m_step->weights) {
        m_weights->setSubtitle(tr("layer %1, head %2").arg(m_step->layer).arg(m_step->weights->head));
        m_heads->setSubtitle(tr("all heads of layer %1 · 0 to %2")
                                 .arg(m_step->layer)
                                 .arg(formatNumber(static_cast<double>(m_heads->scaleHigh()), 2)));
        m_heads->setCurrent(m_step->weights->head);
    }
    m_cache->setEmptyText(view.cached ? m_mask->emptyText() : tr("This lane keeps no cache"));
    QStringList form{QString::fromLatin1(to_string(view.cache.kind))};
    if (!view.blocks.empty()) form << tr("blocks of %1").arg(view.cache.block);
    form << formatBytes(static_cast<double>(view.bytes.live)) + tr(" live");
    std::int64_t forgotten = 0;
    for (const RowView& row : view.rows) forgotten += row.forgotten;
    if (forgotten > 0) form << tr("%1 forgotten").arg(formatCount(forgotten));
    m_cache->setSubtitle(view.cached ? form.join(QStringLiteral(" · ")) : QString());
    m_label->setVisible(view.cached);
    // A square wants height; a line or two leave it to the views below.
    const int n_line = view.plan.n_query();
    const CardMetrics metrics(font());
    const bool flat = n_line <= 4 && !all && view.error.empty();
    const int height = qRound(metrics.line * (6 + 2.2 * n_line)) + 4 * metrics.padding;
    m_mask->setMaximumHeight(flat ? height : QWIDGETSIZE_MAX);
    m_attention->setMaximumHeight(flat ? height : QWIDGETSIZE_MAX);
    m_grid->activate();
    fillRoom();
    if (m_chosen.key.row >= static_cast<int>(view.rows.size()) || m_chosen.line >= view.plan.n_query() ||
        m_chosen.key.key >= view.plan.max_slot())
        m_chosen = {};
    mark(m_chosen, nullptr);
    emit said(sentenceOf(m_chosen, m_chosenFrom), m_chosen.line >= 0);
    flush();
}

void InsideViews::showTimes(const TimeSplit* split, const QString& why) {
    m_times->setEmptyText(why);
    if (split == nullptr) {
        m_times->setBars({});
        m_times->setParts({});
        m_times->setSubtitle({});
    } else {
        fillTimes(*m_times, *split, m_step ? m_step->layer : -1);
        m_times->setSubtitle(
            tr("%1 in an instrumented pass").arg(formatDuration(static_cast<double>(split->total_ns))));
    }
    m_times->flush();
}

void InsideViews::fillRoom() {
    if (!m_step) return;
    const CardMetrics metrics(font());
    const auto room = [&](const QWidget* grid, double lines) {
        // Title, numbers, legend and its wrapped line take their share of the height.
        return QSize(static_cast<int>((grid->width() - 4 * metrics.padding) / (metrics.line * lines)),
                     static_cast<int>((grid->height() - 6.5 * metrics.line) / (metrics.line * 1.1)));
    };
    m_positionPlaces = fillPositions(*m_positions, *m_step, room(m_positions, 1.7));
    m_cachePlaces =
        fillCache(*m_cache, *m_step, static_cast<CacheLabel>(m_label->currentIndex()), room(m_cache, 1.7));
    m_label->adjustSize();
    m_label->move(m_cache->width() - m_label->width() - metrics.padding / 2,
                  m_cache->height() - m_label->height() - metrics.padding / 2);
}

void InsideViews::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    m_grid->activate();
    fillRoom();
    mark(m_chosen, nullptr);
    flush();
}

void InsideViews::flush() {
    for (Chart* chart : charts()) chart->flush();
}

QString InsideViews::restingSentence() const {
    if (!m_words) return {};
    if (!m_step->view.error.empty()) return QString::fromStdString(m_step->view.error);
    return m_words->summary();
}

void InsideViews::connectGrid(MatrixChart* chart, From from) {
    connect(chart, &MatrixChart::cellHovered, this,
            [this, chart, from](int row, int column) { point(chart, from, row, column, false); });
    connect(chart, &MatrixChart::cellSelected, this,
            [this, chart, from](int row, int column) { point(chart, from, row, column, true); });
    chart->setCellDescriber([this, chart, from](int row, int column) {
        const Selection here = selectionAt(chart, from, row, column);
        return here.key.row < 0 ? QString() : sentenceOf(here, from);
    });
}

InsideViews::Selection InsideViews::selectionAt(const MatrixChart* chart, From from, int row,
                                                int column) const {
    if (!m_step || row < 0 || column < 0) return {};
    if (from == From::mask) {
        const bool reduced = chart == m_weights && m_step->weights;
        const int line = reduced ? row * m_step->weights->query_bin : row;
        const int key = reduced ? column * m_step->weights->key_bin : column;
        const QueryPlace place = queryAt(m_step->view, line);
        return place.row < 0 ? Selection{} : Selection{line, {place.row, key}};
    }
    const KeyPlace place = (from == From::positions ? m_positionPlaces : m_cachePlaces).at(row, column);
    if (place.row < 0) return {};
    return {lineOf(m_step->view, {place.row, queryOfKey(m_step->view, place.row, place.key)}), place};
}

QString InsideViews::sentenceOf(const Selection& selection, From from) const {
    if (!m_words || selection.key.row < 0) return restingSentence();
    switch (from) {
        case From::mask: return m_words->cell(selection.line, selection.key.key);
        case From::positions: return m_words->position(selection.key.row, selection.key.key);
        case From::cache: return m_words->storage(selection.key.row, selection.key.key);
    }
    return {};
}

void InsideViews::point(const MatrixChart* chart, From from, int row, int column, bool choose) {
    Selection here = selectionAt(chart, from, row, column);
    if (choose) {
        // A second click lets go.
        if (here == m_chosen && from == m_chosenFrom) here = {};
        m_chosen = here;
        m_chosenFrom = from;
    }
    const bool any = here.key.row >= 0;
    const Selection& shown = any ? here : m_chosen;
    mark(shown, any && !choose ? chart : nullptr);
    emit said(sentenceOf(shown, any ? from : m_chosenFrom), shown.key.row >= 0);
    flush();
}

void InsideViews::mark(const Selection& selection, const QWidget* except) {
    const bool any = selection.key.row >= 0;
    const auto set = [&](MatrixChart* chart, std::optional<QPoint> cell) {
        if (chart == except) return;
        chart->setSelectedCell(any && cell ? cell->y() : -1, any && cell ? cell->x() : -1);
    };
    set(m_mask, QPoint(selection.key.key, selection.line));
    if (m_step && m_step->weights) {
        const WeightMatrix& weights = *m_step->weights;
        set(m_weights, QPoint(selection.key.key / weights.key_bin, selection.line / weights.query_bin));
    }
    set(m_positions, m_positionPlaces.find(selection.key));
    set(m_cache, m_cachePlaces.find(selection.key));
}

}  // namespace decodescope
