// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>

#include "engine/attention/attention_plan.h"
#include "engine/backend/token_draw.h"
#include "engine/cache/kv_cache.h"
#include "engine/core/result.h"
#include "engine/core/thread_pool.h"
#include "engine/model/weights.h"

namespace decodescope {

class Workspace;

/// Which key-value head query head h reads: h / (n_head / n_kv_head), the rule; or h % n_kv_head, what code
/// that repeats heads in the wrong order does.
enum class HeadOrder { grouped, tiled };

/// One attention call: every query of every row and head over the slots its plan lets it see.
struct AttentionCall {
    const AttentionPlan* plan = nullptr;
    const float* q = nullptr;  // [n_query of all rows, n_head, head_dim], `q_stride` floats between tokens
    std::int64_t q_stride = 0;
    KeyValueView kv;           // [batch, n_kv_head, n_slot, head_dim]
    KvCache* cache = nullptr;  // what `kv` is a view of; null without one
    int layer = 0;             // of the cache
    float* out = nullptr;      // [n_query of all rows, n_head, head_dim], contiguous
    float* scores = nullptr;   // scratch, `scores_floats(...)` floats
    int n_head = 0;
    int n_kv_head = 0;
    int head_dim = 0;
    float scale = 1.0f;  // applied to q . k before the softmax
    HeadOrder head_order = HeadOrder::grouped;
};

/// Heads of several tokens: [rows, n_head, head_dim] with `stride` floats between tokens.
struct HeadRows {
    float* x = nullptr;
    std::int64_t stride = 0;
    int rows = 0;
    int n_head = 0;
    int head_dim = 0;  // even
};

/// A product with weights, with what comes before and after it:
/// y = f(n(x) W^T + b), y = f(n(x) G^T + c) * (n(x) W^T + b) with a gate, or y += ... with `accumulate`,
/// where n is the norm and f the activation, if there are any.
struct ProductCall {
    const float* x = nullptr;  // [rows, n_in]
    int rows = 0;
    const Linear* w = nullptr;
    float* y = nullptr;  // [rows, n_out]
    bool accumulate = false;
    const Norm* norm = nullptr;  ///< x is normalised first
    NormKind norm_kind = NormKind::layer_norm;
    float eps = 0;
    std::optional<Activation> activation{};
    const Linear* gate = nullptr;     ///< same shape as w; not with `accumulate`
    float* scratch = nullptr;         ///< `product_floats` floats, on a 64-byte border
    std::int32_t* largest = nullptr;  ///< [rows] or null: where each row of y is largest, the first of equal
                                      ///< ones; -1 when a value is not finite or nobody has looked
};

/// From the residual stream to the attention's output: projection of queries, keys and values, their
/// rotation, storing, and attention.
struct AttentionBlock {
    ProductCall projection;        // of attn_qkv; y [rows, (n_head + 2 n_kv_head) * head_dim]
    const float* turns = nullptr;  // as in `rotate`; null without rotary positions
    RotaryPairs pairs = RotaryPairs::halves;
    KeyValueBlock stored;     // keys and values in the projection's y
    AttentionCall attention;  // with a cache, without `kv`
};

/// What a forward call is about, as a backend is told before it.
struct ForwardCall {
    const Weights* weights = nullptr;
    const CallTokens* tokens = nullptr;
    std::span<const std::int32_t> positions;  ///< [n_token], those that embeddings and turns take; pads may
                                              ///< be negative
    const AttentionPlan* plan = nullptr;
    KvCache* cache = nullptr;                  ///< with the call's append open; null without one
    std::span<const std::int32_t> logit_rows;  ///< tokens whose logits are wanted
    std::span<const TokenDraw> draws;          ///< [logit_rows] or empty: what is to be drawn from them
    const Workspace* workspace = nullptr;      ///< whose temporaries the call uses

    /// The most slots that a row of it can have, in this call or a later one over the same cache, so that
    /// what is prepared for the call once stays right.
    int most_slots() const;
};

/// The operations a forward pass is made of. One thread calls it at a time; it spreads work over its own
/// pool. All values are row-major f32; weights are what `prepare` made of them, or f32 where they lie.
class Backend {
public:
    virtual ~Backend() = default;

    /// The memory that all tensors it is given lie in; null = the processor's. A lane's buffers come from a
    /// ledger for it.
    virtual std::shared_ptr<DeviceMemory> memory() { return nullptr; }

