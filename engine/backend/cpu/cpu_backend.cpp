// SPDX-License-Identifier: GPL-3.0-or-later
#include <cblas.h>
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>

#include "engine/backend/backend.h"
#include "engine/backend/cpu/vector_math.h"

namespace decodescope {

namespace {

// Below this many multiply-adds a second thread costs more than it brings.
constexpr std::int64_t min_parallel_work = 64 * 1024;
// OpenBLAS packs the whole weight matrix in a product of few rows; one pass per row is faster up to here.
constexpr int max_gemv_rows = 2;
// Queries that share one score product; more would compute more cells that causality then throws away.
constexpr int query_block = 32;

blasint blas_int(std::int64_t value) {
    return static_cast<blasint>(value);
}

class CpuBackend final : public Backend {
public:
    explicit CpuBackend(int threads) : pool_(std::max(1, threads)) { openblas_set_num_threads(1); }

    std::string description() const override {
        return fmt::format("{} ({}), SIMD {}", openblas_version(), openblas_get_corename(),
                           vector_math::target_name());
    }
    ThreadPool& pool() override { return pool_; }

    void linear(const float* x, int rows, const Linear& w, float* y, bool accumulate) override {
        const std::int64_t work = std::int64_t{rows} * w.n_in * w.n_out;
        split(w.n_out, 16, work, [&](std::int64_t begin, std::int64_t end) {
            const std::int64_t n = end - begin;
            for (int r = 0; r < rows; ++r) {
                float* out = y + std::int64_t{r} * w.n_out + begin;
                if (w.bias == nullptr) {
                    if (!accumulate) std::fill_n(out, n, 0.0f);
                } else if (accumulate) {
                    for (std::int64_t i = 0; i < n; ++i) out[i] += w.bias[begin + i];
                } else {
                    std::copy_n(w.bias + begin, n, out);
                }
            }
            const float* weight = w.weight + begin * w.n_in;
            if (rows <= max_gemv_rows) {
                for (int r = 0; r < rows; ++r) {
                    cblas_sgemv(CblasRowMajor, CblasNoTrans, blas_int(n), w.n_in, 1.0f, weight, w.n_in,
                                x + std::int64_t{r} * w.n_in, 1, 1.0f, y + std::int64_t{r} * w.n_out + begin,
                                1);
                }
            } else {
                cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, rows, blas_int(n), w.n_in, 1.0f, x,
                            w.n_in, weight, w.n_in, 1.0f, y + begin, w.n_out);
            }
        });
    }

    void layer_norm(const float* x, int rows, int d, const Norm& norm, float eps, float* y) override {
        split(rows, 1, std::int64_t{rows} * d * 8, [&](std::int64_t begin, std::int64_t end) {
            for (std::int64_t r = begin; r < end; ++r) {
                vector_math::layer_norm(x + r * d, d, norm.weight, norm.bias, eps, y + r * d);
            }
        });
    }

    void activation(float* x, std::int64_t n, Activation activation) override {
        split(n, 256, n * 16, [&](std::int64_t begin, std::int64_t end) {
            switch (activation) {
                case Activation::gelu_tanh: vector_math::gelu_tanh(x + begin, end - begin); break;
                case Activation::gelu_erf:
                    for (std::int64_t i = begin; i < end; ++i) {
                        x[i] = 0.5f * x[i] * (1.0f + std::erf(x[i] * 0.70710678118654752f));
                    }
                    break;
                case Activation::relu:
                    // Written so that a NaN stays a NaN.
                    for (std::int64_t i = begin; i < end; ++i) x[i] = x[i] < 0.0f ? 0.0f : x[i];
                    break;
            }
        });
    }

    std::int64_t scores_floats(int n_query, int n_slot) const override {
        return std::int64_t{std::min(n_query, query_block)} * n_slot * pool_.size();
    }

    std::int64_t attention(const AttentionCall& call) override {
        const AttentionPlan& plan = *call.plan;
        const std::int64_t n_block = (plan.n_query() + query_block - 1) / query_block;
        const std::int64_t n_task = std::int64_t{plan.batch()} * call.n_head * n_block;
        const std::int64_t per_worker = scores_floats(plan.n_query(), plan.n_slot()) / pool_.size();
        const std::int64_t work = plan.n_allowed() * call.n_head * call.head_dim * 2;
        std::atomic<std::int64_t> next{0};
        std::atomic<std::int64_t> computed{0};
        // Later blocks of queries see more keys, so tasks are handed out one by one, the largest first.
        const auto serve = [&](int worker) {
            float* scores = call.scores + worker * per_worker;
            for (std::int64_t task = next.fetch_add(1); task < n_task; task = next.fetch_add(1)) {
                const std::int64_t block = n_block - 1 - task / (std::int64_t{plan.batch()} * call.n_head);
                const std::int64_t b = task / call.n_head % plan.batch();
                const std::int64_t head = task % call.n_head;
                const std::int64_t cells = attend(call, static_cast<int>(b), static_cast<int>(head),
                                                  static_cast<int>(block) * query_block, scores);
                if (head == 0) computed.fetch_add(cells, std::memory_order_relaxed);
            }
        };
        if (work < min_parallel_work) {
            serve(0);
        } else {
            pool_.run(serve);
        }
        return computed.load();
    }

private:
    /// Calls `body(begin, end)` on pieces of [0, n), on all workers when `work` is worth it.
    template <class Body>
    void split(std::int64_t n, std::int64_t grain, std::int64_t work, Body&& body) {
        if (work < min_parallel_work) {
            body(std::int64_t{0}, n);
        } else {
            pool_.split(n, grain, [&](std::int64_t begin, std::int64_t end, int) { body(begin, end); });
        }
    }

