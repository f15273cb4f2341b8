// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/formats/gguf_model.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <initializer_list>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "engine/core/quote.h"

namespace decodescope {

namespace {

// As in ModelConfig::validate: products of these fit into 64 bits.
constexpr std::uint64_t max_layers = 1'000;
constexpr std::int64_t max_width = 1 << 20;
constexpr std::int64_t max_count = 1 << 24;
constexpr std::int64_t max_id = 1 << 30;

constexpr std::array<std::string_view, 3> known_architectures = {"gpt2", "llama", "qwen2"};

bool is_identifier(std::string_view text) {
    constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
    return !text.empty() && text.size() <= 64 && text.find_first_not_of(letters) == text.npos;
}

class ModelReader {
public:
    ModelReader(const GgufHeader& header, const std::string& label) : header_(header), label_(label) {}

    Result<GgufModel> read() {
        for (const std::string& text : header_.notes) note(text);
        DS_TRY(read_architecture());
        DS_TRY(read_config());
        DS_TRY(look_for_extras());
        if (is_known_) {
            DS_TRY(complete_config());
        }
        DS_TRY(read_eos());
        describe_tensors();
        return std::move(model_);
    }

private:
    Error fail(const std::string& what) const {
        return {ErrorKind::bad_input, fmt::format("{}: {}.", label_, what)};
    }
    /// The first reason why the model cannot be run is the one that is told.
    void block(ErrorKind kind, const std::string& what) {
        if (!model_.obstacle) model_.obstacle = Error{kind, fmt::format("{}: {}.", label_, what)};
    }
    void note(const std::string& text) { model_.notes.push_back(fmt::format("{}: {}", label_, text)); }
    std::string own(std::string_view key) const { return fmt::format("{}.{}", model_.architecture, key); }

    /// Leaves `out` alone when the key is absent. Some writers give one number per layer: taken when all are
    /// the same.
    Result<void> read_whole(const std::string& key, std::int64_t least, std::int64_t most, int& out) {
        const GgufValue* value = header_.find(key);
        if (value == nullptr) return {};
        if (value->count() > max_layers) {
            return fail(fmt::format("{} has {} elements, expected one number or at most {}", key,
                                    value->count(), max_layers));
        }
        std::optional<std::int64_t> number = value->integer();
        if (const auto list = value->integers(); list && !list->empty()) {
            if (std::adjacent_find(list->begin(), list->end(), std::not_equal_to<>()) != list->end()) {
                block(ErrorKind::unsupported, fmt::format("{} differs between layers", key));
                return {};
            }
            number = list->front();
        } else if (!number && value->type() != GgufType::u64) {
            return fail(fmt::format("{} is of type {}, expected a whole number", key, type_name(*value)));
        }
        if (!number || *number < least || *number > most) {
            return fail(fmt::format("{} is {}, expected a number from {} to {}", key,
                                    number ? std::to_string(*number) : "above 2^63", least, most));
        }
        out = static_cast<int>(*number);
        return {};
    }
    Result<void> read_real(const std::string& key, double least, double most, double& out) const {
        const GgufValue* value = header_.find(key);
        if (value == nullptr) return {};
        const auto number = value->number();
        if (!number) return fail(fmt::format("{} is of type {}, expected a number", key, type_name(*value)));
        if (!(*number >= least && *number <= most)) {
            return fail(fmt::format("{} is {}, expected a value from {} to {}", key, *number, least, most));
        }
        out = *number;
        return {};
    }
    const GgufTensor* tensor(std::string_view name) const {
        const auto found = std::find_if(header_.tensors.begin(), header_.tensors.end(),
                                        [&](const GgufTensor& one) { return one.name == name; });
        return found == header_.tensors.end() ? nullptr : &*found;
    }

    Result<void> read_architecture() {
        std::string_view name;
        DS_TRY(header_.read_text("general.architecture", label_, name));
        if (header_.find("general.architecture") == nullptr) return fail("lacks general.architecture");
        if (!is_identifier(name)) {
            return fail(fmt::format("general.architecture is {}, expected a short name", quote(name)));
        }
        model_.architecture = name;
        is_known_ = std::find(known_architectures.begin(), known_architectures.end(), name) !=
                    known_architectures.end();
        if (!is_known_) {
            block(ErrorKind::unsupported, fmt::format("the architecture {} is not one of {}", name,
                                                      fmt::join(known_architectures, ", ")));
        }
        return {};
    }

