// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/experiment/profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "engine/core/as_index.h"
#include "engine/experiment/serve_again.h"
#include "engine/measure/statistics.h"

namespace decodescope {

namespace {

/// Makes the spans of a step out of the stamps that were taken in it.
class SpanBuilder {
public:
    SpanBuilder(std::vector<ProfileSpan>& spans, bool rotary) : spans_(spans), rotary_(rotary) {}

    void build(const LaneStep& step, std::span<const CallStamp> stamps) {
        std::int64_t last_end = step.start_ns;
        add(SpanKind::step, 0, -1, step.start_ns, step.end_ns);
        for (std::size_t begin = 0; begin < stamps.size();) {
            std::size_t end = begin + 1;
            while (end < stamps.size() && stamps[end].place != CallPlace::call_begin) ++end;
            if (begin == 0 && step.n_draft_call > 0 && step.phase != Phase::prefill)
                add(SpanKind::draft, 1, -1, step.start_ns, stamps[begin].ns);
            add_call(stamps.subspan(begin, end - begin));
            last_end = stamps[end - 1].ns;
            begin = end;
        }
        if (!stamps.empty()) add(SpanKind::choose, 1, -1, last_end, step.end_ns);
    }

private:
    void add(SpanKind kind, std::int8_t depth, std::int32_t layer, std::int64_t start, std::int64_t end) {
        spans_.push_back({kind, depth, layer, start, end});
    }

    void add_call(std::span<const CallStamp> stamps) {
        add(SpanKind::call, 1, -1, stamps.front().ns, stamps.back().ns);
        std::size_t layer_span = 0;
        std::size_t attention_span = 0;
        for (std::size_t i = 1; i < stamps.size(); ++i) {
            const CallStamp& at = stamps[i];
            const std::int64_t start = stamps[i - 1].ns;
            switch (at.place) {
                case CallPlace::call_begin: break;
                case CallPlace::planned: add(SpanKind::setup, 2, -1, start, at.ns); break;
                case CallPlace::embedded: add(SpanKind::embedding, 2, -1, start, at.ns); break;
                case CallPlace::layer_begin:
                    if (stamps[i - 1].place == CallPlace::embedded && rotary_)
                        add(SpanKind::rotary, 2, -1, start, at.ns);
                    layer_span = spans_.size();
                    add(SpanKind::layer, 2, at.layer, at.ns, at.ns);
                    attention_span = spans_.size();
                    add(SpanKind::attention, 3, at.layer, at.ns, at.ns);
                    break;
                case CallPlace::projected: add(SpanKind::qkv, 4, at.layer, start, at.ns); break;
                case CallPlace::appended: add(SpanKind::append, 4, at.layer, start, at.ns); break;
                case CallPlace::mixed: add(SpanKind::mix, 4, at.layer, start, at.ns); break;
                case CallPlace::attended:
                    add(SpanKind::attention_out, 4, at.layer, start, at.ns);
                    spans_[attention_span].end_ns = at.ns;
                    break;
                case CallPlace::feed_forward:
                    add(SpanKind::feed_forward, 3, at.layer, start, at.ns);
                    spans_[layer_span].end_ns = at.ns;
                    break;
                case CallPlace::logits: add(SpanKind::head, 2, -1, start, at.ns); break;
                case CallPlace::call_end: add(SpanKind::commit, 2, -1, start, at.ns); break;
            }
        }
    }

