// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/plan/shape_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <utility>

#include "engine/core/quote.h"
#include "engine/core/text_file.h"
#include "engine/formats/gguf_weights.h"
#include "engine/formats/hf_config.h"
#include "engine/formats/json_text.h"
#include "engine/formats/model_source.h"
#include "engine/model/preset.h"
#include "engine/plan/known_models.h"

namespace decodescope {

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr std::int64_t max_layers = 1'000;
constexpr std::int64_t max_width = 1 << 20;
constexpr std::int64_t max_count = 1 << 24;
constexpr std::uint64_t max_config_bytes = std::uint64_t{4} << 20;

/// Numbers of hostile files must not overflow what is computed from them.
Result<void> check_size(const PlanShape& shape) {
    constexpr std::int64_t widest = 1 << 24;
    constexpr double most_parameters = 1e16;
    const std::int64_t heads = std::int64_t{shape.n_head} * std::max(shape.key_dim, shape.value_dim);
    if (heads > widest) {
        return Error{ErrorKind::bad_input,
                     fmt::format("all heads together are {} wide, expected at most {}", heads, widest)};
    }
    double parameters = 0;
    for (const TensorGroup& group : shape.tensors())
        parameters += static_cast<double>(group.count) * static_cast<double>(group.rows) *
                      static_cast<double>(group.columns);
    if (parameters > most_parameters)
        return Error{ErrorKind::bad_input, "there are more than 10^16 parameters"};
    return {};
}

/// What a model type's files leave unsaid about its tensors, because the reference program knows it.
struct TypeTraits {
    std::string_view type;
    bool gated = true;
    bool tied = false;  ///< where the file does not say
    bool norm_bias = false;
    bool qkv_bias = false;
    bool query_key_norm = false;
    int norms_per_layer = 2;
};

constexpr auto known_types = std::to_array<TypeTraits>({
    {.type = "llama"},
    {.type = "mistral"},
    {.type = "mixtral"},
    {.type = "phi3"},
    {.type = "qwen2", .qkv_bias = true},
    {.type = "qwen3", .query_key_norm = true},
    {.type = "qwen3_moe", .query_key_norm = true},
    {.type = "gemma", .tied = true},
    {.type = "gemma2", .tied = true, .norms_per_layer = 4},
    {.type = "gemma3_text", .tied = true, .query_key_norm = true, .norms_per_layer = 4},
    {.type = "falcon", .gated = false, .tied = true, .norm_bias = true, .norms_per_layer = 1},
    {.type = "deepseek_v2"},
    {.type = "deepseek_v3"},
});

/// Reads the fields of one config; the first thing that is wrong is kept.
class ConfigReader {
public:
    ConfigReader(const Json& object, PlanShape& shape) : object_(object), s_(shape) {}

    std::optional<Error> read() {
        type_ = text("model_type");
        s_.architecture = type_;
        s_.stored_as = text("torch_dtype").empty() ? text("dtype") : text("torch_dtype");
        read_sizes();
        read_heads();
        if (given("kv_lora_rank")) read_latent();
        read_window();
        read_tensors();
        if (!error_) {
            if (const auto wrong = check_size(s_); !wrong) fail(wrong.error().message);
        }
        return error_;
    }

private:
    void fail(std::string what) {
        if (!error_) error_ = Error{ErrorKind::bad_input, std::move(what)};
    }
    void note(std::string what) { s_.notes.push_back(std::move(what) + "."); }
    const Json* get(const char* name) const {
        const auto found = object_.find(name);
        return found == object_.end() || found->is_null() ? nullptr : &*found;
    }
    bool given(const char* name) const { return get(name) != nullptr; }
    std::string text(const char* name) const {
        const Json* value = get(name);
        return value != nullptr && value->is_string() ? value->get<std::string>() : std::string();
    }
    bool flag(const char* name, bool absent) {
        const Json* value = get(name);
        if (value == nullptr) return absent;
        if (!value->is_boolean()) fail(fmt::format("{} is not true or false", name));
        return value->is_boolean() && value->get<bool>();
    }
    /// The number of the first of `names` that the file has; 0 when it has none.
    int size(std::initializer_list<const char*> names, std::int64_t most, std::int64_t least = 1) {
        for (const char* name : names) {
            const Json* value = get(name);
            if (value == nullptr) continue;
            const bool whole = value->is_number_integer() &&
                               !(value->is_number_unsigned() && value->get<std::uint64_t>() > (1ULL << 62));
            if (!whole || value->get<std::int64_t>() < least || value->get<std::int64_t>() > most) {
                fail(fmt::format("{} is {}, expected a whole number from {} to {}", name,
                                 value->is_primitive() ? quote(value->dump(), 40) : "not a number", least,
                                 most));
                return 0;
            }
            return value->get<int>();
        }
        return 0;
    }
    int required(std::initializer_list<const char*> names, std::int64_t most) {
        const int value = size(names, most);
        if (value == 0) fail(fmt::format("{} is missing, expected a whole number", *names.begin()));
        return value;
    }

