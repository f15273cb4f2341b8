// SPDX-License-Identifier: GPL-3.0-or-later
#include <fmt/format.h>

#include <algorithm>

#include "engine/core/quote.h"
#include "engine/experiment/experiment.h"
#include "engine/fault/fault_catalogue.h"

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

constexpr std::string_view weights_prefix = "weights-";

constexpr std::string_view graph_word = "graph";
constexpr std::string_view tf32_word = "tf32";

/// Every modifier that is neither a device nor a fault, for a sentence.
std::string setting_words() {
    std::string all;
    for (const WeightType type : all_weight_types)
        all += fmt::format("{}{}, ", weights_prefix, to_string(type));
    return fmt::format("{}{}, {}, {}", all, to_string(Kernels::openblas), graph_word, tf32_word);
}

/// Whether a word means a device, if not one that there can be.
bool names_device(std::string_view word) {
    return word == "cpu" || word == "cuda" || word.starts_with("cuda:");
}

/// What one word behind a + asks for: a device, a weight type, the reference kernels, a graph, TF32, or a
/// fault.
Result<void> modify(LaneSpec& lane, std::string_view word) {
    if (word == to_string(Kernels::openblas)) {
        lane.kernels = Kernels::openblas;
        return {};
    }
    if (word == graph_word) {
        lane.cuda_graph = true;
        return {};
    }
    if (word == tf32_word) {
        lane.tf32 = true;
        return {};
    }
    if (names_device(word)) {
        const auto device = parse_device(word);
        if (!device)
            return Error{ErrorKind::bad_input, fmt::format("is {}, expected {}", quote(word), device_words)};
        lane.device = *device;
        return {};
    }
    if (word.substr(0, weights_prefix.size()) == weights_prefix) {
        const auto type = weight_type(word.substr(weights_prefix.size()));
        if (!type)
            return Error{ErrorKind::bad_input,
                         fmt::format("is {}, expected one of {}", quote(word), setting_words())};
        lane.weights = *type;
        return {};
    }
    const auto fault = fault_from_id(word);
    if (!fault) return fault.error();
    lane.faults.emplace_back(word);
    return {};
}

}  // namespace

std::string entry_type(const LaneSpec& lane) {
    switch (lane.cache.kind) {
        case CacheKind::none: return {};
        case CacheKind::int8: return "int8";
        case CacheKind::kivi: return fmt::format("kivi{}", lane.cache.bits);
        default: return to_string(lane.cache.dtype);
    }
}

std::string weights_words(const Experiment& experiment, const LaneSpec& lane) {
    const Device device = experiment.device_of(lane);
    std::string words = to_string(lane.weights);
    if (lane.kernels == Kernels::openblas) words += ", OpenBLAS";
    if (device.is_gpu() || lane.device) words += fmt::format(", {}", device.name());
    if (lane.tf32) words += fmt::format(", {}", tf32_word);
    if (lane.cuda_graph) words += fmt::format(", {}", graph_word);
    return words;
}

std::string lane_modifiers(const LaneSpec& lane) {
    std::string words;
    if (lane.weights != WeightType::f32)
        words += fmt::format("+{}{}", weights_prefix, to_string(lane.weights));
    if (lane.kernels != Kernels::packed) words += fmt::format("+{}", to_string(lane.kernels));
    if (lane.device) words += fmt::format("+{}", lane.device->name());
    if (lane.cuda_graph) words += fmt::format("+{}", graph_word);
    if (lane.tf32) words += fmt::format("+{}", tf32_word);
    return words;
}

std::string lane_words() {
    std::string all;
    for (const Word& word : words) all += (all.empty() ? "" : ", ") + std::string(word.name);
    return all;
}

Result<LaneSpec> lane_from_name(std::string_view name) {
    const std::string_view base = name.substr(0, name.find('+'));
    for (const Word& word : words) {
        if (base != word.name) continue;
        LaneSpec lane;
        lane.name = name;
        lane.mode = word.mode;
        lane.cache.kind = word.cache;
        word.rest(lane);
        for (std::size_t begin = base.size(); begin < name.size();) {
            const std::size_t end = std::min(name.find('+', begin + 1), name.size());
            if (const auto done = modify(lane, name.substr(begin + 1, end - begin - 1)); !done)
                return Error{ErrorKind::bad_input, fmt::format("Lane {}: what follows the + {}.", quote(name),
                                                               done.error().message)};
            begin = end;
        }
        return lane;
    }
    return Error{ErrorKind::bad_input,
                 fmt::format("Lane {} is not known, expected one of {}.", quote(base), lane_words())};
}

}  // namespace decodescope
