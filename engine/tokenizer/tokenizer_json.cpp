// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/tokenizer/tokenizer_json.h"

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>

#include "engine/core/quote.h"
#include "engine/core/text_file.h"
#include "engine/tokenizer/byte_level_bpe.h"
#include "engine/tokenizer/sentence_piece_bpe.h"
#include "engine/tokenizer/token_checks.h"
#include "engine/tokenizer/tokenizer_json_text.h"

namespace decodescope {

namespace {

using Json = nlohmann::json;
using Prefix = SentencePieceSpec::Prefix;

/// Split rules as regular expressions, which are known by their text alone.
struct KnownRegex {
    std::string_view text;
    SplitRule rule;
};
constexpr std::array<KnownRegex, 3> known_regexes = {{
    {R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)", SplitRule::gpt2},
    {R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|)"
     R"(\s+(?!\S)|\s+)",
     SplitRule::llama3},
    {R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|)"
     R"(\s+(?!\S)|\s+)",
     SplitRule::qwen2},
}};

std::string show(const Json& value) {
    if (value.is_string()) return quote(value.get_ref<const std::string&>());
    const std::string text = value.dump(-1, ' ', true);
    return text.size() <= 60 ? text : text.substr(0, 57) + "...";
}

class Reader {
public:
    Reader(TokenizerJsonText& text, std::string label, std::vector<std::string>* notes)
        : text_(text), label_(std::move(label)), notes_(notes) {}

    Result<std::shared_ptr<const Tokenizer>> read() {
        if (const Json* version = find(text_.rest, "version"); version != nullptr && *version != "1.0") {
            return unsupported(fmt::format("version is {}, this program reads \"1.0\"", show(*version)));
        }
        DS_TRY(read_model());
        DS_TRY(read_normalizer(find(text_.rest, "normalizer"), 0));
        DS_TRY(read_pre_tokenizer(find(text_.rest, "pre_tokenizer"), 0));
        DS_TRY(read_decoder(find(text_.rest, "decoder"), 0));
        DS_TRY(read_post_processor(find(text_.rest, "post_processor"), 0));
        DS_TRY(read_added_tokens());
        return n_byte_level_ > 0 ? make_byte_level() : make_sentence_piece();
    }

private:
    Error broken(const std::string& what) const {
        return {ErrorKind::bad_input, fmt::format("{}: {}.", label_, what)};
    }
    Error unsupported(const std::string& what) const {
        return {ErrorKind::unsupported, fmt::format("{}: {}.", label_, what)};
    }

    /// The member of that name, or null when it is missing or JSON's null.
    static const Json* find(const Json& object, const char* name) {
        const auto found = object.find(name);
        return found == object.end() || found->is_null() ? nullptr : &*found;
    }
    /// Leaves `out` alone when the member is missing.
    Result<void> read_flag(const Json& object, const char* name, const std::string& where, bool& out) const {
        const Json* value = find(object, name);
        if (value == nullptr) return {};
        if (!value->is_boolean()) {
            return broken(fmt::format("{}.{} is {}, expected true or false", where, name, show(*value)));
        }
        out = value->get<bool>();
        return {};
    }
    Result<void> read_text(const Json& object, const char* name, const std::string& where,
                           std::string& out) const {
        const Json* value = find(object, name);
        if (value == nullptr) return {};
        if (!value->is_string()) {
            return broken(fmt::format("{}.{} is {}, expected a string", where, name, show(*value)));
        }
        out = value->get<std::string>();
        return {};
    }
    Result<std::int32_t> read_id(const Json& value, const std::string& where) const {
        if (value.is_number_unsigned() && value.get<std::uint64_t>() < max_token_ids) {
            return static_cast<std::int32_t>(value.get<std::uint64_t>());
        }
        return broken(
            fmt::format("{} is {}, expected a whole number below {}", where, show(value), max_token_ids));
    }
    /// The type of a part such as the normalizer.
    Result<std::string> type_of(const Json& part, const std::string& where) const {
        if (!part.is_object()) {
            return broken(fmt::format("{} is {}, expected an object or null", where, show(part)));
        }
        std::string type;
        DS_TRY(read_text(part, "type", where, type));
        if (type.empty()) return broken(fmt::format("{}.type is missing", where));
        return type;
    }
    /// The members of a sequence of parts.
    Result<const Json*> list_of(const Json& part, const char* name, const std::string& where) const {
        const Json* list = find(part, name);
        if (list == nullptr || !list->is_array()) {
            return broken(fmt::format("{}.{} is not a list", where, name));
        }
        return list;
    }

