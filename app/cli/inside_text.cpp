// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/inside_text.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cmath>

#include "app/cli/document_text.h"
#include "engine/core/as_index.h"
#include "engine/experiment/text_table.h"

namespace decodescope::cli {

namespace {

using Json = nlohmann::ordered_json;

// Letters of mask cells, in the order of `MaskCell`.
constexpr std::string_view cellLetters = "vfpwe+-";

/// Null for what is not known or does not exist.
Json knownOrNull(std::int64_t value) {
    return value < 0 ? Json() : Json(value);
}

Json weightsJson(const WeightMatrix& weights) {
    Json rows = Json::array();
    for (int row = 0; row < weights.rows(); ++row) {
        Json line = Json::array();
        for (int column = 0; column < weights.columns(); ++column) {
            const float weight = weights.values[as_index(std::int64_t{row} * weights.columns() + column)];
            line.push_back(std::isnan(weight) ? Json() : Json(weight));
        }
        rows.push_back(std::move(line));
    }
    return {{"head", weights.head},
            {"query_bin", weights.query_bin},
            {"key_bin", weights.key_bin},
            {"weights", std::move(rows)}};
}

Json rowJson(const CallView& view, int b) {
    const RowView& row = view.rows[as_index(b)];
    Json queries = Json::array();
    for (int q = 0; q < static_cast<int>(row.queries.size()); ++q) {
        const QueryView& query = row.queries[as_index(q)];
        Json json = {{"token", query.token},
                     {"expected", knownOrNull(query.expected)},
                     {"used", knownOrNull(query.used)},
                     {"pad", query.expected == slot_padding}};
        if (b < view.plan.batch() && q < view.plan.n_query(b)) {
            std::string mask;
            for (int slot = 0; slot < view.plan.n_slot(b); ++slot)
                mask += cellLetters[static_cast<std::size_t>(view.cell(b, q, slot))];
            json["sees"] = view.n_seen(b, q);
            json["mask"] = mask;
        }
        queries.push_back(std::move(json));
    }
    Json keys = Json::array();
    for (const SlotView& slot : row.keys) {
        keys.push_back({{"holds", slot.position == slot_padding ? "padding"
                                  : slot.position == slot_empty ? "nothing"
                                                                : "key"},
                        {"expected", knownOrNull(slot.expected)},
                        {"used", knownOrNull(slot.used)},
                        {"token", knownOrNull(slot.token)},
                        {"request", knownOrNull(slot.request)},
                        {"stored_in_step", knownOrNull(slot.step)},
                        {"block", knownOrNull(slot.block)},
                        {"bits", slot.bits == 0 ? Json() : Json(slot.bits)},
                        {"from_call", slot.from_call},
                        {"evicted", slot.evicted}});
    }
    return {{"request", knownOrNull(row.request)},
            {"forgotten", row.forgotten},
            {"queries", std::move(queries)},
            {"keys", std::move(keys)}};
}

Json cacheJson(const CallView& view) {
    if (!view.cached) return {};
    Json blocks = Json::array();
    for (const BlockView& block : view.blocks)
        blocks.push_back({{"references", block.references}, {"rows", block.rows}});
    return {
        {"kind", to_string(view.cache.kind)}, {"capacity", view.capacity == 0 ? Json() : Json(view.capacity)},
        {"live_bytes", view.bytes.live},      {"padding_bytes", view.bytes.padding},
        {"slack_bytes", view.bytes.slack},    {"kept_bytes", view.bytes.kept},
        {"shared_bytes", view.bytes.shared},  {"reserved_bytes", view.bytes.reserved},
        {"blocks", std::move(blocks)}};
}

Json timesJson(const TimeSplit& times) {
    Json layers = Json::array();
    for (std::size_t i = 0; i < times.layers.size(); ++i) {
        const LayerTime& layer = times.layers[i];
        layers.push_back({{"layer", i},
                          {"attention_ns", layer.attention_ns},
                          {"mlp_ns", layer.mlp_ns},
                          {"other_ns", layer.other_ns}});
    }
    return {{"total_ns", times.total_ns},
            {"head_ns", times.head_ns},
            {"other_ns", times.other_ns},
            {"layers", std::move(layers)}};
}

Json headOf(const Record& record, const StepView& step) {
    return {{"schema", "decodescope.inside/1"},
            {"lane", record.lanes[step.lane].spec.name},
            {"step", step.step},
            {"phase", to_string(step.phase)},
            {"call", step.call},
            {"calls", step.n_call},
            {"layer", step.layer},
            {"pairs", step.n_pair},
            {"visible_pairs", step.n_visible},
            {"wrong_pairs", step.n_wrong_cell},
            {"wrong_positions", step.view.n_wrong_positions()},
            {"drafts_kept", knownOrNull(step.view.n_accepted)},
            {"error", step.view.error.empty() ? Json() : Json(step.view.error)}};
}

Json wholeJson(const Record& record, const StepView& step, const TimeSplit* times) {
    Json json = headOf(record, step);
    Json cells = Json::object();
    for (int i = 0; i < n_mask_cell; ++i)
        cells[std::string(1, cellLetters[as_index(i)])] = to_string(static_cast<MaskCell>(i));
    json["cells"] = std::move(cells);
    Json rows = Json::array();
    for (int b = 0; b < static_cast<int>(step.view.rows.size()); ++b) rows.push_back(rowJson(step.view, b));
    json["rows"] = std::move(rows);
    json["cache"] = cacheJson(step.view);
    json["attention"] = step.weights ? weightsJson(*step.weights) : Json();
    if (!step.heads.empty()) {
        Json heads = Json::array();
        for (const WeightMatrix& head : step.heads) heads.push_back(weightsJson(head));
        json["heads"] = std::move(heads);
    }
    if (times != nullptr) json["times"] = timesJson(*times);
    return json;
}

/// Calls `use(row, query, line of the weights)` for every query of the call.
template <class Use>
void forEachQuery(const StepView& step, Use&& use) {
    for (int b = 0; b < step.view.plan.batch(); ++b) {
        for (int q = 0; q < step.view.plan.n_query(b); ++q) use(b, q, step.view.plan.first_query(b) + q);
    }
}

std::string cellsCsv(const StepView& step) {
    TextTable table{{"row", "request", "query", "key", "cell", "attention_weight"}, {}, {}};
    forEachQuery(step, [&](int b, int q, int line) {
        for (int slot = 0; slot < step.view.plan.n_slot(b); ++slot) {
            std::string weight;
            if (step.weights && step.weights->query_bin == 1 && step.weights->key_bin == 1)
                weight = fmt::format(
                    "{}",
                    step.weights->values[as_index(std::int64_t{line} * step.weights->columns() + slot)]);
            const int request = step.view.rows[as_index(b)].request;
            table.rows.push_back({std::to_string(b), request < 0 ? "" : std::to_string(request),
                                  std::to_string(q), std::to_string(slot),
                                  to_string(step.view.cell(b, q, slot)), weight});
        }
    });
    return table.csv();
}

std::string rangesText(std::span<const SlotRange> ranges) {
    std::string text;
    for (const SlotRange& range : ranges) {
        if (!text.empty()) text += ", ";
        text += range.end - range.begin == 1 ? std::to_string(range.begin)
                                             : fmt::format("{}-{}", range.begin, range.end - 1);
    }
    return text.empty() ? "none" : text;
}

/// One line per query: what it is, which keys it sees, and the one that it looks at most.
Json queriesJson(const StepView& step) {
    Json queries = Json::array();
    forEachQuery(step, [&](int b, int q, int line) {
        const RowView& row = step.view.rows[as_index(b)];
        const QueryView& query = row.queries[as_index(q)];
        const bool pad = query.expected == slot_padding;
        Json json = {{"row", b},
                     {"request", knownOrNull(row.request)},
                     {"query", q},
                     {"token", query.token},
                     {"position", pad ? Json("pad") : Json(query.used)},
                     {"expected", pad ? Json() : Json(query.expected)},
                     {"sees keys", rangesText(step.view.plan.visible(b, q))}};
        if (step.weights) {
            const WeightMatrix& weights = *step.weights;
            const std::size_t first = as_index(std::int64_t{line / weights.query_bin} * weights.columns());
            std::size_t most = 0;
            for (std::size_t i = 1; i < as_index(weights.columns()); ++i) {
                if (weights.values[first + i] > weights.values[first + most]) most = i;
            }
            const float weight = weights.values[first + most];
            json["looks most at"] = weight > 0 ? Json(most * as_index(weights.key_bin)) : Json();
            json["weight"] = weight > 0 ? Json(fmt::format("{:.4f}", weight)) : Json();
        }
        queries.push_back(std::move(json));
    });
    return queries;
}

}  // namespace

std::string insideText(const Record& record, const StepView& step, const TimeSplit* times, Format format) {
    if (format == Format::csv) return cellsCsv(step);
    if (format == Format::json || format == Format::jsonl)
        return wholeJson(record, step, times).dump(format == Format::json ? 2 : -1) + "\n";
    Json json = headOf(record, step);
    json["head"] = step.weights ? Json(step.weights->head) : Json();
    if (step.view.cached) {
        json["cache"] = to_string(step.view.cache.kind);
        json["live_bytes"] = step.view.bytes.live;
    }
    json["queries"] = queriesJson(step);
    if (times != nullptr) {
        const Json split = timesJson(*times);
        for (const char* name : {"total_ns", "head_ns", "other_ns"}) json[name] = split[name];
        json["layers"] = split["layers"];
    }
    // What there is nothing to say of is left out.
    Json known = Json::object();
    for (auto& [name, value] : json.items()) {
        if (!value.is_null()) known[name] = std::move(value);
    }
    return documentText(known, format);
}

}  // namespace decodescope::cli
