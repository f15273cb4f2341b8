// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/model/weights.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>

#include "engine/backend/cpu/packed_matrix.h"
#include "engine/core/mapped_file.h"
#include "engine/model/rotary.h"
#include "engine/model/weight_size.h"

namespace decodescope {

namespace {

/// Walks the tensors of a model in storage order, giving each that has no place yet one in a block of floats.
/// Every tensor starts on a cache line.
class Placer {
public:
    explicit Placer(float* base) : base_(base) {}

    void place(const float*& tensor, std::int64_t count) {
        if (tensor != nullptr) return;
        if (base_ != nullptr) tensor = base_ + used_;
        used_ += (static_cast<std::size_t>(count) + 15) / 16 * 16;
    }
    void place(Norm& norm, const ModelConfig& config) {
        place(norm.weight, config.d_model);
        if (config.norm == NormKind::layer_norm) place(norm.bias, config.d_model);
    }
    void place(Linear& linear, int n_in, int n_out, bool bias) {
        linear.n_in = n_in;
        linear.n_out = n_out;
        place(linear.weight, std::int64_t{n_in} * n_out);
        if (bias) place(linear.bias, n_out);
    }
    std::size_t used() const { return used_; }

private:
    float* base_;
    std::size_t used_ = 0;
};

/// Floats of the block that the tensors without a place need; `base` null: they get none yet.
std::size_t place_tensors(Weights& weights, float* base) {
    const ModelConfig& c = weights.config;
    Placer placer(base);
    placer.place(weights.token_embedding, std::int64_t{c.vocab} * c.d_model);
    if (!c.rotary) placer.place(weights.position_embedding, std::int64_t{c.n_positions} * c.d_model);
    weights.layers.resize(static_cast<std::size_t>(c.n_layer));
    for (LayerWeights& layer : weights.layers) {
        placer.place(layer.attn_norm, c);
        placer.place(layer.attn_qkv, c.d_model, c.qkv_width(), c.qkv_bias);
        placer.place(layer.attn_out, c.q_width(), c.d_model, c.attn_out_bias);
        placer.place(layer.ff_norm, c);
        if (c.gated_ff) placer.place(layer.ff_gate, c.d_model, c.d_ff, c.ff_bias);
        placer.place(layer.ff_up, c.d_model, c.d_ff, c.ff_bias);
        placer.place(layer.ff_down, c.d_ff, c.d_model, c.ff_bias);
    }
    placer.place(weights.final_norm, c);
    if (c.tied_head)
        weights.head = {weights.token_embedding, nullptr, c.d_model, c.vocab, nullptr};
    else
        placer.place(weights.head, c.d_model, c.vocab, false);
    return placer.used();
}

/// What a family's files call the tensors. A name without entries is a part the family does not have.
struct TensorNames {
    const char *token_embedding, *position_embedding, *layer, *attn_norm;
    std::vector<const char*> attn_qkv;  // one for all three, or queries, keys and values apart
    const char *attn_out, *ff_norm, *ff_gate, *ff_up, *ff_down, *final_norm;
    bool conv1d;  // matrices are stored input-major
};

TensorNames tensor_names(Family family) {
    switch (family) {
        case Family::gpt2: break;
        case Family::llama:
            return {.token_embedding = "embed_tokens",
                    .position_embedding = nullptr,
                    .layer = "layers",
                    .attn_norm = "input_layernorm",
                    .attn_qkv = {"self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"},
                    .attn_out = "self_attn.o_proj",
                    .ff_norm = "post_attention_layernorm",
                    .ff_gate = "mlp.gate_proj",
                    .ff_up = "mlp.up_proj",
                    .ff_down = "mlp.down_proj",
                    .final_norm = "norm",
                    .conv1d = false};
    }
    return {.token_embedding = "wte",
            .position_embedding = "wpe",
            .layer = "h",
            .attn_norm = "ln_1",
            .attn_qkv = {"attn.c_attn"},
            .attn_out = "attn.c_proj",
            .ff_norm = "ln_2",
            .ff_gate = nullptr,
            .ff_up = "mlp.c_fc",
            .ff_down = "mlp.c_proj",
            .final_norm = "ln_f",
            .conv1d = true};
}

/// Rows [first, first + n_out) of a product as a product of its own.
Linear rows_of(const Linear& linear, int first, int n_out) {
    Linear part{nullptr, nullptr, linear.n_in, n_out, nullptr};
    if (linear.weight != nullptr) part.weight = linear.weight + std::int64_t{first} * linear.n_in;
    if (linear.bias != nullptr) part.bias = linear.bias + first;
    return part;
}

/// A tensor by name, and the model's pointer to it; null for a part of a larger one.
struct NamedTensor {
    TensorSlot slot;
    const float** pointer = nullptr;
};

/// Lists the tensors of a model by name.
class TensorList {
public:
    explicit TensorList(const ModelConfig& config) : config_(config), names_(tensor_names(config.family)) {}

