// SPDX-License-Identifier: GPL-3.0-or-later
// Attention of many queries: bound by arithmetic.
#include "engine/backend/cuda/attention_parts.h"
#include "engine/backend/cuda/kernel_tools.h"
#include "engine/backend/cuda/launch.h"
#include "engine/backend/cuda/slot_places.h"

namespace decodescope::cuda {

namespace {

constexpr int n_column = 8;                           // threads that share a row
constexpr int n_line = attention_threads / n_column;  // rows between two of one thread
constexpr int most_queries = many_rows(1);
constexpr int four_step = 4 * n_column;  // elements between two fours of one thread

/// What the threads of a block agree on.
struct Agreed {
    unsigned seen[most_queries];  // of each query: the slots of the tile it sees
    unsigned joint[2];            // of any query; of this tile and the next
    int next[2];                  // the first slot not passed yet that any query sees
    int begin;                    // of all that any query sees
    int end;
};

/// Block of `rows` rows, each one query of one head, over tiles of `slots` slots. Row r belongs to query
/// r / heads and head r % heads. A thread has the rows line, line + 16, ..., of their scores the slots
/// column, column + 8, ..., of their sums the fours column, column + 8, ...
template <int rows, int slots>
struct Tiling {
    static constexpr int rows_each = rows / n_line;
    static constexpr int slots_each = slots / n_column;
    static constexpr int fours_each = 8 / rows_each;  // of 64, 128 or 256 elements
    // Strides that keep threads which read at once in different banks.
    static constexpr int weight_stride = slots + 8;
    __host__ __device__ static constexpr int vector_stride(int head_dim) { return head_dim + 4; }
    static constexpr int floats(int head_dim) {
        return (rows + slots) * vector_stride(head_dim) + rows * weight_stride;
    }
};

template <class T, int rows, int slots>
class Block {
public:
    using Shape = Tiling<rows, slots>;

    __device__ Block(const CallArrays& call, const Attention& attention, const AttentionShape& shape,
                     const Parts& parts, Agreed& agreed, float* shared, int row, int first_query, int n_query)
        : attention_(attention),
          parts_(parts),
          agreed_(agreed),
          n_token_(call.n_token),
          head_dim_(attention.head_dim),
          stride_(Shape::vector_stride(attention.head_dim)),
          heads_(shape.heads),
          first_query_(first_query),
          n_query_(n_query),
          column_(static_cast<int>(threadIdx.x) % n_column),
          line_(static_cast<int>(threadIdx.x) / n_column),
          kv_head_(static_cast<int>(blockIdx.y) / shape.head_blocks),
          places_(call, attention.entries, row, kv_head_),
          scale_places_(call, attention.entries, row, kv_head_, attention.head_dim),
          queries_(shared),
          entries_(queries_ + rows * stride_),
          weights_(entries_ + slots * stride_) {
        const int group = attention.n_head / attention.n_kv_head;
        const int first_in_group = static_cast<int>(blockIdx.y) % shape.head_blocks * shape.heads;
        n_head_ = min(shape.heads, group - first_in_group);
        first_head_ = kv_head_ * group + first_in_group;
        const int me = static_cast<int>(threadIdx.x);
        if (me < n_query) {
            next_range_ = call.ranges + call.first_range[first_query + me];
            last_range_ = call.ranges + call.first_range[first_query + me + 1];
        }
    }

    template <int used>
    __device__ void run() {
        for (float& largest : largest_) largest = -FLT_MAX;
        load_queries();
        int from = 0;
        int end = 0;
        find_part(from, end);
        for (int tile = 0;; tile ^= 1) {
            const int begin = next_seen(tile, from, end);
            if (begin >= end) break;
            const unsigned joint = see(tile, begin, end);
            load_tile<false>(static_cast<const T*>(attention_.entries.k), attention_.entries.k_scales, begin,
                             joint);
            __syncthreads();
            weigh<used>();
            __syncthreads();
            const bool bad = load_tile<true>(static_cast<const T*>(attention_.entries.v),
                                             attention_.entries.v_scales, begin, joint);
            // A value that is not finite must not reach those that do not see it, as 0 times it would.
            if (__syncthreads_or(bad ? 1 : 0) != 0)
                mix<used, true>(joint);
            else
                mix<used, false>(joint);
            from = begin + slots;
        }
        write<used>();
    }

private:
    __device__ int query_of(int k) const { return (line_ + k * n_line) / heads_; }
    __device__ int head_of(int k) const { return (line_ + k * n_line) % heads_; }
    __device__ bool has_row(int k) const { return query_of(k) < n_query_ && head_of(k) < n_head_; }

