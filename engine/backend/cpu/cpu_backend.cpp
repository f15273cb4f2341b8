// SPDX-License-Identifier: GPL-3.0-or-later
#include <cblas.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <utility>

#include "engine/backend/backend.h"
#include "engine/backend/cpu/attend.h"
#include "engine/backend/cpu/instructions.h"
#include "engine/backend/cpu/packed_call.h"
#include "engine/backend/cpu/packed_models.h"
#include "engine/backend/cpu/vector_math.h"

namespace decodescope {

namespace {

// Below this many multiply-adds a second thread costs more than it brings.
constexpr std::int64_t min_parallel_work = 64 * 1024;
// OpenBLAS packs the whole weight matrix in a product of few rows; one pass per row is faster up to here.
constexpr int max_gemv_rows = 2;

void activate(float* x, std::int64_t n, Activation activation) {
    switch (activation) {
        case Activation::gelu_tanh: return vector_math::gelu_tanh(x, n);
        case Activation::silu: return vector_math::silu(x, n);
        case Activation::gelu_erf: return vector_math::gelu_erf(x, n);
        case Activation::relu:
            // Written so that a NaN stays a NaN.
            for (std::int64_t i = 0; i < n; ++i) x[i] = x[i] < 0.0f ? 0.0f : x[i];
            return;
    }
}

blasint blas_int(std::int64_t value) {
    return static_cast<blasint>(value);
}

class CpuBackend final : public Backend {
public:
    explicit CpuBackend(int threads)
        : pool_(std::max(1, threads)), scratch_(static_cast<std::size_t>(pool_.size())) {
        openblas_set_num_threads(1);
        // A wrong word was refused when the program started; here it means the best.
        (void)choose_instructions();
        // Room for what decoding asks for, so that it does not allocate.
        tasks_.reserve(256);
        for (AttendScratch& scratch : scratch_) scratch.segments.reserve(4 * attend_kernels::most_rows);
    }

    std::string description() const override {
        return fmt::format("{}; {} ({})", instructions_in_use(), openblas_version(), openblas_get_corename());
    }
    ThreadPool& pool() override { return pool_; }

    Result<std::shared_ptr<const Weights>> prepare(std::shared_ptr<const Weights> weights, WeightType type,
                                                   const std::shared_ptr<MemoryLedger>& ledger,
                                                   std::stop_token stop) override {
        return packed_.get(std::move(weights), type, ledger, pool_, std::move(stop));
    }

    std::int64_t product_floats(const Linear& w, std::int64_t rows, const Linear* gate) const override {
        if (!is_packed(w, gate)) return rows * (w.n_in + (gate != nullptr ? w.n_out : 0));
        return PackedCall::floats(rows, w.n_in, pool_.size());
    }

    void product(const ProductCall& call) override {
        if (is_packed(*call.w, call.gate)) {
            PackedCall(call, pool_.size(), bests_)
                .run([this](std::int64_t n, std::int64_t grain, std::int64_t work, auto&& body) {
                    if (work < min_parallel_work)
                        body(std::int64_t{0}, n, 0);
                    else if (grain > 0)
                        pool_.share(n, grain, body);
                    else
                        pool_.split(n, 1, body);
                });
        } else {
            reference_product(call);
        }
    }

