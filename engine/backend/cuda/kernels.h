// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "engine/attention/attention_plan.h"
#include "engine/backend/token_draw.h"
#include "engine/model/model_config.h"

/// The kernels of the CUDA backend as the host calls them: every function enqueues its launches on `stream`
/// and returns; a launch that fails is found by `cudaGetLastError`. All pointers but those of arguments
/// themselves point into device memory; tensors are row-major f32 unless a type is given. Sizes are counted
/// in 64 bits where they multiply. Launches of a call depend on its shape alone (`n_token`, `most_slots`),
/// not on what the arrays hold, so that a captured graph stays right when only the arrays' contents change.
namespace decodescope::cuda {

/// What an element is stored as.
enum class Stored { f32, f16, bf16, int8 };

/// What one forward call is about. Refilled before every call.
struct CallArrays {
    const std::int32_t* tokens = nullptr;     // [n_token]
    const std::int32_t* positions = nullptr;  // [n_token], pads 0
    const std::int32_t* row_of = nullptr;     // [n_token], the row of the batch it belongs to
    const std::int32_t* row_begin =
        nullptr;                          // [batch + 1], the first token of each row; as CallTokens::begin
    const std::int32_t* slots = nullptr;  // [n_token], where its entry is stored, -1 = nowhere; null without
    const std::int32_t* first_range = nullptr;  // [n_token + 1]: where the ranges of each query begin
    const SlotRange* ranges = nullptr;          // slots that each query may read, ascending and disjoint
    const std::int32_t* row_base = nullptr;     // [batch]: added to every slot of a row; null = 0
    const std::int32_t* blocks = nullptr;       // [batch, block_stride]: block tables of a paged cache
    int block_stride = 0;
    int n_token = 0;
    int batch = 0;
    int most_slots = 1;  ///< no slot of any row is this or more, in this call or a replay of it
};

/// Where the keys and values of one layer lie. Element (row b, kv head h, slot s, i) lies, counted in
/// elements, at
///   b * row_stride + h * head_stride + (row_base[b] + s) * slot_stride + i                  without blocks,
///   blocks[b, s / block] * row_stride + h * head_stride + (s % block) * slot_stride + i     with them.
/// Entries are read many elements at once: k and v lie at multiples of 16 bytes, the strides are multiples of
/// 8 elements; with int8 multiples of head_dim.
/// int8: an entry's scale lies at the place of its element 0, divided by head_dim; w = scale * code.
struct Entries {
    Stored type = Stored::f32;
    void* k = nullptr;
    void* v = nullptr;
    float* k_scales = nullptr;
    float* v_scales = nullptr;
    std::int64_t row_stride = 0;
    std::int64_t head_stride = 0;
    std::int64_t slot_stride = 0;
    int block = 0;  ///< tokens of a block; 0 = no blocks
};

/// out[t] = token_embedding[tokens[t]], plus position_embedding[positions[t]] unless null. out [n_token, d].
void embed(cudaStream_t stream, const CallArrays& call, const float* token_embedding,
           const float* position_embedding, int d, float* out);

/// Cosines and sines of every token's angles as `rotary_turns` makes them, in double: turns [n_token,
/// 2 * half], frequencies [half].
void rotary_turns(cudaStream_t stream, const CallArrays& call, const double* frequencies, int half,
                  double amplitude, float* turns);

/// Turns every pair of every head in place, see Backend::rotate. x [rows, n_head, head_dim] with `stride`
/// floats between rows; both multiples of 8, x at a multiple of 16 bytes.
void rotate(cudaStream_t stream, float* x, std::int64_t stride, int rows, int n_head, int head_dim,
            const float* turns, RotaryPairs pairs);

/// y = norm(x) for each row, written as `type` (f32, f16 or bf16). x [rows, d]; bias may be null. y may be x
/// when both are f32.
void normalise(cudaStream_t stream, NormKind kind, const float* x, int rows, int d, const float* weight,
               const float* bias, float eps, void* y, Stored type);

/// y[i] = x[i] as `type` (f16 or bf16), rounded to nearest even.
void convert(cudaStream_t stream, const float* x, std::int64_t n, void* y, Stored type);

/// What comes after a product without bias: y = y + bias, then the activation if there is one. y [rows, n];
/// bias may be null.
void finish(cudaStream_t stream, float* y, int rows, int n, const float* bias, const Activation* activation);
/// y = activation(g + gate_bias) * (y + bias). g, y [rows, n]; biases may be null.
void finish_gated(cudaStream_t stream, const float* g, const float* gate_bias, Activation activation,
                  float* y, int rows, int n, const float* bias);
/// x[i] = activation(x[i]).
void activate(cudaStream_t stream, float* x, std::int64_t n, Activation activation);

/// Stores the keys and values of a call's tokens where `call.slots` says. k, v [n_token, n_kv_head, head_dim]
/// with `token_stride` floats between tokens (a multiple of 4; k and v at multiples of 16 bytes). f16 and
/// bf16 round to nearest even; int8 as `encode_int8` in engine/cache/entry_codec.h.
void store(cudaStream_t stream, const CallArrays& call, const float* k, const float* v,
           std::int64_t token_stride, int n_kv_head, int head_dim, const Entries& entries);

/// Every query of every head over the slots it may read. A query without any gets zeros.
struct Attention {
    const float* q = nullptr;  // [n_token, n_head, head_dim], `q_stride` floats between tokens
    std::int64_t q_stride = 0;
    Entries entries;
    float* out = nullptr;      // [n_token, n_head, head_dim], contiguous
    float* scratch = nullptr;  // `attention_floats` floats
    int n_head = 0;
    int n_kv_head = 0;  ///< query head h reads kv head h / (n_head / n_kv_head)
    int head_dim = 0;   ///< 8 to 256, a multiple of 8
    float scale = 1.0f;
};
/// Few queries (decoding): every block takes one query, one kv head, the query heads that share it and a part
/// of the slots that the query sees, reads them once, and what the parts made is joined. Many queries
/// (prefill): blocks of queries of one row walk over tiles of keys and values that they share, those that
/// none of them sees left out. q and out lie at multiples of 16 bytes, q_stride is a multiple of 4. A score
/// or value that is not finite makes the outputs of those that see it NaN (or infinite), and no others.
void attention(cudaStream_t stream, const CallArrays& call, const Attention& attention);
/// Scratch of calls of up to `n_token` tokens over up to `most_slots` slots.
std::int64_t attention_floats(int n_token, int most_slots, int n_head, int n_kv_head, int head_dim);
/// Pairs that `attention` computes per head for this plan, masked ones included: queries of a block x slots
/// that any of them sees. Allocates nothing.
std::int64_t attention_cells(const AttentionPlan& plan, int n_head, int n_kv_head, int head_dim);

/// out[i] = x[rows[i]]. x [., d], rows [n], out [n, d].
void pick_rows(cudaStream_t stream, const float* x, const std::int32_t* rows, int n, int d, float* out);

/// largest[r] = where row r of x is largest, the first of equal ones; -1 when a value is not finite.
/// x [rows, n].
void find_largest(cudaStream_t stream, const float* x, int rows, int n, std::int32_t* largest);

/// drawn[r] = what draws[r] draws from row r of the logits [rows, n], -1 where `largest`, as `find_largest`
/// has it, is -1. `weights`: scratch [rows, n]. Weights are rounded to integers, so sums of them do not
/// depend on an order. They are off by less than n^2 / 2^62 of the sum, 2^-26 for 2^18 tokens: where a filter
/// or the draw falls that near the border between two tokens, floating point may fall to the other side.
void draw_tokens(cudaStream_t stream, const float* logits, int rows, int n, const std::int32_t* largest,
                 const TokenDraw* draws, std::uint64_t* weights, std::int32_t* drawn);

}  // namespace decodescope::cuda
