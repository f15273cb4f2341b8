// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <utility>

#include "engine/core/clock.h"
#include "engine/experiment/text_table.h"
#include "engine/sweep/estimate.h"

namespace decodescope::cli {

namespace {

constexpr std::int64_t pauseNs = 100'000'000;  // between two lines

}  // namespace

ProgressLine::ProgressLine() : visible_(isatty(STDERR_FILENO) == 1) {}

void ProgressLine::show(std::string_view text) {
    if (!visible_) return;
    fmt::print(stderr, "\r\033[K{}", text);
    std::fflush(stderr);
    shown_ = true;
}

void ProgressLine::clear() {
    if (!shown_) return;
    fmt::print(stderr, "\r\033[K");
    std::fflush(stderr);
    shown_ = false;
}

namespace {

/// Follows the loading of a model on `line`, a few times a second. `line` must live as long as the watch.
LoadWatch watchLoading(ProgressLine& line, std::stop_token stop) {
    line.show("Loading the model ...");
    LoadWatch watch;
    watch.stop = std::move(stop);
    if (!line.visible()) return watch;
    watch.progress = [&line, shownNs = now_ns()](const LoadProgress& progress) mutable {
        const std::int64_t now = now_ns();
        if (now - shownNs < pauseNs || progress.bytes_total == 0) return;
        shownNs = now;
        line.show(fmt::format("{:3} %  Loading the model, {} of {}",
                              100 * progress.bytes_done / progress.bytes_total,
                              human_bytes(static_cast<double>(progress.bytes_done)),
                              human_bytes(static_cast<double>(progress.bytes_total))));
    };
    return watch;
}

}  // namespace

Result<LoadedModel> loadModel(const ModelRef& ref, const std::shared_ptr<MemoryLedger>& ledger,
                              const std::stop_token& stop) {
    ProgressLine line;
    return load_model(ref, ledger, watchLoading(line, stop));
}

RunProgress::RunProgress(const Experiment& experiment) {
    for (const LaneSpec& lane : experiment.lanes) laneNames_.push_back(lane.name);
    line_.show("Measuring the memory's read bandwidth ...");
}

void RunProgress::run_started(const RunStarted& started) {
    started_ = started;
    line_.show("Warming up ...");
}

void RunProgress::step_done(const StepEvent& step) {
    ++stepsDone_;
    const std::int64_t now = now_ns();
    if (!line_.visible() || now - lastShownNs_ < pauseNs) return;
    lastShownNs_ = now;
    const std::int64_t all =
        std::max<std::int64_t>(1, std::int64_t{started_.n_lane} * started_.repetitions * started_.new_tokens);
    line_.show(fmt::format("{:3} %  repetition {} of {}, token {} of {} ({})",
                           std::min<std::int64_t>(100, 100 * stepsDone_ / all), step.repetition + 1,
                           started_.repetitions, step.step + 1, started_.new_tokens,
                           laneNames_.at(static_cast<std::size_t>(step.lane))));
}

void RunProgress::run_finished(FinishReason) {
    line_.clear();
}

GridProgress::GridProgress(const CellSettings& settings) : startedNs_(now_ns()) {
    for (const LaneSpec& lane : settings.lanes) laneNames_.push_back(lane.name);
}

void GridProgress::test_started(std::size_t point, std::size_t n, const TestShape& shape) {
    done_ = point;
    all_ = std::max(n, point + 1);
    test_ = shape.label();
    show("warming up");
}

void GridProgress::run_started(const RunStarted&) {
    lastShownNs_ = 0;
}

void GridProgress::step_done(const StepEvent& step) {
    const std::int64_t now = now_ns();
    if (!line_.visible() || now - lastShownNs_ < pauseNs) return;
    lastShownNs_ = now;
    show(fmt::format("repetition {}", step.repetition + 1));
}

bool GridProgress::test_done(const std::vector<Cell>&) {
    line_.clear();
    return true;
}

void GridProgress::show(const std::string& what) {
    std::string left;
    if (done_ > 0) {
        left = fmt::format(", about {:.0f} s left", time_left_s(now_ns() - startedNs_, done_, all_));
    }
    line_.show(fmt::format("Test {} of {}: {}, {}{}", done_ + 1, all_, test_, what, left));
}

}  // namespace decodescope::cli
