// SPDX-License-Identifier: GPL-3.0-or-later
#include "gguf_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <string>
#include <string_view>
#include <utility>

#include "engine/cache/entry_codec.h"
#include "engine/formats/gguf_value.h"
#include "engine/tokenizer/byte_alphabet.h"

namespace decodescope::bench {

namespace {

constexpr std::size_t alignment = 32;
constexpr std::size_t rows_at_a_time = 256;

std::string little_endian(std::uint64_t value, int n_byte) {
    std::string bytes;
    for (int i = 0; i < n_byte; ++i) bytes += static_cast<char>(value >> (8 * i));
    return bytes;
}
std::string u32(std::uint64_t value) {
    return little_endian(value, 4);
}
std::string u64(std::uint64_t value) {
    return little_endian(value, 8);
}
std::string string_of(std::string_view text) {
    return u64(text.size()) + std::string(text);
}
std::size_t padding(std::size_t bytes) {
    return (alignment - bytes % alignment) % alignment;
}

/// The scale of a group as the two bytes of an f16.
void put_half(float value, std::byte* to) {
    encode_entries(DType::f16, &value, 1, to);
}

void encode_q8_0(const float* from, std::byte* block) {
    float largest = 0;
    for (int i = 0; i < weight_group; ++i) largest = std::max(largest, std::abs(from[i]));
    const float scale = largest / 127;
    const float inverse = scale == 0 ? 0 : 1 / scale;
    put_half(scale, block);
    for (int i = 0; i < weight_group; ++i) {
        block[2 + i] = static_cast<std::byte>(static_cast<std::int8_t>(std::round(from[i] * inverse)));
    }
}

void encode_q4_0(const float* from, std::byte* block) {
    float largest = 0;
    for (int i = 0; i < weight_group; ++i) {
        if (std::abs(from[i]) > std::abs(largest)) largest = from[i];
    }
    const float scale = largest / -8;
    const float inverse = scale == 0 ? 0 : 1 / scale;
    put_half(scale, block);
    const auto code = [&](int i) {
        return static_cast<unsigned>(std::clamp(std::floor(from[i] * inverse + 8.5f), 0.0f, 15.0f));
    };
    for (int i = 0; i < weight_group / 2; ++i) {
        block[2 + i] = static_cast<std::byte>(code(i) | code(i + weight_group / 2) << 4);
    }
}

/// One tensor to be written; rows in the order of the file.
struct OutTensor {
    std::string name;
    const float* data = nullptr;
    std::int64_t rows = 0;  ///< 0: a vector of `columns`
    std::int64_t columns = 0;
    const GgmlTypeInfo* type = nullptr;
    int head_dim = 0;  ///< not 0: rows are heads of so many, whose halves are to be interleaved

    std::int64_t n_row() const { return std::max<std::int64_t>(1, rows); }
    std::size_t bytes() const {
        return static_cast<std::size_t>(n_row() * columns) / type->block_elements * type->block_bytes;
    }
    /// The row of `data` that comes as row `r`: GGUF's llama turns neighbours, Hugging Face's halves.
    std::int64_t source_row(std::int64_t r) const {
        if (head_dim == 0) return r;
        const std::int64_t i = r % head_dim;
        return r - i + i / 2 + (i % 2) * (head_dim / 2);
    }
};

class Writer {
public:
    Writer(const Weights& weights, WeightType type)
        : weights_(weights),
          config_(weights.config),
          arch_(config_.family == Family::gpt2 ? "gpt2" : "llama"),
          type_(type),
          matrix_(find_ggml_type(static_cast<std::uint32_t>(ggml_type_of(type)))),
          f32_(find_ggml_type(static_cast<std::uint32_t>(GgmlType::f32))) {}

    Result<void> write(const std::filesystem::path& path) {
        DS_TRY(check());
        add_metadata();
        add_tokenizer();
        DS_TRY(add_tensors());
        std::ofstream out(path, std::ios::binary);
        const std::string head = "GGUF" + u32(3) + u64(tensors_.size()) + u64(n_key_) + metadata_ + records();
        out << head << std::string(padding(head.size()), '\0');
        for (const OutTensor& tensor : tensors_) put(tensor, out);
        out.close();
        if (out) return {};
        return Error{ErrorKind::io, fmt::format("{}: could not be written.", path.string())};
    }

private:
    Error unsupported(std::string_view what) const {
        return {ErrorKind::unsupported,
                fmt::format("{}: a GGUF file of the architecture {} cannot hold a model with {}.",
                            config_.name, arch_, what)};
    }