    __device__ void load_queries() {
        const int fours = head_dim_ / 4;
        for (int chunk = static_cast<int>(threadIdx.x); chunk < rows * fours; chunk += attention_threads) {
            const int r = chunk / fours;
            const int i = chunk % fours * 4;
            const int query = r / heads_;
            const int head = r % heads_;
            Floats<4> q{};
            if (query < n_query_ && head < n_head_) {
                q = load<4>(attention_.q + (first_query_ + query) * attention_.q_stride +
                            std::int64_t{first_head_ + head} * head_dim_ + i);
            }
            for (float& x : q.at) x *= attention_.scale * log2_of_e;
            store(queries_ + r * stride_ + i, q);
        }
    }

    /// The slots that are this block's: a part of those from the first to the last that any query sees.
    __device__ void find_part(int& begin, int& end) {
        if (threadIdx.x == 0) {
            agreed_.begin = INT_MAX;
            agreed_.end = 0;
            agreed_.joint[0] = agreed_.joint[1] = 0;
            agreed_.next[0] = agreed_.next[1] = INT_MAX;
        }
        __syncthreads();
        if (next_range_ < last_range_) {
            atomicMin(&agreed_.begin, next_range_->begin);
            atomicMax(&agreed_.end, last_range_[-1].end);
        }
        __syncthreads();
        begin = agreed_.begin;
        end = agreed_.end;
        if (begin >= end || parts_.n == 1) return;
        const int share = (end - begin + parts_.n - 1) / parts_.n;
        const int size = (share + slots - 1) / slots * slots;
        const std::int64_t mine = begin + std::int64_t{blockIdx.z} * size;
        begin = mine < end ? static_cast<int>(mine) : end;
        end = end - begin < size ? end : begin + size;
    }

    /// The first slot from `from` on that any query sees.
    __device__ int next_seen(int tile, int from, int end) {
        while (next_range_ < last_range_ && next_range_->end <= from) ++next_range_;
        if (next_range_ < last_range_) atomicMin(&agreed_.next[tile], max(from, next_range_->begin));
        __syncthreads();
        const int next = agreed_.next[tile];
        // Everybody has read these, and nobody writes them before the next barrier.
        if (threadIdx.x == 0) {
            agreed_.next[tile ^ 1] = INT_MAX;
            agreed_.joint[tile ^ 1] = 0;
        }
        return min(next, end);
    }

    /// Which slots of the tile each query sees; returns those that any does.
    __device__ unsigned see(int tile, int begin, int end) {
        const int me = static_cast<int>(threadIdx.x);
        if (me < most_queries) {
            unsigned seen = 0;
            const int stop = min(end, begin + slots);
            for (const SlotRange* range = next_range_; range < last_range_ && range->begin < stop; ++range) {
                const int first = max(range->begin, begin) - begin;
                const int n = min(range->end, stop) - begin - first;
                if (n > 0) seen |= (n >= 32 ? all_lanes : (1u << n) - 1u) << first;
            }
            agreed_.seen[me] = seen;
            if (seen != 0) atomicOr(&agreed_.joint[tile], seen);
        }
        __syncthreads();
        return agreed_.joint[tile];
    }

