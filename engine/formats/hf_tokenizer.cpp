// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/formats/hf_tokenizer.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include "engine/core/quote.h"
#include "engine/formats/hf_folder.h"
#include "engine/formats/input_file.h"
#include "engine/formats/json_text.h"
#include "engine/tokenizer/byte_level_bpe.h"
#include "engine/tokenizer/tokenizer_json.h"
#include "engine/tokenizer/vocab_file.h"

namespace decodescope {

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

Error broken(const fs::path& path, const std::string& what) {
    return {ErrorKind::bad_input, fmt::format("{}: {}.", path.string(), what)};
}

/// A settings file, or an empty object when it is not there.
Result<Json> read_optional(const fs::path& path) {
    if (!is_there(path)) return Json::object();
    const auto text = read_settings(path);
    if (!text) return text.error();
    return parse_json_object(*text, path.string());
}

/// The member of that name, or null when it is missing or JSON's null.
const Json* find(const Json& object, const std::string& name) {
    const auto found = object.find(name);
    return found == object.end() || found->is_null() ? nullptr : &*found;
}

/// A token's text, written as a string or as an object with its properties.
const std::string* content_of(const Json& value) {
    const Json* text = value.is_object() ? find(value, "content") : &value;
    return text != nullptr && text->is_string() ? &text->get_ref<const std::string&>() : nullptr;
}

std::string not_a_string(std::string_view name, const Json& value) {
    std::string text = value.dump(-1, ' ', true);
    if (text.size() > 60) text = text.substr(0, 57) + "...";
    return fmt::format("{} is {}, expected a string", name, text);
}

class FolderReader {
public:
    explicit FolderReader(const fs::path& folder)
        : folder_(folder), config_path_(folder / "tokenizer_config.json") {}

    Result<HfTokenizer> read() {
        auto config = read_optional(config_path_);
        if (!config) return config.error();
        config_ = *std::move(config);
        DS_TRY(read_tokenizer());
        if (out_.tokenizer != nullptr) DS_TRY(find_eos());
        DS_TRY(read_chat_template());
        return std::move(out_);
    }

private:
    void note(const fs::path& path, std::string_view what) {
        out_.notes.push_back(fmt::format("{}: {}", path.string(), what));
    }

    Result<void> read_tokenizer() {
        if (const fs::path path = folder_ / "tokenizer.json"; is_there(path)) {
            DS_TRY(refuse_impostor(path));
            return keep(load_tokenizer_json(path, &out_.notes));
        }
        bool found = false;
        for (const char* name : {"vocab.json", "encoder.json", "merges.txt", "vocab.bpe"}) {
            const fs::path path = folder_ / name;
            if (!is_there(path)) continue;
            DS_TRY(refuse_impostor(path));
            found = true;
        }
        if (found) return read_vocab_and_merges();
        const bool has_model = is_there(folder_ / "tokenizer.model");
        note(folder_, has_model ? "tokenizer.model is not read, only tokenizer.json or vocab.json with "
                                  "merges.txt; prompts must be given as token ids."
                                : "no tokenizer.json or vocab.json; prompts must be given as token ids.");
        return {};
    }

    /// A kind of tokenizer that is not read leaves a model that runs on ids.
    Result<void> keep(Result<std::shared_ptr<const Tokenizer>> tokenizer) {
        if (tokenizer) {
            out_.tokenizer = *std::move(tokenizer);
        } else if (tokenizer.error().kind == ErrorKind::unsupported) {
            std::string why = tokenizer.error().message;
            why.pop_back();
            out_.notes.push_back(why + "; prompts must be given as token ids.");
        } else {
            return tokenizer.error();
        }
        return {};
    }

    Result<void> read_vocab_and_merges() {
        auto spec = load_vocab_and_merges(folder_);
        if (!spec) return spec.error();
        DS_TRY(choose_rule(*spec));
        DS_TRY(read_added(*spec));
        return keep(make_byte_level_bpe(*std::move(spec), &out_.notes));
    }

    Result<void> choose_rule(ByteLevelSpec& spec) {
        const auto config = read_optional(folder_ / "config.json");
        if (!config) return config.error();
        const Json* type = find(*config, "model_type");
        const std::string name = type != nullptr && type->is_string() ? type->get<std::string>() : "gpt2";
        if (name == "qwen2") {
            spec.split = SplitRule::qwen2;
            spec.nfc = true;
        } else if (name != "gpt2") {
            note(folder_,
                 "text is split by GPT-2's rule before merging; where the model was trained with another "
                 "rule, ids differ from the reference's.");
        }
        return {};
    }

    /// Fills the added tokens and the ids around a prompt.
    Result<void> read_added(ByteLevelSpec& spec) {
        DS_TRY(read_decoder());
        DS_TRY(read_added_file());
        DS_TRY(read_special_names());
        special_.insert("<|endoftext|>");
        for (auto& [content, token] : added_) {
            token.special = token.special || special_.contains(content);
            special_.erase(content);
            spec.added.push_back(token);
        }
        for (std::size_t i = 0; i < spec.merges.size(); ++i) {
            special_.erase(std::string(spec.merges.both(i)));  // ordinary text, whatever it is used for
        }
        for (const std::string& content : special_) {
            AddedToken token;
            token.id = spec.spellings.find(content);
            token.content = content;
            if (token.id >= 0 && content.size() > 1) spec.added.push_back(std::move(token));
        }
        for (const auto& [flag, name, ids] : {std::tuple{"add_bos_token", "bos_token", &spec.before},
                                              std::tuple{"add_eos_token", "eos_token", &spec.after}}) {
            const Json* wanted = find(config_, flag);
            if (wanted == nullptr || *wanted == false) continue;
            if (*wanted != true) return broken(config_path_, fmt::format("{} is not true or false", flag));
            const Json* named = find(config_, name);
            const std::string* content = named == nullptr ? nullptr : content_of(*named);
            const auto token = std::find_if(spec.added.begin(), spec.added.end(), [&](const AddedToken& one) {
                return content != nullptr && one.content == *content;
            });
            if (token == spec.added.end()) {
                return broken(config_path_, fmt::format("{} is true, but {} names no token", flag, name));
            }
            ids->push_back(token->id);
        }
        return {};
    }

