// SPDX-License-Identifier: GPL-3.0-or-later
// Attention of single queries: bound by reading the cache.
#include "engine/backend/cuda/attention_parts.h"
#include "engine/backend/cuda/kernel_tools.h"
#include "engine/backend/cuda/launch.h"
#include "engine/backend/cuda/slot_places.h"

namespace decodescope::cuda {

namespace {

constexpr int n_warp = attention_threads / warp_lanes;

/// The slots that a query sees, by their number among these.
class SeenSlots {
public:
    __device__ SeenSlots(const CallArrays& call, std::int64_t token)
        : next_(call.ranges + call.first_range[token]), last_(call.ranges + call.first_range[token + 1]) {
        for (const SlotRange* range = next_; range < last_; ++range) n_ += range->end - range->begin;
        if (next_ < last_) range_ = *next_;
    }
    __device__ int size() const { return n_; }
    /// Asked for rising numbers below `size` only.
    __device__ int slot(int number) {
        while (number - passed_ >= range_.end - range_.begin) {
            passed_ += range_.end - range_.begin;
            range_ = *++next_;
        }
        return range_.begin + number - passed_;
    }

private:
    const SlotRange* next_;
    const SlotRange* last_;
    SlotRange range_{};
    int passed_ = 0;
    int n_ = 0;
};

/// Sums of one query head over some slots: eight elements of the values, of which every lane has its own.
struct Running {
    float largest = -FLT_MAX;
    float total = 0;
    float sums[8] = {};

