// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/core/thread_pool.h"

#include <algorithm>
#include <chrono>

#if defined(__x86_64__) || defined(__i386__)
#include <immintrin.h>
#endif

namespace decodescope {

namespace {

constexpr auto spin_time = std::chrono::microseconds(20);

void relax() {
#if defined(__x86_64__) || defined(__i386__)
    _mm_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
}

/// Waits until `value` differs from `old`: spins first, then sleeps.
template <class T>
void wait_for_change(const std::atomic<T>& value, T old) {
    const auto deadline = std::chrono::steady_clock::now() + spin_time;
    do {
        for (int i = 0; i < 64; ++i) {
            if (value.load(std::memory_order_acquire) != old) return;
            relax();
        }
    } while (std::chrono::steady_clock::now() < deadline);
    value.wait(old, std::memory_order_acquire);
}

}  // namespace

ThreadPool::ThreadPool(int n_thread) {
    threads_.reserve(static_cast<std::size_t>(std::max(0, n_thread - 1)));
    for (int worker = 1; worker < n_thread; ++worker) threads_.emplace_back([this, worker] { work(worker); });
}

ThreadPool::~ThreadPool() {
    quit_.store(true, std::memory_order_relaxed);
    generation_.fetch_add(1, std::memory_order_release);
    generation_.notify_all();
}

void ThreadPool::dispatch(Function function, void* context) {
    if (threads_.empty()) {
        function(context, 0);
        return;
    }
    function_ = function;
    context_ = context;
    pending_.store(static_cast<int>(threads_.size()), std::memory_order_relaxed);
    generation_.fetch_add(1, std::memory_order_release);
    generation_.notify_all();
    function(context, 0);
    for (int left = pending_.load(std::memory_order_acquire); left != 0;
         left = pending_.load(std::memory_order_acquire)) {
        wait_for_change(pending_, left);
    }
}

void ThreadPool::work(int worker) {
    std::uint32_t seen = 0;
    while (true) {
        wait_for_change(generation_, seen);
        ++seen;
        if (quit_.load(std::memory_order_relaxed)) return;
        function_(context_, worker);
        if (pending_.fetch_sub(1, std::memory_order_acq_rel) == 1) pending_.notify_one();
    }
}

}  // namespace decodescope
