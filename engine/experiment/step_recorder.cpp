// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/experiment/step_recorder.h"

#include <algorithm>

#include "engine/cache/kivi_cache.h"
#include "engine/cache/paged_cache.h"
#include "engine/core/as_index.h"

namespace decodescope {

const char* to_string(MaskCell cell) {
    switch (cell) {
        case MaskCell::wrongly_seen: return "seen against the rule";
        case MaskCell::wrongly_hidden: return "hidden against the rule";
        default: return to_string(static_cast<CellState>(cell));
    }
}

MaskCell CallView::cell(int b, int q, int slot) const {
    const CellState rule = plan.cell(b, q, slot);
    const bool sees = plan.sees(b, q, slot);
    if (sees == (rule == CellState::visible)) return static_cast<MaskCell>(rule);
    return sees ? MaskCell::wrongly_seen : MaskCell::wrongly_hidden;
}

std::int64_t CallView::n_seen(int b, int q) const {
    std::int64_t n = 0;
    for (const SlotRange& range : plan.visible(b, q)) n += range.end - range.begin;
    return n;
}

int CallView::n_wrong_positions() const {
    int wrong = 0;
    for (const RowView& row : rows) {
        for (const QueryView& query : row.queries) wrong += query.used >= 0 && query.used != query.expected;
        for (const SlotView& slot : row.keys)
            wrong += slot.used >= 0 && slot.expected >= 0 && slot.used != slot.expected;
    }
    return wrong;
}

const AttentionInputs* StepRecorder::inputs(int call, int layer) const {
    if (call < 0 || as_index(call) >= inputs_.size()) return nullptr;
    for (const AttentionInputs& inputs : inputs_[as_index(call)]) {
        if (inputs.layer == layer) return &inputs;
    }
    return nullptr;
}

void StepRecorder::restart() {
    rows_.clear();
    calls_.clear();
    inputs_.clear();
    bytes_ = 0;
}

void StepRecorder::begin_step(int step, bool keep, int layer, int request) {
    step_ = step;
    request_ = request;
    keep_ = keep;
    layer_ = layer;
    n_call_ = 0;
    calls_.clear();
    inputs_.clear();
    bytes_ = 0;
}

void StepRecorder::attention(int layer, const AttentionCall& call) {
    if (!keep_) return;
    // Whether all layers fit is decided with the first, so that a call has all of them or the wanted one.
    const std::size_t bytes = input_bytes(call);
    const auto n_layer = static_cast<std::size_t>(config_.n_layer);
    const bool fits = bytes_ + bytes * (n_layer - static_cast<std::size_t>(layer)) <= most_bytes_;
    inputs_.resize(static_cast<std::size_t>(n_call_) + 1);
    auto& kept = inputs_.back();
    if (layer != layer_ && !(fits && kept.size() == static_cast<std::size_t>(layer))) return;
    bytes_ += bytes;
    kept.push_back(copy_inputs(layer, call));
}

void StepRecorder::reordered(std::span<const int> parents) {
    rows_.resize(std::max(rows_.size(), parents.size()));
    std::vector<Row> rows;
    for (const int parent : parents) rows.push_back(rows_[as_index(parent)]);
    rows_ = std::move(rows);
}

void StepRecorder::verified(int, int n_accepted) {
    if (keep_ && !calls_.empty()) calls_.back().n_accepted = n_accepted;
}

/// What row `b` of a call computes, token by token; pads too, or real ones only.
std::vector<StepRecorder::Entry> StepRecorder::entries_of(const SeenCall& seen, int b, bool pads) const {
    const CallRow& row = seen.rows[as_index(b)];
    // Learned positions are added to what keys are made of; rotary ones turn them.
    const bool turned = config_.rotary.has_value();
    std::vector<Entry> entries;
    std::int32_t place = row.text_start;
    for (int i = seen.call.begin(b); i < seen.call.end(b); ++i) {
        const bool pad = seen.call.positions()[as_index(i)] == slot_padding;
        if (pad && !pads) continue;
        const std::int32_t used = pad      ? -1
                                  : turned ? seen.key_positions[as_index(i)]
                                           : seen.query_positions[as_index(i)];
        entries.push_back({pad || row.request < 0 ? -1 : place, used, seen.call.tokens()[as_index(i)],
                           pad ? -1 : request_of(row), step_, n_call_});
        place += pad ? 0 : 1;
    }
    return entries;
}

void StepRecorder::keep_entries(const SeenCall& seen) {
    rows_.resize(std::max(rows_.size(), as_index(seen.call.batch())));
    for (int b = 0; b < seen.call.batch(); ++b) {
        Row& row = rows_[as_index(b)];
        const CallRow& now = seen.rows[as_index(b)];
        const CacheCounts before = seen.before[as_index(b)];
        // A lane that miscounts says so in `counter`; what is stored is counted without.
        const std::int64_t stored = std::max<std::int64_t>(0, before.seen - now.counter);
        const bool fed = seen.call.end(b) > seen.call.begin(b);
        if (fed && now.request != row.request) {
            // Another request's row begins anew, unless the lane has the fault of not emptying it.
            if (lane_.spec().faults.empty()) row.entries.clear();
            row.request = now.request;
        }
        row.entries.resize(std::min(row.entries.size(), as_index(stored)));
        // What is there before a row's first call was taken over with the blocks of a known prefix.
        while (row.entries.size() < as_index(stored)) {
            const auto place = static_cast<std::int32_t>(row.entries.size());
            const auto& requests = lane_.requests();
            const bool known = row.request >= 0 && as_index(row.request) < requests.size() &&
                               as_index(place) < requests[as_index(row.request)].tokens.size();
            row.entries.push_back({place, place,
                                   known ? requests[as_index(row.request)].tokens[as_index(place)] : -1,
                                   row.request, -1, -1});
        }
        if (seen.error != nullptr) continue;
        for (const Entry& entry : entries_of(seen, b, false)) row.entries.push_back(entry);
    }
}

RowView StepRecorder::row_of(const SeenCall& seen, int b) const {
    RowView row;
    row.request = request_of(seen.rows[as_index(b)]);
    const auto computed = entries_of(seen, b, true);
    for (std::size_t i = 0; i < computed.size(); ++i) {
        const std::size_t at = as_index(seen.call.begin(b)) + i;
        const bool pad = seen.call.positions()[at] == slot_padding;
        row.queries.push_back({computed[i].token, pad ? slot_padding : computed[i].expected,
                               pad ? -1 : seen.query_positions[at]});
    }
    const AttentionPlan* plan = seen.plan;
    const bool planned = plan != nullptr && plan->n_query(b) > 0;
    const std::span<const std::int32_t> held = planned                 ? plan->slot_positions(b)
                                               : seen.cache != nullptr ? seen.cache->slot_positions(b)
                                                                       : std::span<const std::int32_t>();
    const std::vector<Entry>* entries = seen.cache != nullptr ? &rows_[as_index(b)].entries : &computed;
    for (std::size_t slot = 0; slot < held.size(); ++slot) {
        SlotView view;
        view.position = held[slot];
        // Without a cache, slots are the call's own tokens, in their order.
        const std::size_t at = seen.cache != nullptr ? as_index(std::max(held[slot], 0)) : slot;
        if (held[slot] >= 0 && at < entries->size()) {
            const Entry& entry = (*entries)[at];
            view.expected = entry.expected;
            view.used = entry.used;
            view.token = entry.token;
            view.request = entry.request;
            view.step = entry.step;
            view.from_call = entry.step == step_ && entry.call == n_call_;
        }
        row.keys.push_back(view);
    }
    return row;
}

/// Where the entries lie, and in what form.
void StepRecorder::add_storage(const SeenCall& seen, CallView& view) const {
    const KvCache& cache = *seen.cache;
    view.cached = true;
    view.cache = lane_.spec().cache;
    view.capacity = cache.capacity();
    view.bytes = cache.bytes();
    const auto* paged = dynamic_cast<const PagedCache*>(&cache);
    const auto* kivi = dynamic_cast<const KiviCache*>(&cache);
    if (paged != nullptr) {
        view.blocks.resize(as_index(paged->n_block()));
        for (int i = 0; i < paged->n_block(); ++i) view.blocks[as_index(i)].references = paged->references(i);
    }
    for (int b = 0; b < cache.batch(); ++b) {
        RowView& row = view.rows[as_index(b)];
        row.forgotten = cache.next_position(b) - cache.length(b);
        const auto after = cache.slot_positions(b);
        for (std::size_t slot = 0; slot < row.keys.size(); ++slot) {
            SlotView& here = row.keys[slot];
            if (here.position >= 0 && (slot >= after.size() || after[slot] != here.position))
                here.evicted = true;
            if (view.cache.kind == CacheKind::int8) here.bits = 8;
            if (kivi != nullptr && static_cast<int>(slot) < kivi->n_quantised(b))
                here.bits = static_cast<std::int8_t>(view.cache.bits);
        }
        if (paged == nullptr) continue;
        const auto table = paged->block_table(b);
        for (const int block : table) view.blocks[as_index(block)].rows.push_back(b);
        for (std::size_t slot = 0; slot < row.keys.size(); ++slot) {
            const std::size_t place = slot / as_index(paged->block_tokens());
            if (place < table.size()) row.keys[slot].block = table[place];
        }
    }
}

CallView StepRecorder::view_of(const SeenCall& seen) const {
    CallView view;
    for (int b = 0; b < seen.call.batch(); ++b) view.rows.push_back(row_of(seen, b));
    if (seen.plan != nullptr) view.plan = *seen.plan;
    if (seen.cache != nullptr) add_storage(seen, view);
    if (seen.error != nullptr) view.error = seen.error->message;
    return view;
}

void StepRecorder::called(const SeenCall& seen) {
    if (seen.cache != nullptr) keep_entries(seen);
    if (keep_) calls_.push_back(view_of(seen));
    ++n_call_;
}

}  // namespace decodescope
