// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/fault/fault_catalogue.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <iterator>
#include <numeric>

#include "engine/core/quote.h"
#include "engine/fault/fault_texts.h"

namespace decodescope {

namespace {

/// Letters to add, drop or replace until `a` is `b` (Levenshtein).
std::size_t distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 0; i < a.size(); ++i) {
        std::size_t diagonal = row[0];
        row[0] = i + 1;
        for (std::size_t k = 0; k < b.size(); ++k) {
            const std::size_t replaced = diagonal + (a[i] != b[k]);
            diagonal = row[k + 1];
            row[k + 1] = std::min({row[k] + 1, row[k + 1] + 1, replaced});
        }
    }
    return row.back();
}

/// The known ids that `id` may be meant to be: one with a slip in it, those that hold it or one of its longer
/// words, else the nearest.
std::string suggestions(std::string_view id) {
    constexpr std::size_t most = 4;
    constexpr std::size_t slip = 2;     // letters
    constexpr std::size_t telling = 4;  // letters of a word that says something
    std::vector<std::string_view> all;
    for (const FaultInfo& info : fault_texts) all.emplace_back(info.id);
    std::stable_sort(all.begin(), all.end(), [&](std::string_view x, std::string_view y) {
        return distance(id, x) < distance(id, y);
    });
    if (distance(id, all.front()) <= slip) return std::string(all.front());
    std::vector<std::string_view> found;
    const auto add_those_with = [&](std::string_view part) {
        std::copy_if(all.begin(), all.end(), std::back_inserter(found),
                     [part](std::string_view known) { return known.find(part) != std::string_view::npos; });
    };
    if (id.size() >= telling) add_those_with(id);
    for (std::size_t begin = 0; found.empty() && begin < id.size();) {
        const std::size_t end = std::min(id.find_first_of("-_ ", begin), id.size());
        if (end - begin >= telling) add_those_with(id.substr(begin, end - begin));
        begin = end + 1;
    }
    if (found.empty()) found.assign(all.begin(), all.begin() + 2);
    if (found.size() > most) found.resize(most);
    return fmt::format("{}", fmt::join(found, " or "));
}

Error unfit(const char* what) {
    return {ErrorKind::bad_input, what};
}

bool is_one_of(CacheKind kind, std::initializer_list<CacheKind> kinds) {
    return std::find(kinds.begin(), kinds.end(), kind) != kinds.end();
}

Result<void> needs(bool holds, const char* what) {
    return holds ? Result<void>() : Result<void>(unfit(what));
}

}  // namespace

std::span<const FaultInfo> fault_catalogue() {
    return fault_texts;
}

const FaultInfo& fault_info(Fault fault) {
    return fault_texts[static_cast<std::size_t>(fault)];
}

Result<Fault> fault_from_id(std::string_view id) {
    for (const FaultInfo& info : fault_texts) {
        if (id == info.id) return info.fault;
    }
    return Error{ErrorKind::bad_input,
                 fmt::format("is an unknown fault {}, perhaps {} is meant", quote(id), suggestions(id))};
}

Result<FaultSet> fault_set(const LaneSpec& lane) {
    FaultSet faults;
    for (std::size_t i = 0; i < lane.faults.size(); ++i) {
        const std::string& id = lane.faults[i];
        const auto refuse = [&](std::string_view what) {
            return Error{ErrorKind::bad_input, fmt::format("[{}] {}", i, what)};
        };
        const auto fault = fault_from_id(id);
        if (!fault) return refuse(fault.error().message);
        if (faults.has(*fault)) return refuse(fmt::format("is {} again, expected it once", quote(id)));
        if (const auto fits = fault_fits_lane(*fault, lane); !fits)
            return refuse(fmt::format("is {}, which {}", quote(id), fits.error().message));
        faults.add(*fault);
    }
    return faults;
}

