// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "engine/core/memory.h"
#include "engine/model/model_config.h"
#include "engine/model/weight_type.h"

namespace decodescope {

class MappedFile;
class PackedMatrix;

/// y = x W^T + b. Weights are kept output-major so that one row is one output's dot product.
struct Linear {
    const float* weight = nullptr;  // [n_out, n_in]
    const float* bias = nullptr;    // [n_out], or null
    int n_in = 0;
    int n_out = 0;
    const PackedMatrix* packed = nullptr;  // the same weights as a backend prepared them, or null
    WeightType type = WeightType::f32;     // that `weight` points to; on a GPU also f16 or bf16

    /// Bytes of the weights, and of weights and bias, that a product reads.
    std::uint64_t weight_bytes() const;
    std::uint64_t bytes() const;
    /// The product with other weights of the same shape, [n_out, n_in], that nobody has prepared.
    Linear with_weight(const float* other) const { return {other, bias, n_in, n_out, nullptr}; }
};

/// Scale and shift of a LayerNorm, scale alone of an RMSNorm.
struct Norm {
    const float* weight = nullptr;  // [d_model]
    const float* bias = nullptr;    // [d_model], or null
};

/// One transformer block; the config says which parts it has.
struct LayerWeights {
    Norm attn_norm;
    Linear attn_qkv;  // n_in d_model, n_out (n_head + 2 n_kv_head) * head_dim: q, then k, then v, heads
                      // contiguous in each
    Linear attn_out;  // n_in n_head * head_dim, n_out d_model
    Norm ff_norm;
    Linear ff_gate;  // n_in d_model, n_out d_ff; no weight without ModelConfig::gated_ff
    Linear ff_up;    // n_in d_model, n_out d_ff
    Linear ff_down;  // n_in d_ff, n_out d_model
};

/// Calls `body` with every product of a layer (LayerWeights, const or not), those it does not have included.
template <class Layer, class Body>
void for_each_product(Layer& layer, Body&& body) {
    for (auto* linear : {&layer.attn_qkv, &layer.attn_out, &layer.ff_gate, &layer.ff_up, &layer.ff_down})
        body(*linear);
}

/// A model's weights in f32, immutable after loading and shared by every lane (`std::shared_ptr<const
/// Weights>`). All pointers lie in `storage` or in `files`.
struct Weights {
    ModelConfig config;
    const float* token_embedding = nullptr;     // [vocab, d_model]
    const float* position_embedding = nullptr;  // [n_positions, d_model]; null with rotary positions
    std::vector<double> rotary_frequencies;     // [head_dim / 2]; empty with learned positions
    std::vector<LayerWeights> layers;           // [n_layer]
    Norm final_norm;
    Linear head;     // n_in d_model, n_out vocab, no bias
    Buffer storage;  // one block, Owner::weights: the tensors that are not used where they lie in a file
    std::vector<std::shared_ptr<const MappedFile>> files;  ///< model files that tensors are used in
    MappedCount mapped;                                    ///< bytes of these tensors, Owner::weights
    std::string source;                                    ///< path or "preset:NAME,seed=N"
    std::string hash;  ///< "sha256:..." of the weight file, or of the preset's definition;
                       ///< empty for a large file, see `weights_hash`
    std::function<std::string()> compute_hash;  ///< set when `hash` is empty
    std::shared_ptr<const Weights> whole;       ///< set when this is a part of it: keeps the tensors alive
    WeightType type = WeightType::f32;          ///< of the prepared matrices
    std::shared_ptr<const void> prepared;       ///< what `Linear::packed` points into, see Backend::prepare
    std::uint64_t prepared_bytes = 0;           ///< of it, counted as Owner::weights beside `bytes`
    std::vector<std::string> notes;  ///< what the loader wants the user to know (skipped buffers, ties)

    /// Bytes of weights one decode step must read: every matrix, norm and bias once, the embedding row apart.
    std::uint64_t bytes_read_per_step() const;
    /// Bytes of all tensors, in `storage` and in `files`.
    std::uint64_t bytes() const { return storage.size_bytes() + mapped.size_bytes(); }
    /// Whether `files` are still what they were: look before and after reading tensors. One system call per
    /// file; fails with `io` and the file's name.
    Result<void> check_files() const;
};

/// What names the weights in a record: `hash`, or for a file that was too large to hash while loading the
/// same, computed when it is first asked for (about 3 ms per MB). Empty when the file cannot be read any
/// more.
std::string weights_hash(const Weights& weights);
/// For `Weights::compute_hash`: what `compute` answers, computed when it is first asked for and remembered
/// unless it is empty. Copies remember together; any thread may ask.
std::function<std::string()> computed_once(std::function<std::string()> compute);

/// The same tensors under another object, which may then point elsewhere; keeps `weights` alive.
std::shared_ptr<Weights> view_of(std::shared_ptr<const Weights> weights);

/// The model that only has the first `n_layer` blocks of `whole`, its embeddings, final norm and head; no
/// tensor is copied. What drafts cheaply for the whole model.
std::shared_ptr<const Weights> first_layers(std::shared_ptr<const Weights> whole, int n_layer);

/// Tensors that lie in mapped files, as the engine wants them: where each begins, by the name of its slot.
struct TensorsInFiles {
    std::vector<std::shared_ptr<const MappedFile>> files;
    std::map<std::string, const float*, std::less<>> tensors;
};

/// Allocates one block for `config` and points every tensor into it, zero-filled, except those that lie in
/// files; a loader fills `tensor_slots`.
Result<std::shared_ptr<Weights>> allocate_weights(const ModelConfig& config,
                                                  std::shared_ptr<MemoryLedger> ledger,
                                                  TensorsInFiles in_files = {});

/// What a tensor is for.
enum class TensorRole {
    token_embedding,
    position_embedding,
    norm_weight,
    matrix,
    residual_matrix,  ///< a matrix whose product is added to the residual stream
    bias,
    head,
};

/// A named tensor of a model under construction, in the engine's layout.
struct TensorSlot {
    std::string name;  ///< Hugging Face name without prefix, e.g. "h.0.attn.c_attn.weight"
    TensorRole role = TensorRole::matrix;
    float* data = nullptr;  ///< null when the tensor lies in a file
    std::int64_t rows = 0;  ///< n_out for matrices ([rows, columns], output-major), 1 for vectors
    std::int64_t columns = 0;
    bool conv1d = false;  ///< the file stores this matrix as [n_in, n_out]: transpose when copying
    bool part = false;    ///< lies inside a larger tensor (`attn_qkv`), and nowhere else
};

/// Every tensor a loader must fill, in a fixed order. Where the files keep queries, keys and values apart,
/// each is a slot inside `attn_qkv`. The tied head is not listed (it is the token
/// embedding).
std::vector<TensorSlot> tensor_slots(Weights& weights);
/// The same for weights that are not allocated yet: names and sizes, `data` null. `config` must be valid.
std::vector<TensorSlot> planned_slots(const ModelConfig& config);

}  // namespace decodescope