    void read_sizes() {
        s_.n_layer = required({"num_hidden_layers", "n_layer"}, max_layers);
        s_.d_model = required({"hidden_size", "n_embd"}, max_width);
        s_.n_head = required({"num_attention_heads", "n_head"}, max_width);
        s_.vocab = required({"vocab_size"}, max_count);
        s_.n_positions = size({"max_position_embeddings", "n_positions"}, max_count);
    }

    void read_heads() {
        const bool one_head = flag("multi_query", false) && !flag("new_decoder_architecture", false);
        s_.n_kv_head = one_head ? 1 : size({"num_key_value_heads", "num_kv_heads"}, max_width);
        if (s_.n_kv_head == 0) {
            s_.n_kv_head = s_.n_head;
            note(
                fmt::format("num_key_value_heads is not in the file: as many as num_attention_heads = {} "
                            "were taken, as the reference program does",
                            s_.n_head));
        }
        s_.key_dim = size({"head_dim"}, max_width);
        if (s_.key_dim == 0 && s_.n_head > 0 && !given("kv_lora_rank")) {
            s_.key_dim = s_.d_model / s_.n_head;
            if (s_.d_model % s_.n_head != 0) {
                fail(
                    fmt::format("head_dim is missing, and num_attention_heads = {} does not divide "
                                "hidden_size = {}",
                                s_.n_head, s_.d_model));
            }
            note(
                fmt::format("head_dim is not in the file: hidden_size / num_attention_heads = {} was taken, "
                            "as the reference program does",
                            s_.key_dim));
        }
        s_.value_dim = s_.key_dim;
        if (!error_ && (s_.n_kv_head > s_.n_head || s_.n_head % s_.n_kv_head != 0)) {
            fail(fmt::format("num_key_value_heads = {} does not divide num_attention_heads = {}",
                             s_.n_kv_head, s_.n_head));
        }
    }

    void read_latent() {
        s_.latent = size({"kv_lora_rank"}, max_width);
        s_.rope_dim = required({"qk_rope_head_dim"}, max_width);
        s_.key_dim = required({"qk_nope_head_dim"}, max_width) + s_.rope_dim;
        s_.value_dim = required({"v_head_dim"}, max_width);
        s_.query_rank = size({"q_lora_rank"}, max_width);
    }

