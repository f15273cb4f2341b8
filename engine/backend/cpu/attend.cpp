// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/backend/cpu/attend.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "engine/cache/kv_cache.h"

namespace decodescope {

namespace {

using namespace attend_kernels;

// What rows and columns in the scratch are aligned to.
constexpr std::int64_t line_floats = 16;

int padded(int head_dim) {
    return (head_dim + width_step - 1) / width_step * width_step;
}

/// The union of the ranges that queries first .. first + n_query - 1 of row `b` see. Returns its size.
int join_ranges(const AttentionPlan& plan, int b, int first, int n_query, std::vector<SlotRange>& segments) {
    segments.clear();
    for (int i = 0; i < n_query; ++i) {
        const auto ranges = plan.visible(b, first + i);
        segments.insert(segments.end(), ranges.begin(), ranges.end());
    }
    if (n_query > 1) {
        std::sort(segments.begin(), segments.end(),
                  [](const SlotRange& x, const SlotRange& y) { return x.begin < y.begin; });
        std::size_t n = 0;
        for (const SlotRange& range : segments) {
            if (n > 0 && range.begin <= segments[n - 1].end) {
                segments[n - 1].end = std::max(segments[n - 1].end, range.end);
            } else {
                segments[n++] = range;
            }
        }
        segments.resize(n);
    }
    int size = 0;
    for (const SlotRange& segment : segments) size += segment.end - segment.begin;
    return size;
}

/// Sets bits [begin, end).
void set_bits(int begin, int end, Seen& seen) {
    for (int word = begin / 64; word * 64 < end; ++word) {
        const int from = std::max(begin - word * 64, 0);
        const int to = std::min(end - word * 64, 64);
        const std::uint64_t below_to = to == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << to) - 1;
        seen.bits[static_cast<std::size_t>(word)] |= below_to & ~((std::uint64_t{1} << from) - 1);
    }
}

/// Some queries of one row with some heads that share keys and values, as rows of products: all heads of the
/// first query, then all of the next.
class Block {
public:
    Block(const AttentionCall& call, int b, int kv_head, int first, int n_query, float* floats,
          AttendScratch& scratch)
        : call_(call),
          scratch_(scratch),
          b_(b),
          kv_head_(kv_head),
          first_(first),
          n_query_(n_query),
          width_(padded(call.head_dim)) {
        const auto address = reinterpret_cast<std::uintptr_t>(floats) / sizeof(float);
        floats += (line_floats - static_cast<std::int64_t>(address % line_floats)) % line_floats;
        const auto take = [&](std::int64_t n) {
            float* taken = floats;
            floats += n;
            return taken;
        };
        q_ = take(std::int64_t{most_rows} * width_);
        out_ = take(std::int64_t{most_rows} * width_);
        columns_ = take(std::int64_t{tile_slots} * width_);
        staged_ = take(std::int64_t{tile_slots} * width_);
        scores_ = take(score_floats);
        sums_ = take(std::int64_t{most_rows} * sums_per_row);
        largest_ = take(most_rows);
        factors_ = take(most_rows);
        const std::int64_t row =
            call.kv.by_token ? call.plan->first_query(b) * call.kv.slot_stride : b * call.kv.batch_stride;
        kv_offset_ = row + kv_head * call.kv.head_stride;
        const bool whole_vectors = width_ == call.head_dim;
        f32_in_place_ = call.kv.source == nullptr && whole_vectors;
        half_in_place_ = call.kv.k16 != nullptr && whole_vectors && reads_in_place(call.kv.half);
    }

    static constexpr std::int64_t score_floats = std::max(most_rows * tile_slots, few_rows* most_slots);

