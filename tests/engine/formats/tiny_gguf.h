// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <functional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "tests/engine/formats/gguf_bytes.h"

namespace decodescope::test {

/// A tensor of a file that is being written: F32, all elements the same.
struct TestTensor {
    QByteArray name;
    std::vector<std::uint64_t> shape;  ///< the innermost dimension last
    float value = 0.5f;
    std::uint32_t type = 0;
};

inline std::size_t count_of(const TestTensor& tensor) {
    std::size_t count = 1;
    for (const std::uint64_t dimension : tensor.shape) count *= dimension;
    return count;
}

/// A small model as a GGUF file that tests break in one place.
struct TinyGguf {
    QByteArray architecture = "llama";
    GgufBytes keys{};
    std::vector<TestTensor> tensors{};
    bool varied = false;  ///< elements differ: each is its tensor's value times a number of [-1, 1)

    /// 2 blocks of width 8, 2 heads of 4, 1 KV head, 5 tokens.
    explicit TinyGguf(const QByteArray& arch) : architecture(arch) {
        const bool gpt2 = arch == "gpt2";
        keys.key("general.architecture", arch.constData())
            .key(arch + ".context_length", 6u)
            .key(arch + ".embedding_length", 8u)
            .key(arch + ".block_count", 2u)
            .key(arch + ".feed_forward_length", 12u)
            .key(arch + ".attention.head_count", 2u)
            .key(arch + (gpt2 ? ".attention.layer_norm_epsilon" : ".attention.layer_norm_rms_epsilon"),
                 1e-5f);
        if (!gpt2) keys.key(arch + ".attention.head_count_kv", 1u);
        tensors.push_back({"token_embd.weight", {5, 8}});
        if (gpt2) tensors.push_back({"position_embd.weight", {6, 8}});
        add_norm("output_norm", gpt2);
        for (const QByteArray block : {"blk.0.", "blk.1."}) {
            add_norm(block + "attn_norm", gpt2);
            add_norm(block + "ffn_norm", gpt2);
            if (gpt2) {
                add(block + "attn_qkv", 24, 8, true);
            } else {
                add(block + "attn_q", 8, 8, arch == "qwen2");
                add(block + "attn_k", 4, 8, arch == "qwen2");
                add(block + "attn_v", 4, 8, arch == "qwen2");
                add(block + "ffn_gate", 12, 8, false);
            }
            add(block + "attn_output", 8, 8, gpt2);
            add(block + "ffn_up", 12, 8, gpt2);
            add(block + "ffn_down", 8, 12, gpt2);
        }
    }
    TestTensor& at(const QByteArray& name) {
        for (TestTensor& tensor : tensors) {
            if (tensor.name == name) return tensor;
        }
        throw std::runtime_error("no tensor " + name.toStdString());
    }
    TinyGguf& drop(const QByteArray& name) {
        at(name);
        std::erase_if(tensors, [&](const TestTensor& tensor) { return tensor.name == name; });
        return *this;
    }
    TinyGguf& with(TestTensor tensor) {
        tensors.push_back(std::move(tensor));
        return *this;
    }
    TinyGguf& with(const std::function<void(GgufBytes&)>& add) {
        add(keys);
        return *this;
    }
    QByteArray file() const {
        GgufBytes bytes = keys;
        QByteArray data;
        std::uint32_t state = 1;
        for (const TestTensor& tensor : tensors) {
            bytes.tensor(tensor.name, {tensor.shape.rbegin(), tensor.shape.rend()}, tensor.type,
                         static_cast<std::uint64_t>(data.size()));
            for (std::size_t i = 0; i < count_of(tensor); ++i) {
                state = state * 1664525u + 1013904223u;
                const float factor = varied ? static_cast<float>(state >> 8) / (1 << 23) - 1 : 1;
                data += GgufBytes::f32(tensor.value * factor);
            }
            data.append((32 - data.size() % 32) % 32, '\0');
        }
        return bytes.file(data);
    }

private:
    void add_norm(const QByteArray& name, bool bias) {
        tensors.push_back({name + ".weight", {8}});
        if (bias) tensors.push_back({name + ".bias", {8}});
    }
    void add(const QByteArray& name, std::uint64_t rows, std::uint64_t columns, bool bias) {
        tensors.push_back({name + ".weight", {rows, columns}});
        if (bias) tensors.push_back({name + ".bias", {rows}});
    }
};

}  // namespace decodescope::test