    void read_window() {
        const int window = size({"sliding_window"}, max_count);
        if (window == 0 || type_ == "llama" || !flag("use_sliding_window", true)) return;
        int layers = s_.n_layer;
        if (const Json* kinds = get("layer_types"); kinds != nullptr && kinds->is_array()) {
            layers = static_cast<int>(std::count(kinds->begin(), kinds->end(), Json("sliding_attention")));
        } else if (type_ == "gemma2") {
            layers = (s_.n_layer + 1) / 2;
            note("every second layer has the window, as the reference program has it");
        } else if (const int pattern =
                       size({"sliding_window_pattern", "_sliding_window_pattern"}, max_layers);
                   pattern > 0) {
            layers = s_.n_layer - s_.n_layer / pattern;
        } else if (type_ == "gemma3_text") {
            constexpr int usual = 6;
            layers = s_.n_layer - s_.n_layer / usual;
            note(
                "sliding_window_pattern is not in the file: 5 of 6 layers have the window, as the reference "
                "program has it");
        } else if (given("max_window_layers")) {
            layers = std::max(0, s_.n_layer - size({"max_window_layers"}, max_layers, 0));
        } else if (type_ != "mistral" && type_ != "phi3" && type_ != "mixtral") {
            note("the file does not say which layers have the window: all were taken");
        }
        s_.n_window_layer = std::min(layers, s_.n_layer);
        if (s_.n_window_layer > 0) s_.window = window;
    }

    void read_tensors() {
        const auto found = std::find_if(known_types.begin(), known_types.end(),
                                        [&](const TypeTraits& known) { return known.type == type_; });
        if (found == known_types.end()) {
            s_.tensors_known = false;
            note(
                fmt::format("the tensors of model_type {} are not known here: weights are not planned unless "
                            "the number of parameters is given",
                            quote(type_, 40)));
            s_.d_ff = size({"intermediate_size", "n_inner"}, max_width);
            s_.gated = true;
            return;
        }
        s_.gated = found->gated;
        s_.norm_bias = found->norm_bias;
        s_.norms_per_layer = found->norms_per_layer;
        s_.query_key_norm = found->query_key_norm;
        s_.tied = flag("tie_word_embeddings", found->tied);
        const bool bias = flag("attention_bias", false) || flag("bias", false);
        s_.qkv_bias = found->qkv_bias || bias;
        s_.out_bias = bias;
        s_.ff_bias = flag("mlp_bias", false) || flag("bias", false);
        // Falcon writes no width: it is four times the model's.
        s_.d_ff = type_ == "falcon" && !given("ffn_hidden_size")
                      ? 4 * s_.d_model
                      : required({"intermediate_size", "ffn_hidden_size"}, max_width);
        read_experts();
    }

    void read_experts() {
        s_.n_expert = size({"n_routed_experts", "num_local_experts", "num_experts"}, 1 << 16);
        if (s_.n_expert == 0) return;
        s_.n_shared_expert = size({"n_shared_experts"}, 1 << 16);
        s_.d_expert = size({"moe_intermediate_size"}, max_width);
        if (s_.d_expert == 0) s_.d_expert = s_.d_ff;
        s_.n_dense_layer = std::min(size({"first_k_dense_replace"}, max_layers, 0), s_.n_layer);
        s_.expert_bias = type_ == "deepseek_v3";
    }

    const Json& object_;
    PlanShape& s_;
    std::string type_;
    std::optional<Error> error_;
};

/// Reads the keys of a GGUF header that decide the cache of an architecture this program does not run.
class HeaderReader {
public:
    HeaderReader(const GgufHeader& header, std::string architecture, std::string label)
        : header_(header), architecture_(std::move(architecture)), label_(std::move(label)) {}

