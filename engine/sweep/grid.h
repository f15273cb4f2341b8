// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <vector>

#include "engine/sweep/cell.h"

namespace decodescope {

/// Values to be combined.
struct Grid {
    std::vector<int> n_prompt;
    std::vector<int> n_gen;
    std::vector<int> n_depth{0};
    std::vector<int> n_parallel{1};
    std::vector<int> n_threads{1};

    /// The Cartesian product, prompts fastest: what `sweep` runs. One or more of prompt and generation are to
    /// be positive; combinations of 0 and 0 are left out.
    std::vector<TestShape> product() const;
    /// Every prompt and every generation as a test of its own, at every depth, number of requests and
    /// threads: what `bench` runs, as llama-bench does.
    std::vector<TestShape> separate() const;
    /// Checks ranges; the sentence names the list.
    Result<void> validate() const;
};

/// The first test at the end against the same test at the beginning.
struct Drift {
    double ratio = 0;  ///< of the median times, end / beginning; 0 = not known
    Interval interval;
    std::string sentence;  ///< when the two differ by more than chance and 2 %; empty otherwise
};
/// Of each lane of the first test, the one that drifted most.
Drift drift_of(const std::vector<Cell>& cells);

/// What runs tests one after the other tells its caller.
class GridSink : public EventSink {
public:
    /// Before test `point` of `n`; a repetition of the first at the end is number `n`.
    virtual void test_started(std::size_t /*point*/, std::size_t /*n*/, const TestShape&) {}
    /// The cells of a test; false ends the run.
    virtual bool test_done(const std::vector<Cell>& /*cells*/) { return true; }
};

/// Runs `points` in their order and then the first once more (unless it is the only one, or `repeat_first` is
/// false). Ends early when stopped; the cells of the test that ran then are `cancelled`.
std::vector<Cell> run_points(const std::vector<TestShape>& points, const CellSettings& settings,
                             const LoadedModel& model, const std::shared_ptr<MemoryLedger>& ledger,
                             GridSink& sink, std::stop_token stop, bool repeat_first);

}  // namespace decodescope