    Result<void> read_model() {
        const Json* model = find(text_.rest, "model");
        if (model == nullptr || !model->is_object()) return broken("model is missing");
        std::string type = "BPE";  // older files leave it out
        DS_TRY(read_text(*model, "type", "model", type));
        if (type != "BPE") {
            return unsupported(
                fmt::format("the tokenizer's model is {}, this program reads BPE", quote(type)));
        }
        if (!text_.has_vocab || text_.vocab.size() == 0) return broken("model.vocab holds no tokens");
        if (const Json* merges = find(*model, "merges")) {
            return broken(fmt::format("model.merges is {}, expected a list", show(*merges)));
        }
        if (const Json* dropout = find(*model, "dropout"); dropout != nullptr && *dropout != 0.0) {
            return unsupported(fmt::format("model.dropout is {}, this program reads none", show(*dropout)));
        }
        for (const char* name : {"continuing_subword_prefix", "end_of_word_suffix"}) {
            std::string affix;
            DS_TRY(read_text(*model, name, "model", affix));
            if (affix.empty()) continue;
            return unsupported(fmt::format("model.{} is {}, this program reads none", name, quote(affix)));
        }
        DS_TRY(read_text(*model, "unk_token", "model", unknown_));
        DS_TRY(read_flag(*model, "ignore_merges", "model", ignore_merges_));
        return read_flag(*model, "byte_fallback", "model", byte_fallback_);
    }

    Result<void> read_normalizer(const Json* part, int depth) {
        if (part == nullptr) return {};
        const auto type = type_of(*part, "normalizer");
        if (!type) return type.error();
        if (*type == "Sequence" && depth == 0) {
            const auto list = list_of(*part, "normalizers", "normalizer");
            if (!list) return list.error();
            for (const Json& one : **list) DS_TRY(read_normalizer(&one, depth + 1));
            return {};
        }
        if (*type == "NFC") {
            nfc_ = true;
            return {};
        }
        if (*type == "Prepend") {
            std::string text;
            DS_TRY(read_text(*part, "prepend", "normalizer", text));
            if (text == space_mark && !replaces_) {
                prepends_ = true;
                return {};
            }
        }
        if (*type == "Replace") {
            std::string text;
            std::string pattern;
            DS_TRY(read_text(*part, "content", "normalizer", text));
            if (const Json* of = find(*part, "pattern"); of != nullptr && of->is_object()) {
                DS_TRY(read_text(*of, "String", "normalizer.pattern", pattern));
            }
            if (text == space_mark && pattern == " ") {
                replaces_ = true;
                return {};
            }
        }
        return unsupported(fmt::format("the normalizer {} is not known to this program", show(*part)));
    }

    Result<void> read_pre_tokenizer(const Json* part, int depth) {
        if (part == nullptr) return {};
        const auto type = type_of(*part, "pre_tokenizer");
        if (!type) return type.error();
        const auto unknown = [&] {
            return unsupported(fmt::format("the pre_tokenizer {} is not known to this program", show(*part)));
        };
        if (*type == "Sequence" && depth == 0) {
            const auto list = list_of(*part, "pretokenizers", "pre_tokenizer");
            if (!list) return list.error();
            for (const Json& one : **list) DS_TRY(read_pre_tokenizer(&one, depth + 1));
            return {};
        }
        if (n_byte_level_ > 0 || metaspace_) return unknown();  // they come last
        if (*type == "ByteLevel") return read_byte_level(*part);
        if (*type == "Metaspace") return read_metaspace(*part);
        if (split_) return unknown();
        if (*type == "Split") return read_split(*part);
        if (*type == "Digits") {
            bool individual = false;
            DS_TRY(read_flag(*part, "individual_digits", "pre_tokenizer", individual));
            if (!individual) return unknown();
            split_ = SplitRule::smollm2;
            return {};
        }
        return unknown();
    }

    Result<void> read_byte_level(const Json& part) {
        bool use_regex = true;
        DS_TRY(read_flag(part, "use_regex", "pre_tokenizer", use_regex));
        DS_TRY(read_flag(part, "add_prefix_space", "pre_tokenizer", add_prefix_space_));
        ++n_byte_level_;
        if (!split_) {
            split_ = use_regex ? SplitRule::gpt2 : SplitRule::none;
            return {};
        }
        // Each piece of the rule before would get a space, or be split a second time.
        if (add_prefix_space_ || use_regex != (split_ == SplitRule::smollm2)) {
            return unsupported(fmt::format(
                "the pre_tokenizer {} behind another one is not known to this program", show(part)));
        }
        return {};
    }

