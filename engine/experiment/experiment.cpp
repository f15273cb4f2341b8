// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/experiment/experiment.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "engine/core/quote.h"

namespace decodescope {

namespace {

constexpr std::size_t max_lanes = 32;
constexpr std::size_t max_name_bytes = 64;
constexpr int max_threads = 1024;
constexpr int max_tokens = 1 << 24;
constexpr int max_passes = 10'000;

Error field_error(const std::string& field, std::string_view what) {
    return Error{ErrorKind::bad_input, fmt::format("{} {}.", field, what)};
}

Result<void> check_range(const std::string& field, int value, int lowest, int highest) {
    if (value >= lowest && value <= highest) return {};
    return field_error(field, fmt::format("is {}, expected {} to {}", value, lowest, highest));
}

Result<void> check_ids(const std::string& field, const std::vector<std::int32_t>& ids) {
    if (ids.size() > max_tokens) {
        return field_error(field, fmt::format("holds {} ids, expected at most {}", ids.size(), max_tokens));
    }
    const auto negative = std::find_if(ids.begin(), ids.end(), [](std::int32_t id) { return id < 0; });
    if (negative == ids.end()) return {};
    return field_error(fmt::format("{}[{}]", field, negative - ids.begin()),
                       fmt::format("is {}, expected a token id (0 or more)", *negative));
}

Result<void> check_model(const ModelRef& model) {
    if (model.path.empty() && model.preset.empty()) {
        return field_error("model", "names neither a path nor a preset");
    }
    if (!model.path.empty() && !model.preset.empty()) {
        return field_error("model", "names a path and a preset, expected one of them");
    }
    return {};
}

Result<void> check_prompt(const PromptSpec& prompt) {
    switch (prompt.kind) {
        case PromptSpec::Kind::text:
            if (prompt.text.empty()) return field_error("prompts[0].text", "is empty, expected a text");
            return {};
        case PromptSpec::Kind::ids:
            if (prompt.ids.empty()) return field_error("prompts[0].ids", "is empty, expected token ids");
            return check_ids("prompts[0].ids", prompt.ids);
        case PromptSpec::Kind::random:
            return check_range("prompts[0].random.length", prompt.length, 1, max_tokens);
    }
    return {};
}

/// Tokens of the prompt where they are known without a tokenizer; -1 otherwise.
std::int64_t known_prompt_length(const PromptSpec& prompt) {
    switch (prompt.kind) {
        case PromptSpec::Kind::text: return -1;
        case PromptSpec::Kind::ids: return static_cast<std::int64_t>(prompt.ids.size());
        case PromptSpec::Kind::random: return prompt.length;
    }
    return -1;
}

Result<void> check_sampling(const Sampling& sampling) {
    if (sampling.kind == SamplingKind::greedy) return {};
    if (!(sampling.temperature > 0 && sampling.temperature <= 100)) {
        return field_error("sampling.temperature",
                           fmt::format("is {}, expected more than 0 and at most 100", sampling.temperature));
    }
    return check_range("sampling.top_k", sampling.top_k, 0, max_tokens);
}

Result<void> check_partition(const std::string& field, const std::vector<int>& partition,
                             const PromptSpec& prompt) {
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < partition.size(); ++i) {
        DS_TRY(check_range(fmt::format("{}[{}]", field, i), partition[i], 1, max_tokens));
        sum += partition[i];
    }
    const std::int64_t length = known_prompt_length(prompt);
    if (!partition.empty() && length >= 0 && sum != length) {
        return field_error(field, fmt::format("sums to {}, expected the prompt's {} tokens", sum, length));
    }
    return {};
}

Result<void> check_lane(const std::string& path, const LaneSpec& lane, const PromptSpec& prompt) {
    if (lane.name.empty()) return field_error(path + ".name", "is empty, expected a name");
    if (lane.name.size() > max_name_bytes) {
        return field_error(path + ".name", fmt::format("has {} bytes, expected at most {}", lane.name.size(),
                                                       max_name_bytes));
    }
    if (std::any_of(lane.name.begin(), lane.name.end(),
                    [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; })) {
        return field_error(path + ".name",
                           fmt::format("is {}, expected printable characters", quote(lane.name)));
    }
    const bool cached = lane.mode == LaneMode::cached;
    if (!cached && lane.cache.kind != CacheKind::none) {
        return field_error(path + ".cache.kind", fmt::format("is \"{}\", but a naive lane has no cache",
                                                             to_string(lane.cache.kind)));
    }
    if (cached && lane.cache.kind == CacheKind::none) {
        return field_error(path + ".cache.kind",
                           "is \"none\", expected \"concat\" or \"static\" for a cached lane");
    }
    DS_TRY(check_range(path + ".cache.capacity", lane.cache.capacity, 0, max_tokens));
    if (lane.cache.capacity != 0 && lane.cache.kind != CacheKind::static_) {
        return field_error(path + ".cache.capacity",
                           fmt::format("is {}, but only a static cache has one", lane.cache.capacity));
    }
    DS_TRY(check_range(path + ".prefill_chunk", lane.prefill_chunk, 0, max_tokens));
    DS_TRY(check_partition(path + ".prefill_partition", lane.prefill_partition, prompt));
    if (!cached && lane.prefill_chunk != 0) {
        return field_error(
            path + ".prefill_chunk",
            fmt::format("is {}, but a naive lane cannot prefill in chunks", lane.prefill_chunk));
    }
    if (!cached && !lane.prefill_partition.empty()) {
        return field_error(path + ".prefill_partition", "is set, but a naive lane cannot prefill in chunks");
    }
    if (!lane.faults.empty()) {
        return field_error(path + ".faults[0]", fmt::format("is an unknown fault {}", quote(lane.faults[0])));
    }
    return {};
}

Result<void> check_lanes(const Experiment& experiment) {
    if (experiment.lanes.empty()) return field_error("lanes", "is empty, expected at least one lane");
    if (experiment.lanes.size() > max_lanes) {
        return field_error("lanes",
                           fmt::format("holds {}, expected at most {}", experiment.lanes.size(), max_lanes));
    }
    for (std::size_t i = 0; i < experiment.lanes.size(); ++i) {
        const LaneSpec& lane = experiment.lanes[i];
        DS_TRY(check_lane(fmt::format("lanes[{}]", i), lane, experiment.prompt));
        for (std::size_t j = 0; j < i; ++j) {
            if (experiment.lanes[j].name != lane.name) continue;
            return field_error(
                fmt::format("lanes[{}].name", i),
                fmt::format("is {} like lanes[{}].name, expected a name of its own", quote(lane.name), j));
        }
    }
    const auto named = [&](const LaneSpec& lane) { return lane.name == experiment.reference; };
    if (!experiment.reference.empty() &&
        std::none_of(experiment.lanes.begin(), experiment.lanes.end(), named)) {
        return field_error("reference",
                           fmt::format("is {}, expected the name of a lane", quote(experiment.reference)));
    }
    return {};
}

Result<void> check_drive(const Experiment& experiment) {
    if (experiment.drive != Drive::fixed) {
        if (experiment.fixed_ids.empty()) return {};
        return field_error("fixed_ids", fmt::format("is set, but the drive is \"{}\", expected \"fixed\"",
                                                    to_string(experiment.drive)));
    }
    DS_TRY(check_ids("fixed_ids", experiment.fixed_ids));
    const auto expected = static_cast<std::size_t>(experiment.new_tokens - 1);
    if (experiment.fixed_ids.size() != expected) {
        return field_error("fixed_ids", fmt::format("holds {} ids, expected new_tokens - 1 = {}",
                                                    experiment.fixed_ids.size(), expected));
    }
    return {};
}

}  // namespace

