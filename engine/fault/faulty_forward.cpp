// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/fault/faulty_forward.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "engine/cache/kv_cache.h"
#include "engine/core/random.h"
#include "engine/model/rotary.h"

namespace decodescope {

namespace {

constexpr int tokens_before_base_changes = 3;
constexpr double base_factor = 2.0;
constexpr float weight_change = 1.02f;
constexpr double dropout_rate = 0.1;

/// The nearest number with 8 significant bits, ties to even.
std::int32_t to_bf16(std::int32_t position) {
    if (position < 256) return position;
    const int shift = std::bit_width(static_cast<std::uint32_t>(position)) - 8;
    const std::int32_t half = 1 << (shift - 1);
    const std::int32_t odd = (position >> shift) & 1;
    return (position + half - 1 + odd) >> shift << shift;
}

/// Replaces `visible` by the slots below `n_slot` that `sees(slot)`.
template <class Sees>
void see_slots(int n_slot, Sees&& sees, std::vector<SlotRange>& visible) {
    std::vector<SlotRange> ranges;
    for (std::int32_t slot = 0; slot < n_slot; ++slot) {
        if (!sees(slot)) continue;
        if (!ranges.empty() && ranges.back().end == slot)
            ++ranges.back().end;
        else
            ranges.push_back({slot, slot + 1});
    }
    visible = std::move(ranges);
}

bool contains(std::span<const SlotRange> ranges, std::int32_t slot) {
    return std::any_of(ranges.begin(), ranges.end(),
                       [slot](const SlotRange& range) { return slot >= range.begin && slot < range.end; });
}

}  // namespace

FaultyForward::FaultyForward(FaultSet faults, std::shared_ptr<const Weights> weights, Window window)
    : faults_(faults), weights_(std::move(weights)), window_(window) {
    if (faults_.has(Fault::stale_weights) || faults_.has(Fault::rotary_base_by_length))
        make_changed_weights();
}

/// A view of the weights whose first layer makes other queries, keys and values (`stale_weights`).
void FaultyForward::make_changed_weights() {
    other_ = view_of(weights_);
    if (!faults_.has(Fault::stale_weights)) return;
    Linear& qkv = other_->layers.front().attn_qkv;
    const std::int64_t n = std::int64_t{qkv.n_in} * qkv.n_out;
    changed_.assign(qkv.weight, qkv.weight + n);
    for (float& weight : changed_) weight *= weight_change;
    qkv = qkv.with_weight(changed_.data());
}

void FaultyForward::begin_call(const CallTokens& call, std::span<const CallRow> rows, const KvCache* cache) {
    call_ = &call;
    call_rows_ = rows;
    rows_.resize(rows.size());
    appends_ = false;
    bool past_switch = false;
    int longest = 0;
    int first_length = 0;
    for (int b = 0; b < call.batch(); ++b) {
        Row& row = rows_[static_cast<std::size_t>(b)];
        const int request = rows[static_cast<std::size_t>(b)].request;
        const int n_new = call.end(b) - call.begin(b);
        if (cache == nullptr || n_new == 0) continue;
        row.n_slot = static_cast<int>(cache->slot_positions(b).size());
        const int length = cache->next_position(b) + n_new;
        if (row.n_slot == 0 || row.request != request) {
            const bool anew = row.n_slot == 0;
            row = {request, anew ? length : cache->next_position(b), anew ? 0 : 1, row.n_slot};
        } else {
            ++row.n_append;
        }
        appends_ = appends_ || row.n_slot > 0;
        longest = std::max(longest, length);
        first_length = std::max(first_length, row.first_length);
        past_switch = past_switch || length > row.first_length + tokens_before_base_changes;
    }
    used_ = nullptr;
    if (faults_.has(Fault::rotary_base_by_length) && past_switch) {
        // The base of dynamic scaling: theta (f n / L - (f - 1))^(d / (d - 2)).
        Rotary rotary = *weights_->config.rotary;
        const double d = weights_->config.head_dim;
        const double stretch = base_factor * longest / (first_length + tokens_before_base_changes);
        rotary.theta *= std::pow(stretch - (base_factor - 1), d / std::max(d - 2, 1.0));
        other_->rotary_frequencies = rotary_frequencies(rotary, weights_->config.head_dim);
        used_ = other_.get();
    } else if (faults_.has(Fault::stale_weights) && appends_) {
        if (faults_.has(Fault::rotary_base_by_length))
            other_->rotary_frequencies = weights_->rotary_frequencies;
        used_ = other_.get();
    }
}

const Weights& FaultyForward::weights(const Weights& given) {
    return used_ != nullptr ? *used_ : given;
}

/// The position id of token `token` of row `b`, the `index`-th real one of the row in this call.
std::int32_t FaultyForward::position(const CallTokens& call, const KvCache* cache, int b, int token,
                                     std::int32_t index) const {
    const Row& row = rows_[static_cast<std::size_t>(b)];
    const CallRow& wanted = call_rows_[static_cast<std::size_t>(b)];
    const bool pad = call.positions()[static_cast<std::size_t>(token)] == slot_padding;
    const std::int32_t column = row.n_slot + token - call.begin(b);
    std::int32_t id = std::max(call.positions()[static_cast<std::size_t>(token)], 0);
    // Where entries are missing, doubled or somebody else's, a counter of tokens may still be right.
    if (faults_.has(Fault::token_missing) || faults_.has(Fault::prefix_fed_again) ||
        faults_.has(Fault::rollback_position_only) || faults_.has(Fault::rows_not_reindexed))
        id = pad ? 0 : wanted.text_start + index;
    if (faults_.has(Fault::counter_kept)) id += wanted.counter;
    if (row.n_slot > 0) {
        if (faults_.has(Fault::position_restart)) id = index;
        if (faults_.has(Fault::position_plus_one)) id += 1;
        if (faults_.has(Fault::position_frozen)) id = row.first_length;
        if (faults_.has(Fault::position_jump) && row.n_append > 1) id += row.first_length - 1;
        if (faults_.has(Fault::length_from_heads)) id = weights_->config.n_kv_head + index;
        if (faults_.has(Fault::pad_slot_positions_decode)) id = column;
        if (faults_.has(Fault::window_position))
            id = std::min(cache->length(b), window_.size + window_.sinks - 1) + index;
    }
    if (faults_.has(Fault::pad_slot_positions)) id = column;
    if (faults_.has(Fault::positions_bf16)) id = to_bf16(id);
    return id;
}

void FaultyForward::positions(const CallTokens& call, const KvCache* cache, std::span<std::int32_t> query,
                              std::span<std::int32_t> key) {
    for (int b = 0; b < call.batch(); ++b) {
        const int n_new = call.end(b) - call.begin(b);
        std::int32_t index = 0;
        for (int i = call.begin(b); i < call.end(b); ++i) {
            const auto at = static_cast<std::size_t>(i);
            query[at] = key[at] = position(call, cache, b, i, index);
            if (faults_.has(Fault::query_offset)) query[at] += n_new;
            index += call.positions()[at] != slot_padding;
        }
    }
}

/// What query `q` of row `b` sees, of the slots that it may see.
void FaultyForward::see(const AttentionPlan& plan, const KvCache* cache, int b, int q,
                        std::vector<SlotRange>& visible) const {
    const auto held = plan.slot_positions(b);
    const auto n_slot = static_cast<int>(held.size());
    const auto at = [&](std::int32_t slot) { return held[static_cast<std::size_t>(slot)]; };
    const auto rule = visible;
    const std::int32_t own = n_slot - plan.n_query(b) + q;  // where slots are filled in order
    const bool appends = rows_[static_cast<std::size_t>(b)].n_slot > 0;
    if (faults_.has(Fault::pad_mask_none) || (faults_.has(Fault::pad_mask_dropped) && appends)) {
        const bool pad = at(own) == slot_padding;
        see_slots(
            n_slot,
            [&](std::int32_t s) {
                if (pad) return faults_.has(Fault::pad_mask_none) && s <= own;
                return contains(rule, s) || (s < own && at(s) == slot_padding);
            },
            visible);
    }
    if (!appends) return;
    const std::int32_t masked = call_rows_[static_cast<std::size_t>(b)].masked;
    if (masked >= 0)
        see_slots(
            n_slot, [&](std::int32_t s) { return s >= masked && s <= own; }, visible);
    if (faults_.has(Fault::mask_none_on_append))
        see_slots(
            n_slot, [&](std::int32_t s) { return at(s) != slot_empty; }, visible);
    if (faults_.has(Fault::mask_upper_left))
        see_slots(
            n_slot, [&](std::int32_t s) { return s <= q && contains(rule, s); }, visible);
    if (faults_.has(Fault::mask_self_hidden)) {
        const std::int32_t mine = plan.query_positions(b)[static_cast<std::size_t>(q)];
        see_slots(
            n_slot, [&](std::int32_t s) { return at(s) != mine && contains(rule, s); }, visible);
    }
    if (faults_.has(Fault::spare_slots_visible) && n_slot < cache->capacity())
        visible.push_back({n_slot, cache->capacity()});
}

void FaultyForward::plan(const CallTokens&, const KvCache* cache, AttentionPlan& plan) {
    const bool pads = faults_.has(Fault::pad_mask_none) || faults_.has(Fault::pad_mask_dropped);
    const bool append = faults_.has(Fault::mask_none_on_append) || faults_.has(Fault::mask_upper_left) ||
                        faults_.has(Fault::mask_self_hidden) || faults_.has(Fault::spare_slots_visible) ||
                        faults_.has(Fault::rows_not_reindexed);
    if (!pads && !(append && appends_)) return;
    const bool spare = faults_.has(Fault::spare_slots_visible) && cache != nullptr;
    plan.amend(spare ? cache->capacity() : 0,
               [&](int b, int q, std::vector<SlotRange>& visible) { see(plan, cache, b, q, visible); });
}

HeadOrder FaultyForward::head_order(const CallTokens&, const KvCache*) {
    const bool tiled =
        faults_.has(Fault::heads_tiled) || (faults_.has(Fault::heads_tiled_decode) && appends_);
    return tiled ? HeadOrder::tiled : HeadOrder::grouped;
}

void FaultyForward::computed(ForwardTensor tensor, int, std::span<float> values) {
    if (faults_.has(Fault::heads_not_transposed) && tensor == ForwardTensor::mixed)
        join_heads_as_they_lie(values);
    if (faults_.has(Fault::dropout_on) &&
        (tensor == ForwardTensor::embedding || tensor == ForwardTensor::mixed))
        drop_out(values);
}

void FaultyForward::drop_out(std::span<float> values) {
    constexpr auto scale = static_cast<float>(1 / (1 - dropout_rate));
    const std::uint64_t stream = n_dropped_++;
    for (std::size_t i = 0; i < values.size(); ++i)
        values[i] = random_uniform(1, stream, i) < dropout_rate ? 0.0f : values[i] * scale;
}

/// [token, head, width] comes in; what lies in memory as [head, token, width] is read as if it did not.
void FaultyForward::join_heads_as_they_lie(std::span<float> mixed) const {
    const auto d = static_cast<std::size_t>(weights_->config.head_dim);
    const auto n_head = static_cast<std::size_t>(weights_->config.n_head);
    std::vector<float> lying;
    for (int b = 0; b < call_->batch(); ++b) {
        const auto n = static_cast<std::size_t>(call_->end(b) - call_->begin(b));
        const auto row =
            mixed.subspan(static_cast<std::size_t>(call_->begin(b)) * n_head * d, n * n_head * d);
        lying.assign(row.begin(), row.end());
        for (std::size_t token = 0; token < n; ++token) {
            for (std::size_t head = 0; head < n_head; ++head)
                std::copy_n(lying.begin() + static_cast<std::ptrdiff_t>((token * n_head + head) * d), d,
                            row.begin() + static_cast<std::ptrdiff_t>((head * n + token) * d));
        }
    }
}

}  // namespace decodescope
