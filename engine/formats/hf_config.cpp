// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/formats/hf_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "engine/core/quote.h"
#include "engine/formats/json_text.h"

namespace decodescope {

namespace {

using Json = nlohmann::json;

/// A value as it is shown in a message.
std::string show(const Json& value) {
    if (value.is_string()) return quote(value.get_ref<const std::string&>(), 40);
    if (value.is_object()) return "an object";
    if (value.is_array()) return "a list";
    return value.dump();
}

/// Typed access to the fields of a config file. The first thing that is wrong is kept, later ones are not
/// looked at; absent and null fields take the default.
class Fields {
public:
    explicit Fields(const Json& object) : object_(object) {}

    const std::optional<Error>& error() const { return error_; }

    void fail(std::string what, ErrorKind kind = ErrorKind::bad_input) {
        if (!error_) error_ = Error{kind, std::move(what)};
    }

    /// The field, or null when it is absent or null.
    const Json* get(const char* name) const {
        const auto found = object_.find(name);
        return found == object_.end() || found->is_null() ? nullptr : &*found;
    }

    /// Whether the file mentions the field, if only as null.
    bool given(const char* name) const { return object_.contains(name); }

    int required_size(const char* name) {
        if (get(name) == nullptr) fail(fmt::format("{} is missing, expected a whole number", name));
        return size(name, 0);
    }

    int size(const char* name, int absent) {
        const Json* value = get(name);
        if (value == nullptr) return absent;
        if (!value->is_number_unsigned() || value->get<std::uint64_t>() > std::numeric_limits<int>::max()) {
            fail(fmt::format("{} is {}, expected a whole number from 1 to {}", name, show(*value),
                             std::numeric_limits<int>::max()));
            return absent;
        }
        return static_cast<int>(value->get<std::uint64_t>());
    }

    bool flag(const char* name, bool absent) {
        const Json* value = get(name);
        if (value == nullptr) return absent;
        if (!value->is_boolean()) {
            fail(fmt::format("{} is {}, expected true or false", name, show(*value)));
            return absent;
        }
        return value->get<bool>();
    }

    float number(const char* name, float absent) {
        const Json* value = get(name);
        if (value == nullptr) return absent;
        if (!value->is_number()) {
            fail(fmt::format("{} is {}, expected a number", name, show(*value)));
            return absent;
        }
        const double wide = value->get<double>();
        if (std::abs(wide) > std::numeric_limits<float>::max()) {
            fail(fmt::format("{} is {}, expected a number that fits 32 bits", name, show(*value)));
            return absent;
        }
        return static_cast<float>(wide);
    }