    Result<void> read_split(const Json& part) {
        std::string regex;
        std::string behavior;
        bool invert = false;
        if (const Json* pattern = find(part, "pattern"); pattern != nullptr && pattern->is_object()) {
            DS_TRY(read_text(*pattern, "Regex", "pre_tokenizer.pattern", regex));
        }
        DS_TRY(read_text(part, "behavior", "pre_tokenizer", behavior));
        DS_TRY(read_flag(part, "invert", "pre_tokenizer", invert));
        for (const KnownRegex& known : known_regexes) {
            if (regex != known.text || behavior != "Isolated" || invert) continue;
            split_ = known.rule;
            return {};
        }
        return unsupported(
            fmt::format("pre_tokenizer splits text by a rule that is not known to this program, {}",
                        regex.empty() ? show(part) : quote(regex, 400)));
    }

    Result<void> read_metaspace(const Json& part) {
        std::string replacement(space_mark);
        std::string scheme;
        bool split = true;
        bool add_prefix = true;
        DS_TRY(read_text(part, "replacement", "pre_tokenizer", replacement));
        DS_TRY(read_text(part, "prepend_scheme", "pre_tokenizer", scheme));
        DS_TRY(read_flag(part, "split", "pre_tokenizer", split));
        DS_TRY(read_flag(part, "add_prefix_space", "pre_tokenizer", add_prefix));
        if (scheme.empty()) scheme = add_prefix ? "always" : "never";
        const bool known = scheme == "first" || scheme == "always" || scheme == "never";
        if (replacement != space_mark || split || split_ || !known) {
            return unsupported(fmt::format("the pre_tokenizer {} is not known to this program", show(part)));
        }
        metaspace_ = scheme == "first"    ? Prefix::first
                     : scheme == "always" ? Prefix::every_missing
                                          : Prefix::none;
        return {};
    }

    /// Decoding follows from the kind of tokenizer; what would change it is refused.
    Result<void> read_decoder(const Json* part, int depth) {
        if (part == nullptr) return {};
        const auto type = type_of(*part, "decoder");
        if (!type) return type.error();
        if (*type == "Sequence" && depth == 0) {
            const auto list = list_of(*part, "decoders", "decoder");
            if (!list) return list.error();
            for (const Json& one : **list) DS_TRY(read_decoder(&one, depth + 1));
            return {};
        }
        if (n_byte_level_ > 0) {
            if (*type == "ByteLevel") return {};
        } else if (*type == "Replace" || *type == "ByteFallback" || *type == "Fuse" || *type == "Strip" ||
                   *type == "Metaspace") {
            return {};
        }
        return unsupported(fmt::format("the decoder {} is not known to this program", show(*part)));
    }

    Result<void> read_post_processor(const Json* part, int depth) {
        if (part == nullptr) return {};
        const auto type = type_of(*part, "post_processor");
        if (!type) return type.error();
        if (*type == "Sequence" && depth == 0) {
            const auto list = list_of(*part, "processors", "post_processor");
            if (!list) return list.error();
            for (const Json& one : **list) DS_TRY(read_post_processor(&one, depth + 1));
            return {};
        }
        if (*type == "ByteLevel") return {};
        if (*type == "TemplateProcessing" && !has_template_) return read_template(*part);
        return unsupported(fmt::format("the post_processor {} is not known to this program", show(*part)));
    }

    Result<void> read_template(const Json& part) {
        has_template_ = true;
        const auto list = list_of(part, "single", "post_processor");
        if (!list) return list.error();
        bool behind = false;
        for (const Json& piece : **list) {
            const Json* sequence = piece.is_object() ? find(piece, "Sequence") : nullptr;
            const Json* token = piece.is_object() ? find(piece, "SpecialToken") : nullptr;
            if (sequence != nullptr && !behind) {
                behind = true;
                continue;
            }
            if (token == nullptr || !token->is_object()) {
                return broken(fmt::format(
                    "post_processor.single has {}, expected special tokens around one text", show(piece)));
            }
            std::string name;
            DS_TRY(read_text(*token, "id", "post_processor.single", name));
            DS_TRY(add_around(part, name, behind ? after_ : before_));
        }
        if (!behind) return broken("post_processor.single has no place for the text");
        return {};
    }

    Result<void> add_around(const Json& part, const std::string& name, std::vector<std::int32_t>& out) const {
        const std::string where = fmt::format("post_processor.special_tokens[{}].ids", quote(name));
        const Json* tokens = find(part, "special_tokens");
        const Json* entry = tokens != nullptr && tokens->is_object() ? find(*tokens, name.c_str()) : nullptr;
        const Json* ids = entry != nullptr && entry->is_object() ? find(*entry, "ids") : nullptr;
        if (ids == nullptr || !ids->is_array()) return broken(where + " is not a list");
        for (const Json& value : *ids) {
            const auto id = read_id(value, where);
            if (!id) return id.error();
            out.push_back(*id);
        }
        return {};
    }