    Result<void> check() const {
        const bool gpt2 = config_.family == Family::gpt2;
        if (config_.activation != (gpt2 ? Activation::gelu_tanh : Activation::silu)) {
            return unsupported(fmt::format("the activation {}", to_string(config_.activation)));
        }
        if (!config_.scale_attention || config_.scale_attention_by_layer) {
            return unsupported("other attention scales than 1 / sqrt(head_dim)");
        }
        if (config_.rotary && config_.rotary->amplitude != 1) return unsupported("scaled rotary amplitudes");
        return {};
    }

    void key(std::string_view name, GgufType type, const std::string& value) {
        metadata_ += string_of(name) + u32(static_cast<std::uint32_t>(type)) + value;
        ++n_key_;
    }
    void key(std::string_view name, std::uint32_t value) { key(name, GgufType::u32, u32(value)); }
    void key(std::string_view name, int value) { key(name, static_cast<std::uint32_t>(value)); }
    void key(std::string_view name, float value) {
        std::string bytes(sizeof value, '\0');
        std::memcpy(bytes.data(), &value, sizeof value);
        key(name, GgufType::f32, bytes);
    }
    void key(std::string_view name, std::string_view text) { key(name, GgufType::string, string_of(text)); }
    void flag(std::string_view name, bool value) { key(name, GgufType::boolean, little_endian(value, 1)); }
    void array(std::string_view name, GgufType element, std::size_t count, const std::string& bytes) {
        key(name, GgufType::array, u32(static_cast<std::uint32_t>(element)) + u64(count) + bytes);
    }
    std::string own(std::string_view name) const { return fmt::format("{}.{}", arch_, name); }

    void add_metadata() {
        key("general.architecture", std::string_view(arch_));
        key("general.name", std::string_view(config_.name));
        key("general.file_type", file_type());
        key("general.quantization_version", 2);
        key(own("context_length"), config_.n_positions);
        key(own("embedding_length"), config_.d_model);
        key(own("block_count"), config_.n_layer);
        key(own("feed_forward_length"), config_.d_ff);
        key(own("attention.head_count"), config_.n_head);
        key(own("vocab_size"), config_.vocab);
        if (config_.family == Family::gpt2) {
            key(own("attention.layer_norm_epsilon"), config_.norm_eps);
            return;
        }
        key(own("attention.head_count_kv"), config_.n_kv_head);
        key(own("attention.layer_norm_rms_epsilon"), config_.norm_eps);
        key(own("attention.key_length"), config_.head_dim);
        key(own("attention.value_length"), config_.head_dim);
        key(own("rope.dimension_count"), config_.head_dim);
        key(own("rope.freq_base"), static_cast<float>(config_.rotary->theta));
        if (config_.window > 0) key(own("attention.sliding_window"), config_.window);
    }

    /// What most of the tensors are, by the numbers that llama.cpp gives whole files.
    int file_type() const {
        switch (type_) {
            case WeightType::f32: return 0;
            case WeightType::f16: return 1;
            case WeightType::bf16: return 32;
            case WeightType::int8: return 7;
            case WeightType::int4: return 2;
        }
        return 0;
    }

