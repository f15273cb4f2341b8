// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/experiment/run_control.h"

#include <algorithm>
#include <utility>

namespace decodescope {

// With the lock held.
void RunControl::changed() {
    free_.store(!paused_ && interval_ <= Clock::duration::zero(), std::memory_order_relaxed);
    woken_ = true;
    wake_.notify_all();
}

void RunControl::pause() {
    const std::lock_guard lock(mutex_);
    paused_ = true;
    turns_ = 0;
    changed();
}

void RunControl::resume() {
    const std::lock_guard lock(mutex_);
    paused_ = false;
    turns_ = 0;
    changed();
}

void RunControl::step(int turns) {
    const std::lock_guard lock(mutex_);
    turns_ = (paused_ ? turns_ : 0) + std::max(turns, 0);
    paused_ = true;
    changed();
}

void RunControl::set_interval(std::chrono::nanoseconds interval) {
    const std::lock_guard lock(mutex_);
    interval_ = std::chrono::duration_cast<Clock::duration>(interval);
    changed();
}

void RunControl::visit(std::function<void()> visit) {
    const std::lock_guard lock(mutex_);
    visit_ = std::move(visit);
    changed();
}

void RunControl::wait_turn(const std::stop_token& stop) {
    if (free_.load(std::memory_order_relaxed)) return;
    std::unique_lock lock(mutex_);
    const auto outside = [&](const auto& call) {
        lock.unlock();
        call();
        lock.lock();
    };
    bool held = false;
    bool waited = false;
    while (!stop.stop_requested()) {
        woken_ = false;
        const bool may_go = !paused_ || turns_ > 0;
        // A single step is made at once, however slow the motion is.
        const auto due = paused_ ? Clock::time_point::min() : last_turn_ + interval_;
        if (visit_ && turns_ == 0) {
            const auto visit = std::exchange(visit_, {});
            outside(visit);
        } else if (may_go && Clock::now() >= due) {
            break;
        } else if (may_go) {
            waited = true;
            wake_.wait_until(lock, stop, due, [this] { return woken_; });
        } else if (!held) {
            held = true;
            if (on_hold_) outside([this] { on_hold_(true); });
        } else {
            wake_.wait(lock, stop, [this] { return woken_; });
        }
    }
    if (held || waited) ++waited_turns_;
    if (paused_ && turns_ > 0) --turns_;
    last_turn_ = Clock::now();
    if (held && on_hold_) outside([this] { on_hold_(false); });
}

}  // namespace decodescope
