// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/core/worker_judge.h"

#include <algorithm>

namespace decodescope {

namespace {

// A worker that has to be woken costs tens of microseconds; one whose core is taken costs a time slice.
constexpr std::int64_t late_ns = 100'000;
// Work after which it is judged whether a worker is worth waiting for.
constexpr std::int64_t judged_ns = 10'000'000;
constexpr std::int64_t first_pause_ns = 50'000'000;
constexpr std::int64_t longest_pause_ns = 800'000'000;
constexpr int bad_spans = 2;     // judged against them in a row, until one is left out
constexpr int calm_spans = 100;  // judged in favour of all workers, after which the past is forgotten

}  // namespace

int WorkerJudge::ask(std::int64_t now_ns) {
    if (active_ < n_worker_ && now_ns >= retry_at_ns_) ++active_;
    return active_;
}

// One worker fewer costs a share of 1 / active of the speed: so much may be lost to waiting before that is
// the better choice. Single stalls, as every virtual machine has them, do not decide it.
void WorkerJudge::judge(std::int64_t own_ns, std::int64_t wait_ns, std::int64_t now_ns) {
    worked_ns_ += own_ns + wait_ns;
    if (wait_ns > late_ns && wait_ns > own_ns / 2) lost_ns_ += wait_ns;
    if (worked_ns_ < judged_ns) return;
    const bool worth = lost_ns_ * active_ <= worked_ns_;
    worked_ns_ = lost_ns_ = 0;
    if (worth) {
        bad_ = 0;
        if (++calm_ >= calm_spans) pause_ns_ = 0;
        return;
    }
    calm_ = 0;
    if (++bad_ < bad_spans) return;
    bad_ = 0;
    --active_;
    ++n_reduction_;
    // Longer each time, so that a core that stays busy is rarely asked again.
    pause_ns_ = std::clamp(2 * pause_ns_, first_pause_ns, longest_pause_ns);
    retry_at_ns_ = now_ns + pause_ns_;
}

}  // namespace decodescope