    /// Heads first_head .. + n_head - 1 of those that read this block's keys and values.
    void attend(int first_head, int n_head) {
        first_head_ = first_head;
        n_head_ = n_head;
        n_row_ = n_query_ * n_head;
        begin_rows();
        const bool few = n_row_ <= few_rows;
        const bool in_place = f32_in_place_ || (few && half_in_place_);
        const int most = few && in_place ? most_slots : tile_slots;
        for (int i = 0; i < n_query_; ++i) {
            scratch_.ahead[static_cast<std::size_t>(i)] = call_.plan->visible(b_, first_ + i);
        }
        for (const SlotRange& segment : scratch_.segments) {
            for (std::int32_t begin = segment.begin; begin < segment.end; begin += most) {
                const SlotRange slots{begin, std::min(begin + most, segment.end)};
                look_at(slots);
                Tile tile;
                tile.scores = scores_;
                tile.stride = most;
                tile.n_row = n_row_;
                tile.n_head = n_head_;
                tile.n_slot = slots.end - slots.begin;
                tile.seen = scratch_.seen.data();
                const Entries keys = entries(slots, true, in_place);
                if (few) {
                    score_few(q_, keys, width_, tile);
                } else {
                    to_columns(static_cast<const float*>(keys.at), keys.stride, tile.n_slot, width_,
                               columns_);
                    score_many(q_, columns_, width_, tile);
                }
                soften(tile, largest_, sums_, factors_);
                mix(tile, factors_, entries(slots, false, in_place), width_, out_);
            }
        }
        end_rows();
    }

private:
    /// Elements in front of a row's head in `q` and `out`, where tokens are `stride` apart.
    std::int64_t place(int row, std::int64_t stride) const {
        const int in_group = first_head_ + row % n_head_;
        const int head = call_.head_order == HeadOrder::grouped
                             ? kv_head_ * (call_.n_head / call_.n_kv_head) + in_group
                             : in_group * call_.n_kv_head + kv_head_;
        const int token = call_.plan->first_query(b_) + first_ + row / n_head_;
        return token * stride + std::int64_t{head} * call_.head_dim;
    }

    void begin_rows() {
        const float scale = call_.scale * 1.44269504f;  // weights are powers of 2
        for (int r = 0; r < n_row_; ++r) {
            const float* from = call_.q + place(r, call_.q_stride);
            float* to = q_ + std::int64_t{r} * width_;
            for (int i = 0; i < call_.head_dim; ++i) to[i] = from[i] * scale;
            std::fill(to + call_.head_dim, to + width_, 0.0f);
        }
        std::fill_n(out_, std::int64_t{n_row_} * width_, 0.0f);
        std::fill_n(sums_, std::int64_t{n_row_} * sums_per_row, 0.0f);
        std::fill_n(largest_, most_rows, -std::numeric_limits<float>::infinity());
        std::fill_n(factors_, most_rows, 1.0f);
    }

    void end_rows() {
        const std::int64_t stride = std::int64_t{call_.n_head} * call_.head_dim;
        for (int r = 0; r < n_row_; ++r) {
            const float sum = sum_of(sums_ + std::int64_t{r} * sums_per_row);
            // Nothing seen, nothing summed; a NaN stays one.
            const float factor = sum == 0.0f ? 0.0f : 1.0f / sum;
            const float* from = out_ + std::int64_t{r} * width_;
            float* to = call_.out + place(r, stride);
            for (int i = 0; i < call_.head_dim; ++i) to[i] = from[i] * factor;
        }
    }

    static float sum_of(const float* parts) {
        float by_four[4] = {};
        for (int i = 0; i < sums_per_row; ++i) by_four[i % 4] += parts[i];
        return (by_four[0] + by_four[1]) + (by_four[2] + by_four[3]);
    }