    void add_tokenizer() {
        const auto n = static_cast<std::size_t>(config_.vocab);
        const ByteAlphabet alphabet;
        std::vector<std::string> tokens;
        for (int byte = 0; byte < 256; ++byte)
            tokens.push_back(alphabet.symbol(static_cast<unsigned char>(byte)));
        tokens.insert(tokens.end(), {"<|endoftext|>", "ab"});
        if (n < tokens.size()) {
            // Too few for text: token ids alone.
            key("tokenizer.ggml.model", std::string_view("none"));
            return;
        }
        const std::size_t end_of_text = 256;
        while (tokens.size() < n) tokens.push_back(fmt::format("<placeholder-{}>", tokens.size()));
        constexpr std::uint32_t normal = 1;
        constexpr std::uint32_t control = 3;
        std::string texts;
        std::string types;
        for (std::size_t i = 0; i < n; ++i) {
            texts += string_of(tokens[i]);
            types += u32(i == end_of_text ? control : normal);
        }
        key("tokenizer.ggml.model", std::string_view("gpt2"));
        key("tokenizer.ggml.pre", std::string_view("gpt-2"));
        array("tokenizer.ggml.tokens", GgufType::string, n, texts);
        array("tokenizer.ggml.token_type", GgufType::i32, n, types);
        array("tokenizer.ggml.merges", GgufType::string, 1, string_of("a b"));
        for (const char* name : {"bos", "eos", "unknown"}) {
            key(fmt::format("tokenizer.ggml.{}_token_id", name), static_cast<std::uint32_t>(end_of_text));
        }
        flag("tokenizer.ggml.add_bos_token", false);
    }

    Result<void> add_tensors() {
        const ModelConfig& c = config_;
        matrix("token_embd.weight", weights_.token_embedding, c.vocab, c.d_model);
        if (weights_.position_embedding != nullptr) {
            tensors_.push_back(
                {"position_embd.weight", weights_.position_embedding, c.n_positions, c.d_model, f32_, 0});
        }
        if (c.rotary && (c.rotary->scaling != RotaryScaling::none || !c.rotary->divisors.empty())) {
            add_rope_divisors();
        }
        for (int i = 0; i < c.n_layer; ++i) add_layer(i);
        norm("output_norm", weights_.final_norm);
        if (!c.tied_head) matrix("output.weight", weights_.head.weight, c.vocab, c.d_model);
        for (const OutTensor& tensor : tensors_) {
            if (tensor.columns % tensor.type->block_elements == 0) continue;
            return unsupported(fmt::format("rows of {} elements as {}, expected a multiple of {}",
                                           tensor.columns, tensor.type->name, tensor.type->block_elements));
        }
        return {};
    }
    void add_layer(int i) {
        const ModelConfig& c = config_;
        const LayerWeights& layer = weights_.layers[static_cast<std::size_t>(i)];
        const std::string block = fmt::format("blk.{}.", i);
        norm(block + "attn_norm", layer.attn_norm);
        if (c.family == Family::gpt2) {
            linear(block + "attn_qkv", layer.attn_qkv, 0, c.qkv_width());
        } else {
            const int turned = c.rotary->pairs == RotaryPairs::halves ? c.head_dim : 0;
            linear(block + "attn_q", layer.attn_qkv, 0, c.q_width(), turned);
            linear(block + "attn_k", layer.attn_qkv, c.q_width(), c.kv_width(), turned);
            linear(block + "attn_v", layer.attn_qkv, c.q_width() + c.kv_width(), c.kv_width());
        }
        linear(block + "attn_output", layer.attn_out, 0, c.d_model);
        norm(block + "ffn_norm", layer.ff_norm);
        if (c.gated_ff) linear(block + "ffn_gate", layer.ff_gate, 0, c.d_ff);
        linear(block + "ffn_up", layer.ff_up, 0, c.d_ff);
        linear(block + "ffn_down", layer.ff_down, 0, c.d_model);
    }
    void matrix(std::string name, const float* data, std::int64_t rows, std::int64_t columns,
                int head_dim = 0) {
        tensors_.push_back({std::move(name), data, rows, columns, matrix_, head_dim});
    }
    void linear(const std::string& name, const Linear& linear, std::int64_t first, std::int64_t n_out,
                int head_dim = 0) {
        matrix(name + ".weight", linear.weight + first * linear.n_in, n_out, linear.n_in, head_dim);
        if (linear.bias == nullptr) return;
        // Written row by row, so that heads are interleaved in the same way.
        vector(name + ".bias", linear.bias + first, n_out);
        tensors_.back().head_dim = head_dim;
    }
    void norm(const std::string& name, const Norm& norm) {
        vector(name + ".weight", norm.weight, config_.d_model);
        if (norm.bias != nullptr) vector(name + ".bias", norm.bias, config_.d_model);
    }
    void vector(std::string name, const float* data, std::int64_t n) {
        tensors_.push_back({std::move(name), data, 0, n, f32_, 0});
    }
    /// What plain frequencies are divided by to give the model's own, however it came to them.
    void add_rope_divisors() {
        const int n = config_.head_dim / 2;
        for (int i = 0; i < n; ++i) {
            const double plain = std::pow(config_.rotary->theta, -2.0 * i / config_.head_dim);
            divisors_.push_back(
                static_cast<float>(plain / weights_.rotary_frequencies[static_cast<std::size_t>(i)]));
        }
        vector("rope_freqs.weight", divisors_.data(), n);
    }