    Result<void> read_config() {
        ModelConfig& config = model_.config;
        DS_TRY(read_whole(own("context_length"), 1, max_count, config.n_positions));
        DS_TRY(read_whole(own("embedding_length"), 1, max_width, config.d_model));
        DS_TRY(read_whole(own("block_count"), 1, std::int64_t{max_layers}, config.n_layer));
        DS_TRY(read_whole(own("feed_forward_length"), 1, max_width, config.d_ff));
        DS_TRY(read_whole(own("attention.head_count"), 1, max_width, config.n_head));
        config.n_kv_head = config.n_head;
        DS_TRY(read_whole(own("attention.head_count_kv"), 1, max_width, config.n_kv_head));
        if (config.n_head != 0) config.head_dim = config.d_model / config.n_head;
        DS_TRY(read_whole(own("attention.key_length"), 1, max_width, config.head_dim));
        DS_TRY(read_whole(own("attention.sliding_window"), 0, max_count, config.window));
        double eps = 0;
        DS_TRY(read_real(own("attention.layer_norm_epsilon"), 1e-12, 1e-2, eps));
        DS_TRY(read_real(own("attention.layer_norm_rms_epsilon"), 1e-12, 1e-2, eps));
        config.norm_eps = static_cast<float>(eps);
        DS_TRY(read_vocab());
        if (is_known_ && !header_.tensors.empty()) {
            config.tied_head = tensor("output.weight") == nullptr;
            model_.tied_head = config.tied_head;
        }
        return {};
    }

    /// What the architecture means for the parts of the model, and whether the file says everything.
    Result<void> complete_config() {
        ModelConfig& config = model_.config;
        const bool is_gpt2 = model_.architecture == "gpt2";
        config.family = is_gpt2 ? Family::gpt2 : Family::llama;
        config.norm = is_gpt2 ? NormKind::layer_norm : NormKind::rms_norm;
        config.activation = is_gpt2 ? Activation::gelu_tanh : Activation::silu;
        config.gated_ff = !is_gpt2;
        // Biases that the architecture may do without are there when a tensor of theirs is.
        config.qkv_bias =
            model_.architecture != "llama" || has_layer_tensor({"attn_q.bias", "attn_k.bias", "attn_v.bias"});
        config.attn_out_bias = is_gpt2 || has_layer_tensor({"attn_output.bias"});
        config.ff_bias = is_gpt2 || has_layer_tensor({"ffn_gate.bias", "ffn_up.bias", "ffn_down.bias"});
        for (const std::string_view key :
             {"context_length", "embedding_length", "block_count", "feed_forward_length",
              "attention.head_count",
              is_gpt2 ? "attention.layer_norm_epsilon" : "attention.layer_norm_rms_epsilon"}) {
            if (header_.find(own(key)) == nullptr) block(ErrorKind::bad_input, "lacks " + own(key));
        }
        if (config.vocab == 0) block(ErrorKind::bad_input, "lacks token_embd.weight");
        int value_length = config.n_head == 0 ? 0 : config.d_model / config.n_head;
        DS_TRY(read_whole(own("attention.value_length"), 1, max_width, value_length));
        if (value_length != config.head_dim) {
            block(ErrorKind::unsupported,
                  fmt::format("keys are {} wide and values {}, expected the same width", config.head_dim,
                              value_length));
        }
        if (!is_gpt2) {
            DS_TRY(read_rotary(config.rotary.emplace()));
        }
        DS_TRY(refuse_variants());
        if (model_.obstacle) return {};
        if (const auto valid = config.validate(); !valid) {
            model_.obstacle = Error{valid.error().kind, fmt::format("{}: {}", label_, valid.error().message)};
        }
        return {};
    }

    bool has_layer_tensor(std::initializer_list<std::string_view> endings) const {
        return std::any_of(header_.tensors.begin(), header_.tensors.end(), [&](const GgufTensor& one) {
            const std::string_view name = one.name;
            return name.starts_with("blk.") &&
                   std::any_of(endings.begin(), endings.end(), [&](std::string_view ending) {
                       return name.ends_with(ending) && name[name.size() - ending.size() - 1] == '.';
                   });
        });
    }

    Result<void> read_rotary(Rotary& rotary) {
        const int head_dim = model_.config.head_dim;
        rotary.pairs = model_.architecture == "llama" ? RotaryPairs::neighbours : RotaryPairs::halves;
        DS_TRY(read_real(own("rope.freq_base"), 1.5, 1e12, rotary.theta));
        int turned = head_dim;
        DS_TRY(read_whole(own("rope.dimension_count"), 1, max_width, turned));
        if (turned != head_dim) {
            block(ErrorKind::unsupported,
                  fmt::format("{} is {}, but heads are {} wide; positions that turn a part of a head are not "
                              "supported",
                              own("rope.dimension_count"), turned, head_dim));
        }
        double factor = 0;  // 0 and 1 = not scaled
        DS_TRY(read_real(own("rope.scale_linear"), 0, 1e6, factor));
        DS_TRY(read_real(own("rope.scaling.factor"), 0, 1e6, factor));
        std::string_view kind = "linear";
        DS_TRY(header_.read_text(own("rope.scaling.type"), label_, kind));
        if (kind != "none" && kind != "linear" && kind != "yarn") {
            block(ErrorKind::unsupported, fmt::format("{} is {}, expected none, linear or yarn",
                                                      own("rope.scaling.type"), quote(kind)));
        }
        if (kind == "none" || factor == 0 || factor == 1) return {};
        rotary.factor = factor;
        rotary.scaling = kind == "yarn" ? RotaryScaling::yarn : RotaryScaling::linear;
        note(fmt::format("rotary positions are scaled ({}).", quote(kind)));
        return kind == "yarn" ? read_yarn(rotary) : Result<void>();
    }

