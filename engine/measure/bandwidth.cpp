// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/measure/bandwidth.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <limits>
#include <utility>

#include "engine/core/clock.h"

namespace decodescope {

namespace {

constexpr std::size_t block_bytes = std::size_t{256} << 20;
constexpr int min_passes = 3;
constexpr std::int64_t time_budget_ns = 80'000'000;
constexpr std::int64_t n_stream = 4;

/// Sum of [0, n) read as four streams at once: one stream alone leaves memory channels idle.
std::uint64_t sum_streams(const std::uint64_t* words, std::int64_t n) {
    const std::int64_t length = n / n_stream;
    const std::uint64_t* a = words;
    const std::uint64_t* b = a + length;
    const std::uint64_t* c = b + length;
    const std::uint64_t* d = c + length;
    std::uint64_t sum_a = 0;
    std::uint64_t sum_b = 0;
    std::uint64_t sum_c = 0;
    std::uint64_t sum_d = 0;
    for (std::int64_t i = 0; i < length; ++i) {
        sum_a += a[i];
        sum_b += b[i];
        sum_c += c[i];
        sum_d += d[i];
    }
    for (std::int64_t i = n_stream * length; i < n; ++i) sum_a += words[i];
    return sum_a + sum_b + sum_c + sum_d;
}

}  // namespace

Result<double> measure_read_bandwidth(ThreadPool& pool, std::shared_ptr<MemoryLedger> ledger) {
    auto block = Buffer::allocate(std::move(ledger), Owner::workspace, block_bytes);
    if (!block) return block.error();
    auto* words = reinterpret_cast<std::uint64_t*>(block->data());
    constexpr auto n = static_cast<std::int64_t>(block_bytes / sizeof(std::uint64_t));
    constexpr std::int64_t grain = 4096;

    // Written first, by the worker that will read it: untouched pages all share one page of zeros.
    pool.split(n, grain, [&](std::int64_t begin, std::int64_t end, int /*worker*/) {
        std::fill(words + begin, words + end, std::uint64_t{1});
    });

    std::int64_t best_ns = std::numeric_limits<std::int64_t>::max();
    const std::int64_t started = now_ns();
    for (int pass = 0; pass < min_passes || now_ns() - started < time_budget_ns; ++pass) {
        std::atomic<std::uint64_t> sum{0};
        const std::int64_t before = now_ns();
        pool.split(n, grain, [&](std::int64_t begin, std::int64_t end, int /*worker*/) {
            sum.fetch_add(sum_streams(words + begin, end - begin), std::memory_order_relaxed);
        });
        best_ns = std::min(best_ns, now_ns() - before);
        // Looking at the sum also keeps the compiler from dropping the reads.
        if (sum.load() != static_cast<std::uint64_t>(n)) {
            return Error{
                ErrorKind::internal,
                fmt::format("The bandwidth probe read a sum of {} where {} was written.", sum.load(), n)};
        }
    }
    return static_cast<double>(block_bytes) / static_cast<double>(best_ns);
}

}  // namespace decodescope