    std::string records() const {
        std::string bytes;
        std::size_t offset = 0;
        for (const OutTensor& tensor : tensors_) {
            bytes += string_of(tensor.name) + u32(tensor.rows == 0 ? 1 : 2) +
                     u64(static_cast<std::uint64_t>(tensor.columns));
            if (tensor.rows != 0) bytes += u64(static_cast<std::uint64_t>(tensor.rows));
            bytes += u32(tensor.type->id) + u64(offset);
            offset += tensor.bytes() + padding(tensor.bytes());
        }
        return bytes;
    }

    static void put(const OutTensor& tensor, std::ofstream& out) {
        // A vector that is turned is a matrix of one column here.
        const bool by_element = tensor.rows == 0 && tensor.head_dim != 0;
        const std::int64_t rows = by_element ? tensor.columns : tensor.n_row();
        const std::int64_t columns = by_element ? 1 : tensor.columns;
        std::vector<float> values;
        for (std::int64_t r = 0; r < rows; ++r) {
            const float* row = tensor.data + tensor.source_row(r) * columns;
            values.insert(values.end(), row, row + columns);
            if (values.size() < rows_at_a_time * static_cast<std::size_t>(columns) && r + 1 < rows) continue;
            const auto bytes = encode_blocks(static_cast<GgmlType>(tensor.type->id), values);
            out.write(reinterpret_cast<const char*>(bytes.data()),
                      static_cast<std::streamsize>(bytes.size()));
            values.clear();
        }
        out << std::string(padding(tensor.bytes()), '\0');
    }

    const Weights& weights_;
    const ModelConfig& config_;
    std::string arch_;
    WeightType type_;
    const GgmlTypeInfo* matrix_;
    const GgmlTypeInfo* f32_;
    std::string metadata_;
    std::uint64_t n_key_ = 0;
    std::vector<OutTensor> tensors_;
    std::vector<float> divisors_;
};

}  // namespace

GgmlType ggml_type_of(WeightType type) {
    switch (type) {
        case WeightType::f32: return GgmlType::f32;
        case WeightType::f16: return GgmlType::f16;
        case WeightType::bf16: return GgmlType::bf16;
        case WeightType::int8: return GgmlType::q8_0;
        case WeightType::int4: return GgmlType::q4_0;
    }
    return GgmlType::f32;
}

std::vector<std::byte> encode_blocks(GgmlType type, std::span<const float> values) {
    const GgmlTypeInfo& info = *find_ggml_type(static_cast<std::uint32_t>(type));
    std::vector<std::byte> blocks(values.size() / info.block_elements * info.block_bytes);
    const auto n = static_cast<std::int64_t>(values.size());
    if (type == GgmlType::f32) {
        std::memcpy(blocks.data(), values.data(), blocks.size());
    } else if (type == GgmlType::f16 || type == GgmlType::bf16) {
        encode_entries(type == GgmlType::f16 ? DType::f16 : DType::bf16, values.data(), n, blocks.data());
    } else {
        for (std::size_t i = 0; i < values.size() / info.block_elements; ++i) {
            (type == GgmlType::q8_0 ? encode_q8_0 : encode_q4_0)(values.data() + i * info.block_elements,
                                                                 blocks.data() + i * info.block_bytes);
        }
    }
    return blocks;
}

Result<void> write_gguf(const Weights& weights, WeightType type, const std::filesystem::path& path) {
    return Writer(weights, type).write(path);
}

}  // namespace decodescope::bench