    Result<PlanShape> read(PlanShape shape) {
        s_ = std::move(shape);
        DS_TRY(whole("block_count", true, s_.n_layer, max_layers));
        DS_TRY(whole("embedding_length", true, s_.d_model));
        DS_TRY(whole("attention.head_count", true, s_.n_head));
        DS_TRY(whole("attention.head_count_kv", false, s_.n_kv_head));
        if (s_.n_kv_head == 0) {
            s_.n_kv_head = s_.n_head;
            s_.notes.push_back(
                fmt::format("{}.attention.head_count_kv is not in the file: as many as "
                            "head_count = {} were taken.",
                            architecture_, s_.n_head));
        }
        DS_TRY(whole("attention.kv_lora_rank", false, s_.latent));
        if (s_.latent > 0) DS_TRY(whole("rope.dimension_count", true, s_.rope_dim));
        DS_TRY(width("key_length", s_.key_dim));
        DS_TRY(width("value_length", s_.value_dim));
        DS_TRY(whole("attention.sliding_window", false, s_.window, max_count));
        DS_TRY(window_layers());
        DS_TRY(whole("context_length", false, s_.n_positions, max_count));
        DS_TRY(whole("feed_forward_length", false, s_.d_ff));
        s_.gated = true;
        s_.tensors_known = false;
        if (const auto size = check_size(s_); !size) return fail(size.error().message);
        return std::move(s_);
    }

private:
    Error fail(const std::string& what) const {
        return {ErrorKind::bad_input, fmt::format("{}: {}.", label_, what)};
    }
    Result<void> whole(const std::string& name, bool needed, int& out, std::int64_t most = max_width) {
        const std::string key = architecture_ + "." + name;
        const GgufValue* value = header_.find(key);
        if (value == nullptr) return needed ? Result<void>(fail("lacks " + key)) : Result<void>();
        std::optional<std::int64_t> number = value->integer();
        if (const auto list = value->integers(); list && !list->empty()) {
            if (std::adjacent_find(list->begin(), list->end(), std::not_equal_to<>()) != list->end())
                return fail(key + " differs between layers, which cannot be planned");
            number = list->front();
        }
        if (!number || *number < (needed ? 1 : 0) || *number > most) {
            return fail(fmt::format("{} is not a whole number from {} to {}", key, needed ? 1 : 0, most));
        }
        out = static_cast<int>(*number);
        return {};
    }
    /// Width of one key or value: of a latent's heads where the file tells both apart.
    Result<void> width(const std::string& name, int& out) {
        DS_TRY(whole("attention." + name + "_mla", false, out));
        if (out == 0) DS_TRY(whole("attention." + name, false, out));
        if (out != 0) return {};
        out = s_.d_model / s_.n_head;
        s_.notes.push_back(
            fmt::format("{}.attention.{} is not in the file: embedding_length / head_count = {} "
                        "was taken.",
                        architecture_, name, out));
        return out > 0 ? Result<void>() : fail("heads are wider than the model");
    }
    Result<void> window_layers() {
        if (s_.window == 0) return {};
        s_.n_window_layer = s_.n_layer;
        if (architecture_ == "gemma2") s_.n_window_layer = (s_.n_layer + 1) / 2;
        if (architecture_ == "gemma3") s_.n_window_layer = s_.n_layer - s_.n_layer / 6;
        if (s_.n_window_layer == s_.n_layer)
            s_.notes.push_back("The file does not say which layers have the window: all were taken.");
        return {};
    }

    const GgufHeader& header_;
    std::string architecture_;
    std::string label_;
    PlanShape s_;
};

std::string lower(std::string text) {
    for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return text;
}

Result<PlanShape> shape_from_file(const fs::path& path, std::string name) {
    const auto text = read_text_file(path, max_config_bytes);
    if (!text) return text.error();
    auto shape = shape_from_config(*text, path.string());
    if (!shape) return shape;
    shape->name = std::move(name);
    if (shape->config) shape->config->name = shape->name;
    return shape;
}

std::string name_of(const fs::path& path) {
    const fs::path plain = path.has_filename() ? path : path.parent_path();
    return plain.filename().string();
}

Result<PlanShape> shape_from_path(const fs::path& path) {
    std::error_code ignored;
    if (is_gguf_file(path)) return shape_from_gguf(path);
    const fs::path config = fs::is_directory(path, ignored) ? path / "config.json" : path;
    if (fs::exists(config, ignored)) return shape_from_file(config, name_of(config == path ? config : path));
    // A folder with one GGUF file, or the sentence that says what is wrong with it.
    const auto resolved = resolve_model_path(path.string());
    if (!resolved) return resolved.error();
    if (is_gguf_file(*resolved)) return shape_from_gguf(*resolved);
    return Error{ErrorKind::bad_input, fmt::format("{}: holds no config.json.", path.string())};
}

Result<PlanShape> shape_of_known(const std::string& name, bool only_known) {
    const auto known = load_known_models();
    if (!known) return known.error();
    for (const KnownModel& model : *known) {
        if (model.name == lower(name)) return model.shape;
    }
    return Error{
        ErrorKind::bad_input,
        fmt::format("{} is {}a known configuration (\"decodescope-cli plan --list\" lists them).",
                    quote(name, 400),
                    only_known ? "not "
                               : "neither a folder, a config.json, a GGUF file, a bundled or fetched "
                                 "model nor ")};
}

}  // namespace

