// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/backend/cpu/attend.h"

#include <cblas.h>

#include <algorithm>

#include "engine/backend/cpu/vector_math.h"
#include "engine/cache/kv_cache.h"

namespace decodescope {

namespace {

// Slots that a cache hands out as f32 at a time: K or V of one tile stay in the nearest cache.
constexpr int tile = 128;

blasint blas_int(std::int64_t value) {
    return static_cast<blasint>(value);
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

/// Softmax over the visible columns of one query; the others get weight 0. Visible scores are moved together
/// first, so that the sum runs over them alone, and spread out again.
void softmax_columns(std::span<const SlotRange> columns, float* scores, int n, float scale) {
    if (columns.empty()) {
        std::fill_n(scores, n, 0.0f);
        return;
    }
    std::int64_t packed = 0;
    for (const SlotRange& range : columns) {
        const float* from = scores + range.begin;
        if (from != scores + packed) std::copy_n(from, range.end - range.begin, scores + packed);
        packed += range.end - range.begin;
    }
    vector_math::softmax(scores, packed, scale);
    std::int64_t free_end = n;
    for (auto range = columns.rbegin(); range != columns.rend(); ++range) {
        const std::int64_t length = range->end - range->begin;
        packed -= length;
        if (packed != range->begin)
            std::copy_backward(scores + packed, scores + packed + length, scores + range->begin + length);
        std::fill(scores + range->begin + length, scores + free_end, 0.0f);
        free_end = range->begin;
    }
    std::fill(scores, scores + free_end, 0.0f);
}

/// Slots as columns: `segments` side by side.
void to_columns(std::span<const SlotRange> ranges, std::span<const SlotRange> segments,
                std::vector<SlotRange>& columns) {
    columns.clear();
    std::int32_t column = 0;
    auto segment = segments.begin();
    for (const SlotRange& range : ranges) {
        while (segment->end <= range.begin) {
            column += segment->end - segment->begin;
            ++segment;
        }
        const std::int32_t begin = column + range.begin - segment->begin;
        const std::int32_t end = begin + range.end - range.begin;
        if (!columns.empty() && columns.back().end == begin) {
            columns.back().end = end;
        } else {
            columns.push_back({begin, end});
        }
    }
}

/// One block of queries of one row and head.
class Block {
public:
    Block(const AttentionCall& call, int b, int head, int first, int n_query, int n_column, float* floats)
        : call_(call),
          b_(b),
          kv_head_(call.head_order == HeadOrder::grouped ? head / (call.n_head / call.n_kv_head)
                                                         : head % call.n_kv_head),
          n_query_(n_query),
          n_column_(n_column),
          out_stride_(std::int64_t{call.n_head} * call.head_dim),
          scores_(floats),
          tile_(floats + std::int64_t{n_query} * n_column) {
        const std::int64_t token = call.plan->first_query(b) + first;
        const std::int64_t of_head = std::int64_t{head} * call.head_dim;
        q_ = call.q + token * call.q_stride + of_head;
        out_ = call.out + token * out_stride_ + of_head;
        const std::int64_t row =
            call.kv.by_token ? call.plan->first_query(b) * call.kv.slot_stride : b * call.kv.batch_stride;
        kv_offset_ = row + kv_head_ * call.kv.head_stride;
    }

    void score(std::span<const SlotRange> segments) {
        for_each_piece(segments, true, [this](const float* k, std::int64_t stride, int column, int n) {
            if (n_query_ == 1) {
                cblas_sgemv(CblasRowMajor, CblasNoTrans, n, call_.head_dim, 1.0f, k, blas_int(stride), q_, 1,
                            0.0f, scores_ + column, 1);
            } else {
                cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, n_query_, n, call_.head_dim, 1.0f, q_,
                            blas_int(call_.q_stride), k, blas_int(stride), 0.0f, scores_ + column, n_column_);
            }
        });
    }

    void mix(std::span<const SlotRange> segments) {
        float beta = 0.0f;
        for_each_piece(segments, false, [&](const float* v, std::int64_t stride, int column, int n) {
            if (n_query_ == 1) {
                cblas_sgemv(CblasRowMajor, CblasTrans, n, call_.head_dim, 1.0f, v, blas_int(stride),
                            scores_ + column, 1, beta, out_, 1);
            } else {
                cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, n_query_, call_.head_dim, n, 1.0f,
                            scores_ + column, n_column_, v, blas_int(stride), beta, out_,
                            blas_int(out_stride_));
            }
            beta = 1.0f;
        });
    }

    float* scores(int query) { return scores_ + std::int64_t{query} * n_column_; }
    void clear() {
        for (int i = 0; i < n_query_; ++i) std::fill_n(out_ + i * out_stride_, call_.head_dim, 0.0f);
    }

private:
    /// Calls `use(floats, stride, column, n)` on K or V of all segments: whole segments where the cache is
    /// f32 in place, else tiles that it hands out.
    template <class Use>
    void for_each_piece(std::span<const SlotRange> segments, bool keys, Use&& use) {
        int column = 0;
        for (const SlotRange& segment : segments) {
            if (call_.kv.source == nullptr) {
                const float* base = keys ? call_.kv.k : call_.kv.v;
                const int n = segment.end - segment.begin;
                use(base + kv_offset_ + segment.begin * call_.kv.slot_stride, call_.kv.slot_stride, column,
                    n);
                column += n;
                continue;
            }
            for (std::int32_t begin = segment.begin; begin < segment.end; begin += tile) {
                const std::int32_t end = std::min(begin + tile, segment.end);
                call_.kv.source->read(call_.kv.layer, b_, kv_head_, {begin, end}, keys ? tile_ : nullptr,
                                      keys ? nullptr : tile_);
                use(tile_, std::int64_t{call_.head_dim}, column, end - begin);
                column += end - begin;
            }
        }
    }

    const AttentionCall& call_;
    int b_;
    int kv_head_;
    int n_query_;
    int n_column_;
    std::int64_t out_stride_;
    std::int64_t kv_offset_ = 0;
    const float* q_ = nullptr;
    float* out_ = nullptr;
    float* scores_;  // [n_query, n_column]
    float* tile_;    // [tile, head_dim]
};

}  // namespace

std::int64_t attend_floats(int n_query, int n_slot, int head_dim) {
    return std::int64_t{std::min(n_query, query_block)} * n_slot + std::int64_t{tile} * head_dim;
}

std::int64_t attend(const AttentionCall& call, int b, int head, int first, float* floats,
                    AttendScratch& scratch) {
    const AttentionPlan& plan = *call.plan;
    const int n_query = std::min(query_block, plan.n_query(b) - first);
    const int n_column = join_ranges(plan, b, first, n_query, scratch.segments);
    Block block(call, b, head, first, n_query, n_column, floats);
    if (n_column == 0) {
        block.clear();
        return 0;
    }
    block.score(scratch.segments);
    for (int i = 0; i < n_query; ++i) {
        to_columns(plan.visible(b, first + i), scratch.segments, scratch.columns);
        softmax_columns(scratch.columns, block.scores(i), n_column, call.scale);
    }
    block.mix(scratch.segments);
    return std::int64_t{n_query} * n_column;
}

}  // namespace decodescope
