// SPDX-License-Identifier: GPL-3.0-or-later
#include <bit>
#include <cmath>

#include "engine/backend/cuda/kernel_tools.h"
#include "engine/backend/cuda/launch.h"

// Nothing is sorted. What the filters leave is the beginning of the falling order, and so is what comes
// before the token that is drawn: each is found by where the count or the weight of the order passes a
// number. That place is looked for in the bits of the logits, from the highest on: a pass over the row counts
// and weighs the tokens by the next few bits, which says in which of these classes the place is. Weights are
// integers, so that their sums are the same in every order.

namespace decodescope::cuda {

namespace {

constexpr int n_thread = 512;
constexpr int n_warp = n_thread / warp_lanes;
constexpr int digit_bits = 3;
constexpr int n_digit = 1 << digit_bits;
constexpr int first_shift = 30;  // the first digit has what remains of 32 bits
static_assert(first_shift % digit_bits == 0 && n_warp <= warp_lanes && n_digit <= n_warp);

/// Of a set of tokens.
struct Mass {
    unsigned count;
    std::uint64_t weight;

    __device__ void add(const Mass& other) {
        count += other.count;
        weight += other.weight;
    }
};

__device__ Mass from_lane_xor(const Mass& mass, int step) {
    return {__shfl_xor_sync(all_lanes, mass.count, step), __shfl_xor_sync(all_lanes, mass.weight, step)};
}

/// The sums of `bins` over all threads of the block, for each of them, in `totals` [n_digit], which is
/// shared.
__device__ void sum_bins(Mass (&bins)[n_digit], Mass* totals) {
    __shared__ Mass sums[n_warp][n_digit];
    const int lane = static_cast<int>(threadIdx.x) % warp_lanes;
    const int warp = static_cast<int>(threadIdx.x) / warp_lanes;
    // Two lanes share the bins that they have: each goes on with half of them, for both.
    for (int level = 0; level < digit_bits; ++level) {
        const int step = warp_lanes / 2 >> level;
        const int half = n_digit / 2 >> level;
        const bool upper = (lane & step) != 0;
        for (int i = 0; i < n_digit / 2; ++i) {
            if (i >= half) continue;
            const Mass given = upper ? bins[i] : bins[i + half];
            if (upper) bins[i] = bins[i + half];
            bins[i].add(from_lane_xor(given, step));
        }
    }
    constexpr int lanes_of_bin = warp_lanes / n_digit;
    for (int step = lanes_of_bin / 2; step > 0; step /= 2) bins[0].add(from_lane_xor(bins[0], step));
    if (lane % lanes_of_bin == 0) sums[warp][lane / lanes_of_bin] = bins[0];
    __syncthreads();
    if (warp < n_digit) {
        Mass sum = lane < n_warp ? sums[lane][warp] : Mass{0, 0};
        for (int step = warp_lanes / 2; step > 0; step /= 2) sum.add(from_lane_xor(sum, step));
        if (lane == 0) totals[warp] = sum;
    }
    __syncthreads();
}

/// Where a logit stands in the order: less = earlier, equal for equal ones.
__device__ unsigned order_key(float logit) {
    const unsigned bits = logit == 0.0f ? 0u : __float_as_uint(logit);  // -0 is 0
    return bits >> 31 != 0 ? bits : ~bits & 0x7fffffffu;
}

struct Row {
    const float* logits;     // [n]
    std::uint64_t* weights;  // [n], every thread writes and reads its own
    int n;
};

/// The beginning of the order up to a token: all with smaller keys than those whose key begins with `key`,
/// and of these the `taken` first. They have the same logit, or there is only one.
struct Prefix {
    unsigned key;
    int shift;  ///< bits that follow
    unsigned taken;
    Mass mass;