    /// Keys or values of the tile as floats, zeros where nobody looks. Whether any is not finite, if asked.
    template <bool look>
    __device__ bool load_tile(const T* from, const float* scales, int begin, unsigned joint) {
        const int eights = head_dim_ / 8;
        bool bad = false;
        for (int chunk = static_cast<int>(threadIdx.x); chunk < slots * eights; chunk += attention_threads) {
            const int slot = chunk / eights;
            const int i = chunk % eights * 8;
            Eight<T> stored;
            float scale = 1;
            if ((joint >> slot & 1u) != 0) {
                stored.read(from + places_.of(begin + slot) + i);
                if constexpr (sizeof(T) == 1) scale = scales[scale_places_.of(begin + slot)];
            }
            float x[8];
            stored.to_floats(x);
            if constexpr (sizeof(T) == 1) {
                for (int j = 0; j < 8; ++j) x[j] *= scale;
            }
            if constexpr (look) {
                for (int j = 0; j < 8; ++j) bad |= !is_finite(x[j]);
            }
            // Every other four threads begin with the second half, or two would write to the same banks.
            const bool swapped = (threadIdx.x & 4u) != 0;
            const auto half = [&x](bool second) {
                Floats<4> four;
                for (int j = 0; j < 4; ++j) four.at[j] = second ? x[4 + j] : x[j];
                return four;
            };
            float* to = entries_ + slot * stride_ + i;
            store(to + (swapped ? 4 : 0), half(swapped));
            store(to + (swapped ? 0 : 4), half(!swapped));
        }
        return bad;
    }

    /// One step of the running softmax: the tile's scores, and from them the weights of its values.
    template <int used>
    __device__ void weigh() {
        float scores[used][Shape::slots_each] = {};
        for (int i = 0; i < head_dim_; i += 4) {
            Floats<4> q[used];
            Floats<4> k[Shape::slots_each];
            for (int r = 0; r < used; ++r) q[r] = load<4>(queries_ + (line_ + r * n_line) * stride_ + i);
            for (int s = 0; s < Shape::slots_each; ++s)
                k[s] = load<4>(entries_ + (column_ + s * n_column) * stride_ + i);
            for (int r = 0; r < used; ++r) {
                for (int s = 0; s < Shape::slots_each; ++s) {
                    for (int j = 0; j < 4; ++j) scores[r][s] = fmaf(q[r].at[j], k[s].at[j], scores[r][s]);
                }
            }
        }
        for (int r = 0; r < used; ++r) {
            const unsigned seen = has_row(r) ? agreed_.seen[query_of(r)] >> column_ : 0;
            float top = largest_[r];
            for (int s = 0; s < Shape::slots_each; ++s) {
                if ((seen >> s * n_column & 1u) != 0) top = fmaxf(top, scores[r][s]);
            }
            top = lanes_max(top, n_column);
            const float factor = exp2f(largest_[r] - top);
            largest_[r] = top;
            total_[r] *= factor;
            for (Floats<4>& sum : sums_[r]) {
                for (float& x : sum.at) x *= factor;
            }
            for (int s = 0; s < Shape::slots_each; ++s) {
                float weight = 0;
                if ((seen >> s * n_column & 1u) != 0) {
                    weight = exp2f(scores[r][s] - top);
                    // Adds NaN for scores that are not finite: neither the largest nor its power keeps them
                    // all.
                    total_[r] = fmaf(scores[r][s], 0.0f, total_[r] + weight);
                }
                weights_[(line_ + r * n_line) * Shape::weight_stride + column_ + s * n_column] = weight;
            }
        }
    }

    template <int used, bool careful>
    __device__ void mix(unsigned joint) {
        unsigned seen[used];
        for (int r = 0; r < used; ++r) seen[r] = careful && has_row(r) ? agreed_.seen[query_of(r)] : 0;
        for (int first = 0; first < slots; first += 4) {
            if ((joint >> first & 15u) == 0) continue;
            Floats<4> weights[used];
            for (int r = 0; r < used; ++r)
                weights[r] = load<4>(weights_ + (line_ + r * n_line) * Shape::weight_stride + first);
            for (int s = 0; s < 4; ++s) {
                for (int f = 0; f < Shape::fours_each; ++f) {
                    const int i = 4 * column_ + f * four_step;
                    if (i >= head_dim_) break;
                    const Floats<4> value = load<4>(entries_ + (first + s) * stride_ + i);
                    for (int r = 0; r < used; ++r) {
                        if (careful && (seen[r] >> (first + s) & 1u) == 0) continue;
                        for (int j = 0; j < 4; ++j)
                            sums_[r][f].at[j] = fmaf(weights[r].at[s], value.at[j], sums_[r][f].at[j]);
                    }
                }
            }
        }
    }

