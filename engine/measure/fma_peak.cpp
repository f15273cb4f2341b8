// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/measure/fma_peak.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include "engine/core/clock.h"

namespace decodescope {

namespace {

/// Enough independent sums to hide the latency of one, few enough for 16 registers.
constexpr int n_chain = 12;
constexpr std::int64_t n_round = 200'000;
constexpr std::int64_t time_budget_ns = 30'000'000;
constexpr int min_passes = 3;

using Vector16 [[gnu::vector_size(16)]] = float;
using Vector32 [[gnu::vector_size(32)]] = float;
using Vector64 [[gnu::vector_size(64)]] = float;

template <class Vector>
[[gnu::always_inline]] inline float chains(float factor, float term) {
    Vector sums[n_chain];
    const Vector factors = factor - Vector{};
    const Vector terms = term - Vector{};
    for (int j = 0; j < n_chain; ++j) sums[j] = terms;
    for (std::int64_t i = 0; i < n_round; ++i) {
        for (int j = 0; j < n_chain; ++j) sums[j] = sums[j] * factors + terms;
    }
    for (int j = 1; j < n_chain; ++j) sums[0] += sums[j];
    return sums[0][0];
}

float chains_baseline(float factor, float term) {
    return chains<Vector16>(factor, term);
}

struct Kernel {
    float (*run)(float, float);
    int width;  // floats
    const char* name;
};

#if defined(__x86_64__)
[[gnu::target("avx2,fma")]] float chains_avx2(float factor, float term) {
    return chains<Vector32>(factor, term);
}
[[gnu::target("avx512f")]] float chains_avx512(float factor, float term) {
    return chains<Vector64>(factor, term);
}
#endif

Kernel widest_kernel([[maybe_unused]] std::string_view at_most) {
#if defined(__x86_64__)
    const bool any = at_most.empty() || at_most.starts_with("AVX-512");
    if (any && __builtin_cpu_supports("avx512f")) return {chains_avx512, 16, "AVX-512"};
    if ((any || at_most.starts_with("AVX2")) && __builtin_cpu_supports("avx2") &&
        __builtin_cpu_supports("fma")) {
        return {chains_avx2, 8, "AVX2"};
    }
#endif
    return {chains_baseline, 4, "baseline"};
}

}  // namespace

FmaPeak measure_fma_peak(ThreadPool& pool, std::string_view at_most) {
    const Kernel kernel = widest_kernel(at_most);
    // Read at run time, or the compiler would know the result; the sums stay near 1.
    volatile float factor = 0.5f;
    volatile float term = 0.5f;
    // A pass in which a worker was left out does less work: passes are compared by what they do in their
    // time.
    double best_rounds_per_ns = 0;
    volatile float seen = 0;
    const std::int64_t started = now_ns();
    for (int pass = 0; pass < min_passes || now_ns() - started < time_budget_ns; ++pass) {
        const int active = pool.active();
        const std::int64_t before = now_ns();
        pool.run([&](int worker) {
            const float sum = kernel.run(factor, term);
            if (worker == 0) seen = sum;
        });
        const double rounds = static_cast<double>(n_round) * active;
        best_rounds_per_ns = std::max(best_rounds_per_ns, rounds / static_cast<double>(now_ns() - before));
    }
    return {2.0 * n_chain * kernel.width * best_rounds_per_ns, kernel.name};
}

}  // namespace decodescope
