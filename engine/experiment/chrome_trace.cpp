// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/experiment/chrome_trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "engine/experiment/json_fields.h"

namespace decodescope {

namespace {

constexpr int timed_process = 1;
constexpr int instrumented_process = 2;
constexpr std::int64_t gap_ns = 1'000'000;  // between passes that are shown one after the other

/// Viewers turn microseconds into whole nanoseconds by cutting, so the number must not lie below its
/// decimals.
double microseconds(std::int64_t ns) {
    const double us = static_cast<double>(ns) / 1000;
    return static_cast<std::int64_t>(us * 1000) == ns ? us : std::nextafter(us, HUGE_VAL);
}

OrderedJson known(std::int64_t value) {
    return value < 0 ? OrderedJson(nullptr) : OrderedJson(value);
}

/// Collects events as lines, because a trace has very many of them.
class Events {
public:
    void name(const char* what, int process, int thread, const std::string& name) {
        OrderedJson json = {{"ph", "M"}, {"name", what}, {"pid", process}, {"tid", thread}};
        json["args"] = {{"name", name}};
        names_.push_back(dump_json_line(json));
    }
    void order(const char* what, int process, int thread, int index) {
        OrderedJson json = {{"ph", "M"}, {"name", what}, {"pid", process}, {"tid", thread}};
        json["args"] = {{"sort_index", index}};
        names_.push_back(dump_json_line(json));
    }
    void span(int process, int thread, const std::string& name, const char* category, std::int64_t start,
              std::int64_t end, OrderedJson args) {
        OrderedJson json = {{"ph", "X"},
                            {"name", name},
                            {"cat", category},
                            {"pid", process},
                            {"tid", thread},
                            {"ts", microseconds(start)},
                            {"dur", microseconds(end - start)}};
        if (!args.empty()) json["args"] = std::move(args);
        events_.push_back({start, dump_json_line(json)});
    }
    void counter(const std::string& name, std::int64_t at, std::int64_t bytes) {
        OrderedJson json = {
            {"ph", "C"}, {"name", name}, {"pid", timed_process}, {"tid", 0}, {"ts", microseconds(at)}};
        json["args"] = {{"bytes", bytes}};
        events_.push_back({at, dump_json_line(json)});
    }

    std::string text(const OrderedJson& other) {
        std::stable_sort(events_.begin(), events_.end(),
                         [](const Event& a, const Event& b) { return a.at < b.at; });
        std::string out = fmt::format(
            "{{\"displayTimeUnit\": \"ns\",\n\"otherData\": {},\n\"traceEvents\": [", dump_json_line(other));
        const char* separator = "\n";
        const auto add = [&](const std::string& line) {
            out += separator;
            out += line;
            separator = ",\n";
        };
        for (const std::string& line : names_) add(line);
        for (const Event& event : events_) add(event.line);
        return out + "\n]}\n";
    }

private:
    struct Event {
        std::int64_t at;
        std::string line;
    };
    std::vector<std::string> names_;
    std::vector<Event> events_;
};

OrderedJson step_args(const StepEvent& step) {
    OrderedJson args = {{"step", step.step},
                        {"repetition", step.repetition},
                        {"positions_forwarded", step.positions_forwarded},
                        {"cache_length", step.cache_length},
                        {"tokens", step.n_token},
                        {"rows", step.n_row},
                        {"token_id", known(step.token)},
                        {"kv_bytes_live", step.kv_bytes_live},
                        {"kv_bytes_copied", step.kv_bytes_copied},
                        {"bytes_moved", step.bytes_moved},
                        {"minor_faults", known(step.minor_faults_step)}};
    args["score_cells"] = {{"allowed", step.score_cells_allowed}, {"computed", step.score_cells_computed}};
    if (step.device_ns >= 0) args["device_us"] = microseconds(step.device_ns);
    if (step.n_drafted > 0) args["drafts"] = {{"verified", step.n_drafted}, {"kept", step.n_accepted}};
    if (step.comparison.compared) args["relative_error"] = step.comparison.relative_error;
    return args;
}

class Writer {
public:
    explicit Writer(const Record& record) : record_(record) {
        std::int64_t end = 0;
        begin_ = std::numeric_limits<std::int64_t>::max();
        for_steps([&](const StepEvent& step) {
            begin_ = std::min(begin_, step.start_ns);
            end = std::max(end, step.end_ns);
        });
        end_ = end > begin_ ? end - begin_ : 0;
    }

    std::string write(std::span<const LaneProfile> profiles) {
        add_timed();
        OrderedJson other = about();
        if (!profiles.empty()) {
            events_.name("process_name", instrumented_process, 0,
                         "Instrumented pass (times are not the timed ones)");
            events_.order("process_sort_index", instrumented_process, 0, instrumented_process);
            other["instrumented"] =
                "Lanes were served once more with time stamps taken inside their forward calls.";
        }
        for (const LaneProfile& profile : profiles) add_profile(profile, other);
        return events_.text(other);
    }

private:
    template <class See>
    void for_steps(See see) const {
        for (const LaneRecord& lane : record_.lanes) {
            for (const RepetitionRecord& repetition : lane.repetitions) {
                for (const StepEvent& step : repetition.steps) see(step);
            }
        }
    }

    OrderedJson about() const {
        const Environment& environment = record_.environment;
        return {{"schema", "decodescope.chrome_trace/1"},
                {"program", "DecodeScope " + environment.program_version},
                {"commit", environment.commit},
                {"model", record_.model.name},
                {"model_hash", record_.model_hash},
                {"machine", environment.cpu_model},
                {"threads", fmt::format("{}", environment.threads)},
                {"started_at", record_.started_at}};
    }