    __device__ bool at_end(float logit) const { return order_key(logit) >> shift == key; }
};

enum class Measure { count, weight };

/// The shortest beginning of the order that measures more than `limit`; all of it does. For all threads.
__device__ Prefix prefix_beyond(const Row& row, Measure measure, std::uint64_t limit, Mass* totals) {
    const auto measured = [measure](const Mass& mass) {
        return measure == Measure::count ? std::uint64_t{mass.count} : mass.weight;
    };
    Mass before{0, 0};
    Mass inside{0, 0};
    unsigned key = 0;
    int shift = first_shift;
    while (true) {
        Mass bins[n_digit] = {};
        for (int i = static_cast<int>(threadIdx.x); i < row.n; i += n_thread) {
            const unsigned mine = order_key(row.logits[i]) >> shift;
            if (mine >> digit_bits != key) continue;
            const std::uint64_t weight = row.weights[i];
            // Every bin takes something, so that they stay in registers.
            for (unsigned digit = 0; digit < n_digit; ++digit) {
                const bool here = mine % n_digit == digit;
                bins[digit].add({here ? 1u : 0u, here ? weight : 0});
            }
        }
        sum_bins(bins, totals);
        unsigned digit = 0;
        inside = totals[0];
        while (digit + 1 < n_digit && measured(before) + measured(inside) <= limit) {
            before.add(inside);
            inside = totals[++digit];
        }
        key = key << digit_bits | digit;
        if (shift == 0 || inside.count == 1) break;
        shift -= digit_bits;
    }
    const std::uint64_t each = inside.weight / inside.count;
    const std::uint64_t left = limit - measured(before);
    const auto taken = static_cast<unsigned>(measure == Measure::count ? left : left / each) + 1;
    before.add({taken, taken * each});
    return {key, shift, taken, before};
}

/// Writes the last token of a prefix. Warps look through neighbouring parts of the row.
__device__ void write_last(const Row& row, const Prefix& prefix, std::int32_t* token) {
    __shared__ unsigned counts[n_warp];
    const int lane = static_cast<int>(threadIdx.x) % warp_lanes;
    const int warp = static_cast<int>(threadIdx.x) / warp_lanes;
    const int part = (row.n + n_warp - 1) / n_warp;
    const int begin = min(row.n, warp * part);
    const int end = min(row.n, begin + part);
    unsigned count = 0;
    for (int i = begin + lane; i < end; i += warp_lanes) count += prefix.at_end(row.logits[i]) ? 1 : 0;
    for (int step = warp_lanes / 2; step > 0; step /= 2) count += __shfl_xor_sync(all_lanes, count, step);
    if (lane == 0) counts[warp] = count;
    __syncthreads();
    unsigned before = 0;
    for (int i = 0; i < warp; ++i) before += counts[i];
    if (before >= prefix.taken || before + count < prefix.taken) return;
    for (int first = begin; first < end; first += warp_lanes) {
        const int i = first + lane;
        const bool fits = i < end && prefix.at_end(row.logits[i]);
        const unsigned all = __ballot_sync(all_lanes, fits ? 1 : 0);
        const unsigned earlier = before + static_cast<unsigned>(__popc(all & ((1u << lane) - 1)));
        if (fits && earlier + 1 == prefix.taken) *token = i;
        before += static_cast<unsigned>(__popc(all));
    }
}

/// A block draws from one row. `unit`: what a weight of 1 counts.
__global__ void __launch_bounds__(n_thread)
    draw_kernel(const float* logits, int n, const std::int32_t* largest, const TokenDraw* draws, double unit,
                std::uint64_t* weights, std::int32_t* drawn) {
    __shared__ Mass totals[n_digit];
    const std::int64_t first = std::int64_t{blockIdx.x} * n;
    const Row row{logits + first, weights + first, n};
    const std::int32_t best = largest[blockIdx.x];
    if (best < 0) {
        if (threadIdx.x == 0) drawn[blockIdx.x] = -1;
        return;
    }
    const TokenDraw draw = draws[blockIdx.x];
    const double top = row.logits[best];
    Mass bins[n_digit] = {};
    for (int i = static_cast<int>(threadIdx.x); i < n; i += n_thread) {
        const double weight = exp((double{row.logits[i]} - top) / draw.temperature);
        const Mass token{1, static_cast<std::uint64_t>(weight * unit + 0.5)};
        row.weights[i] = token.weight;
        bins[0].add(token);
        if (weight >= draw.min_p) bins[1].add(token);
    }
    sum_bins(bins, totals);
    Mass kept = totals[0];
    const Mass likely = totals[1];
    if (draw.top_k > 0 && draw.top_k < n)
        kept = prefix_beyond(row, Measure::count, static_cast<std::uint64_t>(draw.top_k) - 1, totals).mass;
    // Numbers beyond 2^53 are rounded, perhaps to more than there is.
    const auto at_most = [](double amount, std::uint64_t most) {
        const auto whole = static_cast<std::uint64_t>(amount);
        return whole < most ? whole : most;
    };
    if (draw.top_p < 1) {
        const double enough = fmax(1.0, ceil(draw.top_p * static_cast<double>(kept.weight)));
        kept = prefix_beyond(row, Measure::weight, at_most(enough, kept.weight) - 1, totals).mass;
    }
    if (likely.count < kept.count) kept = likely;
    const std::uint64_t passed = at_most(draw.uniform * static_cast<double>(kept.weight), kept.weight - 1);
    write_last(row, prefix_beyond(row, Measure::weight, passed, totals), drawn + blockIdx.x);
}

}  // namespace

void draw_tokens(cudaStream_t stream, const float* logits, int rows, int n, const std::int32_t* largest,
                 const TokenDraw* draws, std::uint64_t* weights, std::int32_t* drawn) {
    // As fine as sums of n weights of at most 1 fit 62 bits.
    const double unit = std::ldexp(1.0, 62 - static_cast<int>(std::bit_width(static_cast<unsigned>(n))));
    launch(stream, static_cast<unsigned>(rows), n_thread, 0, draw_kernel, logits, n, largest, draws, unit,
           weights, drawn);
}

}  // namespace decodescope::cuda
