// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <vector>

#include "engine/backend/backend.h"

namespace decodescope {

/// What a backend was asked to do.
struct BackendCounts {
    std::int64_t product_flops = 0;    ///< 2 x n_in x n_out x rows of every product with weights
    std::int64_t attention_flops = 0;  ///< 4 x head_dim of every cell computed, all heads and layers
    std::int64_t weight_bytes = 0;     ///< of the matrices, biases and norms that were read
    std::vector<int> cached_slots;     ///< slots of every row of a cache that was attended to, call by call
    std::int64_t rectangle_cells = 0;  ///< queries x slots of every row, all layers together
    std::int64_t n_attention = 0;      ///< attention calls
};

/// Passes everything on to another backend and counts it. Not shared between threads, as the other is not.
class CountingBackend : public Backend {
public:
    explicit CountingBackend(Backend& inner) : inner_(inner) {}

    const BackendCounts& counts() const { return counts_; }
    void reset() { counts_ = {}; }

    std::string description() const override { return inner_.description(); }
    ThreadPool& pool() override { return inner_.pool(); }
    Result<std::shared_ptr<const Weights>> prepare(std::shared_ptr<const Weights> weights, WeightType type,
                                                   const std::shared_ptr<MemoryLedger>& ledger,
                                                   std::stop_token stop) override {
        return inner_.prepare(std::move(weights), type, ledger, std::move(stop));
    }
    std::shared_ptr<DeviceMemory> memory() override { return inner_.memory(); }
    Result<void> begin_call(const ForwardCall& call) override { return inner_.begin_call(call); }
    Result<void> end_call() override { return inner_.end_call(); }
    std::optional<double> device_seconds() const override { return inner_.device_seconds(); }
    const float* read(const float* values, std::int64_t n) override { return inner_.read(values, n); }
    void embed(const ForwardCall& call, float* out) override { inner_.embed(call, out); }
    void turns(const ForwardCall& call, std::span<const std::int32_t> positions, float* out) override {
        inner_.turns(call, positions, out);
    }
    Result<void> append(KvCache& cache, int layer, const KeyValueBlock& block) override {
        return inner_.append(cache, layer, block);
    }
    void pick_rows(const ForwardCall& call, const float* x, std::int64_t d, float* out) override {
        inner_.pick_rows(call, x, d, out);
    }
    void draw(const ForwardCall& call, const float* logits, float* scratch, std::int32_t* drawn) override {
        inner_.draw(call, logits, scratch, drawn);
    }
    std::int64_t draw_floats(std::int64_t rows, int vocab) const override {
        return inner_.draw_floats(rows, vocab);
    }
    void product(const ProductCall& call) override;
    std::int64_t product_floats(const Linear& w, std::int64_t rows, const Linear* gate) const override {
        return inner_.product_floats(w, rows, gate);
    }
    void linear(const float* x, int rows, const Linear& w, float* y, bool accumulate) override;
    void layer_norm(const float* x, int rows, int d, const Norm& norm, float eps, float* y) override;
    void rms_norm(const float* x, int rows, int d, const Norm& norm, float eps, float* y) override;
    void rotate(const HeadRows& heads, const float* turns, RotaryPairs pairs) override;
    void activation(float* x, std::int64_t n, Activation activation) override;
    void gate(float* x, std::int64_t n, Activation activation, float* y) override;
    std::int64_t attention(const AttentionCall& call) override;
    std::int64_t scores_floats(const ModelConfig& config, std::int64_t rows, int n_slot) const override {
        return inner_.scores_floats(config, rows, n_slot);
    }

private:
    void count_norm(int d, const Norm& norm);
    void count_product(const Linear& w, int rows);

    Backend& inner_;
    BackendCounts counts_;
};

}  // namespace decodescope
