// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <thread>
#include <type_traits>
#include <vector>

#include "engine/core/worker_judge.h"

namespace decodescope {

/// A fixed set of compute threads. The calling thread is worker 0; the others spin for about 20 us after a
/// job and then sleep on a futex, so that short gaps cost nothing and an idle program uses no CPU. Used by
/// one thread at a time.
class ThreadPool {
public:
    /// `n_thread` >= 1 workers in all, the caller included.
    explicit ThreadPool(int n_thread);
    ~ThreadPool();
    ThreadPool(const ThreadPool&) = delete;
    ThreadPool& operator=(const ThreadPool&) = delete;

    /// Workers there are, the caller included: the range of the `worker` argument.
    int size() const { return static_cast<int>(threads_.size()) + 1; }
    /// Workers that took part in the last job; at most `size()`.
    int active() const { return judge_.active(); }
    /// Workers that take part in the next job: one that was left out is asked again when its time has come.
    int ask_active();
    /// How often a worker was left out so far.
    std::int64_t n_reduction() const { return judge_.n_reduction(); }

    /// Jobs that were shared out so far: each is a barrier that its workers pass together.
    std::int64_t n_job() const { return n_job_; }
    /// Logical CPU that every worker runs on at this moment; -1 for one that is left out, or where the system
    /// does not tell.
    std::vector<int> cpus();

    /// Calls `job(worker)` once on every active worker and returns when all are done. `job` must not throw.
    template <class Job>
    void run(Job&& job) {
        using Plain = std::remove_reference_t<Job>;
        dispatch([](void* context, int worker) { (*static_cast<Plain*>(context))(worker); },
                 const_cast<void*>(static_cast<const void*>(&job)));
    }

    /// Splits [0, n) into one contiguous piece per active worker whose borders are multiples of `grain`, and
    /// calls `body(begin, end, worker)` for the non-empty ones.
    template <class Body>
    void split(std::int64_t n, std::int64_t grain, Body&& body) {
        if (n <= 0) return;
        const std::int64_t units = (n + grain - 1) / grain;
        const int n_worker = ask_active();
        if (n_worker == 1 || units == 1) {
            body(std::int64_t{0}, n, 0);
            return;
        }
        run([&](int worker) {
            const std::int64_t begin = units * worker / n_worker * grain;
            const std::int64_t end = std::min(n, units * (worker + 1) / n_worker * grain);
            if (begin < end) body(begin, end, worker);
        });
    }

    /// Hands out [0, n) in pieces of `grain`, in order, to whichever active worker is free, calling
    /// `body(begin, end, worker)` for each: for work whose pieces take differently long, or workers that do.
    template <class Body>
    void share(std::int64_t n, std::int64_t grain, Body&& body) {
        if (n <= 0) return;
        const auto serve = [&](std::atomic<std::int64_t>& next, int worker) {
            for (std::int64_t i = next.fetch_add(grain, std::memory_order_relaxed); i < n;
                 i = next.fetch_add(grain, std::memory_order_relaxed))
                body(i, std::min(n, i + grain), worker);
        };
        std::atomic<std::int64_t> next{0};
        if (n <= grain || ask_active() == 1) return serve(next, 0);
        run([&](int worker) { serve(next, worker); });
    }

private:
    using Function = void (*)(void* context, int worker);
    void dispatch(Function function, void* context);
    void work(int worker);

    std::vector<std::jthread> threads_;
    Function function_ = nullptr;
    void* context_ = nullptr;
    // Number of the current job, the caller's CPU and, in the low 16 bits, how many workers take part: one
    // word, so that a worker that was left out and wakes late never mistakes the next job for this one.
    std::atomic<std::uint64_t> job_{0};
    std::atomic<int> pending_{0};  // workers that have not finished the current job
    std::atomic<bool> quit_{false};

    // Used by the calling thread alone.
    WorkerJudge judge_;
    std::int64_t n_job_ = 0;
};

}  // namespace decodescope