    /// A forward call begins: what follows up to `end_call` belongs to it. What `call` points to stays as it
    /// is until then.
    virtual Result<void> begin_call(const ForwardCall& /*call*/) { return {}; }
    /// The call is over, and everything that was asked for is done: what failed meanwhile shows here at the
    /// latest.
    virtual Result<void> end_call() { return {}; }
    /// How long the device worked on the last call that ended, by its own clock; none where the processor
    /// computes, or the call failed.
    virtual std::optional<double> device_seconds() const { return std::nullopt; }
    /// What was computed, where the processor can read it: [n], valid until the next call; null if that
    /// failed, which `end_call` then tells.
    virtual const float* read(const float* values, std::int64_t /*n*/) { return values; }
    /// out = token embeddings, plus those of the positions where they are learned, of the tokens of the call.
    /// [n_token, d_model]. Pads take position 0, so that they stay finite.
    virtual void embed(const ForwardCall& call, float* out);
    /// Cosines and sines of `positions` of the call's tokens, [n_token, head_dim], as in `rotate`.
    virtual void turns(const ForwardCall& call, std::span<const std::int32_t> positions, float* out);
    /// Stores a layer of the open append.
    virtual Result<void> append(KvCache& cache, int layer, const KeyValueBlock& block) {
        return cache.append(layer, block);
    }
    /// out[i] = row logit_rows[i] of x, [n_token, d] -> [logit_rows, d].
    virtual void pick_rows(const ForwardCall& call, const float* x, std::int64_t d, float* out);
    /// drawn[i] = what call.draws[i] draws from row i of the logits, [logit_rows, vocab], that the call's
    /// last product has made and found the largest of; -1 where they are not all finite. It is there when the
    /// call has ended. Not asked of a backend whose `draw_floats` is 0.
    virtual void draw(const ForwardCall& /*call*/, const float* /*logits*/, float* /*scratch*/,
                      std::int32_t* /*drawn*/) {}
    /// Scratch floats that `draw` needs for so many rows; 0 = tokens are drawn by whoever reads the logits.
    virtual std::int64_t draw_floats(std::int64_t /*rows*/, int /*vocab*/) const { return 0; }

    /// What runs, for the record, e.g. "AVX-512 (VNNI, BF16); OpenBLAS 0.3.21 (SkylakeX)".
    virtual std::string description() const = 0;
    virtual ThreadPool& pool() = 0;
    /// The same model with its matrices in the form and type that this backend computes fastest with, made of
    /// the f32 weights and counted as Owner::weights; `weights` stays alive beside it. What is asked for
    /// again while somebody still holds it is shared. Weights that were not prepared are computed with as f32
    /// matrices where they lie, through the reference library. Fails with `out_of_memory`, `cancelled`, or
    /// `unsupported` for a type that the model's widths do not fit (groups of 32).
    virtual Result<std::shared_ptr<const Weights>> prepare(std::shared_ptr<const Weights> weights,
                                                           WeightType type,
                                                           const std::shared_ptr<MemoryLedger>& ledger,
                                                           std::stop_token stop = {}) = 0;

    /// One product, through our kernels when all its weights were prepared, else through the reference
    /// library.
    virtual void product(const ProductCall& call) = 0;
    /// Scratch floats that products of up to `rows` rows with `w`, and with `gate` unless it is null, need.
    virtual std::int64_t product_floats(const Linear& w, std::int64_t rows, const Linear* gate) const = 0;
    /// y = x W^T + b, or y += x W^T + b with `accumulate`, from the f32 weights where they lie. x [rows,
    /// n_in], y [rows, n_out].
    virtual void linear(const float* x, int rows, const Linear& w, float* y, bool accumulate) = 0;
    /// y = (x - mean) / sqrt(variance + eps) * weight + bias for each row. x, y [rows, d]; x may be y.
    virtual void layer_norm(const float* x, int rows, int d, const Norm& norm, float eps, float* y) = 0;
    /// y = x / sqrt(mean of squares + eps) * weight for each row. x, y [rows, d]; x may be y.
    virtual void rms_norm(const float* x, int rows, int d, const Norm& norm, float eps, float* y) = 0;
    /// Turns every pair of every head in place. `turns` [rows, head_dim]: the cosines of a token's pairs,
    /// then their sines; pair (a, b) becomes (a cos - b sin, b cos + a sin).
    virtual void rotate(const HeadRows& heads, const float* turns, RotaryPairs pairs) = 0;
    /// Applies the activation in place to `n` values.
    virtual void activation(float* x, std::int64_t n, Activation activation) = 0;
    /// y[i] = activation(x[i]) * y[i] for `n` values; x is scratch afterwards.
    virtual void gate(float* x, std::int64_t n, Activation activation, float* y) = 0;
    /// Returns the query-key pairs computed per head, masked ones included (a block of queries shares one
    /// product).
    virtual std::int64_t attention(const AttentionCall& call) = 0;
    /// A whole attention block at once, every worker with kv heads of its own from the projection to the
    /// attention, so that no worker waits in between: bit for bit what the steps one by one make. Returns the
    /// pairs as `attention` does; -1 when the call is not one of those it is made for (few tokens, prepared
    /// weights, a cache whose heads lie apart, heads that can be shared out evenly): nothing was done then.
    virtual Result<std::int64_t> attention_block(AttentionBlock&) { return std::int64_t{-1}; }
    /// Scratch floats that `attention` and `attention_block` need for calls of up to `rows` tokens over up to
    /// `n_slot` slots per row.
    virtual std::int64_t scores_floats(const ModelConfig& config, std::int64_t rows, int n_slot) const = 0;
};

/// CPU backend: our kernels for prepared weights, OpenBLAS (one BLAS thread, the rows of W spread over our
/// pool) for the others; vector instructions chosen at run time (`choose_instructions`). Sets OpenBLAS to one
/// thread for the process.
std::unique_ptr<Backend> make_cpu_backend(int threads);

}  // namespace decodescope
