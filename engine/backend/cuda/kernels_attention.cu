// SPDX-License-Identifier: GPL-3.0-or-later
// How attention is shared out, and how the parts are joined.
#include <algorithm>
#include <array>

#include "engine/backend/cuda/attention_parts.h"
#include "engine/backend/cuda/kernel_tools.h"
#include "engine/backend/cuda/launch.h"

namespace decodescope::cuda {

namespace {

constexpr int wanted_blocks = 512;          // fill the GPUs there are, several on each multiprocessor
constexpr int most_parts = 2 * warp_lanes;  // what one warp joins
constexpr int fewest_many_slots = 512;      // of a part, or joining costs more than it brings

/// A warp joins the parts of one query and head.
__global__ void __launch_bounds__(attention_threads)
    join_kernel(Parts parts, std::int64_t n_row, int head_dim, float* out) {
    const std::int64_t row =
        std::int64_t{blockIdx.x} * (attention_threads / warp_lanes) + threadIdx.x / warp_lanes;
    if (row >= n_row) return;
    const int lane = static_cast<int>(threadIdx.x % warp_lanes);
    float largest[2] = {-FLT_MAX, -FLT_MAX};
    float weights[2] = {0, 0};
    for (int i = 0; i < 2; ++i) {
        const int part = lane + i * warp_lanes;
        if (part >= parts.n) continue;
        largest[i] = parts.largest[part * n_row + row];
        weights[i] = parts.total[part * n_row + row];
    }
    const float top = lanes_max(fmaxf(largest[0], largest[1]), warp_lanes);
    float total = 0;
    for (int i = 0; i < 2; ++i) {
        const float in_part = weights[i];
        weights[i] = in_part == 0.0f ? 0.0f : exp2f(largest[i] - top);
        total += weights[i] * in_part;
    }
    total = lanes_sum(total, warp_lanes);
    for (int first = 0; first < head_dim; first += 4 * warp_lanes) {
        const int i = first + 4 * lane;
        Floats<4> sum{};
        for (int part = 0; part < parts.n; ++part) {
            const float weight =
                __shfl_sync(all_lanes, part < warp_lanes ? weights[0] : weights[1], part % warp_lanes);
            // Sums of a part without a slot were not written.
            if (weight == 0.0f || i >= head_dim) continue;
            const Floats<4> more = load<4>(parts.sums + (part * n_row + row) * head_dim + i);
            for (int j = 0; j < 4; ++j) sum.at[j] = fmaf(weight, more.at[j], sum.at[j]);
        }
        if (i >= head_dim) continue;
        for (float& x : sum.at) x = total == 0.0f ? 0.0f : x / total;
        store(out + row * head_dim + i, sum);
    }
}

AttentionShape few_shape(int n_token, int most_slots, int n_head, int n_kv_head) {
    const int group = n_head / n_kv_head;
    AttentionShape shape;
    shape.few = true;
    shape.rows = std::min(most_few_heads, power_of_two(group));
    shape.heads = std::min(group, shape.rows);
    shape.head_blocks = (group + shape.heads - 1) / shape.heads;
    shape.query_blocks = n_token;
    const std::int64_t blocks = std::int64_t{n_token} * n_kv_head * shape.head_blocks;
    const std::int64_t parts = std::min<std::int64_t>(wanted_blocks / std::max<std::int64_t>(blocks, 1),
                                                      most_slots / fewest_few_slots);
    shape.parts = static_cast<int>(std::clamp<std::int64_t>(parts, 1, most_parts));
    return shape;
}

AttentionShape many_shape(int n_token, int batch, int most_slots, int n_head, int n_kv_head, int head_dim) {
    const int group = n_head / n_kv_head;
    AttentionShape shape;
    shape.rows = many_rows(head_dim);
    shape.heads = std::min(group, shape.rows);
    shape.head_blocks = (group + shape.heads - 1) / shape.heads;
    shape.queries = shape.rows / shape.heads;
    // Every row may leave one block partly empty.
    shape.query_blocks = n_token / shape.queries + std::min(batch, n_token);
    const std::int64_t blocks = std::int64_t{shape.query_blocks} * n_kv_head * shape.head_blocks;
    const std::int64_t parts = std::min<std::int64_t>(wanted_blocks / std::max<std::int64_t>(blocks, 1),
                                                      most_slots / fewest_many_slots);
    shape.parts = static_cast<int>(std::clamp<std::int64_t>(parts, 1, most_parts));
    return shape;
}

}  // namespace

AttentionShape attention_shape(int n_token, int batch, int most_slots, int n_head, int n_kv_head,
                               int head_dim) {
    return n_token <= std::int64_t{few_queries} * batch
               ? few_shape(n_token, most_slots, n_head, n_kv_head)
               : many_shape(n_token, batch, most_slots, n_head, n_kv_head, head_dim);
}

void attention(cudaStream_t stream, const CallArrays& call, const Attention& attention) {
    if (call.n_token == 0) return;
    const AttentionShape shape = attention_shape(call.n_token, call.batch, call.most_slots, attention.n_head,
                                                 attention.n_kv_head, attention.head_dim);
    const Parts parts(shape.parts, call.n_token, attention.n_head, attention.head_dim, attention.scratch);
    if (shape.few)
        attend_few(stream, call, attention, shape, parts);
    else
        attend_many(stream, call, attention, shape, parts);
    if (parts.n == 1) return;
    const std::int64_t n_row = std::int64_t{call.n_token} * attention.n_head;
    launch(stream, blocks_for(n_row, attention_threads / warp_lanes), attention_threads, 0, join_kernel,
           parts, n_row, attention.head_dim, attention.out);
}

std::int64_t attention_floats(int n_token, int most_slots, int n_head, int n_kv_head, int head_dim) {
    // A call of fewer tokens may be shared out into more parts.
    std::int64_t most = 0;
    for (int n = 1; n <= n_token; ++n) {
        const AttentionShape few = few_shape(n, most_slots, n_head, n_kv_head);
        const AttentionShape many = many_shape(n, 1, most_slots, n_head, n_kv_head, head_dim);
        most = std::max({most, Parts::floats(few.parts, n, n_head, head_dim),
                         Parts::floats(many.parts, n, n_head, head_dim)});
        if (few.parts == 1 && many.parts == 1) break;
    }
    return most;
}

std::int64_t attention_cells(const AttentionPlan& plan, int n_head, int n_kv_head, int head_dim) {
    const AttentionShape shape =
        attention_shape(plan.n_query(), plan.batch(), plan.max_slot(), n_head, n_kv_head, head_dim);
    if (shape.few) return plan.n_allowed();
    std::int64_t cells = 0;
    std::array<std::span<const SlotRange>, many_rows(1)> ahead;  // ranges of a block's queries not passed yet
    for (int b = 0; b < plan.batch(); ++b) {
        for (int first = 0; first < plan.n_query(b); first += shape.queries) {
            const int n = std::min(shape.queries, plan.n_query(b) - first);
            for (int q = 0; q < n; ++q) ahead[static_cast<std::size_t>(q)] = plan.visible(b, first + q);
            const std::span queries(ahead.data(), static_cast<std::size_t>(n));
            std::int32_t passed = 0;
            for (;;) {
                std::int32_t begin = INT_MAX;
                for (auto& ranges : queries) {
                    while (!ranges.empty() && ranges.front().end <= passed) ranges = ranges.subspan(1);
                    if (!ranges.empty()) begin = std::min(begin, std::max(passed, ranges.front().begin));
                }
                if (begin == INT_MAX) break;
                std::int32_t end = begin + 1;
                for (const auto& ranges : queries) {
                    if (!ranges.empty() && ranges.front().begin <= begin)
                        end = std::max(end, ranges.front().end);
                }
                cells += std::int64_t{n} * (end - begin);
                passed = end;
            }
        }
    }
    return cells;
}

}  // namespace decodescope::cuda