    __device__ void join(float other_largest, float other_total, const float (&other_sums)[8]) {
        const float top = fmaxf(largest, other_largest);
        const float mine = exp2f(largest - top);
        const float others = exp2f(other_largest - top);
        largest = top;
        total = total * mine + other_total * others;
        for (int i = 0; i < 8; ++i) sums[i] = sums[i] * mine + other_sums[i] * others;
    }
};

/// A block takes a part of the slots that query blockIdx.x sees, for `rows` heads of one kv head. Every slot
/// is read by `lanes` lanes, eight elements each, and `ahead` slots at once.
template <class T, int rows>
__global__ void __launch_bounds__(attention_threads)
    few_kernel(CallArrays call, Attention attention, AttentionShape shape, Parts parts, int lanes) {
    constexpr int ahead = sizeof(T) == 4 || rows == most_few_heads ? 2 : 4;
    const std::int64_t token = blockIdx.x;
    const int kv_head = static_cast<int>(blockIdx.y) / shape.head_blocks;
    const int group = attention.n_head / attention.n_kv_head;
    const int first_in_group = static_cast<int>(blockIdx.y) % shape.head_blocks * shape.heads;
    const int n_row = min(shape.heads, group - first_in_group);
    const std::int64_t first_row = token * attention.n_head + kv_head * group + first_in_group;
    const std::int64_t part_row = blockIdx.z * (std::int64_t{call.n_token} * attention.n_head) + first_row;
    const int me = static_cast<int>(threadIdx.x);
    const int head_dim = attention.head_dim;

    SeenSlots seen(call, token);
    const int share = (seen.size() + parts.n - 1) / parts.n;
    const int size = max((share + warp_lanes - 1) / warp_lanes * warp_lanes, fewest_few_slots);
    const auto begin = static_cast<int>(
        std::int64_t{blockIdx.z} * size < seen.size() ? std::int64_t{blockIdx.z} * size : seen.size());
    const int end = seen.size() - begin < size ? seen.size() : begin + size;
    if (begin == end && parts.n > 1) {
        if (me < n_row) {
            parts.largest[part_row + me] = -FLT_MAX;
            parts.total[part_row + me] = 0;
        }
        return;
    }

    const int first = me % lanes * 8;
    const bool has_elements = first < head_dim;
    const int mine = me / lanes;  // of the slots that the block reads at once
    const int at_once = attention_threads / lanes;
    float q[rows][8];
    Running running[rows];
    for (int r = 0; r < rows; ++r) {
        Eight<float> eight;
        if (r < n_row && has_elements) {
            eight.read(attention.q + token * attention.q_stride +
                       std::int64_t{kv_head * group + first_in_group + r} * head_dim + first);
        }
        eight.to_floats(q[r]);
        for (float& x : q[r]) x *= attention.scale * log2_of_e;
    }

    const int row = call.row_of[token];
    const Entries& entries = attention.entries;
    const SlotPlaces places(call, entries, row, kv_head);
    const SlotPlaces scale_places(call, entries, row, kv_head, head_dim);
    for (int base = begin; base < end; base += ahead * at_once) {
        Eight<T> k[ahead];
        Eight<T> v[ahead];
        float k_scales[ahead];
        float v_scales[ahead];
        bool valid[ahead];
        for (int a = 0; a < ahead; ++a) {
            const int number = base + a * at_once + mine;
            valid[a] = number < end;
            k_scales[a] = v_scales[a] = 1.0f;
            if (!valid[a]) continue;
            const int slot = seen.slot(number);
            const std::int64_t place = places.of(slot) + first;
            if (has_elements) {
                k[a].read(static_cast<const T*>(entries.k) + place);
                v[a].read(static_cast<const T*>(entries.v) + place);
            }
            if constexpr (sizeof(T) == 1) {
                const std::int64_t scale_place = scale_places.of(slot);
                k_scales[a] = entries.k_scales[scale_place];
                v_scales[a] = entries.v_scales[scale_place];
            }
        }
        float scores[ahead][rows];
        for (int a = 0; a < ahead; ++a) {
            float key[8];
            k[a].to_floats(key);
            for (int r = 0; r < rows; ++r) {
                float dot = 0;
                for (int i = 0; i < 8; ++i) dot = fmaf(q[r][i], key[i], dot);
                scores[a][r] = dot * k_scales[a];
            }
        }
        // All sums over lanes at once: none has to wait for another.
        for (int step = lanes / 2; step > 0; step /= 2) {
            for (int a = 0; a < ahead; ++a) {
                for (int r = 0; r < rows; ++r) scores[a][r] += __shfl_xor_sync(all_lanes, scores[a][r], step);
            }
        }
        for (int r = 0; r < rows; ++r) {
            Running& sum = running[r];
            float top = sum.largest;
            for (int a = 0; a < ahead; ++a) {
                if (valid[a]) top = fmaxf(top, scores[a][r]);
            }
            const float factor = exp2f(sum.largest - top);
            sum.largest = top;
            sum.total *= factor;
            for (float& x : sum.sums) x *= factor;
            for (int a = 0; a < ahead; ++a) {
                const float score = scores[a][r];
                const float weight = valid[a] ? exp2f(score - top) : 0.0f;
                // 0, but NaN for scores that are not finite: neither the largest nor its power keeps them
                // all.
                if (valid[a]) sum.total = fmaf(score, 0.0f, sum.total + weight);
                scores[a][r] = weight * v_scales[a];
            }
        }
        for (int a = 0; a < ahead; ++a) {
            float value[8];
            v[a].to_floats(value);
            for (int r = 0; r < rows; ++r) {
                for (int i = 0; i < 8; ++i)
                    running[r].sums[i] = fmaf(scores[a][r], value[i], running[r].sums[i]);
            }
        }
    }

    for (int r = 0; r < rows; ++r) {
        for (int step = lanes; step < warp_lanes; step *= 2) {
            float others[8];
            for (int i = 0; i < 8; ++i) others[i] = __shfl_xor_sync(all_lanes, running[r].sums[i], step);
            const float largest = __shfl_xor_sync(all_lanes, running[r].largest, step);
            const float total = __shfl_xor_sync(all_lanes, running[r].total, step);
            running[r].join(largest, total, others);
        }
    }
    // What the warps made, [n_warp, rows, stride]: sums, then the largest score and the total.
    DECODESCOPE_DYNAMIC_SHARED(float, made);
    const int stride = head_dim + 4;
    const int warp = me / warp_lanes;
    if (me % warp_lanes < lanes && has_elements) {
        for (int r = 0; r < rows; ++r) {
            if (r >= n_row) break;
            const float(&sums)[8] = running[r].sums;
            float* to = made + (warp * rows + r) * stride;
            store(to + first, Floats<4>{{sums[0], sums[1], sums[2], sums[3]}});
            store(to + first + 4, Floats<4>{{sums[4], sums[5], sums[6], sums[7]}});
            if (first > 0) continue;
            to[head_dim] = running[r].largest;
            to[head_dim + 1] = running[r].total;
        }
    }
    __syncthreads();
    const int fours = head_dim / 4;
    for (int chunk = me; chunk < n_row * fours; chunk += attention_threads) {
        const int r = chunk / fours;
        const int i = chunk % fours * 4;
        const float* from = made + r * stride;
        float top = from[head_dim];
        for (int w = 1; w < n_warp; ++w) top = fmaxf(top, from[w * rows * stride + head_dim]);
        float total = 0;
        Floats<4> sum{};
        for (int w = 0; w < n_warp; ++w) {
            const float* in_warp = from + w * rows * stride;
            const float weight = exp2f(in_warp[head_dim] - top);
            total = fmaf(weight, in_warp[head_dim + 1], total);
            const Floats<4> more = load<4>(in_warp + i);
            for (int j = 0; j < 4; ++j) sum.at[j] = fmaf(weight, more.at[j], sum.at[j]);
        }
        if (parts.n == 1) {
            for (float& x : sum.at) x = total == 0.0f ? 0.0f : x / total;
            store(attention.out + (first_row + r) * head_dim + i, sum);
        } else {
            store(parts.sums + (part_row + r) * head_dim + i, sum);
            if (i > 0) continue;
            parts.largest[part_row + r] = top;
            parts.total[part_row + r] = total;
        }
    }
}

template <class T>
auto few_kernel_of(int rows) {
    switch (rows) {
        case 1: return few_kernel<T, 1>;
        case 2: return few_kernel<T, 2>;
        case 4: return few_kernel<T, 4>;
        default: return few_kernel<T, most_few_heads>;
    }
}

}  // namespace

void attend_few(cudaStream_t stream, const CallArrays& call, const Attention& attention,
                const AttentionShape& shape, const Parts& parts) {
    const dim3 grid(static_cast<unsigned>(shape.query_blocks),
                    static_cast<unsigned>(attention.n_kv_head * shape.head_blocks),
                    static_cast<unsigned>(parts.n));
    const std::size_t shared =
        sizeof(float) * static_cast<std::size_t>(n_warp * shape.rows * (attention.head_dim + 4));
    with_stored_type(attention.entries.type, [&](auto* element) {
        launch(stream, grid, attention_threads, shared,
               few_kernel_of<std::remove_pointer_t<decltype(element)>>(shape.rows), call, attention, shape,
               parts, power_of_two(attention.head_dim / 8));
    });
}

}  // namespace decodescope::cuda