const char* to_string(Drive drive) {
    switch (drive) {
        case Drive::forced: return "forced";
        case Drive::free: return "free";
        case Drive::fixed: return "fixed";
    }
    return "forced";
}

const char* to_string(Interleave interleave) {
    switch (interleave) {
        case Interleave::automatic: return "automatic";
        case Interleave::step: return "step";
        case Interleave::repetition: return "repetition";
    }
    return "automatic";
}

std::size_t Experiment::reference_index() const {
    const auto found = std::find_if(lanes.begin(), lanes.end(),
                                    [&](const LaneSpec& lane) { return lane.name == reference; });
    return found == lanes.end() ? 0 : static_cast<std::size_t>(found - lanes.begin());
}

Result<void> Experiment::validate() const {
    DS_TRY(check_model(model));
    if (device != "cpu") {
        return Error{ErrorKind::unsupported,
                     fmt::format("device is {}, but this version runs on \"cpu\" only.", quote(device))};
    }
    DS_TRY(check_range("threads", threads, 0, max_threads));
    DS_TRY(check_range("new_tokens", new_tokens, 1, max_tokens));
    DS_TRY(check_prompt(prompt));
    DS_TRY(check_drive(*this));
    DS_TRY(check_sampling(sampling));
    DS_TRY(check_lanes(*this));
    DS_TRY(check_range("warmup", warmup, 0, max_passes));
    DS_TRY(check_range("repetitions", repetitions, 1, max_passes));
    return {};
}

Result<LaneSpec> lane_from_name(std::string_view name) {
    LaneSpec lane;
    lane.name = name;
    if (name == "naive") {
        lane.mode = LaneMode::naive;
    } else if (name == "concat") {
        lane.cache.kind = CacheKind::concat;
    } else if (name == "static" || name == "cached") {
        lane.cache.kind = CacheKind::static_;
    } else {
        return Error{
            ErrorKind::bad_input,
            fmt::format("Lane {} is not known, expected naive, concat, static or cached.", quote(name))};
    }
    return lane;
}

}  // namespace decodescope