    /// What each query sees of these slots; tiles come in ascending order.
    void look_at(SlotRange slots) {
        const int n_slot = slots.end - slots.begin;
        for (int i = 0; i < n_query_; ++i) {
            Seen& seen = scratch_.seen[static_cast<std::size_t>(i)];
            std::span<const SlotRange>& ahead = scratch_.ahead[static_cast<std::size_t>(i)];
            while (!ahead.empty() && ahead.front().end <= slots.begin) ahead = ahead.subspan(1);
            seen.whole =
                !ahead.empty() && ahead.front().begin <= slots.begin && ahead.front().end >= slots.end;
            if (seen.whole && n_slot % width_step == 0) {  // nobody asks for bits
                seen.begin = 0;
                seen.end = n_slot;
                continue;
            }
            seen.begin = seen.end = 0;
            seen.bits.fill(0);
            for (const SlotRange& range : ahead) {
                if (range.begin >= slots.end) break;
                const int begin = std::max(range.begin - slots.begin, 0);
                const int end = std::min(range.end, slots.end) - slots.begin;
                if (seen.end == 0) seen.begin = begin;
                seen.end = end;
                set_bits(begin, end, seen);
            }
        }
    }

    /// K or V of a tile: where it lies, or copied into rows of `width_` floats.
    Entries entries(SlotRange slots, bool keys, bool in_place) {
        const std::int64_t at = kv_offset_ + slots.begin * call_.kv.slot_stride;
        const float* f32 = keys ? call_.kv.k : call_.kv.v;
        if (in_place && f32_in_place_) return {f32 + at, call_.kv.slot_stride, DType::f32};
        if (in_place) return {(keys ? call_.kv.k16 : call_.kv.v16) + at, call_.kv.slot_stride, call_.kv.half};
        const int d = call_.head_dim;
        std::int64_t stride = call_.kv.slot_stride;
        const float* from = f32 + at;
        if (call_.kv.source != nullptr) {
            call_.kv.source->read(call_.kv.layer, b_, kv_head_, slots, keys ? staged_ : nullptr,
                                  keys ? nullptr : staged_);
            from = staged_;
            stride = d;
        }
        if (from != staged_ || stride != width_) {
            // From the last on, as rows that are moved within the scratch become longer.
            for (int s = slots.end - slots.begin; s-- > 0;) {
                float* to = staged_ + std::int64_t{s} * width_;
                std::memmove(to, from + s * stride, static_cast<std::size_t>(d) * sizeof(float));
                std::fill(to + d, to + width_, 0.0f);
            }
        }
        return {staged_, width_, DType::f32};
    }

    const AttentionCall& call_;
    AttendScratch& scratch_;
    int b_;
    int kv_head_;
    int first_;
    int n_query_;
    int width_;
    int first_head_ = 0;
    int n_head_ = 0;
    int n_row_ = 0;
    bool f32_in_place_ = false;
    bool half_in_place_ = false;
    std::int64_t kv_offset_ = 0;
    float* q_ = nullptr;        // [most_rows, width], scaled
    float* out_ = nullptr;      // [most_rows, width]
    float* columns_ = nullptr;  // [width, tile_slots]
    float* staged_ = nullptr;   // [tile_slots, width]
    float* scores_ = nullptr;   // [rows, slots of a tile]
    float* sums_ = nullptr;     // [most_rows, sums_per_row]
    float* largest_ = nullptr;  // [most_rows]
    float* factors_ = nullptr;  // [most_rows]
};

}  // namespace

int query_block(int n_head, int n_kv_head) {
    return std::max(1, most_rows / (n_head / n_kv_head));
}

std::int64_t attend_floats(int head_dim) {
    const std::int64_t width = padded(head_dim);
    return line_floats + 2 * (most_rows + tile_slots) * width + Block::score_floats +
           most_rows * (sums_per_row + 2);
}

std::int64_t attend(const AttentionCall& call, int b, int kv_head, int first, float* floats,
                    AttendScratch& scratch) {
    const AttentionPlan& plan = *call.plan;
    const int n_query = std::min(query_block(call.n_head, call.n_kv_head), plan.n_query(b) - first);
    const int n_slot = join_ranges(plan, b, first, n_query, scratch.segments);
    Block block(call, b, kv_head, first, n_query, floats, scratch);
    const int group = call.n_head / call.n_kv_head;
    for (int head = 0; head < group; head += most_rows) {
        block.attend(head, std::min(most_rows, group - head));
    }
    return std::int64_t{n_query} * n_slot;
}

}  // namespace decodescope
