// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <memory>
#include <stop_token>
#include <vector>

#include "engine/sweep/sweep.h"

namespace decodescope {

/// How fast this model runs on a device of this machine, with a number of threads, from two short tests.
struct SpeedProbe {
    double flop_per_ns = 0;  ///< of a prefill
    double byte_per_ns = 0;  ///< of decode steps: weights and cache entries that must be read
};
/// Takes about a second for a small model. What could not be measured is 0.
SpeedProbe probe_speed(const CellSettings& settings, const LoadedModel& model,
                       const std::shared_ptr<MemoryLedger>& ledger, int threads, const Device& device,
                       std::stop_token stop = {});

/// One repetition of a test on one lane, roughly: arithmetic of prompts and of naive steps at the speed of
/// the probe's prefill, decode steps at its reading speed.
double estimate_ns(const TestShape& shape, const LaneSpec& lane, const ModelConfig& model,
                   const SpeedProbe& probe);

/// What a sweep is going to take, before anything of it is run.
struct SweepEstimate {
    struct Point {
        std::size_t number = 0;
        TestShape shape;
        std::size_t n_lane = 0;     ///< that will run
        std::vector<Cell> refused;  ///< those that will not, with the reason
        double least_s = 0;         ///< with the least number of repetitions,
        double most_s = 0;          ///< and when the time limit of the precision is used up
    };
    std::vector<Point> points;
    double least_s() const;
    double most_s() const;
};
SweepEstimate estimate_sweep(const Sweep& sweep, const LoadedModel& model,
                             const std::shared_ptr<MemoryLedger>& ledger, std::stop_token stop = {});

/// Seconds that are left when `done` of `all` tests took `elapsed_ns`; negative while none is done.
double time_left_s(std::int64_t elapsed_ns, std::size_t done, std::size_t all);

/// "40 s", "3 min", "2.5 h".
std::string duration_text(double seconds);

}  // namespace decodescope
