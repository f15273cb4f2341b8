// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "engine/experiment/events.h"
#include "engine/experiment/experiment.h"
#include "engine/formats/load_watch.h"
#include "engine/formats/model_source.h"
#include "engine/sweep/grid.h"

namespace decodescope::cli {

/// Shows one line that is written over, on standard error and only when that is a terminal.
class ProgressLine {
public:
    ProgressLine();
    ~ProgressLine() { clear(); }
    ProgressLine(const ProgressLine&) = delete;
    ProgressLine& operator=(const ProgressLine&) = delete;

    void show(std::string_view text);
    void clear();
    bool visible() const { return visible_; }

private:
    bool visible_;
    bool shown_ = false;
};

/// Loads a model and shows how far it is.
Result<LoadedModel> loadModel(const ModelRef& ref, const std::shared_ptr<MemoryLedger>& ledger,
                              const std::stop_token& stop);

/// Tells the progress of a run, a few times a second.
class RunProgress : public EventSink {
public:
    explicit RunProgress(const Experiment& experiment);

    void run_started(const RunStarted& started) override;
    void step_done(const StepEvent& step) override;
    void run_finished(FinishReason reason) override;

private:
    std::vector<std::string> laneNames_;
    ProgressLine line_;
    RunStarted started_;
    std::int64_t stepsDone_ = 0;
    std::int64_t lastShownNs_ = 0;
};

/// Tells the progress of many tests: which one runs, how far it is, and about how long the rest will take.
class GridProgress : public GridSink {
public:
    explicit GridProgress(const CellSettings& settings);

    void test_started(std::size_t point, std::size_t n, const TestShape& shape) override;
    void run_started(const RunStarted& started) override;
    void step_done(const StepEvent& step) override;
    bool test_done(const std::vector<Cell>& cells) override;

private:
    void show(const std::string& what);

    std::vector<std::string> laneNames_;
    ProgressLine line_;
    std::string test_;
    std::size_t done_ = 0;
    std::size_t all_ = 0;
    std::int64_t startedNs_;
    std::int64_t lastShownNs_ = 0;
};

}  // namespace decodescope::cli