    Result<void> read_added_tokens() {
        const Json* list = find(text_.rest, "added_tokens");
        if (list == nullptr) return {};
        if (!list->is_array()) return broken("added_tokens is not a list");
        for (std::size_t i = 0; i < list->size(); ++i) {
            const Json& entry = (*list)[i];
            const std::string where = fmt::format("added_tokens[{}]", i);
            if (!entry.is_object()) {
                return broken(fmt::format("{} is {}, expected an object", where, show(entry)));
            }
            AddedToken token;
            const Json* id = find(entry, "id");
            const auto number = read_id(id == nullptr ? Json() : *id, where + ".id");
            if (!number) return number.error();
            token.id = *number;
            token.special = false;
            if (find(entry, "content") == nullptr) return broken(where + ".content is missing");
            DS_TRY(read_text(entry, "content", where, token.content));
            DS_TRY(read_flag(entry, "single_word", where, token.single_word));
            DS_TRY(read_flag(entry, "lstrip", where, token.lstrip));
            DS_TRY(read_flag(entry, "rstrip", where, token.rstrip));
            DS_TRY(read_flag(entry, "normalized", where, token.normalized));
            DS_TRY(read_flag(entry, "special", where, token.special));
            added_.push_back(std::move(token));
        }
        return {};
    }

    Result<std::shared_ptr<const Tokenizer>> make_byte_level() {
        if (prepends_ || replaces_) {
            return unsupported("the normalizer puts U+2581 for spaces, which does not go with ByteLevel");
        }
        ByteLevelSpec spec;
        spec.spellings = std::move(text_.vocab);
        spec.merges = std::move(text_.merges);
        spec.split = split_.value_or(SplitRule::none);
        spec.nfc = nfc_;
        spec.ignore_merges = ignore_merges_;
        spec.add_prefix_space = add_prefix_space_;
        spec.added = std::move(added_);
        spec.before = std::move(before_);
        spec.after = std::move(after_);
        spec.label = label_;
        spec.vocab_name = "model.vocab";
        spec.merge_label = label_ + ": model.merges: merge";
        return make_byte_level_bpe(std::move(spec), notes_);
    }

    Result<std::shared_ptr<const Tokenizer>> make_sentence_piece() {
        if (!byte_fallback_ || nfc_ || split_ || ignore_merges_ || (metaspace_ && (prepends_ || replaces_)) ||
            (!metaspace_ && !replaces_)) {
            return unsupported(
                "the tokenizer is neither byte-level (ByteLevel) nor of SentencePiece's kind (byte_fallback "
                "and "
                "U+2581 for spaces)");
        }
        SentencePieceSpec spec;
        for (std::int32_t id = 0; id < text_.vocab.n_token(); ++id) {
            const std::string_view token = text_.vocab.text(id);
            const bool is_byte = token.size() == 6 && byte_token_value(token).has_value();
            spec.types.push_back(is_byte                                  ? PieceType::byte
                                 : !unknown_.empty() && token == unknown_ ? PieceType::unknown
                                                                          : PieceType::normal);
        }
        spec.tokens = std::move(text_.vocab);
        spec.merges = std::move(text_.merges);
        spec.prefix = metaspace_ ? *metaspace_ : prepends_ ? Prefix::every : Prefix::none;
        spec.added = std::move(added_);
        spec.before = std::move(before_);
        spec.after = std::move(after_);
        spec.label = label_;
        return make_sentence_piece_bpe(std::move(spec), notes_);
    }

    TokenizerJsonText& text_;
    std::string label_;
    std::vector<std::string>* notes_;
    std::string unknown_;
    bool ignore_merges_ = false;
    bool byte_fallback_ = false;
    bool nfc_ = false;
    bool prepends_ = false;
    bool replaces_ = false;
    int n_byte_level_ = 0;
    bool add_prefix_space_ = false;
    std::optional<SplitRule> split_;
    std::optional<Prefix> metaspace_;
    bool has_template_ = false;
    std::vector<std::int32_t> before_;
    std::vector<std::int32_t> after_;
    std::vector<AddedToken> added_;
};

}  // namespace

Result<std::shared_ptr<const Tokenizer>> load_tokenizer_json(const std::filesystem::path& path,
                                                             std::vector<std::string>* notes) {
    auto parsed = [&]() -> Result<TokenizerJsonText> {
        const auto text = read_text_file(path, max_tokenizer_bytes);  // gone once it is parsed
        if (!text) return text.error();
        return parse_tokenizer_json(*text, path.string());
    }();
    if (!parsed) return parsed.error();
    return Reader(*parsed, path.string(), notes).read();
}

}  // namespace decodescope
