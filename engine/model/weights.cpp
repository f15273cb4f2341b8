// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/model/weights.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace decodescope {

namespace {

/// Walks the tensors of a model in storage order, giving each its place in one block of floats. Every tensor
/// starts on a cache line.
class Placer {
public:
    explicit Placer(float* base) : base_(base) {}

    float* place(std::int64_t count) {
        float* here = base_ == nullptr ? nullptr : base_ + used_;
        used_ += (static_cast<std::size_t>(count) + 15) / 16 * 16;
        return here;
    }
    Norm norm(int d) {
        Norm norm;
        norm.weight = place(d);
        norm.bias = place(d);
        return norm;
    }
    Linear linear(int n_in, int n_out, bool bias) {
        Linear linear{nullptr, nullptr, n_in, n_out};
        linear.weight = place(std::int64_t{n_in} * n_out);
        if (bias) linear.bias = place(n_out);
        return linear;
    }
    std::size_t used() const { return used_; }

private:
    float* base_;
    std::size_t used_ = 0;
};

std::size_t place_tensors(Weights& weights, float* base) {
    const ModelConfig& c = weights.config;
    Placer placer(base);
    weights.token_embedding = placer.place(std::int64_t{c.vocab} * c.d_model);
    weights.position_embedding = placer.place(std::int64_t{c.n_positions} * c.d_model);
    weights.layers.assign(static_cast<std::size_t>(c.n_layer), {});
    for (LayerWeights& layer : weights.layers) {
        layer.attn_norm = placer.norm(c.d_model);
        layer.attn_qkv = placer.linear(c.d_model, (c.n_head + 2 * c.n_kv_head) * c.head_dim, true);
        layer.attn_out = placer.linear(c.d_model, c.d_model, true);
        layer.ff_norm = placer.norm(c.d_model);
        layer.ff_up = placer.linear(c.d_model, c.d_ff, true);
        layer.ff_down = placer.linear(c.d_ff, c.d_model, true);
    }
    weights.final_norm = placer.norm(c.d_model);
    weights.head = {weights.token_embedding, nullptr, c.d_model, c.vocab};
    if (!c.tied_head) weights.head = placer.linear(c.d_model, c.vocab, false);
    return placer.used();
}

}  // namespace

std::uint64_t Weights::bytes_read_per_step() const {
    std::uint64_t floats = 2 * static_cast<std::uint64_t>(config.d_model);
    const auto add = [&](const Linear& linear) {
        const auto n_out = static_cast<std::uint64_t>(linear.n_out);
        floats += n_out * static_cast<std::uint64_t>(linear.n_in) + (linear.bias != nullptr ? n_out : 0);
    };
    for (const LayerWeights& layer : layers) {
        floats += 4 * static_cast<std::uint64_t>(config.d_model);
        add(layer.attn_qkv);
        add(layer.attn_out);
        add(layer.ff_up);
        add(layer.ff_down);
    }
    add(head);
    return floats * sizeof(float);
}

std::string weights_hash(const Weights& weights) {
    return weights.hash.empty() && weights.compute_hash ? weights.compute_hash() : weights.hash;
}

Result<std::shared_ptr<Weights>> allocate_weights(const ModelConfig& config,
                                                  std::shared_ptr<MemoryLedger> ledger) {
    DS_TRY(config.validate());
    auto weights = std::make_shared<Weights>();
    weights->config = config;
    const std::size_t count = place_tensors(*weights, nullptr);
    auto storage = Buffer::floats(std::move(ledger), Owner::weights, count);
    if (!storage) return storage.error();
    weights->storage = *std::move(storage);
    place_tensors(*weights, weights->storage.f32());
    return weights;
}

std::shared_ptr<const Weights> first_layers(std::shared_ptr<const Weights> whole, int n_layer) {
    auto weights = std::make_shared<Weights>();
    weights->config = whole->config;
    weights->config.n_layer = std::min(n_layer, whole->config.n_layer);
    weights->token_embedding = whole->token_embedding;
    weights->position_embedding = whole->position_embedding;
    weights->layers.assign(whole->layers.begin(), whole->layers.begin() + weights->config.n_layer);
    weights->final_norm = whole->final_norm;
    weights->head = whole->head;
    weights->source = fmt::format("{}, first {} layers", whole->source, weights->config.n_layer);
    weights->whole = std::move(whole);
    return weights;
}

std::vector<TensorSlot> tensor_slots(Weights& weights) {
    const ModelConfig& c = weights.config;
    std::vector<TensorSlot> slots;
    // The block is ours and still under construction: only here are its const views made writable.
    const auto add = [&](std::string name, const float* data, std::int64_t rows, std::int64_t columns,
                         bool conv1d) {
        slots.push_back({std::move(name), const_cast<float*>(data), rows, columns, conv1d});
    };
    const auto add_norm = [&](const std::string& name, const Norm& norm) {
        add(name + ".weight", norm.weight, 1, c.d_model, false);
        add(name + ".bias", norm.bias, 1, c.d_model, false);
    };
    const auto add_linear = [&](const std::string& name, const Linear& linear) {
        add(name + ".weight", linear.weight, linear.n_out, linear.n_in, true);
        add(name + ".bias", linear.bias, 1, linear.n_out, false);
    };
    add("wte.weight", weights.token_embedding, c.vocab, c.d_model, false);
    add("wpe.weight", weights.position_embedding, c.n_positions, c.d_model, false);
    for (std::size_t i = 0; i < weights.layers.size(); ++i) {
        const LayerWeights& layer = weights.layers[i];
        const std::string prefix = fmt::format("h.{}.", i);
        add_norm(prefix + "ln_1", layer.attn_norm);
        add_linear(prefix + "attn.c_attn", layer.attn_qkv);
        add_linear(prefix + "attn.c_proj", layer.attn_out);
        add_norm(prefix + "ln_2", layer.ff_norm);
        add_linear(prefix + "mlp.c_fc", layer.ff_up);
        add_linear(prefix + "mlp.c_proj", layer.ff_down);
    }
    add_norm("ln_f", weights.final_norm);
    if (!c.tied_head) add("lm_head.weight", weights.head.weight, c.vocab, c.d_model, false);
    return slots;
}

std::vector<TensorSlot> planned_slots(const ModelConfig& config) {
    Weights weights;
    weights.config = config;
    place_tensors(weights, nullptr);
    return tensor_slots(weights);
}

}  // namespace decodescope
