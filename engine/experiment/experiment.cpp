// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/experiment/experiment.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "engine/core/quote.h"
#include "engine/experiment/field_check.h"
#include "engine/fault/fault_catalogue.h"
#include "engine/model/weight_size.h"

namespace decodescope {

namespace {

constexpr std::size_t max_lanes = 32;
constexpr std::size_t max_prompts = 256;
constexpr int max_threads = 1024;
constexpr int max_passes = 10'000;
constexpr double max_seconds = 1e6;

Result<void> check_precision(const Precision& precision) {
    if (!(precision.interval >= 0 && precision.interval < 1)) {
        return field_error("precision.interval",
                           fmt::format("is {}, expected 0 or more and less than 1", precision.interval));
    }
    if (!(precision.seconds >= 0 && precision.seconds <= max_seconds)) {
        return field_error("precision.seconds",
                           fmt::format("is {}, expected 0 to {}", precision.seconds, max_seconds));
    }
    if (precision.interval > 0 && precision.seconds == 0) {
        return field_error("precision.seconds",
                           "is 0, expected a limit for the time that the interval may take to be reached");
    }
    return {};
}

Result<void> check_prompt(const std::string& path, const PromptSpec& prompt, const Experiment& experiment) {
    switch (prompt.kind) {
        case PromptSpec::Kind::text:
            if (prompt.text.empty()) return field_error(path + ".text", "is empty, expected a text");
            break;
        case PromptSpec::Kind::ids:
            if (prompt.ids.empty()) return field_error(path + ".ids", "is empty, expected token ids");
            DS_TRY(check_ids(path + ".ids", prompt.ids));
            break;
        case PromptSpec::Kind::random:
            DS_TRY(check_range(path + ".random.length", prompt.length, 1, max_tokens));
            break;
    }
    DS_TRY(check_name(path + ".isolation", prompt.isolation));
    DS_TRY(check_range(path + ".arrival_step", prompt.arrival_step, 0, max_tokens));
    const auto continuous = [](const LaneSpec& lane) { return lane.batching == Batching::continuous; };
    if (prompt.arrival_step > 0 &&
        std::none_of(experiment.lanes.begin(), experiment.lanes.end(), continuous)) {
        return field_error(
            path + ".arrival_step",
            fmt::format("is {}, but no lane has a continuous batch, expected 0", prompt.arrival_step));
    }
    if (prompt.cancel_after < 0 || prompt.cancel_after > experiment.new_tokens) {
        return field_error(path + ".cancel_after", fmt::format("is {}, expected 0 to new_tokens = {}",
                                                               prompt.cancel_after, experiment.new_tokens));
    }
    return {};
}

Result<void> check_prompts(const Experiment& experiment) {
    const auto& prompts = experiment.prompts;
    if (prompts.empty()) return field_error("prompts", "is empty, expected at least one prompt");
    if (prompts.size() > max_prompts) {
        return field_error("prompts",
                           fmt::format("holds {}, expected at most {}", prompts.size(), max_prompts));
    }
    for (std::size_t i = 0; i < prompts.size(); ++i) {
        DS_TRY(check_prompt(fmt::format("prompts[{}]", i), prompts[i], experiment));
    }
    return {};
}

Result<void> check_sampling(const Sampling& sampling) {
    const auto refuse = [](const char* name, double value, const char* expected) {
        return field_error(fmt::format("sampling.{}", name),
                           fmt::format("is {}, expected {}", value, expected));
    };
    const double t = sampling.temperature;
    const bool cold = sampling.kind == SamplingKind::greedy && t == 0;  // another way to say greedy
    if (!cold && !(t > 0 && t <= 100)) return refuse("temperature", t, "more than 0 and at most 100");
    DS_TRY(check_range("sampling.top_k", sampling.top_k, 0, max_tokens));
    if (!(sampling.top_p > 0 && sampling.top_p <= 1)) {
        return refuse("top_p", sampling.top_p, "more than 0 and at most 1");
    }
    if (!(sampling.min_p >= 0 && sampling.min_p < 1)) {
        return refuse("min_p", sampling.min_p, "0 or more and less than 1");
    }
    if (!(sampling.repetition_penalty > 0 && sampling.repetition_penalty <= 10)) {
        return refuse("repetition_penalty", sampling.repetition_penalty, "more than 0 and at most 10");
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
        DS_TRY(check_lane(fmt::format("lanes[{}]", i), lane, experiment));
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
    const std::size_t reference = experiment.reference_index();
    const LaneSpec& lane = experiment.lanes[reference];
    // Nothing can be told from a comparison with a lane that is wrong itself.
    if (!lane.faults.empty() && experiment.lanes.size() > 1) {
        return field_error(fmt::format("lanes[{}].faults[0]", reference),
                           fmt::format("is {}, but {} is the reference, expected one without faults",
                                       quote(lane.faults[0]), quote(lane.name)));
    }
    return {};
}

Result<void> check_drive(const Experiment& experiment) {
    if (experiment.drive != Drive::fixed) {
        if (experiment.fixed_ids.empty()) return {};
        return field_error("fixed_ids", fmt::format("is set, but the drive is \"{}\", expected \"fixed\"",
                                                    to_string(experiment.drive)));
    }
    if (experiment.prompts.size() != 1) {
        return field_error("drive", fmt::format("is \"fixed\", but there are {} prompts, expected one",
                                                experiment.prompts.size()));
    }
    DS_TRY(check_ids("fixed_ids", experiment.fixed_ids));
    const auto expected = static_cast<std::size_t>(experiment.new_tokens - 1);
    if (experiment.fixed_ids.size() != expected) {
        return field_error("fixed_ids", fmt::format("holds {} ids, expected new_tokens - 1 = {}",
                                                    experiment.fixed_ids.size(), expected));
    }
    return {};
}

/// Why the lanes do not make one token of the same request per step; nothing when they do.
std::optional<std::string> obstacle_to_steps(const Experiment& experiment) {
    const auto& lanes = experiment.lanes;
    for (std::size_t i = 0; i < lanes.size(); ++i) {
        if (lanes[i].mode == LaneMode::speculative || lanes[i].mode == LaneMode::beam) {
            return fmt::format("lanes[{}].mode is \"{}\"", i, to_string(lanes[i].mode));
        }
        if (lanes[i].batching == Batching::continuous) {
            return fmt::format("lanes[{}].batch.kind is \"continuous\"", i);
        }
        if (experiment.prompts.size() > 1 && lanes[i].batching != lanes[0].batching) {
            return fmt::format("lanes[0] and lanes[{}] batch the prompts differently", i);
        }
    }
    return std::nullopt;
}

Result<void> check_interleave(const Experiment& experiment) {
    if (experiment.interleave != Interleave::step) return {};
    const auto obstacle = obstacle_to_steps(experiment);
    if (!obstacle) return {};
    return field_error(
        "interleave",
        fmt::format("is \"step\", but {}, expected \"automatic\" or \"repetition\"", *obstacle));
}

Result<void> check_vocab(const std::string& field, const std::vector<std::int32_t>& ids, int vocab) {
    for (std::size_t i = 0; i < ids.size(); ++i) {
        if (ids[i] >= 0 && ids[i] < vocab) continue;
        return field_error(
            fmt::format("{}[{}]", field, i),
            fmt::format("is {}, expected a token id below the model's vocabulary of {}", ids[i], vocab));
    }
    return {};
}

/// Groups of weights that share a scale must fill the rows of every matrix.
Result<void> check_groups(std::size_t i, const LaneSpec& lane, const ModelConfig& model) {
    if (!has_groups(lane.weights)) return {};
    for (const auto& [name, width] :
         {std::pair("d_model", model.d_model), std::pair("n_head * head_dim", model.q_width()),
          std::pair("d_ff", model.d_ff)}) {
        if (width % weight_group == 0) continue;
        return field_error(
            fmt::format("lanes[{}].weights", i),
            fmt::format(
                "is \"{}\", which keeps groups of {} weights, but the {} of the model is {}, expected "
                "a multiple of {} for lane {}",
                to_string(lane.weights), weight_group, name, width, weight_group, quote(lane.name)));
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

std::vector<Device> Experiment::devices() const {
    std::vector<Device> all;
    for (const LaneSpec& lane : lanes) {
        if (std::find(all.begin(), all.end(), device_of(lane)) == all.end()) all.push_back(device_of(lane));
    }
    return all;
}

bool Experiment::uses_gpu() const {
    return std::any_of(lanes.begin(), lanes.end(),
                       [this](const LaneSpec& lane) { return device_of(lane).is_gpu(); });
}

std::vector<LaneSpec> Experiment::placed_lanes() const {
    std::vector<LaneSpec> placed = lanes;
    for (LaneSpec& lane : placed) {
        if (device_of(lane).is_gpu()) lane.device = device_of(lane);
    }
    return placed;
}

Interleave Experiment::effective_interleave() const {
    if (interleave != Interleave::automatic) return interleave;
    return obstacle_to_steps(*this) ? Interleave::repetition : Interleave::step;
}

Result<void> Experiment::validate() const {
    DS_TRY(check_model("model", model));
    DS_TRY(check_range("threads", threads, 0, max_threads));
    DS_TRY(check_range("new_tokens", new_tokens, 1, max_tokens));
    DS_TRY(check_prompts(*this));
    DS_TRY(check_drive(*this));
    DS_TRY(check_sampling(sampling));
    DS_TRY(check_ids("stop_ids", stop_ids));
    DS_TRY(check_lanes(*this));
    DS_TRY(check_interleave(*this));
    DS_TRY(check_range("warmup", warmup, 0, max_passes));
    DS_TRY(check_range("repetitions", repetitions, 1, max_passes));
    DS_TRY(check_precision(precision));
    return {};
}

Result<void> check_against_model(const Experiment& experiment, const ModelConfig& model) {
    for (std::size_t i = 0; i < experiment.prompts.size(); ++i) {
        DS_TRY(check_vocab(fmt::format("prompts[{}].ids", i), experiment.prompts[i].ids, model.vocab));
    }
    DS_TRY(check_vocab("fixed_ids", experiment.fixed_ids, model.vocab));
    DS_TRY(check_vocab("stop_ids", experiment.stop_ids, model.vocab));
    if (experiment.sampling.kind == SamplingKind::sample && experiment.sampling.top_k > model.vocab) {
        return field_error("sampling.top_k",
                           fmt::format("is {}, expected at most the model's vocabulary of {}",
                                       experiment.sampling.top_k, model.vocab));
    }
    for (std::size_t i = 0; i < experiment.lanes.size(); ++i) {
        const LaneSpec& lane = experiment.lanes[i];
        DS_TRY(check_groups(i, lane, model));
        for (std::size_t k = 0; k < lane.faults.size(); ++k) {
            const auto fault = fault_from_id(lane.faults[k]);
            if (!fault) continue;  // `validate` says so
            const auto fits = fault_fits_model(*fault, lane, model);
            if (fits) continue;
            return field_error(fmt::format("lanes[{}].faults[{}]", i, k),
                               fmt::format("is {}, which {}", quote(lane.faults[k]), fits.error().message));
        }
        if (lane.mode == LaneMode::speculative && lane.draft.kind == DraftKind::layers &&
            lane.draft.layers >= model.n_layer) {
            return field_error(
                fmt::format("lanes[{}].draft.layers", i),
                fmt::format("is {}, expected fewer than the model's {}", lane.draft.layers, model.n_layer));
        }
        if (lane.cache.kind == CacheKind::window && effective_window(lane.window, model.window).size == 0) {
            return field_error(
                fmt::format("lanes[{}].window", i),
                "is missing, expected one for a window cache, because the model has none of its own");
        }
        if (lane.cache.kind != CacheKind::kivi) continue;
        if (lane.cache.group < model.head_dim && model.head_dim % lane.cache.group != 0) {
            return field_error(
                fmt::format("lanes[{}].cache.group", i),
                fmt::format("is {}, expected at least the model's head_dim of {} or a divisor of it",
                            lane.cache.group, model.head_dim));
        }
        if (model.head_dim * lane.cache.bits % 8 != 0) {
            return field_error(
                fmt::format("lanes[{}].cache.bits", i),
                fmt::format("is {}, expected a head of whole bytes, but the model's head_dim is {}",
                            lane.cache.bits, model.head_dim));
        }
    }
    return {};
}

}  // namespace decodescope