    /// Attention of up to `query_block` queries from `first` on, one row and head. Returns the cells
    /// computed.
    static std::int64_t attend(const AttentionCall& call, int b, int head, int first, float* scores) {
        const AttentionPlan& plan = *call.plan;
        const int n_query = std::min(query_block, plan.n_query() - first);
        const int kv_head = head / (call.n_head / call.n_kv_head);
        const std::int64_t kv_offset = b * call.kv.batch_stride + kv_head * call.kv.head_stride;
        const std::int64_t token = std::int64_t{b} * plan.n_query() + first;
        const std::int64_t out_stride = std::int64_t{call.n_head} * call.head_dim;
        const float* q = call.q + token * call.q_stride + std::int64_t{head} * call.head_dim;
        float* out = call.out + token * out_stride + std::int64_t{head} * call.head_dim;

        // One product over the slots that any query of the block sees.
        std::int32_t slot_begin = plan.n_slot();
        std::int32_t slot_end = 0;
        for (int i = 0; i < n_query; ++i) {
            const auto ranges = plan.visible(b, first + i);
            if (ranges.empty()) continue;
            slot_begin = std::min(slot_begin, ranges.front().begin);
            slot_end = std::max(slot_end, ranges.back().end);
        }
        const int n = std::max(0, slot_end - slot_begin);
        if (n == 0) {
            for (int i = 0; i < n_query; ++i) std::fill_n(out + i * out_stride, call.head_dim, 0.0f);
            return 0;
        }
        const float* k = call.kv.k + kv_offset + slot_begin * call.kv.slot_stride;
        const float* v = call.kv.v + kv_offset + slot_begin * call.kv.slot_stride;
        const blasint ldkv = blas_int(call.kv.slot_stride);
        if (n_query == 1) {
            cblas_sgemv(CblasRowMajor, CblasNoTrans, n, call.head_dim, 1.0f, k, ldkv, q, 1, 0.0f, scores, 1);
        } else {
            cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, n_query, n, call.head_dim, 1.0f, q,
                        blas_int(call.q_stride), k, ldkv, 0.0f, scores, n);
        }
        for (int i = 0; i < n_query; ++i) {
            softmax_visible(plan.visible(b, first + i), slot_begin, scores + std::int64_t{i} * n, n,
                            call.scale);
        }
        if (n_query == 1) {
            cblas_sgemv(CblasRowMajor, CblasTrans, n, call.head_dim, 1.0f, v, ldkv, scores, 1, 0.0f, out, 1);
        } else {
            cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, n_query, call.head_dim, n, 1.0f, scores, n,
                        v, ldkv, 0.0f, out, blas_int(out_stride));
        }
        return std::int64_t{n_query} * n;
    }

    /// Softmax over the visible slots of one query; the others get weight 0. Visible scores are moved
    /// together first, so that the sum runs over them alone, and spread out again.
    static void softmax_visible(std::span<const SlotRange> ranges, std::int32_t slot_begin, float* scores,
                                int n, float scale) {
        if (ranges.empty()) {
            std::fill_n(scores, n, 0.0f);
            return;
        }
        std::int64_t packed = 0;
        for (const SlotRange& range : ranges) {
            const float* from = scores + (range.begin - slot_begin);
            if (from != scores + packed) std::copy_n(from, range.end - range.begin, scores + packed);
            packed += range.end - range.begin;
        }
        vector_math::softmax(scores, packed, scale);
        std::int64_t free_end = n;
        for (auto range = ranges.rbegin(); range != ranges.rend(); ++range) {
            const std::int64_t length = range->end - range->begin;
            packed -= length;
            const std::int64_t to = range->begin - slot_begin;
            if (packed != to)
                std::copy_backward(scores + packed, scores + packed + length, scores + to + length);
            std::fill(scores + to + length, scores + free_end, 0.0f);
            free_end = to;
        }
        std::fill(scores, scores + free_end, 0.0f);
    }

    static std::string openblas_version() {
        // "OpenBLAS 0.3.21 NO_AFFINITY ...": the first two words name it.
        const std::string config = openblas_get_config();
        return config.substr(0, config.find(' ', config.find(' ') + 1));
    }

    ThreadPool pool_;
};

}  // namespace

std::unique_ptr<Backend> make_cpu_backend(int threads) {
    return std::make_unique<CpuBackend>(threads);
}

}  // namespace decodescope