    template <int used>
    __device__ void write() {
        for (int r = 0; r < used; ++r) {
            const float total = lanes_sum(total_[r], n_column);
            if (!has_row(r)) continue;
            const std::int64_t row =
                std::int64_t{first_query_ + query_of(r)} * attention_.n_head + first_head_ + head_of(r);
            const std::int64_t part_row = blockIdx.z * (std::int64_t{n_token_} * attention_.n_head) + row;
            for (int f = 0; f < Shape::fours_each; ++f) {
                const int i = 4 * column_ + f * four_step;
                if (i >= head_dim_) break;
                if (parts_.n == 1) {
                    for (float& x : sums_[r][f].at) x = total == 0.0f ? 0.0f : x / total;
                    store(attention_.out + row * head_dim_ + i, sums_[r][f]);
                } else {
                    store(parts_.sums + part_row * head_dim_ + i, sums_[r][f]);
                }
            }
            if (parts_.n == 1 || column_ > 0) continue;
            parts_.largest[part_row] = largest_[r];
            parts_.total[part_row] = total;
        }
    }

    const Attention& attention_;
    const Parts& parts_;
    Agreed& agreed_;
    int n_token_;
    int head_dim_;
    int stride_;
    int heads_;
    int n_head_ = 0;
    int first_head_ = 0;
    int first_query_;
    int n_query_;
    int column_;
    int line_;
    int kv_head_;
    SlotPlaces places_;
    SlotPlaces scale_places_;
    float* queries_;  // [rows, stride], times the scale
    float* entries_;  // [slots, stride]: first the keys of a tile, then its values
    float* weights_;  // [rows, weight_stride]; a row is written and read by the same warp
    const SlotRange* next_range_ = nullptr;  // of the query of this thread's number, not passed yet
    const SlotRange* last_range_ = nullptr;
    float largest_[Shape::rows_each] = {};
    float total_[Shape::rows_each] = {};
    Floats<4> sums_[Shape::rows_each][Shape::fours_each] = {};
};

template <class T, int rows, int slots>
__global__ void __launch_bounds__(attention_threads, 4)
    many_kernel(CallArrays call, Attention attention, AttentionShape shape, Parts parts) {
    // The last queries of a prompt see most: they begin first.
    int left = static_cast<int>(gridDim.x - 1 - blockIdx.x);
    int row = 0;
    for (; row < call.batch; ++row) {
        const int blocks =
            (call.row_begin[row + 1] - call.row_begin[row] + shape.queries - 1) / shape.queries;
        if (left < blocks) break;
        left -= blocks;
    }
    if (row == call.batch) return;
    const int first = call.row_begin[row] + left * shape.queries;
    const int n_query = min(shape.queries, call.row_begin[row + 1] - first);
    __shared__ Agreed agreed;
    DECODESCOPE_DYNAMIC_SHARED(float, shared);
    Block<T, rows, slots> block(call, attention, shape, parts, agreed, shared, row, first, n_query);
    // A row with few queries among others that have many.
    if (n_query * shape.heads <= n_line)
        block.template run<1>();
    else
        block.template run<Tiling<rows, slots>::rows_each>();
}

template <class T, int width>
void start(cudaStream_t stream, const CallArrays& call, const Attention& attention,
           const AttentionShape& shape, const Parts& parts) {
    constexpr int rows = many_rows(width);
    constexpr int slots = many_slots(width);
    const dim3 grid(static_cast<unsigned>(shape.query_blocks),
                    static_cast<unsigned>(attention.n_kv_head * shape.head_blocks),
                    static_cast<unsigned>(parts.n));
    launch(stream, grid, attention_threads, sizeof(float) * Tiling<rows, slots>::floats(attention.head_dim),
           many_kernel<T, rows, slots>, call, attention, shape, parts);
}

}  // namespace

void attend_many(cudaStream_t stream, const CallArrays& call, const Attention& attention,
                 const AttentionShape& shape, const Parts& parts) {
    with_stored_type(attention.entries.type, [&](auto* element) {
        using T = std::remove_pointer_t<decltype(element)>;
        if (attention.head_dim <= 64)
            start<T, 64>(stream, call, attention, shape, parts);
        else if (attention.head_dim <= 128)
            start<T, 128>(stream, call, attention, shape, parts);
        else
            start<T, 256>(stream, call, attention, shape, parts);
    });
}

}  // namespace decodescope::cuda