    std::string text(const char* name, const char* absent) {
        const Json* value = get(name);
        if (value == nullptr) return absent;
        if (!value->is_string()) {
            fail(fmt::format("{} is {}, expected a string", name, show(*value)));
            return absent;
        }
        return value->get<std::string>();
    }

private:
    const Json& object_;
    std::optional<Error> error_;
};

constexpr auto activations = std::to_array<std::pair<std::string_view, Activation>>({
    {"gelu_new", Activation::gelu_tanh},
    {"gelu_pytorch_tanh", Activation::gelu_tanh},
    {"gelu_fast", Activation::gelu_tanh},  // the same formula with its constants multiplied out
    {"gelu", Activation::gelu_erf},
    {"relu", Activation::relu},
});

/// A value of `model_type` and the architectures (model classes) that are its decoder.
struct ModelType {
    std::string_view name;
    Family family;
    std::array<std::string_view, 2> architectures;
};

constexpr auto model_types = std::to_array<ModelType>({
    {"gpt2", Family::gpt2, {"GPT2LMHeadModel", "GPT2Model"}},
    {"llama", Family::llama, {"LlamaForCausalLM", "LlamaModel"}},
    {"mistral", Family::llama, {"MistralForCausalLM", "MistralModel"}},
    {"qwen2", Family::llama, {"Qwen2ForCausalLM", "Qwen2Model"}},
});
constexpr const char* expected_types = "\"gpt2\", \"llama\", \"mistral\" or \"qwen2\"";

const ModelType* find_type(std::string_view architecture) {
    for (const ModelType& type : model_types) {
        if (std::find(type.architectures.begin(), type.architectures.end(), architecture) !=
            type.architectures.end()) {
            return &type;
        }
    }
    return nullptr;
}

/// What `model_type` says, or where it is missing the architectures; gpt2 after an error.
const ModelType& read_type(Fields& fields) {
    const ModelType* type = nullptr;
    const std::string name = fields.text("model_type", "");
    if (!name.empty()) {
        const auto found = std::find_if(model_types.begin(), model_types.end(),
                                        [&](const ModelType& known) { return known.name == name; });
        if (found != model_types.end()) {
            type = &*found;
        } else {
            fields.fail(
                fmt::format("model_type {} is not supported, expected {}", quote(name), expected_types),
                ErrorKind::unsupported);
        }
    }
    const Json* architectures = fields.get("architectures");
    if (architectures != nullptr && !architectures->is_array()) {
        fields.fail(fmt::format("architectures is {}, expected a list of names", show(*architectures)));
        architectures = nullptr;
    }
    for (const Json& architecture : architectures == nullptr ? Json::array() : *architectures) {
        if (!architecture.is_string()) {
            fields.fail(fmt::format("architectures holds {}, expected a list of names", show(architecture)));
            break;
        }
        const auto& found = architecture.get_ref<const std::string&>();
        if (type == nullptr) type = find_type(found);
        const ModelType& expected = type == nullptr ? model_types[0] : *type;
        if (find_type(found) != &expected) {
            fields.fail(fmt::format("architecture {} is not supported, expected \"{}\"", show(architecture),
                                    expected.architectures[0]),
                        ErrorKind::unsupported);
        }
    }
    if (type == nullptr) fields.fail(fmt::format("model_type is missing, expected {}", expected_types));
    return type == nullptr ? model_types[0] : *type;
}

void refuse_foreign_settings(Fields& fields) {
    for (const char* name : {"add_cross_attention", "is_encoder_decoder"}) {
        if (fields.flag(name, false)) {
            fields.fail(fmt::format("{} is true, which is not supported", name), ErrorKind::unsupported);
        }
    }
    if (fields.get("quantization_config") != nullptr) {
        fields.fail("quantization_config is set; quantised weights are not supported",
                    ErrorKind::unsupported);
    }
}

void add_eos_ids(Fields& fields, ModelConfig& config, const std::string& label,
                 std::vector<std::string>* notes) {
    const Json* value = fields.get("eos_token_id");
    if (value == nullptr) return;
    const Json ids = value->is_array() ? *value : Json::array({*value});
    constexpr std::size_t max_ids = 100;
    if (ids.size() > max_ids) {
        return fields.fail(
            fmt::format("eos_token_id lists {} ids, expected at most {}", ids.size(), max_ids));
    }
    for (const Json& id : ids) {
        if (!id.is_number_integer()) {
            return fields.fail(
                fmt::format("eos_token_id is {}, expected a token id or a list of them", show(*value)));
        }
        // A number above 2^63 must not turn negative.
        const bool known = id.is_number_unsigned()
                               ? id.get<std::uint64_t>() < static_cast<std::uint64_t>(config.vocab)
                               : id.get<std::int64_t>() >= 0 && id.get<std::int64_t>() < config.vocab;
        if (!known) {
            if (notes != nullptr) {
                notes->push_back(
                    fmt::format("{}: the end-of-text id {} is outside the vocabulary of {} and is "
                                "ignored.",
                                label, id.dump(), config.vocab));
            }
            continue;
        }
        const auto token = id.get<std::int32_t>();
        auto& eos = config.eos_ids;
        if (std::find(eos.begin(), eos.end(), token) == eos.end()) eos.push_back(token);
    }
}

Error labelled(const Error& error, const std::string& label) {
    return {error.kind, fmt::format("{}: {}.", label, error.message)};
}

void read_activation(Fields& fields, const char* field, const char* absent, Family family,
                     ModelConfig& config) {
    const std::string name = fields.text(field, absent);
    // Gated blocks are SwiGLU; the reference numbers cover no other.
    if (family == Family::llama) {
        config.activation = Activation::silu;
        if (name == "silu") return;
        return fields.fail(fmt::format("{} {} is not supported, expected silu", field, quote(name)),
                           ErrorKind::unsupported);
    }
    const auto found = std::find_if(activations.begin(), activations.end(),
                                    [&](const auto& pair) { return pair.first == name; });
    if (found != activations.end()) {
        config.activation = found->second;
        return;
    }
    fields.fail(fmt::format("{} {} is not supported, expected gelu_new, gelu_pytorch_tanh, gelu_fast, gelu "
                            "or relu",
                            field, quote(name)),
                ErrorKind::unsupported);
}

void read_gpt2(Fields& fields, ModelConfig& config) {
    config.n_positions = fields.required_size("n_positions");  // n_ctx may say something else and is not read
    config.d_model = fields.required_size("n_embd");
    config.n_layer = fields.required_size("n_layer");
    config.n_head = config.n_kv_head = fields.required_size("n_head");
    if (config.n_head > 0) config.head_dim = std::max(1, config.d_model / config.n_head);
    if (config.d_model > std::numeric_limits<int>::max() / 4) {
        fields.fail(fmt::format("n_embd is {}, which is out of range", config.d_model));
    } else {
        config.d_ff = fields.size("n_inner", 4 * config.d_model);
    }
    config.norm_eps = fields.number("layer_norm_epsilon", 1e-5f);
    config.scale_attention = fields.flag("scale_attn_weights", true);
    config.scale_attention_by_layer = fields.flag("scale_attn_by_inverse_layer_idx", false);
    fields.flag("reorder_and_upcast_attn", false);  // numerically the same in f32
    config.tied_head = fields.flag("tie_word_embeddings", true);
    read_activation(fields, "activation_function", "gelu_new", Family::gpt2, config);
}

/// The fields of a rope object. Its errors name the object.
void read_scaling(const Json& object, const char* name, const ModelConfig& config, Fields& outer,
                  Rotary& rotary) {
    if (!object.is_object()) {
        return outer.fail(fmt::format("{} is {}, expected an object", name, show(object)));
    }
    Fields fields(object);
    const std::string kind = fields.text("rope_type", fields.text("type", "default").c_str());
    const auto number = [&](const char* field, double absent) {
        return static_cast<double>(fields.number(field, static_cast<float>(absent)));
    };
    const auto required = [&](const char* field) {
        if (fields.get(field) == nullptr) fields.fail(fmt::format("{} is missing, expected a number", field));
        return number(field, 0);
    };
    rotary.theta = number("rope_theta", rotary.theta);
    if (number("partial_rotary_factor", 1) != 1) {
        fields.fail("partial_rotary_factor is not 1, which is not supported", ErrorKind::unsupported);
    }
    if (kind == "default") {
        rotary.scaling = RotaryScaling::none;
    } else if (kind == "linear") {
        rotary.scaling = RotaryScaling::linear;
        rotary.factor = required("factor");
    } else if (kind == "llama3") {
        rotary.scaling = RotaryScaling::llama3;
        rotary.factor = required("factor");
        rotary.original_positions = required("original_max_position_embeddings");
        rotary.low_freq_factor = required("low_freq_factor");
        rotary.high_freq_factor = required("high_freq_factor");
    } else if (kind == "yarn") {
        rotary.scaling = RotaryScaling::yarn;
        rotary.original_positions = number("original_max_position_embeddings", config.n_positions);
        // As the reference: what is absent or 0 takes the default.
        const auto or_default = [&](const char* field, double absent) {
            const double value = number(field, absent);
            return value == 0 ? absent : value;
        };
        rotary.factor = number("factor", config.n_positions / std::max(1.0, rotary.original_positions));
        rotary.beta_fast = or_default("beta_fast", 32);
        rotary.beta_slow = or_default("beta_slow", 1);
        rotary.truncate = fields.flag("truncate", true);
        const auto spread = [&](double scale) {
            return rotary.factor <= 1 ? 1.0 : 0.1 * scale * std::log(rotary.factor) + 1;
        };
        const double mscale = number("mscale", 0);
        const double mscale_all = number("mscale_all_dim", 0);
        rotary.amplitude =
            number("attention_factor",
                   mscale != 0 && mscale_all != 0 ? spread(mscale) / spread(mscale_all) : spread(1));
    } else {
        fields.fail(fmt::format("rope type {} is not supported, expected default, linear, llama3 or yarn",
                                quote(kind)),
                    ErrorKind::unsupported);
    }
    if (fields.error()) outer.fail(fmt::format("{}.{}", name, fields.error()->message), fields.error()->kind);
}

/// The window of a model whose layers all have the same; 0 = none.
int read_window(Fields& fields, const ModelType& type, int n_layer) {
    constexpr int reference_default = 4096;
    if (type.name == "llama") return 0;  // the reference reads no window either
    if (type.name == "mistral") {
        return fields.given("sliding_window") ? fields.size("sliding_window", 0) : reference_default;
    }
    if (!fields.flag("use_sliding_window", false)) return 0;
    const int window = fields.given("sliding_window") ? fields.size("sliding_window", 0) : reference_default;
    // Layers from max_window_layers on have the window, unless every layer's kind is listed.
    int with_window = std::max(0, n_layer - fields.size("max_window_layers", 28));
    if (const Json* kinds = fields.get("layer_types"); kinds != nullptr && kinds->is_array()) {
        with_window = static_cast<int>(std::count(kinds->begin(), kinds->end(), Json("sliding_attention")));
    }
    if (window == 0 || with_window == 0) return 0;
    if (with_window < n_layer) {
        fields.fail(fmt::format("{} of {} layers have a sliding window, which is not supported, expected all "
                                "or none",
                                with_window, n_layer),
                    ErrorKind::unsupported);
    }
    return window;
}

void read_llama(Fields& fields, const ModelType& type, ModelConfig& config) {
    config.family = Family::llama;
    config.n_positions = fields.required_size("max_position_embeddings");
    config.d_model = fields.required_size("hidden_size");
    config.n_layer = fields.required_size("num_hidden_layers");
    config.n_head = fields.required_size("num_attention_heads");
    config.n_kv_head = fields.size("num_key_value_heads", config.n_head);
    config.d_ff = fields.required_size("intermediate_size");
    if (fields.get("head_dim") != nullptr) {
        config.head_dim = fields.size("head_dim", 0);
    } else if (config.n_head > 0) {
        config.head_dim = config.d_model / config.n_head;
        if (config.d_model % config.n_head != 0) {
            fields.fail(
                fmt::format("hidden_size is {}, which num_attention_heads = {} does not divide, and "
                            "head_dim is missing",
                            config.d_model, config.n_head));
        }
    }
    config.norm = NormKind::rms_norm;
    config.norm_eps = fields.number("rms_norm_eps", 1e-6f);
    config.gated_ff = true;
    config.tied_head = fields.flag("tie_word_embeddings", false);
    const bool llama = type.name == "llama";
    config.attn_out_bias = llama && fields.flag("attention_bias", false);
    config.qkv_bias = config.attn_out_bias || type.name == "qwen2";
    config.ff_bias = llama && fields.flag("mlp_bias", false);
    read_activation(fields, "hidden_act", "silu", Family::llama, config);
    config.window = read_window(fields, type, config.n_layer);

    Rotary& rotary = config.rotary.emplace();
    rotary.theta = static_cast<double>(fields.number("rope_theta", 10000.0f));
    if (fields.number("partial_rotary_factor", 1) != 1) {
        fields.fail("partial_rotary_factor is not 1, which is not supported", ErrorKind::unsupported);
    }
    // Newer programs write rope_parameters, with theta in it.
    for (const char* name : {"rope_parameters", "rope_scaling"}) {
        const Json* object = fields.get(name);
        if (object == nullptr) continue;
        read_scaling(*object, name, config, fields, rotary);
        break;
    }
}

/// What the reference assumes when the file does not mention eos_token_id; an explicit null means none.
std::optional<std::int32_t> assumed_eos(const ModelType& type) {
    if (type.name == "gpt2") return 50256;
    if (type.name == "qwen2") return std::nullopt;
    return 2;
}

}  // namespace

Result<ModelConfig> parse_hf_config(std::string_view text, const std::string& label,
                                    std::vector<std::string>* notes) {
    const auto json = parse_json_object(text, label);
    if (!json) return json.error();
    Fields fields(*json);
    const ModelType& type = read_type(fields);
    refuse_foreign_settings(fields);

    ModelConfig config;
    config.vocab = fields.required_size("vocab_size");
    switch (type.family) {
        case Family::gpt2: read_gpt2(fields, config); break;
        case Family::llama: read_llama(fields, type, config); break;
    }
    add_eos_ids(fields, config, label, notes);
    if (const auto eos = assumed_eos(type); eos && !fields.given("eos_token_id") && config.vocab > *eos) {
        config.eos_ids.push_back(*eos);
    }

    if (fields.error()) return labelled(*fields.error(), label);
    if (const auto valid = config.validate(); !valid) {
        constexpr std::string_view general = "Model config: ";
        std::string_view what = valid.error().message;
        if (what.starts_with(general)) what.remove_prefix(general.size());
        return Error{valid.error().kind, fmt::format("{}: {}", label, what)};
    }
    return config;
}

Result<void> add_generation_config(std::string_view text, const std::string& label, ModelConfig& config,
                                   std::vector<std::string>* notes) {
    const auto json = parse_json_object(text, label);
    if (!json) return json.error();
    Fields fields(*json);
    add_eos_ids(fields, config, label, notes);
    if (fields.error()) return labelled(*fields.error(), label);
    return {};
}

}  // namespace decodescope
