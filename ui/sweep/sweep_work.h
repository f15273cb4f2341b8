// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engine/sweep/estimate.h"
#include "engine/sweep/sweep.h"
#include "ui/session/session.h"

namespace decodescope {

/// How far a sweep is.
struct SweepProgress {
    std::size_t done = 0;  ///< tests of this run
    std::size_t all = 0;
    QString test;        ///< that is being made
    int repetition = 0;  ///< of it, from 1; 0 = warming up
    double left_s = -1;  ///< negative = not known yet
};

/// What a sweep came to.
struct SweepOutcome {
    std::vector<Cell> cells;  ///< all that the file holds
    std::size_t n_done = 0;   ///< points of the sweep that are in the file
    std::size_t n_point = 0;
};

/// What a sweep tells while it goes on; called on the GUI thread.
struct SweepWatch {
    std::function<void(const SweepProgress&)> progress;
    std::function<void(std::shared_ptr<const std::vector<Cell>>)> cells;  ///< of the file, after each test
};

/// The work of a sweep, for `Session::startTask`.
std::function<Result<SweepOutcome>(const Session::Bench&)> sweepWork(Sweep sweep, std::string file,
                                                                     SweepFile::Mode mode, SweepWatch watch);
/// What the sweep is going to take.
std::function<Result<SweepEstimate>(const Session::Bench&)> estimateWork(Sweep sweep);

}  // namespace decodescope
