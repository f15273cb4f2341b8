// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/sweep/sweep_work.h"

#include <algorithm>
#include <utility>

#include "engine/core/clock.h"
#include "engine/model/weights.h"

namespace decodescope {

namespace {

constexpr std::int64_t pauseNs = 100'000'000;  // between two reports

/// Runs on the engine thread and tells the window.
class Sink : public GridSink {
public:
    Sink(const Session::Bench& bench, const SweepFile& file, const SweepWatch& watch)
        : m_bench(bench), m_file(file), m_watch(watch), m_startedNs(now_ns()) {}

    void test_started(std::size_t point, std::size_t n, const TestShape& shape) override {
        m_progress.done = point;
        m_progress.all = std::max(n, point + 1);
        m_progress.test = QString::fromStdString(shape.label());
        m_progress.repetition = 0;
        if (point > 0) m_progress.left_s = time_left_s(now_ns() - m_startedNs, point, m_progress.all);
        tell();
    }
    void step_done(const StepEvent& step) override {
        if (now_ns() - m_toldNs < pauseNs) return;
        m_progress.repetition = step.repetition + 1;
        tell();
    }
    bool test_done(const std::vector<Cell>&) override {
        auto cells = std::make_shared<const std::vector<Cell>>(m_file.cells());
        m_bench.tell([show = m_watch.cells, cells] { show(cells); });
        return true;
    }

private:
    void tell() {
        m_toldNs = now_ns();
        m_bench.tell([show = m_watch.progress, progress = m_progress] { show(progress); });
    }

    const Session::Bench& m_bench;
    const SweepFile& m_file;
    const SweepWatch& m_watch;
    SweepProgress m_progress;
    std::int64_t m_startedNs;
    std::int64_t m_toldNs = 0;
};

}  // namespace

std::function<Result<SweepOutcome>(const Session::Bench&)> sweepWork(Sweep sweep, std::string path,
                                                                     SweepFile::Mode mode, SweepWatch watch) {
    return [sweep = std::move(sweep), path = std::move(path), mode,
            watch = std::move(watch)](const Session::Bench& bench) -> Result<SweepOutcome> {
        const auto model = bench.model(sweep.settings.model);
        if (!model) return model.error();
        auto file =
            SweepFile::open(path, sweep.id(weights_hash(*(*model)->weights)), sweep.points.size(), mode);
        if (!file) return file.error();
        Sink sink(bench, *file, watch);
        const auto done = run_sweep(sweep, **model, bench.ledger, *file, sink, bench.stop);
        if (!done) return done.error();
        const auto own = sweep.own_points();
        const auto n_done =
            std::count_if(own.begin(), own.end(), [&](std::size_t point) { return file->has(point); });
        return SweepOutcome{file->cells(), static_cast<std::size_t>(n_done), own.size()};
    };
}

std::function<Result<SweepEstimate>(const Session::Bench&)> estimateWork(Sweep sweep) {
    return [sweep = std::move(sweep)](const Session::Bench& bench) -> Result<SweepEstimate> {
        const auto model = bench.model(sweep.settings.model);
        if (!model) return model.error();
        SweepEstimate estimate = estimate_sweep(sweep, **model, bench.ledger, bench.stop);
        if (bench.stop.stop_requested()) return Error{ErrorKind::cancelled, "Stopped on request."};
        return estimate;
    };
}

}  // namespace decodescope
