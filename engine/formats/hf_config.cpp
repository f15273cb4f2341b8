// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/formats/hf_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
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

void read_family(Fields& fields) {
    constexpr std::array<std::string_view, 2> known = {"GPT2LMHeadModel", "GPT2Model"};
    const std::string type = fields.text("model_type", "");
    if (!type.empty() && type != "gpt2") {
        fields.fail(fmt::format("model_type {} is not supported, expected \"gpt2\"", quote(type)),
                    ErrorKind::unsupported);
    }
    const Json* architectures = fields.get("architectures");
    if (architectures == nullptr) {
        if (type.empty()) fields.fail("model_type is missing, expected \"gpt2\"");
        return;
    }
    if (!architectures->is_array()) {
        return fields.fail(
            fmt::format("architectures is {}, expected a list of names", show(*architectures)));
    }
    for (const Json& name : *architectures) {
        if (!name.is_string()) {
            return fields.fail(fmt::format("architectures holds {}, expected a list of names", show(name)));
        }
        if (std::find(known.begin(), known.end(), name.get_ref<const std::string&>()) == known.end()) {
            return fields.fail(
                fmt::format("architecture {} is not supported, expected \"GPT2LMHeadModel\"", show(name)),
                ErrorKind::unsupported);
        }
    }
}

/// Settings that change the computation in ways this program does not have.
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

}  // namespace

Result<ModelConfig> parse_hf_config(std::string_view text, const std::string& label,
                                    std::vector<std::string>* notes) {
    const auto json = parse_json_object(text, label);
    if (!json) return json.error();
    Fields fields(*json);
    read_family(fields);
    refuse_foreign_settings(fields);

    ModelConfig config;
    config.vocab = fields.required_size("vocab_size");
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

    const std::string activation = fields.text("activation_function", "gelu_new");
    const auto found = std::find_if(activations.begin(), activations.end(),
                                    [&](const auto& pair) { return pair.first == activation; });
    if (found == activations.end()) {
        fields.fail(fmt::format("activation_function {} is not supported, expected gelu_new, "
                                "gelu_pytorch_tanh, gelu_fast, gelu or relu",
                                quote(activation)),
                    ErrorKind::unsupported);
    } else {
        config.activation = found->second;
    }
    add_eos_ids(fields, config, label, notes);
    // What the reference assumes when the file is silent; an explicit null means none.
    constexpr std::int32_t gpt2_eos = 50256;
    if (!json->contains("eos_token_id") && config.vocab > gpt2_eos) config.eos_ids.push_back(gpt2_eos);

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

Result<std::string> parse_eos_token(std::string_view text, const std::string& label) {
    const auto json = parse_json_object(text, label);
    if (!json) return json.error();
    const auto found = json->find("eos_token");
    if (found == json->end() || found->is_null()) return std::string();
    // Older programs write the token as an object with its properties.
    const Json& value = found->is_object() && found->contains("content") ? found->at("content") : *found;
    if (value.is_string()) return value.get<std::string>();
    return Error{ErrorKind::bad_input,
                 fmt::format("{}: eos_token is {}, expected a string.", label, show(value))};
}

}  // namespace decodescope