    /// `added_tokens_decoder` of tokenizer_config.json: id -> properties.
    Result<void> read_decoder() {
        const Json* decoder = find(config_, "added_tokens_decoder");
        if (decoder == nullptr) return {};
        if (!decoder->is_object()) return broken(config_path_, "added_tokens_decoder is not an object");
        for (const auto& [number, value] : decoder->items()) {
            AddedToken token;
            const char* end = number.data() + number.size();
            const auto [rest, error] = std::from_chars(number.data(), end, token.id);
            const std::string* content = content_of(value);
            if (error != std::errc() || rest != end || content == nullptr) {
                return broken(
                    config_path_,
                    fmt::format("added_tokens_decoder[{}] is not an id with a content", quote(number)));
            }
            token.content = *content;
            token.special = false;
            for (const auto& [name, flag] :
                 {std::pair{"single_word", &token.single_word}, std::pair{"lstrip", &token.lstrip},
                  std::pair{"rstrip", &token.rstrip}, std::pair{"normalized", &token.normalized},
                  std::pair{"special", &token.special}}) {
                const Json* is = value.is_object() ? find(value, name) : nullptr;
                if (is == nullptr) continue;
                if (!is->is_boolean()) {
                    return broken(
                        config_path_,
                        fmt::format("added_tokens_decoder[{}].{} is not true or false", quote(number), name));
                }
                *flag = is->get<bool>();
            }
            const std::string key = token.content;
            added_.emplace(key, std::move(token));
        }
        return {};
    }

    /// added_tokens.json: content -> id.
    Result<void> read_added_file() {
        const fs::path path = folder_ / "added_tokens.json";
        const auto json = read_optional(path);
        if (!json) return json.error();
        for (const auto& [content, id] : json->items()) {
            if (!id.is_number_unsigned() || id.get<std::uint64_t>() >= max_token_ids) {
                return broken(path, fmt::format("the id of {} is not a whole number below {}", quote(content),
                                                max_token_ids));
            }
            AddedToken token;
            token.id = static_cast<std::int32_t>(id.get<std::uint64_t>());
            token.content = content;
            token.special = false;
            added_.emplace(content, std::move(token));
        }
        return {};
    }

    Result<void> read_special_names() {
        const fs::path path = folder_ / "special_tokens_map.json";
        const auto map = read_optional(path);
        if (!map) return map.error();
        for (const Json* source : {&*map, &std::as_const(config_)}) {
            for (const char* name : {"bos_token", "eos_token", "unk_token", "pad_token", "sep_token",
                                     "cls_token", "mask_token"}) {
                const Json* value = find(*source, name);
                if (value == nullptr) continue;
                const std::string* content = content_of(*value);
                if (content == nullptr) {
                    return broken(source == &*map ? path : config_path_, not_a_string(name, *value));
                }
                special_.insert(*content);
            }
            const Json* more = find(*source, "additional_special_tokens");
            if (more == nullptr || !more->is_array()) continue;
            for (const Json& value : *more) {
                if (const std::string* content = content_of(value)) special_.insert(*content);
            }
        }
        special_.erase("");
        return {};
    }

    Result<void> find_eos() {
        const Json* value = find(config_, "eos_token");
        if (value == nullptr) return {};
        const std::string* content = content_of(*value);
        if (content == nullptr) return broken(config_path_, not_a_string("eos_token", *value));
        for (std::int32_t id = 0; id < out_.tokenizer->n_token(); ++id) {
            if (!out_.tokenizer->is_special(id) || out_.tokenizer->token_bytes(id) != *content) continue;
            out_.eos_id = id;
            break;
        }
        return {};
    }

    Result<void> read_chat_template() {
        if (const fs::path path = folder_ / "chat_template.jinja"; is_there(path)) {
            auto text = read_settings(path);
            if (!text) return text.error();
            out_.chat_template = *std::move(text);
            return {};
        }
        const Json* value = find(config_, "chat_template");
        if (value == nullptr) return {};
        if (value->is_string()) {
            out_.chat_template = value->get<std::string>();
            return {};
        }
        if (!value->is_array()) return broken(config_path_, "chat_template is neither a string nor a list");
        const Json* chosen = nullptr;
        for (const Json& one : *value) {
            const Json* text = one.is_object() ? find(one, "template") : nullptr;
            if (text == nullptr || !text->is_string()) {
                return broken(config_path_, "chat_template has an entry without a template");
            }
            const Json* name = find(one, "name");
            if (chosen == nullptr || (name != nullptr && *name == "default")) chosen = text;
        }
        if (chosen == nullptr) return {};
        out_.chat_template = chosen->get<std::string>();
        if (value->size() > 1) {
            note(config_path_, fmt::format("chat_template lists {} templates; the one named default, or else "
                                           "the first, is shown.",
                                           value->size()));
        }
        return {};
    }

    const fs::path& folder_;
    fs::path config_path_;
    Json config_;
    std::map<std::string, AddedToken> added_;  // by content
    std::set<std::string> special_;
    HfTokenizer out_;
};

}  // namespace

Result<HfTokenizer> load_hf_tokenizer(const fs::path& folder) {
    return FolderReader(folder).read();
}

}  // namespace decodescope