    std::vector<ProfileSpan>& spans_;
    bool rotary_;
};

/// Serves the lane from its first to its `last_step` (-1 = its end), telling `done` of every step. Only being
/// stopped is an error; why it failed otherwise is the result.
Result<std::string> serve(Lane& lane, const Workload& workload, TokenFeed* feed, int last_step,
                          const std::stop_token& stop,
                          const std::function<void(int, const LaneStep&)>& done) {
    if (const auto started = lane.start(workload, feed); !started) return started.error().message;
    std::string reason;
    for (int i = 0; last_step < 0 || i <= last_step; ++i) {
        const auto ready = lane.ready();
        if (ready && !*ready) break;
        const auto step = ready ? lane.step(stop) : Result<LaneStep>(ready.error());
        if (!step) {
            if (step.error().kind == ErrorKind::cancelled) return step.error();
            reason = step.error().message;
            break;
        }
        done(i, *step);
    }
    lane.finish();
    return reason;
}

/// Median of a step over the repetitions that have it.
double recorded_ns(const LaneRecord& lane, std::size_t step) {
    std::vector<double> samples;
    for (const RepetitionRecord& repetition : lane.repetitions) {
        if (step >= repetition.steps.size()) continue;
        samples.push_back(
            static_cast<double>(repetition.steps[step].end_ns - repetition.steps[step].start_ns));
    }
    return median_of(samples);
}

std::string difference(const LaneRecord& lane, const StepProfile& step) {
    if (lane.repetitions.empty() || as_index(step.step) >= lane.repetitions.front().steps.size()) return {};
    const StepEvent& recorded = lane.repetitions.front().steps[as_index(step.step)];
    if (recorded.phase == step.phase && recorded.positions_forwarded == step.positions_forwarded) return {};
    return fmt::format("Step {} forwarded {} positions ({}), in the record {} ({}).", step.step,
                       step.positions_forwarded, to_string(step.phase), recorded.positions_forwarded,
                       to_string(recorded.phase));
}

}  // namespace

const char* to_string(SpanKind kind) {
    switch (kind) {
        case SpanKind::step: return "step";
        case SpanKind::draft: return "draft";
        case SpanKind::call: return "forward";
        case SpanKind::setup: return "setup";
        case SpanKind::embedding: return "embedding";
        case SpanKind::rotary: return "rotary angles";
        case SpanKind::layer: return "layer";
        case SpanKind::attention: return "attention";
        case SpanKind::qkv: return "q, k, v";
        case SpanKind::append: return "append";
        case SpanKind::mix: return "scores and values";
        case SpanKind::attention_out: return "output projection";
        case SpanKind::feed_forward: return "MLP";
        case SpanKind::head: return "head";
        case SpanKind::commit: return "commit";
        case SpanKind::choose: return "choose";
    }
    return "step";
}

std::int64_t StepProfile::ns_of(SpanKind kind) const {
    std::int64_t sum = 0;
    for (const ProfileSpan& span : spans) sum += span.kind == kind ? span.ns() : 0;
    return sum;
}

std::int64_t StepProfile::other_ns() const {
    if (spans.empty()) return 0;
    std::int64_t covered = 0;
    for (std::size_t i = 0; i < spans.size(); ++i) {
        const bool has_children = i + 1 < spans.size() && spans[i + 1].depth > spans[i].depth;
        if (!has_children && i > 0) covered += spans[i].ns();
    }
    return spans.front().ns() - covered;
}

ProfileCost LaneProfile::cost() const {
    const auto decodes = [](const StepProfile& step) { return step.phase != Phase::prefill; };
    const bool any_decode = std::any_of(steps.begin(), steps.end(), decodes);
    std::vector<double> recorded;
    std::vector<double> plain;
    std::vector<double> profiled;
    std::vector<double> ratios;
    for (const StepProfile& step : steps) {
        if (step.spans.empty() || (any_decode && !decodes(step))) continue;
        profiled.push_back(static_cast<double>(step.profiled_ns));
        if (step.recorded_ns > 0) recorded.push_back(step.recorded_ns);
        if (step.plain_ns <= 0) continue;
        plain.push_back(static_cast<double>(step.plain_ns));
        ratios.push_back(profiled.back() / plain.back());
    }
    ProfileCost cost{profiled.size(), median_of(recorded), median_of(plain), median_of(profiled), 0};
    if (!ratios.empty()) cost.share = median_of(ratios) - 1;
    return cost;
}

Result<LaneProfile> profile_lane(const Record& record, std::size_t lane, const LoadedModel& model,
                                 std::shared_ptr<MemoryLedger> ledger, const ProfileOptions& options,
                                 std::stop_token stop) {
    const auto again = serve_again(record, lane, model, std::move(ledger), stop);
    if (!again) return again.error();
    const auto served = make_lane(again->spec, again->context);
    if (!served) return served.error();
    LaneProfile profile;
    profile.lane = lane;
    const auto warm = serve(**served, again->workload, again->feed.get(),
                            options.last_step < 0 ? warmup_steps : std::min(options.last_step, warmup_steps),
                            stop, [](int, const LaneStep&) {});
    if (!warm) return warm.error();
    std::vector<std::int64_t> plain;
    if (options.plain_pass) {
        const auto reason =
            serve(**served, again->workload, again->feed.get(), options.last_step, stop,
                  [&](int, const LaneStep& step) { plain.push_back(step.end_ns - step.start_ns); });
        if (!reason) return reason.error();
    }

    const ModelConfig& config = model.weights->config;
    constexpr int usual_calls = 8;
    CallTimer timer(config.n_layer, usual_calls);
    (*served)->time_calls(&timer);
    std::int64_t n_span = 0;
    const auto reason =
        serve(**served, again->workload, again->feed.get(), options.last_step, stop,
              [&](int i, const LaneStep& done) {
                  StepProfile step;
                  step.step = i;
                  step.phase = done.phase;
                  step.positions_forwarded = done.positions_forwarded;
                  step.start_ns = done.start_ns;
                  step.profiled_ns = done.end_ns - done.start_ns;
                  step.plain_ns = as_index(i) < plain.size() ? plain[as_index(i)] : 0;
                  step.recorded_ns = recorded_ns(record.lanes[lane], as_index(i));
                  if (i >= options.first_step) {
                      SpanBuilder(step.spans, config.rotary.has_value()).build(done, timer.stamps());
                      n_span += static_cast<std::int64_t>(step.spans.size());
                      if (n_span > options.max_spans) {
                          n_span -= static_cast<std::int64_t>(step.spans.size());
                          step.spans = {};
                          ++profile.n_step_without_room;
                      }
                  }
                  timer.clear();
                  if (profile.differs.empty()) profile.differs = difference(record.lanes[lane], step);
                  profile.steps.push_back(std::move(step));
              });
    if (!reason) return reason.error();
    profile.reason = *reason;
    return profile;
}

}  // namespace decodescope