    std::vector<NamedTensor> list(Weights& weights) && {
        const ModelConfig& c = config_;
        add(names_.token_embedding, ".weight", TensorRole::token_embedding, weights.token_embedding, c.vocab,
            c.d_model);
        if (!c.rotary) {
            add(names_.position_embedding, ".weight", TensorRole::position_embedding,
                weights.position_embedding, c.n_positions, c.d_model);
        }
        for (std::size_t i = 0; i < weights.layers.size(); ++i) {
            prefix_ = fmt::format("{}.{}.", names_.layer, i);
            add_layer(weights.layers[i]);
        }
        prefix_.clear();
        add_norm(names_.final_norm, weights.final_norm);
        if (!c.tied_head) {
            add("lm_head", ".weight", TensorRole::head, weights.head.weight, c.vocab, c.d_model);
        }
        return std::move(tensors_);
    }

private:
    void add_layer(LayerWeights& layer) {
        const ModelConfig& c = config_;
        add_norm(names_.attn_norm, layer.attn_norm);
        if (names_.attn_qkv.size() == 1) {
            add_linear(names_.attn_qkv[0], layer.attn_qkv, c.qkv_bias);
        } else {
            const int k = c.q_width();
            const int v = k + c.kv_width();
            add_part(names_.attn_qkv[0], rows_of(layer.attn_qkv, 0, k), c.qkv_bias);
            add_part(names_.attn_qkv[1], rows_of(layer.attn_qkv, k, c.kv_width()), c.qkv_bias);
            add_part(names_.attn_qkv[2], rows_of(layer.attn_qkv, v, c.kv_width()), c.qkv_bias);
        }
        add_linear(names_.attn_out, layer.attn_out, c.attn_out_bias, TensorRole::residual_matrix);
        add_norm(names_.ff_norm, layer.ff_norm);
        if (c.gated_ff) add_linear(names_.ff_gate, layer.ff_gate, c.ff_bias);
        add_linear(names_.ff_up, layer.ff_up, c.ff_bias);
        add_linear(names_.ff_down, layer.ff_down, c.ff_bias, TensorRole::residual_matrix);
    }
    void add_norm(const char* name, Norm& norm) {
        add(name, ".weight", TensorRole::norm_weight, norm.weight, 1, config_.d_model);
        if (config_.norm == NormKind::layer_norm) {
            add(name, ".bias", TensorRole::bias, norm.bias, 1, config_.d_model);
        }
    }
    void add_linear(const char* name, Linear& linear, bool bias, TensorRole role = TensorRole::matrix) {
        add(name, ".weight", role, linear.weight, linear.n_out, linear.n_in);
        tensors_.back().slot.conv1d = names_.conv1d;
        if (bias) add(name, ".bias", TensorRole::bias, linear.bias, 1, linear.n_out);
    }
    void add_part(const char* name, Linear part, bool bias) {
        const std::size_t first = tensors_.size();
        add_linear(name, part, bias);
        for (std::size_t i = first; i < tensors_.size(); ++i) {
            tensors_[i].pointer = nullptr;
            tensors_[i].slot.part = true;
        }
    }
    void add(const char* name, const char* suffix, TensorRole role, const float*& tensor, std::int64_t rows,
             std::int64_t columns) {
        tensors_.push_back({{prefix_ + name + suffix, role, nullptr, rows, columns}, &tensor});
        // The block is ours and still under construction: only here are its const views made writable.
        tensors_.back().slot.data = const_cast<float*>(tensor);
    }

