// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/inside/step_grids.h"

#include <algorithm>
#include <array>

#include "engine/core/as_index.h"
#include "ui/inside/step_words.h"
#include "ui/text.h"

namespace decodescope {

namespace {

// Texts of larger grids cannot be read anyway.
constexpr auto mostTexts = std::size_t{20'000};
constexpr int n_request_color = 8;

/// Names of the lines of the query x key matrix.
QStringList queryLabels(const CallView& view) {
    const bool single = view.rows.size() == 1;
    const bool one_each = std::all_of(view.rows.begin(), view.rows.end(),
                                      [](const RowView& row) { return row.queries.size() <= 1; });
    QStringList labels;
    for (std::size_t b = 0; b < view.rows.size(); ++b) {
        for (const QueryView& query : view.rows[b].queries) {
            const QString position = query.expected < 0 ? tr("pad") : QString::number(query.expected);
            labels << (single     ? position
                       : one_each ? tr("row %1").arg(b)
                                  : QStringLiteral("%1 · %2").arg(b).arg(position));
        }
    }
    return labels;
}

QVector<int> rowSeparators(const CallView& view) {
    QVector<int> lines;
    for (int b = 1; b < view.plan.batch(); ++b) {
        if (view.plan.n_query() > view.plan.batch()) lines << view.plan.first_query(b);
    }
    return lines;
}

/// Where the call's own keys begin, if that is the same in every row.
QVector<int> firstOfCall(const CallView& view) {
    int first = -1;
    for (const RowView& row : view.rows) {
        if (row.queries.empty()) continue;
        const auto own =
            std::find_if(row.keys.begin(), row.keys.end(), [](const SlotView& key) { return key.from_call; });
        const bool to_the_end =
            std::all_of(own, row.keys.end(), [](const SlotView& key) { return key.from_call; });
        const auto here = static_cast<int>(own - row.keys.begin());
        if (!to_the_end || (first >= 0 && here != first)) return {};
        first = here;
    }
    return first > 0 && view.cached ? QVector<int>{first} : QVector<int>();
}

/// One line per row, or a single row in reading order, as many in a line as fit.
KeyPlaces placesOf(const CallView& view, const QSize& room) {
    std::size_t most = 1;
    for (const RowView& row : view.rows) most = std::max(most, row.keys.size());
    if (view.rows.size() != 1) {
        KeyPlaces places(static_cast<int>(view.rows.size()), static_cast<int>(most));
        for (std::size_t b = 0; b < view.rows.size(); ++b) {
            for (std::size_t key = 0; key < view.rows[b].keys.size(); ++key)
                places[b * most + key] = {static_cast<int>(b), static_cast<int>(key)};
        }
        return places;
    }
    // Where there are too many for their texts anyway, narrow cells look better than flat ones.
    const int lines = std::max(1, room.height());
    const int needed = (static_cast<int>(most) + lines - 1) / lines;
    const int columns = std::clamp(std::max(room.width(), needed) / 4 * 4, 8, 64);
    KeyPlaces places((static_cast<int>(most) + columns - 1) / columns, columns);
    for (std::size_t key = 0; key < view.rows[0].keys.size(); ++key) places[key] = {0, static_cast<int>(key)};
    return places;
}

QStringList lineLabels(const CallView& view, const KeyPlaces& places) {
    QStringList labels;
    for (int row = 0; row < places.rows(); ++row)
        labels << (view.rows.size() == 1 ? QString::number(row * places.columns()) : tr("row %1").arg(row));
    return labels;
}

}  // namespace

KeyPlace KeyPlaces::at(int row, int column) const {
    if (row < 0 || column < 0 || row >= m_rows || column >= m_columns) return {};
    return m_places[as_index(std::int64_t{row} * m_columns + column)];
}

std::optional<QPoint> KeyPlaces::find(KeyPlace place) const {
    const auto found = std::find_if(m_places.begin(), m_places.end(), [&](const KeyPlace& here) {
        return here.row == place.row && here.key == place.key;
    });
    if (found == m_places.end() || place.row < 0) return std::nullopt;
    const auto cell = static_cast<int>(found - m_places.begin());
    return QPoint(cell % m_columns, cell / m_columns);
}

void fillMask(CellGrid& grid, const StepView& step) {
    const CallView& view = step.view;
    const int rows = view.plan.n_query();
    const int columns = view.plan.max_slot();
    std::array<bool, n_mask_cell + 1> occurs{};
    for (const std::uint8_t cell : step.mask) occurs[cell] = true;
    // Only what occurs stands in the legend; where cells share a pixel, faults and what is seen win.
    constexpr std::array<int, n_mask_cell> ranks = {5, 2, 4, 3, 1, 7, 6};
    std::vector<CellKind> kinds;
    for (int i = 0; i < n_mask_cell; ++i) {
        const auto cell = static_cast<MaskCell>(i);
        const ColorRef color = cell == MaskCell::wrongly_seen     ? ColorRef{ColorRef::Role::bad, 0}
                               : cell == MaskCell::wrongly_hidden ? ColorRef{ColorRef::Role::warn, 0}
                                                                  : ColorRef::cell(as_index(i));
        kinds.push_back({engineWord(to_string(cell)), color, occurs[as_index(i)], ranks[as_index(i)]});
    }
    kinds.push_back(
        {tr("no such key"), ColorRef::cell(as_index(static_cast<int>(CellState::empty))), false, 0});
    grid.setKinds(kinds);
    grid.setCells(rows, columns, step.mask);
    grid.setRowLabels(queryLabels(view));
    grid.setRowSeparators(rowSeparators(view));
    grid.setColumnSeparators(firstOfCall(view));
}

void fillWeights(HeatMap& map, const StepView& step) {
    if (!step.weights) {
        map.setValues(0, 0, {});
        return;
    }
    const WeightMatrix& weights = *step.weights;
    map.setValues(weights.rows(), weights.columns(), weights.values);
    const bool whole = weights.query_bin == 1 && weights.key_bin == 1;
    map.setRowLabels(whole ? queryLabels(step.view) : QStringList());
    map.setRowSeparators(whole ? rowSeparators(step.view) : QVector<int>());
    map.setColumnSeparators(whole ? firstOfCall(step.view) : QVector<int>());
    map.setNote(whole ? QString()
                      : tr("each cell shows the largest of %1 × %2 weights")
                            .arg(weights.query_bin)
                            .arg(weights.key_bin));
}

void fillHeads(SmallMultiples& tiles, const StepView& step) {
    std::vector<SmallMultiples::Tile> list;
    for (const WeightMatrix& head : step.heads)
        list.push_back({tr("head %1").arg(head.head), head.rows(), head.columns(), head.values});
    tiles.setTiles(std::move(list));
}

KeyPlaces fillPositions(CellGrid& grid, const StepView& step, const QSize& room) {
    const CallView& view = step.view;
    KeyPlaces places = placesOf(view, room);
    enum : std::uint8_t { cached, fresh, pad, empty, blank };
    std::vector<std::uint8_t> kinds(places.size(), blank);
    std::array<bool, 5> occurs{};
    const bool written = places.size() <= mostTexts;
    std::vector<QString> used(written ? places.size() : 0);
    std::vector<QString> expected(used.size());
    for (std::size_t i = 0; i < places.size(); ++i) {
        const KeyPlace place = places[i];
        if (place.row < 0) continue;
        const RowView& row = view.rows[as_index(place.row)];
        const SlotView& key = row.keys[as_index(place.key)];
        kinds[i] = key.position == slot_padding ? pad
                   : key.position < 0           ? empty
                   : key.from_call              ? fresh
                                                : cached;
        occurs[kinds[i]] = true;
        if (!written || key.position < 0) continue;
        used[i] = QString::number(key.used);
        if (key.expected >= 0 && key.used != key.expected) expected[i] = QString::number(key.expected);
        // A query may be at another position than its key.
        const int q = key.from_call ? queryOfKey(view, place.row, place.key) : -1;
        if (q >= 0 && row.queries[as_index(q)].used >= 0 &&
            row.queries[as_index(q)].used != row.queries[as_index(q)].expected) {
            used[i] = QString::number(row.queries[as_index(q)].used);
            expected[i] = QString::number(row.queries[as_index(q)].expected);
        }
    }
    const auto cell = [](CellState state) { return ColorRef::cell(static_cast<std::size_t>(state)); };
    grid.setKinds({{tr("key from the cache"), ColorRef{ColorRef::Role::accent_soft, 0}, occurs[cached], 1},
                   {tr("key and query of this call"), cell(CellState::visible), occurs[fresh], 3},
                   {tr("padding"), cell(CellState::padding), occurs[pad], 2},
                   {tr("empty slot"), cell(CellState::empty), occurs[empty], 0},
                   {QString(), cell(CellState::empty), false, -1}});
    grid.setCells(places.rows(), places.columns(), kinds);
    grid.setTexts(std::move(used), std::move(expected));
    grid.setRowLabels(lineLabels(view, places));
    return places;
}

namespace {

/// Blocks of a pool side by side, `room` cells in a line.
KeyPlaces placesOfBlocks(const CallView& view, const QSize& room, std::vector<int>& blockOf) {
    const int block = std::max(1, view.cache.block);
    // Many blocks get narrow cells rather than flat ones.
    const int most_lines = std::max(1, room.height());
    const auto n = static_cast<int>(view.blocks.size());
    const int per_line = std::clamp(room.width() / block, std::max(1, (n + most_lines - 1) / most_lines), n);
    const int lines = (n + per_line - 1) / per_line;
    KeyPlaces places(lines, per_line * block);
    blockOf.assign(places.size(), -1);
    const auto cell_of = [&](int number, int offset) {
        return as_index(std::int64_t{number / per_line} * places.columns() + number % per_line * block +
                        offset);
    };
    for (int number = 0; number < static_cast<int>(view.blocks.size()); ++number) {
        for (int offset = 0; offset < block; ++offset) blockOf[cell_of(number, offset)] = number;
    }
    for (std::size_t b = 0; b < view.rows.size(); ++b) {
        for (std::size_t key = 0; key < view.rows[b].keys.size(); ++key) {
            const int number = view.rows[b].keys[key].block;
            if (number < 0) continue;
            KeyPlace& place = places[cell_of(number, static_cast<int>(key) % block)];
            if (place.row < 0) place = {static_cast<int>(b), static_cast<int>(key)};
        }
    }
    return places;
}

QString labelOf(const SlotView& key, CacheLabel label, int step) {
    switch (label) {
        case CacheLabel::age: return key.step < 0 ? QStringLiteral("·") : QString::number(step - key.step);
        case CacheLabel::position: return QString::number(key.expected);
        case CacheLabel::block: return key.block < 0 ? QString() : QString::number(key.block);
        case CacheLabel::bits: return key.bits == 0 ? QString() : QString::number(key.bits);
    }
    return {};
}

}  // namespace

KeyPlaces fillCache(CellGrid& grid, const StepView& step, CacheLabel label, const QSize& room) {
    const CallView& view = step.view;
    if (!view.cached) {
        grid.setCells(0, 0, {});
        return {};
    }
    std::vector<int> blockOf;
    const bool blocks = !view.blocks.empty();
    KeyPlaces places = blocks ? placesOfBlocks(view, room, blockOf) : placesOf(view, room);
    enum : std::uint8_t { pad = n_request_color, slack, free_block, shared, evicted, blank };
    std::vector<std::uint8_t> kinds(places.size(), blank);
    std::array<bool, blank + 1> occurs{};
    const bool written = places.size() <= mostTexts;
    std::vector<QString> labels(written ? places.size() : 0);
    for (std::size_t i = 0; i < places.size(); ++i) {
        const KeyPlace place = places[i];
        if (place.row < 0) {
            if (blocks && blockOf[i] >= 0)
                kinds[i] = view.blocks[as_index(blockOf[i])].references > 0 ? slack : free_block;
            occurs[kinds[i]] = true;
            continue;
        }
        const SlotView& key = view.rows[as_index(place.row)].keys[as_index(place.key)];
        const bool is_shared = key.block >= 0 && view.blocks[as_index(key.block)].references > 1;
        const auto owner = static_cast<std::uint8_t>(std::max(0, key.request) % n_request_color);
        kinds[i] = owner;
        if (key.position == slot_padding)
            kinds[i] = pad;
        else if (key.position < 0)
            kinds[i] = slack;
        else if (key.evicted)
            kinds[i] = evicted;
        else if (is_shared)
            kinds[i] = shared;
        occurs[kinds[i]] = true;
        if (written && key.position >= 0) labels[i] = labelOf(key, label, step.step);
    }
    std::vector<CellKind> list;
    for (int i = 0; i < n_request_color; ++i)
        list.push_back(
            {tr("request %1").arg(StepWords::request(i)), ColorRef::lane(i + 1), occurs[as_index(i)], 4});
    const auto cell = [](CellState state) { return ColorRef::cell(static_cast<std::size_t>(state)); };
    list.push_back({tr("padding"), cell(CellState::padding), occurs[pad], 3});
    list.push_back({tr("empty slot"), cell(CellState::future), occurs[slack], 1});
    list.push_back({tr("free block"), cell(CellState::empty), occurs[free_block], 0});
    list.push_back({tr("shared prefix"), ColorRef{ColorRef::Role::good, 0}, occurs[shared], 6});
    list.push_back({tr("forgotten after this call"), cell(CellState::outside_window), occurs[evicted], 5});
    list.push_back({QString(), cell(CellState::empty), false, -1});
    grid.setKinds(list);
    grid.setCells(places.rows(), places.columns(), kinds);
    grid.setTexts(std::move(labels));
    QVector<int> separators;
    if (blocks) {
        QStringList lines;
        const int per_line = places.columns() / std::max(1, view.cache.block);
        for (int row = 0; row < places.rows(); ++row) lines << QString::number(row * per_line);
        grid.setRowLabels(lines);
        for (int i = 1; i < per_line; ++i) separators << i * view.cache.block;
    } else {
        grid.setRowLabels(lineLabels(view, places));
    }
    grid.setColumnSeparators(separators);
    return places;
}

void fillTimes(BarChart& chart, const TimeSplit& split, int layer) {
    chart.setParts({{tr("attention"), ColorRef::lane(1)},
                    {tr("MLP"), ColorRef::lane(0)},
                    {tr("head"), ColorRef::lane(4)},
                    {tr("other"), ColorRef{ColorRef::Role::muted, 0}}});
    std::vector<BarChart::Bar> bars;
    const auto ns = [](std::int64_t value) { return static_cast<double>(value); };
    for (std::size_t i = 0; i < split.layers.size(); ++i) {
        const LayerTime& time = split.layers[i];
        bars.push_back({tr("layer %1").arg(i),
                        {ns(time.attention_ns), ns(time.mlp_ns), 0, ns(time.other_ns)},
                        static_cast<int>(i) == layer});
    }
    bars.push_back({tr("head"), {0, 0, ns(split.head_ns), 0}, false});
    bars.push_back({tr("other"), {0, 0, 0, ns(split.other_ns)}, false});
    chart.setBars(std::move(bars));
}

}  // namespace decodescope