    Result<void> read_yarn(Rotary& rotary) {
        int original = model_.config.n_positions;
        DS_TRY(read_whole(own("rope.scaling.original_context_length"), 1, max_count, original));
        rotary.original_positions = original;
        DS_TRY(read_real(own("rope.scaling.yarn_beta_fast"), 1e-3, 1e6, rotary.beta_fast));
        DS_TRY(read_real(own("rope.scaling.yarn_beta_slow"), 1e-3, 1e6, rotary.beta_slow));
        if (rotary.factor > 1) rotary.amplitude = 0.1 * std::log(rotary.factor) + 1;
        return {};
    }

    /// Settings that change what the model computes in ways this program does not know.
    Result<void> refuse_variants() {
        struct Variant {
            std::string_view key;
            double plain;  // the value that changes nothing
        };
        for (const auto& [key, plain] :
             {Variant{"attention.clamp_kqv", 0}, Variant{"attention.max_alibi_bias", 0},
              Variant{"attention.scale", 0}, Variant{"embedding_scale", 0}, Variant{"logit_scale", 0},
              Variant{"residual_scale", 0}, Variant{"rope.scaling.attn_factor", 1},
              Variant{"rope.scaling.yarn_attn_factor", 1}, Variant{"rope.scaling.yarn_ext_factor", 1},
              Variant{"rope.scaling.yarn_log_multiplier", 0}}) {
            double value = plain;
            DS_TRY(read_real(own(key), -1e12, 1e12, value));
            if (value != plain) {
                block(ErrorKind::unsupported,
                      fmt::format("{} is {}, which this version does not apply", own(key), value));
            }
        }
        const GgufValue* causal = header_.find(own("attention.causal"));
        if (causal != nullptr && causal->boolean() != true) {
            block(ErrorKind::unsupported,
                  fmt::format("{} is not true: the model does not predict text", own("attention.causal")));
        }
        return {};
    }

    Result<void> read_vocab() {
        int& vocab = model_.config.vocab;
        if (const GgufTensor* rows = tensor("token_embd.weight");
            rows != nullptr && rows->shape.size() == 2) {
            if (rows->shape[0] <= max_count) vocab = static_cast<int>(rows->shape[0]);
        }
        int stated = vocab;
        DS_TRY(read_whole(own("vocab_size"), 1, max_count, stated));
        if (vocab == 0) vocab = stated;
        if (stated != vocab) {
            note(fmt::format("{} is {}, but token_embd.weight has {} rows.", own("vocab_size"), stated,
                             vocab));
        }
        return {};
    }

    Result<void> read_eos() {
        for (const char* key : {"eos_token_id", "eot_token_id", "eom_token_id"}) {
            const std::string full = fmt::format("tokenizer.ggml.{}", key);
            int id = -1;
            DS_TRY(read_whole(full, -1, max_id, id));
            std::vector<std::int32_t>& ids = model_.config.eos_ids;
            if (id < 0 || std::find(ids.begin(), ids.end(), id) != ids.end()) continue;
            if (model_.config.vocab != 0 && id >= model_.config.vocab) {
                note(fmt::format("{} is {}, but the vocabulary has {} tokens; it is ignored.", full, id,
                                 model_.config.vocab));
                continue;
            }
            ids.push_back(id);
        }
        return {};
    }

    Result<void> look_for_extras() {
        int n_expert = 0;
        DS_TRY(read_whole(own("expert_count"), 0, max_width, n_expert));
        if (n_expert > 0) {
            block(ErrorKind::unsupported, fmt::format("is a mixture of {} experts", n_expert));
        }
        if (tensor("rope_freqs.weight") != nullptr)
            note("rotary frequencies are divided by rope_freqs.weight.");
        return {};
    }

    void describe_tensors() {
        std::map<std::string_view, std::uint64_t> bytes_of;
        std::map<std::string_view, std::size_t> unreadable;
        for (const GgufTensor& one : header_.tensors) {
            bytes_of[one.type->name] += one.bytes;
            if (!one.type->readable) ++unreadable[one.type->name];
            if (one.name != "rope_freqs.weight") {
                model_.n_parameter += one.bytes / one.type->block_bytes * one.type->block_elements;
            }
        }
        for (const auto& [name, count] : unreadable) {
            note(fmt::format("{} tensors are of type {}, which this version cannot read.", count, name));
        }
        std::vector<std::pair<std::string_view, std::uint64_t>> order(bytes_of.begin(), bytes_of.end());
        std::stable_sort(order.begin(), order.end(),
                         [](const auto& a, const auto& b) { return a.second > b.second; });
        model_.config.stored_as.clear();
        for (const auto& [name, bytes] : order) {
            model_.config.stored_as += fmt::format("{}{}", model_.config.stored_as.empty() ? "" : ", ", name);
        }
    }

    const GgufHeader& header_;
    const std::string& label_;
    bool is_known_ = false;
    GgufModel model_;
};

}  // namespace

Result<GgufModel> read_gguf_model(const GgufHeader& header, const std::string& label) {
    return ModelReader(header, label).read();
}

}  // namespace decodescope