    const ModelConfig& config_;
    TensorNames names_;
    std::string prefix_;
    std::vector<NamedTensor> tensors_;
};

bool lies_in(const float* tensor, const Buffer& block) {
    const std::less<> before;
    return !before(tensor, block.f32()) && before(tensor, block.f32() + block.size_bytes() / sizeof(float));
}

}  // namespace

std::uint64_t Linear::weight_bytes() const {
    if (packed != nullptr) return packed->bytes();
    return gpu_matrix_bytes(type, n_in, n_out);
}

std::uint64_t Linear::bytes() const {
    return weight_bytes() + (bias != nullptr ? static_cast<std::uint64_t>(n_out) * sizeof(float) : 0);
}

std::uint64_t Weights::bytes_read_per_step() const {
    std::uint64_t bytes = 0;
    const auto add_norm = [&](const Norm& norm) {
        bytes += static_cast<std::uint64_t>(config.d_model) * (norm.bias != nullptr ? 2 : 1) * sizeof(float);
    };
    for (const LayerWeights& layer : layers) {
        add_norm(layer.attn_norm);
        add_norm(layer.ff_norm);
        for_each_product(layer, [&](const Linear& linear) { bytes += linear.bytes(); });
    }
    add_norm(final_norm);
    return bytes + head.bytes();
}

std::string weights_hash(const Weights& weights) {
    return weights.hash.empty() && weights.compute_hash ? weights.compute_hash() : weights.hash;
}

std::function<std::string()> computed_once(std::function<std::string()> compute) {
    struct Answer {
        std::mutex mutex;
        std::string text;
    };
    return [compute = std::move(compute), answer = std::make_shared<Answer>()] {
        const std::lock_guard lock(answer->mutex);
        if (answer->text.empty()) answer->text = compute();
        return answer->text;
    };
}

Result<void> Weights::check_files() const {
    for (const auto& file : files) DS_TRY(file->check());
    return {};
}

Result<std::shared_ptr<Weights>> allocate_weights(const ModelConfig& config,
                                                  std::shared_ptr<MemoryLedger> ledger,
                                                  TensorsInFiles in_files) {
    DS_TRY(config.validate());
    auto weights = std::make_shared<Weights>();
    weights->config = config;
    place_tensors(*weights, nullptr);
    std::uint64_t mapped = 0;
    for (const NamedTensor& tensor : TensorList(config).list(*weights)) {
        const auto found = in_files.tensors.find(tensor.slot.name);
        if (found == in_files.tensors.end() || tensor.pointer == nullptr) continue;
        *tensor.pointer = found->second;
        mapped += static_cast<std::uint64_t>(tensor.slot.rows * tensor.slot.columns) * sizeof(float);
    }
    weights->files = std::move(in_files.files);
    auto counted = MappedCount::count(ledger, Owner::weights, mapped);
    if (!counted) return counted.error();
    weights->mapped = *std::move(counted);
    auto storage = Buffer::floats(std::move(ledger), Owner::weights, place_tensors(*weights, nullptr));
    if (!storage) return storage.error();
    weights->storage = *std::move(storage);
    place_tensors(*weights, weights->storage.f32());
    if (config.rotary) weights->rotary_frequencies = rotary_frequencies(*config.rotary, config.head_dim);
    return weights;
}

std::shared_ptr<Weights> view_of(std::shared_ptr<const Weights> weights) {
    auto view = std::make_shared<Weights>();
    view->config = weights->config;
    view->token_embedding = weights->token_embedding;
    view->position_embedding = weights->position_embedding;
    view->rotary_frequencies = weights->rotary_frequencies;
    view->layers = weights->layers;
    view->final_norm = weights->final_norm;
    view->head = weights->head;
    view->source = weights->source;
    view->files = weights->files;
    view->type = weights->type;
    view->prepared = weights->prepared;
    view->whole = std::move(weights);
    return view;
}

std::shared_ptr<const Weights> first_layers(std::shared_ptr<const Weights> whole, int n_layer) {
    auto weights = view_of(std::move(whole));
    weights->config.n_layer = std::min(n_layer, weights->config.n_layer);
    weights->layers.resize(static_cast<std::size_t>(weights->config.n_layer));
    weights->source = fmt::format("{}, first {} layers", weights->source, weights->config.n_layer);
    return weights;
}

std::vector<TensorSlot> tensor_slots(Weights& weights) {
    std::vector<TensorSlot> slot_list;
    for (NamedTensor& tensor : TensorList(weights.config).list(weights)) {
        if (!lies_in(tensor.slot.data, weights.storage)) tensor.slot.data = nullptr;
        slot_list.push_back(std::move(tensor.slot));
    }
    return slot_list;
}

std::vector<TensorSlot> planned_slots(const ModelConfig& config) {
    Weights weights;
    weights.config = config;
    place_tensors(weights, nullptr);
    return tensor_slots(weights);
}

}  // namespace decodescope
