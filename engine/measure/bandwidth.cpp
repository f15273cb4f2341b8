// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/measure/bandwidth.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <utility>

#include "engine/core/clock.h"

namespace decodescope {

namespace {

constexpr std::size_t block_bytes = std::size_t{512} << 20;
constexpr auto n_word = static_cast<std::int64_t>(block_bytes / sizeof(std::uint64_t));
constexpr std::int64_t grain = 4096;  // words: pieces begin at whole pages
constexpr int min_passes = 3;
constexpr std::int64_t time_budget_ns = 80'000'000;
constexpr std::int64_t n_stream = 4;

using Words16 [[gnu::vector_size(16), gnu::may_alias]] = std::uint64_t;
using Words32 [[gnu::vector_size(32), gnu::may_alias]] = std::uint64_t;
using Words64 [[gnu::vector_size(64), gnu::may_alias]] = std::uint64_t;

/// Sum of the words [0, n), which begin at a page, read as four streams at once: one stream alone leaves
/// memory channels idle.
template <class Words>
[[gnu::always_inline]] inline std::uint64_t sum_streams(const std::uint64_t* words, std::int64_t n) {
    constexpr auto width = static_cast<std::int64_t>(sizeof(Words) / sizeof(std::uint64_t));
    const std::int64_t length = n / n_stream / width * width;
    Words sums[n_stream] = {};
    for (std::int64_t i = 0; i < length; i += width) {
        for (std::int64_t s = 0; s < n_stream; ++s) {
            sums[s] += *reinterpret_cast<const Words*>(words + s * length + i);
        }
    }
    std::uint64_t sum = 0;
    for (std::int64_t s = 0; s < n_stream; ++s) {
        for (std::int64_t j = 0; j < width; ++j) sum += sums[s][j];
    }
    for (std::int64_t i = n_stream * length; i < n; ++i) sum += words[i];
    return sum;
}

using Reader = std::uint64_t (*)(const std::uint64_t*, std::int64_t);

std::uint64_t read_baseline(const std::uint64_t* words, std::int64_t n) {
    return sum_streams<Words16>(words, n);
}

#if defined(__x86_64__)
[[gnu::target("avx2")]] std::uint64_t read_avx2(const std::uint64_t* words, std::int64_t n) {
    return sum_streams<Words32>(words, n);
}
[[gnu::target("avx512f")]] std::uint64_t read_avx512(const std::uint64_t* words, std::int64_t n) {
    return sum_streams<Words64>(words, n);
}
#endif

Reader widest_reader() {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f")) return read_avx512;
    if (__builtin_cpu_supports("avx2")) return read_avx2;
#endif
    return read_baseline;
}

}  // namespace

Result<ReadProbe> ReadProbe::make(ThreadPool& pool, std::shared_ptr<MemoryLedger> ledger) {
    auto block = Buffer::allocate(std::move(ledger), Owner::workspace, block_bytes);
    if (!block) return block.error();
    auto* words = reinterpret_cast<std::uint64_t*>(block->data());
    // Written first, by the worker that will read it: untouched pages all share one page of zeros.
    pool.split(n_word, grain, [&](std::int64_t begin, std::int64_t end, int /*worker*/) {
        std::fill(words + begin, words + end, std::uint64_t{1});
    });
    return ReadProbe(*std::move(block));
}

Result<double> ReadProbe::pass(ThreadPool& pool) const {
    const auto* words = reinterpret_cast<const std::uint64_t*>(block_.data());
    const Reader reader = widest_reader();
    std::atomic<std::uint64_t> sum{0};
    const std::int64_t before = now_ns();
    pool.split(n_word, grain, [&](std::int64_t begin, std::int64_t end, int /*worker*/) {
        sum.fetch_add(reader(words + begin, end - begin), std::memory_order_relaxed);
    });
    const std::int64_t taken = now_ns() - before;
    // Looking at the sum also keeps the compiler from dropping the reads.
    if (sum.load() != static_cast<std::uint64_t>(n_word)) {
        return Error{
            ErrorKind::internal,
            fmt::format("The bandwidth probe read a sum of {} where {} was written.", sum.load(), n_word)};
    }
    return static_cast<double>(block_bytes) / static_cast<double>(taken);
}

Result<double> measure_read_bandwidth(ThreadPool& pool, std::shared_ptr<MemoryLedger> ledger) {
    const auto probe = ReadProbe::make(pool, std::move(ledger));
    if (!probe) return probe.error();
    double best = 0;
    const std::int64_t started = now_ns();
    for (int pass = 0; pass < min_passes || now_ns() - started < time_budget_ns; ++pass) {
        const auto gb_s = probe->pass(pool);
        if (!gb_s) return gb_s.error();
        best = std::max(best, *gb_s);
    }
    return best;
}

}  // namespace decodescope