    void linear(const float* x, int rows, const Linear& w, float* y, bool accumulate) override {
        const std::int64_t work = std::int64_t{rows} * w.n_in * w.n_out;
        split(w.n_out, 16, work, [&](std::int64_t begin, std::int64_t end, int) {
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
        split(rows, 1, std::int64_t{rows} * d * 8, [&](std::int64_t begin, std::int64_t end, int) {
            for (std::int64_t r = begin; r < end; ++r) {
                vector_math::layer_norm(x + r * d, d, norm.weight, norm.bias, eps, y + r * d);
            }
        });
    }

    void rms_norm(const float* x, int rows, int d, const Norm& norm, float eps, float* y) override {
        split(rows, 1, std::int64_t{rows} * d * 8, [&](std::int64_t begin, std::int64_t end, int) {
            for (std::int64_t r = begin; r < end; ++r) {
                vector_math::rms_norm(x + r * d, d, norm.weight, eps, y + r * d);
            }
        });
    }

    void rotate(const HeadRows& heads, const float* turns, RotaryPairs pairs) override {
        split(heads.rows, 1, std::int64_t{heads.rows} * heads.n_head * heads.head_dim * 8,
              [&](std::int64_t begin, std::int64_t end, int) { turn(heads, turns, pairs, begin, end); });
    }

    void activation(float* x, std::int64_t n, Activation activation) override {
        split(n, 256, n * 16, [&](std::int64_t begin, std::int64_t end, int) {
            activate(x + begin, end - begin, activation);
        });
    }

    void gate(float* x, std::int64_t n, Activation activation, float* y) override {
        split(n, 256, n * 16, [&](std::int64_t begin, std::int64_t end, int) {
            if (activation == Activation::silu)
                return vector_math::silu_multiply(x + begin, end - begin, y + begin);
            activate(x + begin, end - begin, activation);
            for (std::int64_t i = begin; i < end; ++i) y[i] *= x[i];
        });
    }

    std::int64_t scores_floats(const ModelConfig& config, std::int64_t, int) const override {
        return attend_floats(config.head_dim) * pool_.size();
    }

    Result<std::int64_t> attention_block(AttentionBlock& block) override {
        const ProductCall& projection = block.projection;
        const AttentionCall& call = block.attention;
        const bool fits = projection.w->packed != nullptr && PackedCall::prepares_apart(projection.rows) &&
                          call.cache->heads_lie_apart() && call.head_dim % panel_rows == 0 &&
                          call.n_kv_head % pool_.ask_active() == 0;
        if (!fits) return std::int64_t{-1};
        DS_TRY(call.cache->begin_layer(call.layer));
        block.attention.kv = call.cache->view(call.layer);
        const std::int64_t work = std::int64_t{projection.rows} * projection.w->n_in * projection.w->n_out;
        std::int64_t computed = 0;
        const auto serve = [&](std::int64_t first, std::int64_t last, int worker) {
            const std::int64_t cells =
                serve_heads(block, static_cast<int>(first), static_cast<int>(last), worker);
            if (first == 0) computed = cells;
        };
        split(call.n_kv_head, 1, work, serve);
        return computed;
    }

    std::int64_t attention(const AttentionCall& call) override {
        const AttentionPlan& plan = *call.plan;
        // Later blocks of queries see more keys, so tasks are handed out one by one, the last blocks first.
        tasks_.clear();
        const int queries = query_block(call.n_head, call.n_kv_head);
        const int most_blocks = (plan.max_query() + queries - 1) / queries;
        for (int block = most_blocks; block-- > 0;) {
            for (int b = 0; b < plan.batch(); ++b) {
                if (block * queries < plan.n_query(b)) tasks_.push_back({b, block * queries});
            }
        }
        const auto n_task = static_cast<std::int64_t>(tasks_.size()) * call.n_kv_head;
        const std::int64_t per_worker = attend_floats(call.head_dim);
        const std::int64_t work = plan.n_allowed() * call.n_head * call.head_dim * 2;
        std::atomic<std::int64_t> computed{0};
        const auto serve = [&](std::int64_t begin, std::int64_t end, int worker) {
            float* floats = call.scores + worker * per_worker;
            AttendScratch& scratch = scratch_[static_cast<std::size_t>(worker)];
            for (std::int64_t i = begin; i < end; ++i) {
                const Task& task = tasks_[static_cast<std::size_t>(i / call.n_kv_head)];
                const int kv_head = static_cast<int>(i % call.n_kv_head);
                const std::int64_t cells = attend(call, task.row, kv_head, task.first_query, floats, scratch);
                if (kv_head == 0) computed.fetch_add(cells, std::memory_order_relaxed);
            }
        };
        if (work < min_parallel_work) {
            serve(0, n_task, 0);
        } else {
            pool_.share(n_task, 1, serve);
        }
        return computed.load();
    }

private:
    /// Whether our kernels do it: all of its weights are packed.
    static bool is_packed(const Linear& w, const Linear* gate) {
        return w.packed != nullptr && (gate == nullptr || gate->packed != nullptr);
    }

    /// The attention block of kv heads [first, last) and the heads that read them. Returns the pairs computed
    /// for one of them.
    std::int64_t serve_heads(const AttentionBlock& block, int first, int last, int worker) {
        const AttentionCall& call = block.attention;
        const int group = call.n_head / call.n_kv_head;
        const int per_head = call.head_dim / panel_rows;
        const auto panels = [&](int begin, int end) {
            return PackedCall::PanelRange{begin * per_head, end * per_head};
        };
        const int keys = call.n_head;
        const int values = keys + call.n_kv_head;
        const std::array ranges{panels(first * group, last * group), panels(keys + first, keys + last),
                                panels(values + first, values + last)};
        PackedCall(block.projection, pool_.size(), bests_).run_panels(ranges, worker);
        if (block.turns != nullptr) {
            const int rows = block.projection.rows;
            for (const auto& [begin, end] :
                 {std::pair(first * group, last * group), std::pair(keys + first, keys + last)}) {
                turn({block.projection.y + std::int64_t{begin} * call.head_dim, call.q_stride, rows,
                      end - begin, call.head_dim},
                     block.turns, block.pairs, 0, rows);
            }
        }
        call.cache->store_heads(call.layer, block.stored, first, last);
        const AttentionPlan& plan = *call.plan;
        const int queries = query_block(call.n_head, call.n_kv_head);
        float* floats = call.scores + worker * attend_floats(call.head_dim);
        std::int64_t computed = 0;
        for (int b = 0; b < plan.batch(); ++b) {
            for (int query = 0; query < plan.n_query(b); query += queries) {
                for (int head = first; head < last; ++head) {
                    const std::int64_t cells =
                        attend(call, b, head, query, floats, scratch_[static_cast<std::size_t>(worker)]);
                    if (head == first) computed += cells;
                }
            }
        }
        return computed;
    }

    /// Turns the heads of rows [begin, end).
    static void turn(const HeadRows& heads, const float* turns, RotaryPairs pairs, std::int64_t begin,
                     std::int64_t end) {
        const std::int64_t d = heads.head_dim;
        const auto turn_head =
            pairs == RotaryPairs::halves ? vector_math::rotate_halves : vector_math::rotate_neighbours;
        for (std::int64_t r = begin; r < end; ++r) {
            const float* cosines = turns + r * d;
            for (int h = 0; h < heads.n_head; ++h)
                turn_head(heads.x + r * heads.stride + h * d, d / 2, cosines, cosines + d / 2);
        }
    }

    /// The steps of a product one after the other, from the weights where they lie.
    void reference_product(const ProductCall& call) {
        const Linear& w = *call.w;
        const float* x = call.x;
        if (call.norm != nullptr) {
            x = call.scratch;
            if (call.norm_kind == NormKind::rms_norm)
                rms_norm(call.x, call.rows, w.n_in, *call.norm, call.eps, call.scratch);
            else
                layer_norm(call.x, call.rows, w.n_in, *call.norm, call.eps, call.scratch);
        }
        linear(x, call.rows, w, call.y, call.accumulate);
        const std::int64_t n = std::int64_t{call.rows} * w.n_out;
        if (call.gate != nullptr) {
            float* gates = call.scratch + std::int64_t{call.rows} * w.n_in;
            linear(x, call.rows, *call.gate, gates, false);
            gate(gates, n, *call.activation, call.y);
        } else if (call.activation) {
            activation(call.y, n, *call.activation);
        }
    }

    /// Calls `body(begin, end, worker)` on pieces of [0, n), on all workers when `work` is worth it.
    template <class Body>
    void split(std::int64_t n, std::int64_t grain, std::int64_t work, Body&& body) {
        if (work < min_parallel_work)
            body(std::int64_t{0}, n, 0);
        else
            pool_.split(n, grain, body);
    }

    static std::string openblas_version() {
        // "OpenBLAS 0.3.21 NO_AFFINITY ...": the first two words name it.
        const std::string config = openblas_get_config();
        return config.substr(0, config.find(' ', config.find(' ') + 1));
    }

    struct Task {
        int row = 0;
        int first_query = 0;
    };

    ThreadPool pool_;
    PackedModels packed_;
    std::vector<RowBest> bests_;          // of the product that runs, kept for its memory
    std::vector<Task> tasks_;             // of the attention call that runs, kept for its memory
    std::vector<AttendScratch> scratch_;  // [workers]
};

}  // namespace

std::unique_ptr<Backend> make_cpu_backend(int threads) {
    return std::make_unique<CpuBackend>(threads);
}

}  // namespace decodescope
