// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "engine/core/memory.h"
#include "engine/core/result.h"
#include "engine/formats/model_source.h"
#include "engine/measure/statistics.h"

namespace decodescope {

/// What measuring costs, held against decode steps that nothing watches.
struct SelfTest {
    /// One way of making the same decode steps.
    struct Way {
        std::string name;
        std::string meaning;
        double step_ns = 0;  ///< median of its steps
        double ratio = 0;    ///< to the bare steps; of medians, steps made side by side
        Interval interval;   ///< of the ratio, 95 %
    };
    /// In this order: bare forward calls; with a hook that does nothing (what looking for taps costs at most:
    /// without one there are only comparisons with null); a lane as runs measure it (counters on, taps off).
    std::vector<Way> ways;
    double events_ns =
        0;          ///< median time per step for what runs note between steps, outside the timed region
    int steps = 0;  ///< made in every way
    int threads = 1;

    /// The lane's steps cost less than `limit` more than bare ones.
    bool holds() const;
    static constexpr double limit = 0.01;
};

/// Makes the same greedy decode steps of `model` in all ways, taking turns step by step. Takes a few seconds
/// for a small model.
Result<SelfTest> run_self_test(const LoadedModel& model, std::shared_ptr<MemoryLedger> ledger, int threads,
                               std::stop_token stop = {});

}  // namespace decodescope
