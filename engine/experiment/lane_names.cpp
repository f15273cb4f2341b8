// SPDX-License-Identifier: GPL-3.0-or-later
#include <fmt/format.h>

#include "engine/core/quote.h"
#include "engine/experiment/experiment.h"

namespace decodescope {

namespace {

struct Word {
    const char* name;
    LaneMode mode;
    CacheKind cache;
    void (*rest)(LaneSpec&) = [](LaneSpec&) {};
};

constexpr Word words[] = {
    {"naive", LaneMode::naive, CacheKind::none},
    {"concat", LaneMode::cached, CacheKind::concat},
    {"static", LaneMode::cached, CacheKind::static_},
    {"cached", LaneMode::cached, CacheKind::static_},
    {"paged", LaneMode::cached, CacheKind::paged},
    {"window", LaneMode::cached, CacheKind::window,
     [](LaneSpec& lane) { lane.window = {.size = 64, .sinks = 4}; }},
    {"int8", LaneMode::cached, CacheKind::int8},
    {"kivi", LaneMode::cached, CacheKind::kivi},
    {"kivi4", LaneMode::cached, CacheKind::kivi},
    {"kivi2", LaneMode::cached, CacheKind::kivi, [](LaneSpec& lane) { lane.cache.bits = 2; }},
    {"f16", LaneMode::cached, CacheKind::static_, [](LaneSpec& lane) { lane.cache.dtype = DType::f16; }},
    {"bf16", LaneMode::cached, CacheKind::static_, [](LaneSpec& lane) { lane.cache.dtype = DType::bf16; }},
    {"batch", LaneMode::cached, CacheKind::static_,
     [](LaneSpec& lane) { lane.batching = Batching::static_; }},
    {"batch-right", LaneMode::cached, CacheKind::static_,
     [](LaneSpec& lane) {
         lane.batching = Batching::static_;
         lane.padding = Padding::right;
     }},
    {"batch-packed", LaneMode::cached, CacheKind::static_,
     [](LaneSpec& lane) {
         lane.batching = Batching::static_;
         lane.padding = Padding::none;
     }},
    {"naive-batch", LaneMode::naive, CacheKind::none,
     [](LaneSpec& lane) { lane.batching = Batching::static_; }},
    {"continuous", LaneMode::cached, CacheKind::paged,
     [](LaneSpec& lane) { lane.batching = Batching::continuous; }},
    {"speculative", LaneMode::speculative, CacheKind::static_},
    {"speculative-layers", LaneMode::speculative, CacheKind::static_,
     [](LaneSpec& lane) { lane.draft.kind = DraftKind::layers; }},
    {"beam", LaneMode::beam, CacheKind::static_},
};

}  // namespace

std::string lane_words() {
    std::string all;
    for (const Word& word : words) all += (all.empty() ? "" : ", ") + std::string(word.name);
    return all;
}

Result<LaneSpec> lane_from_name(std::string_view name) {
    for (const Word& word : words) {
        if (name != word.name) continue;
        LaneSpec lane;
        lane.name = name;
        lane.mode = word.mode;
        lane.cache.kind = word.cache;
        word.rest(lane);
        return lane;
    }
    return Error{ErrorKind::bad_input,
                 fmt::format("Lane {} is not known, expected one of {}.", quote(name), lane_words())};
}

}  // namespace decodescope