Result<PlanShape> shape_from_config(std::string_view text, const std::string& label) {
    const auto json = parse_json_object(text, label);
    if (!json) return json.error();
    // Models that also see pictures keep their decoder apart.
    const auto inner = json->find("text_config");
    const bool nested = inner != json->end() && inner->is_object() && !json->contains("num_hidden_layers");
    const auto labelled = [&](const Error& error) {
        return Error{error.kind,
                     fmt::format("{}: {}{}.", label, nested ? "text_config." : "", error.message)};
    };
    const Json& fields = nested ? *inner : *json;
    PlanShape read;
    const auto wrong = ConfigReader(fields, read).read();
    if (const auto config = parse_hf_config(nested ? inner->dump() : text, label, nullptr)) {
        PlanShape shape = plan_shape(*config, label);
        if (!read.architecture.empty()) shape.architecture = read.architecture;
        shape.stored_as = read.stored_as;
        // What the file leaves out is told as for any other model; GPT-2 has no such fields.
        if (config->family != Family::gpt2) shape.notes = std::move(read.notes);
        return shape;
    } else if (read.architecture == "gpt2") {
        return config.error();
    }
    if (wrong) return labelled(*wrong);
    PlanShape shape = std::move(read);
    shape.source = label;
    shape.notes.push_back("This program plans the model but does not run it.");
    return shape;
}

Result<PlanShape> shape_from_gguf(const fs::path& path) {
    auto source = open_gguf(path);
    if (!source) return source.error();
    const GgufModel& model = source->model;
    PlanShape shape;
    if (!model.obstacle) {
        shape = plan_shape(model.config, path.string());
    } else {
        shape.source = path.string();
        shape.vocab = model.config.vocab;
        shape.notes.push_back("This program plans the model but does not run it.");
        auto read = HeaderReader(source->file->header(), model.architecture, path.string()).read(shape);
        if (!read) return read;
        shape = *std::move(read);
        shape.stated_parameters = static_cast<std::int64_t>(model.n_parameter);
    }
    shape.name = path.stem().string();
    shape.architecture = model.architecture;
    shape.stored_as = model.config.stored_as;
    for (const GgufTensorUse& use : source->tensors) shape.file_tensor_bytes += use.tensor->bytes;
    return shape;
}

Result<PlanShape> read_shape(const std::string& text) {
    constexpr std::string_view known = "known:";
    if (text.starts_with(known)) return shape_of_known(text.substr(known.size()), true);
    const auto ref = parse_model_ref(text);
    if (!ref) return ref.error();
    if (!ref->preset.empty()) {
        const auto config = preset_config(ref->preset);
        if (!config) return config.error();
        PlanShape shape = plan_shape(*config, text);
        shape.loadable = true;
        return shape;
    }
    std::error_code ignored;
    const bool exists = fs::exists(text, ignored);
    const auto path = exists ? Result<fs::path>(fs::path(text)) : resolve_model_path(text);
    if (!path) return shape_of_known(text, false);
    auto shape = shape_from_path(*path);
    if (!shape) return shape;
    if (!exists) shape->name = text;
    // A lone config.json comes without weights.
    shape->loadable = shape->config && (fs::is_directory(*path, ignored) || is_gguf_file(*path));
    return shape;
}

}  // namespace decodescope
