// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>

namespace decodescope {

/// Decides how many workers of a pool take part: leaves out one where waiting for late workers costs more
/// than it brings, as when another process has its core, and asks it again later. Looks at no clock: time is
/// what its caller says it is. Used by one thread.
class WorkerJudge {
public:
    /// All of `n_worker` >= 1 workers take part at first, the caller included.
    explicit WorkerJudge(int n_worker) : n_worker_(n_worker), active_(n_worker) {}

    /// Workers that take part, the caller included.
    int active() const { return active_; }
    /// Asks one that was left out again when, at `now_ns`, its time has come; returns `active()`.
    int ask(std::int64_t now_ns);
    /// A job is over at `now_ns`: the caller's own part took `own_ns`, then it waited `wait_ns` for the
    /// others.
    void judge(std::int64_t own_ns, std::int64_t wait_ns, std::int64_t now_ns);
    /// How often a worker was left out so far.
    std::int64_t n_reduction() const { return n_reduction_; }

private:
    int n_worker_;
    int active_;
    std::int64_t worked_ns_ = 0;  // in jobs since it was last judged whether all workers are worth it
    std::int64_t lost_ns_ = 0;    // of it: waiting for late workers
    int calm_ = 0;                // how often in a row they were
    int bad_ = 0;                 // how often in a row they were not
    std::int64_t n_reduction_ = 0;
    std::int64_t retry_at_ns_ = 0;  // a left out worker takes part again from then on
    std::int64_t pause_ns_ = 0;
};

}  // namespace decodescope
