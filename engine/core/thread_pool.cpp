// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/core/thread_pool.h"

#include <algorithm>
#include <chrono>

#include "engine/core/background_thread.h"
#include "engine/core/clock.h"

#if defined(__linux__)
#include <sched.h>
#endif
#if defined(__x86_64__) || defined(__i386__)
#include <immintrin.h>
#endif

namespace decodescope {

namespace {

constexpr auto spin_time = std::chrono::microseconds(20);
constexpr auto longest_spin = std::chrono::microseconds(500);  // a part that takes longer has lost its core

// The word of a job: how many workers take part, the caller's CPU, its number.
constexpr int cpu_shift = 16;
constexpr int number_shift = 32;
constexpr std::uint64_t field_mask = 0xffff;
constexpr auto between_moves = std::chrono::milliseconds(5);

void relax() {
#if defined(__x86_64__) || defined(__i386__)
    _mm_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
}

int current_cpu() {
#if defined(__linux__)
    return sched_getcpu();
#else
    return -1;
#endif
}

/// Moves a worker off the caller's core. A scheduler wakes a thread where it was woken from, and may leave
/// two threads that wait for each other in turns on one core for long while another is idle.
class CoreMover {
public:
    CoreMover() {
#if defined(__linux__)
        known_ = sched_getaffinity(0, sizeof allowed_, &allowed_) == 0;
#endif
    }

    void leave(int cpu) {
#if defined(__linux__)
        if (!known_ || cpu < 0 || cpu >= CPU_SETSIZE) return;
        const auto now = std::chrono::steady_clock::now();
        if (now - moved_at_ < between_moves) return;
        moved_at_ = now;
        cpu_set_t others = allowed_;
        CPU_CLR(static_cast<std::size_t>(cpu), &others);
        if (CPU_COUNT(&others) > 0) sched_setaffinity(0, sizeof others, &others);
#else
        (void)cpu;
#endif
    }

private:
#if defined(__linux__)
    cpu_set_t allowed_{};  // when the thread began
    bool known_ = false;
    std::chrono::steady_clock::time_point moved_at_{};
#endif
};

/// Looks at `done` until it is true, or until `give_up(now)` is.
template <class Done, class GiveUp>
bool spin_until(Done&& done, GiveUp&& give_up) {
    do {
        for (int i = 0; i < 64; ++i) {
            if (done()) return true;
            relax();
        }
    } while (!give_up(std::chrono::steady_clock::now()));
    return false;
}

/// Waits until a job other than `seen` has come. Spins while the job at work is not over, as its parts are
/// not equally long, and for a while after it; then sleeps.
void wait_for_job(const std::atomic<std::uint64_t>& job, std::uint64_t seen,
                  const std::atomic<int>& pending) {
    const auto start = std::chrono::steady_clock::now();
    auto over = std::chrono::steady_clock::time_point::max();
    const auto come = [&] { return job.load(std::memory_order_acquire) != seen; };
    const bool spun = spin_until(come, [&](std::chrono::steady_clock::time_point now) {
        if (over == std::chrono::steady_clock::time_point::max() &&
            pending.load(std::memory_order_relaxed) == 0)
            over = now;
        return now - start > longest_spin || (over <= now && now - over > spin_time);
    });
    if (!spun) job.wait(seen, std::memory_order_acquire);
}

/// Waits until every part of the job is done.
void wait_for_workers(const std::atomic<int>& pending) {
    const auto start = std::chrono::steady_clock::now();
    const auto done = [&] { return pending.load(std::memory_order_acquire) == 0; };
    if (spin_until(done,
                   [&](std::chrono::steady_clock::time_point now) { return now - start > longest_spin; }))
        return;
    for (int left = pending.load(std::memory_order_acquire); left != 0;
         left = pending.load(std::memory_order_acquire))
        pending.wait(left, std::memory_order_acquire);
}

}  // namespace

ThreadPool::ThreadPool(int n_thread) : judge_(std::max(1, n_thread)) {
    threads_.reserve(static_cast<std::size_t>(judge_.active() - 1));
    for (int worker = 1; worker < n_thread; ++worker) threads_.emplace_back([this, worker] { work(worker); });
}

ThreadPool::~ThreadPool() {
    quit_.store(true, std::memory_order_relaxed);
    job_.fetch_add(std::uint64_t{1} << number_shift, std::memory_order_release);
    job_.notify_all();
}

int ThreadPool::ask_active() {
    return judge_.active() < size() ? judge_.ask(now_ns()) : judge_.active();
}

void ThreadPool::dispatch(Function function, void* context) {
    const int active = ask_active();
    if (active == 1) {
        function(context, 0);
        return;
    }
    const std::int64_t start = now_ns();
    ++n_job_;
    function_ = function;
    context_ = context;
    pending_.store(active, std::memory_order_relaxed);
    const std::uint64_t number = (job_.load(std::memory_order_relaxed) >> number_shift) + 1;
    const std::uint64_t cpu = static_cast<std::uint64_t>(current_cpu()) & field_mask;
    job_.store(number << number_shift | cpu << cpu_shift | static_cast<std::uint64_t>(active),
               std::memory_order_release);
    job_.notify_all();
    function(context, 0);
    const std::int64_t done = now_ns();
    if (pending_.fetch_sub(1, std::memory_order_acq_rel) != 1) wait_for_workers(pending_);
    const std::int64_t end = now_ns();
    judge_.judge(done - start, end - done, end);
}

std::vector<int> ThreadPool::cpus() {
    std::vector<int> found(static_cast<std::size_t>(size()), -1);
    run([&found](int worker) { found[static_cast<std::size_t>(worker)] = current_cpu(); });
    return found;
}

void ThreadPool::work(int worker) {
    yield_to_windows();
    CoreMover mover;
    std::uint64_t seen = 0;
    while (true) {
        wait_for_job(job_, seen, pending_);
        seen = job_.load(std::memory_order_acquire);
        if (quit_.load(std::memory_order_relaxed)) return;
        if (worker >= static_cast<int>(seen & field_mask)) continue;
        const auto caller = static_cast<int>(seen >> cpu_shift & field_mask);
        if (current_cpu() == caller) mover.leave(caller);
        function_(context_, worker);
        if (pending_.fetch_sub(1, std::memory_order_acq_rel) == 1) pending_.notify_one();
    }
}

}  // namespace decodescope
