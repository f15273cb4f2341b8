// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <stop_token>

namespace decodescope {

/// Lets somebody hold a run, let it go on turn by turn, or slow it down. One turn is one step of every lane
/// that runs side by side (their next token), or of the one lane that runs alone. The runner asks before
/// every turn, never inside a timed region; while it may not go on, its thread sleeps. All but `wait_turn`
/// may be called from any thread.
class RunControl {
public:
    /// `on_hold(true)`: the run has come to a halt because it is paused; `on_hold(false)`: it goes on. On the
    /// run's thread.
    explicit RunControl(std::function<void(bool)> on_hold = {}) : on_hold_(std::move(on_hold)) {}

    /// Holds the run before its next turn.
    void pause();
    void resume();
    /// Lets the run make `turns` more turns, then it is paused.
    void step(int turns = 1);
    /// Slow motion: least time from the beginning of one turn to that of the next; 0 = none.
    void set_interval(std::chrono::nanoseconds interval);
    /// Has `visit` called on the run's thread while it waits for its turn: when it is paused or in slow
    /// motion. A newer visit takes the place of one that has not begun; those left at the end of the run are
    /// never made.
    void visit(std::function<void()> visit);

    /// Returns when the next turn may be made, or when `stop` asks to end. For the run's thread.
    void wait_turn(const std::stop_token& stop);
    /// Turns that the run has had to wait for so far. For the run's thread.
    std::int64_t waited_turns() const { return waited_turns_; }

private:
    using Clock = std::chrono::steady_clock;
    void changed();

    std::function<void(bool)> on_hold_;
    std::atomic<bool> free_{true};  // neither paused nor slow: nothing to ask for
    std::mutex mutex_;
    std::condition_variable_any wake_;
    bool paused_ = false;
    int turns_ = 0;  // that may be made although paused
    Clock::duration interval_{};
    Clock::time_point last_turn_{};
    std::int64_t waited_turns_ = 0;
    std::function<void()> visit_;
    bool woken_ = false;  // something was changed since the thread looked
};

}  // namespace decodescope