Result<void> fault_fits_lane(Fault fault, const LaneSpec& lane) {
    using enum CacheKind;
    const CacheKind kind = lane.cache.kind;
    const bool cached = lane.mode != LaneMode::naive;
    const bool batched = lane.batching == Batching::static_;
    const bool padded = batched && lane.padding != Padding::none;
    const bool one_by_one = lane.mode == LaneMode::cached && lane.batching == Batching::single;
    const bool batch_lane = lane.mode == LaneMode::cached && lane.batching != Batching::continuous;
    switch (fault) {
        case Fault::position_restart:
        case Fault::position_plus_one:
        case Fault::position_frozen:
        case Fault::position_jump:
        case Fault::query_offset:
        case Fault::rotary_base_by_length:
        case Fault::mask_none_on_append:
        case Fault::mask_self_hidden:
        case Fault::stale_weights:
        case Fault::heads_tiled_decode:
        case Fault::length_from_heads: return needs(cached, "needs a lane with a cache");
        case Fault::mask_upper_left:
            DS_TRY(needs(cached, "needs a lane with a cache"));
            return needs(kind != window, "needs a cache that keeps its entries in order, not window");
        case Fault::spare_slots_visible: return needs(kind == static_, "needs a static cache");
        case Fault::pad_slot_positions:
            return needs(batched && lane.padding == Padding::left,
                         "needs a static batch that is padded on the left");
        case Fault::pad_slot_positions_decode:
            return needs(cached && padded, "needs a static batch with pads and a cache");
        case Fault::pad_mask_dropped:
            DS_TRY(needs(cached && padded, "needs a static batch with pads and a cache"));
            return needs(kind != window, "needs a cache that keeps pads, not window");
        case Fault::pad_mask_none:
            DS_TRY(needs(padded, "needs a static batch with pads"));
            return needs(kind != window, "needs a cache that keeps pads, not window");
        case Fault::pad_last_column:
            return needs(batched && lane.padding == Padding::right,
                         "needs a static batch that is padded on the right");
        case Fault::cache_kept:
        case Fault::counter_kept:
        case Fault::prompt_reprocessed:
            return needs(one_by_one, "needs a cached lane that serves one request after another");
        case Fault::prefix_fed_again:
            DS_TRY(needs(one_by_one, "needs a cached lane that serves one request after another"));
            return needs(kind != window, "needs a cache that keeps everything, not window");
        case Fault::blocks_freed_early:
            DS_TRY(needs(kind == paged, "needs a paged cache"));
            return needs(!lane.cache.share_prefixes, "needs a paged cache without shared prefixes");
        case Fault::token_twice: return needs(batch_lane, "needs a cached lane in a single or static batch");
        case Fault::token_missing:
            DS_TRY(needs(batch_lane, "needs a cached lane in a single or static batch"));
            DS_TRY(needs(is_one_of(kind, {concat, static_, paged, int8}),
                         "needs a concat, static, paged or int8 cache"));
            return needs(!batched || lane.padding != Padding::right, "needs rows without pads on the right");
        case Fault::window_ignored: return needs(kind != window, "needs a lane whose cache keeps everything");
        case Fault::window_too_wide: return {};
        case Fault::window_too_narrow: return needs(lane.window.size != 1, "needs a window of at least 2");
        case Fault::window_position: return needs(kind == window, "needs a window cache");
        case Fault::overflow_last_slot:
        case Fault::ring_without_window:
            return needs(one_by_one && kind == static_,
                         "needs a static cache that serves one request after another");
        case Fault::naive_crop:
            return needs(!cached && lane.batching == Batching::single,
                         "needs a naive lane that serves one request after another");
        case Fault::drafts_kept:
        case Fault::rollback_position_only:
        case Fault::rollback_short:
        case Fault::rollback_long:
            return needs(lane.mode == LaneMode::speculative, "needs a speculative lane");
        case Fault::draft_cache_trim:
            return needs(lane.mode == LaneMode::speculative && lane.draft.kind != DraftKind::ngram,
                         "needs a speculative lane that drafts with layers or a model");
        case Fault::prefix_mutated:
            return needs(lane.cache.share_prefixes, "needs a continuous batch with shared prefixes");
        case Fault::concat_wrong_axis: return needs(kind == concat, "needs a concat cache");
        case Fault::rows_not_reindexed:
            return needs(lane.mode == LaneMode::cached && batched, "needs a static batch with a cache");
        case Fault::beams_not_reordered: return needs(lane.mode == LaneMode::beam, "needs a beam lane");
        case Fault::scales_dropped: return needs(kind == int8, "needs an int8 cache");
        case Fault::blocks_never_freed:
            return needs(kind == paged && lane.batching == Batching::continuous,
                         "needs a continuous batch with a paged cache");
        case Fault::dropout_on:
        case Fault::heads_tiled:
        case Fault::heads_not_transposed:
        case Fault::positions_bf16: return {};
    }
    return {};
}

Result<void> fault_fits_model(Fault fault, const LaneSpec& lane, const ModelConfig& model) {
    switch (fault) {
        case Fault::query_offset:
        case Fault::rotary_base_by_length:
            return needs(model.rotary.has_value(), "needs a model with rotary positions");
        case Fault::window_ignored:
        case Fault::window_too_wide:
            return needs(effective_window(lane.window, model.window).size > 0,
                         "needs a lane or a model with a window");
        case Fault::window_too_narrow:
            return needs(effective_window(lane.window, model.window).size > 1,
                         "needs a lane or a model with a window of at least 2");
        case Fault::heads_tiled:
        case Fault::heads_tiled_decode:
            return needs(model.n_kv_head > 1 && model.n_kv_head < model.n_head,
                         "needs a model with fewer KV heads than query heads, and more than one");
        case Fault::heads_not_transposed: return needs(model.n_head > 1, "needs a model with several heads");
        case Fault::positions_bf16:
            return needs(model.n_positions > 257,
                         "needs a model with more than 257 positions: bf16 holds all of them up to 256");
        default: return {};
    }
}

}  // namespace decodescope
