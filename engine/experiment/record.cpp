// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/experiment/record.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "engine/verify/logit_comparison.h"

namespace decodescope {

namespace {

bool is_decode(const StepEvent& step) {
    return step.phase != Phase::prefill;
}

std::int64_t duration_of(const StepEvent& step) {
    return step.end_ns - step.start_ns;
}

/// `value(repetition)` of every repetition for which it is positive.
template <class Value>
Summary over_repetitions(const std::vector<RepetitionRecord>& repetitions, Value value) {
    std::vector<double> samples;
    for (const RepetitionRecord& repetition : repetitions) {
        if (const double sample = value(repetition); sample > 0) samples.push_back(sample);
    }
    return summarize(samples);
}

/// Whether, in every request, the first token that is not the reference's is one where rounding may have
/// decided. Lanes that are fed the reference's tokens are asked at every token.
bool differs_at_ties_alone(const LaneRecord& lane, const LaneRecord& reference, double limit) {
    const std::size_t n = std::min(lane.repetitions.size(), reference.repetitions.size());
    for (std::size_t i = 0; i < n; ++i) {
        std::map<std::int32_t, std::vector<std::int32_t>> theirs;
        std::set<std::int32_t> apart;  // requests whose histories may be different by now
        for (const TokenEvent& token : lane.repetitions[i].chosen) {
            const auto [known, added] = theirs.try_emplace(token.request);
            if (added) known->second = reference.repetitions[i].tokens(token.request);
            const auto at = static_cast<std::size_t>(token.index);
            if (at >= known->second.size() || known->second[at] == token.token) continue;
            if (is_nearly_tied(token.comparison, limit))
                apart.insert(token.request);
            else if (token.comparison.compared || !apart.contains(token.request))
                return false;
        }
    }
    return true;
}

}  // namespace

std::int64_t RepetitionRecord::ttft_ns(int request) const {
    const auto i = static_cast<std::size_t>(request);
    if (i < requests.size()) return requests[i].ttft_ns();
    const auto first = std::find_if(chosen.begin(), chosen.end(), [&](const TokenEvent& token) {
        return token.request == request && token.index == 0;
    });
    if (first == chosen.end() || static_cast<std::size_t>(first->step) >= steps.size()) return 0;
    return steps[static_cast<std::size_t>(first->step)].end_ns - steps.front().start_ns;
}

std::int64_t RepetitionRecord::decode_ns() const {
    std::int64_t sum = 0;
    for (const StepEvent& step : steps) {
        if (is_decode(step)) sum += duration_of(step);
    }
    return sum;
}

std::int64_t RepetitionRecord::e2e_ns() const {
    std::int64_t sum = 0;
    for (const StepEvent& step : steps) sum += duration_of(step);
    return sum;
}

std::int64_t RepetitionRecord::n_decode() const {
    return std::count_if(steps.begin(), steps.end(), is_decode);
}

std::int64_t RepetitionRecord::n_decode_token() const {
    std::int64_t sum = 0;
    for (const StepEvent& step : steps) {
        if (is_decode(step)) sum += step.n_token;
    }
    return sum;
}

double RepetitionRecord::tpot_ns() const {
    double row_ns = 0;
    for (const StepEvent& step : steps) {
        if (is_decode(step)) row_ns += static_cast<double>(duration_of(step)) * step.n_row;
    }
    const std::int64_t n = n_decode_token();
    return n == 0 ? 0 : row_ns / static_cast<double>(n);
}

std::vector<std::int32_t> RepetitionRecord::tokens(int request) const {
    std::vector<std::int32_t> tokens;
    for (const TokenEvent& token : chosen) {
        if (token.request == request) tokens.push_back(token.token);
    }
    return tokens;
}

std::vector<double> LaneRecord::time_per_token_ns() const {
    std::vector<double> samples;
    for (const RepetitionRecord& repetition : repetitions) {
        const std::int64_t n_decode_token = repetition.n_decode_token();
        const auto n = static_cast<double>(
            n_decode_token > 0 ? n_decode_token : static_cast<std::int64_t>(repetition.chosen.size()));
        const auto time =
            static_cast<double>(n_decode_token > 0 ? repetition.decode_ns() : repetition.e2e_ns());
        if (n > 0 && time > 0) samples.push_back(time / n);
    }
    return samples;
}

Summary LaneRecord::ttft_ns() const {
    std::vector<double> samples;
    for (const RepetitionRecord& repetition : repetitions) {
        const std::size_t n = std::max<std::size_t>(1, repetition.requests.size());
        for (std::size_t i = 0; i < n; ++i) {
            const std::int64_t sample = repetition.ttft_ns(static_cast<int>(i));
            if (sample > 0) samples.push_back(static_cast<double>(sample));
        }
    }
    return summarize(samples);
}

Summary LaneRecord::queue_ns() const {
    std::vector<double> samples;
    for (const RepetitionRecord& repetition : repetitions) {
        for (const RequestRecord& request : repetition.requests) {
            if (request.started_ns != 0) samples.push_back(static_cast<double>(request.queue_ns()));
        }
    }
    return summarize(samples);
}

Summary LaneRecord::step_ns() const {
    std::vector<double> samples;
    for (const RepetitionRecord& repetition : repetitions) {
        for (const StepEvent& step : repetition.steps) {
            if (is_decode(step)) samples.push_back(static_cast<double>(duration_of(step)));
        }
    }
    return summarize(samples);
}

Summary LaneRecord::device_ns() const {
    std::vector<double> samples;
    for (const RepetitionRecord& repetition : repetitions) {
        for (const StepEvent& step : repetition.steps) {
            if (is_decode(step) && step.device_ns >= 0)
                samples.push_back(static_cast<double>(step.device_ns));
        }
    }
    return summarize(samples);
}

Summary LaneRecord::tpot_ns() const {
    return over_repetitions(repetitions, [](const auto& r) { return r.tpot_ns(); });
}

double LaneRecord::decode_tok_s() const {
    std::int64_t tokens = 0;
    std::int64_t time = 0;
    for (const RepetitionRecord& repetition : repetitions) {
        tokens += repetition.n_decode_token();
        time += repetition.decode_ns();
    }
    return time <= 0 ? 0 : static_cast<double>(tokens) * 1e9 / static_cast<double>(time);
}

double LaneRecord::total_tok_s() const {
    std::int64_t tokens = 0;
    std::int64_t time = 0;
    for (const RepetitionRecord& repetition : repetitions) {
        tokens += static_cast<std::int64_t>(repetition.chosen.size());
        time += repetition.e2e_ns();
    }
    return time <= 0 ? 0 : static_cast<double>(tokens) * 1e9 / static_cast<double>(time);
}

double LaneRecord::tokens_per_step() const {
    std::int64_t steps = 0;
    std::int64_t tokens = 0;
    for (const RepetitionRecord& repetition : repetitions) {
        steps += repetition.n_decode();
        tokens += repetition.n_decode_token();
    }
    return steps == 0 ? 0 : static_cast<double>(tokens) / static_cast<double>(steps);
}

double LaneRecord::max_relative_error() const {
    double largest = -1;
    for (const RepetitionRecord& repetition : repetitions) {
        for (const TokenEvent& token : repetition.chosen) {
            if (!token.comparison.compared) continue;
            // Not a number must win: std::max would drop it.
            if (std::isnan(token.comparison.relative_error)) return token.comparison.relative_error;
            largest = std::max(largest, token.comparison.relative_error);
        }
    }
    return largest;
}

double LaneRecord::error_limit_against(const LaneRecord& reference) const {
    return spec.weights == reference.spec.weights
               ? std::max(error_limit(rounding()), error_limit(reference.rounding()))
               : f32_error_limit;
}

std::optional<TokenEvent> LaneRecord::first_divergence(const LaneRecord& reference) const {
    const double limit = error_limit_against(reference);
    for (const RepetitionRecord& repetition : repetitions) {
        for (const TokenEvent& token : repetition.chosen) {
            // Written so that NaN diverges.
            if (token.comparison.compared && !(token.comparison.relative_error <= limit)) return token;
        }
    }
    return std::nullopt;
}

Quality LaneRecord::quality() const {
    Quality quality;
    double squares = 0;
    for (const RepetitionRecord& repetition : repetitions) {
        for (const TokenEvent& token : repetition.chosen) {
            const LogitComparison& comparison = token.comparison;
            if (!comparison.compared) continue;
            ++quality.n;
            quality.mean_kl += comparison.kl_divergence;
            quality.top1_agreement += comparison.same_argmax ? 1 : 0;
            const double change = comparison.lane_probability - comparison.reference_probability;
            squares += change * change;
        }
    }
    if (quality.n == 0) return quality;
    const auto n = static_cast<double>(quality.n);
    quality.mean_kl /= n;
    quality.top1_agreement /= n;
    quality.rms_probability_change = std::sqrt(squares / n);
    return quality;
}

int LaneRecord::first_different_token(const LaneRecord& reference) const {
    int first = -1;
    const std::size_t n = std::min(repetitions.size(), reference.repetitions.size());
    for (std::size_t i = 0; i < n; ++i) {
        int n_request = 0;
        for (const TokenEvent& token : repetitions[i].chosen)
            n_request = std::max(n_request, token.request + 1);
        for (int request = 0; request < n_request; ++request) {
            const auto mine = repetitions[i].tokens(request);
            const auto theirs = reference.repetitions[i].tokens(request);
            const std::size_t n_token = std::min(mine.size(), theirs.size());
            const auto pair = std::mismatch(mine.begin(), mine.begin() + static_cast<std::ptrdiff_t>(n_token),
                                            theirs.begin());
            const auto at = static_cast<std::size_t>(pair.first - mine.begin());
            if (at < n_token && (first < 0 || static_cast<int>(at) < first)) first = static_cast<int>(at);
        }
    }
    return first;
}

bool LaneRecord::agrees_with(const LaneRecord& reference) const {
    const bool something = !repetitions.empty() && !reference.repetitions.empty() &&
                           !repetitions.front().chosen.empty() &&
                           !reference.repetitions.front().chosen.empty();
    const double limit = error_limit_against(reference);
    // Negative: nothing was compared, the tokens alone decide. Written so that NaN does not agree.
    if (!something || !(max_relative_error() <= limit)) return false;
    if (first_different_token(reference) < 0) return true;
    return limit > f32_error_limit && differs_at_ties_alone(*this, reference, limit);
}

std::vector<LaneRecord::DraftCount> LaneRecord::acceptance() const {
    std::vector<DraftCount> counts;
    for (const RepetitionRecord& repetition : repetitions) {
        for (const StepEvent& step : repetition.steps) {
            const auto drafted = static_cast<std::size_t>(step.n_drafted);
            if (counts.size() < drafted) counts.resize(drafted);
            for (std::size_t i = 0; i < drafted; ++i) {
                ++counts[i].drafted;
                if (i < static_cast<std::size_t>(step.n_accepted)) ++counts[i].accepted;
            }
        }
    }
    return counts;
}

std::string approximation(const LaneSpec& lane, const LaneSpec& reference, int model_window) {
    const auto precision = [](const LaneSpec& spec) -> std::string {
        switch (spec.cache.kind) {
            case CacheKind::int8: return "8-bit entries";
            case CacheKind::kivi: return fmt::format("{}-bit entries", spec.cache.bits);
            default: break;
        }
        return spec.cache.dtype == DType::f32 ? "" : fmt::format("{} entries", to_string(spec.cache.dtype));
    };
    const Window window = effective_window(lane.window, model_window);
    if (window != effective_window(reference.window, model_window)) {
        if (window.size == 0) return "sees everything";
        if (window == Window{model_window, 0}) return fmt::format("the model's window of {}", window.size);
        return window.sinks == 0 ? fmt::format("streaming: sees {} tokens", window.size)
                                 : fmt::format("streaming: sees {} tokens and {} sink{}", window.size,
                                               window.sinks, window.sinks == 1 ? "" : "s");
    }
    std::string less;
    if (lane.weights != reference.weights) less = fmt::format("{} weights", to_string(lane.weights));
    if (const std::string mine = precision(lane); mine != precision(reference))
        less += (less.empty() ? "" : ", ") + (mine.empty() ? "f32 entries" : mine);
    if (!less.empty()) return less;
    if (lane.mode == LaneMode::beam && reference.mode != LaneMode::beam) return "beam search";
    if (lane.mode == LaneMode::speculative && lane.draft.acceptance == Acceptance::rejection)
        return "same distribution, other draws";
    return "";
}

FinishReason LaneRecord::finish() const {
    return repetitions.empty() ? FinishReason::failed : repetitions.back().finish;
}

double LaneRecord::read_gb_s() const {
    std::vector<double> samples;
    for (const RepetitionRecord& repetition : repetitions) {
        for (const StepEvent& step : repetition.steps) {
            if (!is_decode(step) || step.bytes_moved <= 0 || duration_of(step) <= 0) continue;
            samples.push_back(static_cast<double>(step.bytes_moved) / static_cast<double>(duration_of(step)));
        }
    }
    return median_of(samples);
}

std::string approximation(const Record& record, std::size_t lane) {
    const LaneSpec& spec = record.lanes.at(lane).spec;
    std::string why = approximation(spec, record.reference().spec, record.model.window);
    // A draw near a border between two tokens goes either way, whatever the limit of the logits.
    const bool rounds = lane != record.reference_index() &&
                        record.lanes[lane].error_limit_against(record.reference()) > f32_error_limit;
    if (why.empty() && rounds && record.experiment.sampling.kind == SamplingKind::sample) {
        why = spec.weights == WeightType::f32
                  ? "sampled with TF32"
                  : fmt::format("sampled with {} weights", to_string(spec.weights));
    }
    return why;
}

std::vector<std::string> doubts(const Record& record) {
    std::vector<std::string> found = doubts(record.environment);
    if (record.waited_turns > 0) {
        found.push_back(
            fmt::format("The run was held or slowed before {} of its turns: what the processor's caches kept "
                        "may be gone after each, and times be longer than of a run that goes on.",
                        record.waited_turns));
    }
    return found;
}

bool any_approximation(const Record& record) {
    for (std::size_t i = 0; i < record.lanes.size(); ++i) {
        if (!approximation(record, i).empty()) return true;
    }
    return false;
}

std::string why_not_comparable(const Record& record, std::size_t lane) {
    const LaneRecord& mine = record.lanes.at(lane);
    const LaneRecord& reference = record.reference();
    if (&mine == &reference) return "the reference";
    const auto n_token = [](const LaneRecord& r) {
        std::size_t n = 0;
        for (const RepetitionRecord& repetition : r.repetitions) n += repetition.chosen.size();
        return n;
    };
    if (n_token(mine) == 0 || n_token(reference) == 0) return "not shown: no tokens";
    if (approximation(record, lane).empty() && !mine.agrees_with(reference)) return output_differs;
    return n_token(mine) == n_token(reference) ? "" : other_tokens;
}

SpeedUp speed_up(const Record& record, std::size_t lane) {
    const LaneRecord& mine = record.lanes.at(lane);
    const LaneRecord& reference = record.reference();
    const auto decodes = [](const LaneRecord& r) {
        return std::any_of(
            r.repetitions.begin(), r.repetitions.end(),
            [](const RepetitionRecord& repetition) { return repetition.n_decode_token() > 0; });
    };
    std::string why = why_not_comparable(record, lane);
    if (&mine != &reference && !(decodes(mine) && decodes(reference))) why = "not shown: no decode steps";
    if (!why.empty()) return {0, {}, why, {}};
    const auto own = mine.time_per_token_ns();
    const auto theirs = reference.time_per_token_ns();
    return {median_of(theirs) / median_of(own), bootstrap_paired_ratio(theirs, own), "",
            approximation(record, lane)};
}

}  // namespace decodescope