    /// "static", "naive (reference)".
    std::string lane_name(std::size_t lane) const {
        return record_.lanes[lane].spec.name + (lane == record_.reference_index() ? " (reference)" : "");
    }

    void add_track(int process, std::size_t lane, const std::string& name) {
        const int thread = static_cast<int>(lane) + 1;
        events_.name("thread_name", process, thread, name);
        events_.order("thread_sort_index", process, thread, thread);
    }

    void add_timed() {
        events_.name("process_name", timed_process, 0, "Timed passes");
        events_.order("process_sort_index", timed_process, 0, timed_process);
        for (std::size_t i = 0; i < record_.lanes.size(); ++i) {
            const LaneRecord& lane = record_.lanes[i];
            const int thread = static_cast<int>(i) + 1;
            add_track(timed_process, i, lane_name(i));
            for (std::size_t r = 0; r < lane.repetitions.size(); ++r) {
                const RepetitionRecord& repetition = lane.repetitions[r];
                if (repetition.steps.empty()) continue;
                const std::int64_t start = repetition.steps.front().start_ns - begin_;
                const std::int64_t end = repetition.steps.back().end_ns - begin_;
                OrderedJson args = {{"repetition", r},
                                    {"steps", repetition.steps.size()},
                                    {"e2e_us", microseconds(repetition.e2e_ns())},
                                    {"finish", to_string(repetition.finish)},
                                    {"weights", to_string(lane.spec.weights)},
                                    {"kernels", to_string(lane.spec.kernels)},
                                    {"device", record_.experiment.device_of(lane.spec).name()},
                                    {"weight_bytes", number_or_null(lane.weight_bytes, std::uint64_t{0})}};
                if (!repetition.reason.empty()) args["reason"] = repetition.reason;
                events_.span(timed_process, thread, fmt::format("repetition {}", r), "repetition", start, end,
                             std::move(args));
                for (const StepEvent& step : repetition.steps) add_step(thread, lane.spec, step);
                if (lane.spec.cache.kind != CacheKind::none) {
                    events_.counter("KV live, " + lane.spec.name, end, 0);
                    events_.counter("KV reserved, " + lane.spec.name, end, 0);
                }
            }
        }
    }

    void add_step(int thread, const LaneSpec& lane, const StepEvent& step) {
        events_.span(timed_process, thread, to_string(step.phase), "step", step.start_ns - begin_,
                     step.end_ns - begin_, step_args(step));
        const std::int64_t at = step.end_ns - begin_;
        if (lane.cache.kind != CacheKind::none) {
            events_.counter("KV live, " + lane.name, at, step.kv_bytes_live);
            events_.counter("KV reserved, " + lane.name, at, step.kv_bytes_reserved);
        }
        if (step.memory.rss != ProcessMemory::not_measured) events_.counter("RSS", at, step.memory.rss);
    }

    void add_profile(const LaneProfile& profile, OrderedJson& other) {
        if (profile.lane >= record_.lanes.size()) return;
        const std::string& name = record_.lanes[profile.lane].spec.name;
        add_track(instrumented_process, profile.lane, name + " (instrumented pass)");
        other["instrumented " + name] = cost_text(profile);
        if (profile.steps.empty()) return;
        const std::int64_t shift = end_ + gap_ns - profile.steps.front().start_ns;
        for (const StepProfile& step : profile.steps) {
            for (const ProfileSpan& span : step.spans) add_span(profile, step, span, shift);
            end_ = step.start_ns + step.profiled_ns + shift;
        }
    }

    void add_span(const LaneProfile& profile, const StepProfile& step, const ProfileSpan& span,
                  std::int64_t shift) {
        OrderedJson args;
        std::string name = to_string(span.kind);
        if (span.kind == SpanKind::step) {
            name = to_string(step.phase);
            args = {{"step", step.step},
                    {"instrumented", true},
                    {"positions_forwarded", step.positions_forwarded},
                    {"other_us", microseconds(step.other_ns())}};
            args["plain_step_us"] =
                step.plain_ns > 0 ? OrderedJson(microseconds(step.plain_ns)) : OrderedJson(nullptr);
            args["timed_step_us"] = step.recorded_ns > 0
                                        ? OrderedJson(microseconds(std::llround(step.recorded_ns)))
                                        : OrderedJson(nullptr);
        }
        if (span.kind == SpanKind::layer) name = fmt::format("layer {}", span.layer);
        if (span.layer >= 0) args["layer"] = span.layer;
        events_.span(instrumented_process, static_cast<int>(profile.lane) + 1, name,
                     span.kind == SpanKind::step ? "step" : "inside", span.start_ns + shift,
                     span.end_ns + shift, std::move(args));
    }

    static std::string cost_text(const LaneProfile& profile) {
        const ProfileCost cost = profile.cost();
        const auto us = [](double ns) {
            return ns > 0 ? fmt::format("{:.1f} us", ns / 1000) : std::string("not measured");
        };
        std::string text = fmt::format(
            "Median of {} steps: {} with time stamps inside, {} without in the same process, {} in "
            "the record.",
            cost.n_step, us(cost.profiled_ns), us(cost.plain_ns), us(cost.recorded_ns));
        if (profile.n_step_without_room > 0)
            text += fmt::format(" {} steps are not shown: there was no room for them.",
                                profile.n_step_without_room);
        for (const std::string& sentence : {profile.differs, profile.reason}) {
            if (!sentence.empty()) text += " " + sentence;
        }
        return text;
    }

    const Record& record_;
    std::int64_t begin_ = 0;  // of the timed passes, monotonic
    std::int64_t end_ = 0;    // of what was written, from `begin_` on
    Events events_;
};

}  // namespace

std::string to_chrome_trace(const Record& record, std::span<const LaneProfile> profiles) {
    return Writer(record).write(profiles);
}

}  // namespace decodescope
