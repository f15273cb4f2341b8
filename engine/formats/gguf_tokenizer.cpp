// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/formats/gguf_tokenizer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "engine/core/quote.h"
#include "engine/tokenizer/byte_level_bpe.h"
#include "engine/tokenizer/sentence_piece_bpe.h"

namespace decodescope {

namespace {

constexpr std::string_view tokens_key = "tokenizer.ggml.tokens";
constexpr std::string_view types_key = "tokenizer.ggml.token_type";
constexpr std::string_view scores_key = "tokenizer.ggml.scores";
constexpr std::string_view merges_key = "tokenizer.ggml.merges";
constexpr std::string_view pre_key = "tokenizer.ggml.pre";

/// What a value of `tokenizer.ggml.pre` stands for.
struct Preparation {
    std::string_view name;
    SplitRule split;
    bool nfc = false;
    bool ignore_merges = false;
    bool add_bos = false;  ///< unless the file says otherwise
};

constexpr Preparation preparations[] = {
    {"gpt-2", SplitRule::gpt2},
    {"llama-bpe", SplitRule::llama3, false, true, true},
    {"llama3", SplitRule::llama3, false, true, true},
    {"llama-v3", SplitRule::llama3, false, true, true},
    {"qwen2", SplitRule::qwen2, true},
    {"smollm", SplitRule::smollm2},
    {"starcoder", SplitRule::smollm2},
};

class TokenizerReader {
public:
    TokenizerReader(const GgufHeader& header, const std::string& label, int n_row)
        : header_(header), label_(label), n_row_(n_row) {}

    Result<GgufTokenizer> read() {
        std::string_view chat_template;
        DS_TRY(header_.read_text("tokenizer.chat_template", label_, chat_template));
        out_.chat_template = chat_template;
        std::string_view kind;
        DS_TRY(header_.read_text("tokenizer.ggml.model", label_, kind));
        const GgufValue* list = header_.find(tokens_key);
        if (list == nullptr || kind.empty()) {
            note("no tokenizer; prompts must be given as token ids.");
            return std::move(out_);
        }
        if (kind != "gpt2" && kind != "llama") {
            note(
                fmt::format("the tokenizer is of the kind {}, expected gpt2 or llama; prompts must be given "
                            "as token ids.",
                            quote(kind)));
            return std::move(out_);
        }
        DS_TRY(read_tokens(*list));
        DS_TRY(read_types());
        return kind == "gpt2" ? make_byte_level() : make_sentence_piece();
    }

private:
    Error fail(const std::string& what) const {
        return {ErrorKind::bad_input, fmt::format("{}: {}.", label_, what)};
    }
    void note(const std::string& text) { out_.notes.push_back(fmt::format("{}: {}", label_, text)); }

    /// The list under `key`, which must be as long as the list of tokens; null when it is not there.
    Result<const GgufValue*> find_list(std::string_view key) const {
        const GgufValue* list = header_.find(key);
        if (list == nullptr) return list;
        if (list->type() != GgufType::array) {
            return fail(fmt::format("{} is of type {}, expected an array", key, type_name(*list)));
        }
        if (list->count() != texts_.size()) {
            return fail(fmt::format("{} has {} elements, but {} has {}", key, list->count(), tokens_key,
                                    texts_.size()));
        }
        return list;
    }

    Result<void> read_tokens(const GgufValue& list) {
        if (list.type() != GgufType::array || list.element() != GgufType::string) {
            return fail(
                fmt::format("{} is of type {}, expected an array of string", tokens_key, type_name(list)));
        }
        if (list.count() > max_token_ids) {
            return fail(fmt::format("{} has {} elements, expected at most {}", tokens_key, list.count(),
                                    max_token_ids));
        }
        if (n_row_ != 0 && list.count() > static_cast<std::uint64_t>(n_row_)) {
            return fail(fmt::format("{} has {} elements, but the vocabulary has {} rows", tokens_key,
                                    list.count(), n_row_));
        }
        texts_ = *list.texts();
        return {};
    }

    Result<void> read_types() {
        types_.assign(texts_.size(), PieceType::normal);
        const auto list = find_list(types_key);
        if (!list) return list.error();
        if (*list == nullptr) return {};
        has_types_ = true;
        const auto numbers = (*list)->integers();
        if (!numbers) {
            return fail(fmt::format("{} is of type {}, expected an array of whole numbers", types_key,
                                    type_name(**list)));
        }
        for (std::size_t id = 0; id < numbers->size(); ++id) {
            const std::int64_t number = (*numbers)[id];
            if (number < 1 || number > 6) {
                return fail(fmt::format("{} gives token {} the type {}, expected one from 1 to 6", types_key,
                                        id, number));
            }
            types_[id] = static_cast<PieceType>(number);
        }
        return {};
    }

    /// The id under `tokenizer.ggml.<key>`; nothing when it is absent or -1.
    Result<std::optional<std::int32_t>> read_id(std::string_view key) const {
        const std::string full = fmt::format("tokenizer.ggml.{}", key);
        const GgufValue* value = header_.find(full);
        if (value == nullptr) return std::optional<std::int32_t>();
        const auto id = value->integer();
        if (id == -1) return std::optional<std::int32_t>();
        if (!id || *id < 0 || *id >= static_cast<std::int64_t>(texts_.size())) {
            return fail(fmt::format("{} is {}, expected the number of one of {} tokens", full,
                                    id ? std::to_string(*id) : "not a number in range", texts_.size()));
        }
        return std::optional(static_cast<std::int32_t>(*id));
    }
    Result<bool> read_flag(std::string_view key, bool otherwise) const {
        const std::string full = fmt::format("tokenizer.ggml.{}", key);
        const GgufValue* value = header_.find(full);
        if (value == nullptr) return otherwise;
        const auto flag = value->boolean();
        if (!flag) return fail(fmt::format("{} is of type {}, expected bool", full, type_name(*value)));
        return *flag;
    }
    /// The token that belongs at one end of a prompt when the file says so. `otherwise`: when it says
    /// nothing.
    Result<void> read_end(std::string_view flag_key, std::string_view id_key, bool otherwise,
                          std::vector<std::int32_t>& ids) {
        const auto wanted = read_flag(flag_key, otherwise);
        if (!wanted) return wanted.error();
        const auto id = read_id(id_key);
        if (!id) return id.error();
        if (!*wanted) return {};
        if (*id) {
            ids.push_back(**id);
            return {};
        }
        if (header_.find(fmt::format("tokenizer.ggml.{}", flag_key)) != nullptr) {
            return fail(
                fmt::format("tokenizer.ggml.{} is true, but tokenizer.ggml.{} is missing", flag_key, id_key));
        }
        note(fmt::format("tokenizer.ggml.{} is missing; prompts begin without it.", id_key));
        return {};
    }
    template <class Spec>
    Result<void> read_ends(bool add_bos, Spec& spec) {
        DS_TRY(read_end("add_bos_token", "bos_token_id", add_bos, spec.before));
        return read_end("add_eos_token", "eos_token_id", false, spec.after);
    }

    Result<MergeList> read_merges() const {
        MergeList merges;
        const GgufValue* list = header_.find(merges_key);
        if (list == nullptr) return merges;
        if (list->type() != GgufType::array || list->element() != GgufType::string) {
            return fail(
                fmt::format("{} is of type {}, expected an array of string", merges_key, type_name(*list)));
        }
        if (list->count() > max_token_ids) {
            return fail(fmt::format("{} has {} elements, expected at most {}", merges_key, list->count(),
                                    max_token_ids));
        }
        const auto lines = *list->texts();
        for (std::size_t i = 0; i < lines.size(); ++i) {
            const std::size_t space = lines[i].find(' ', 1);
            if (space == lines[i].npos || space + 1 == lines[i].size()) {
                return fail(fmt::format("{}: merge {} is {}, expected two tokens with a space between them",
                                        merges_key, i + 1, quote(lines[i])));
            }
            merges.add(lines[i].substr(0, space), lines[i].substr(space + 1));
        }
        return merges;
    }

    /// Adds token `i` to those that are looked for in the text itself.
    template <class Spec>
    void add_searched(std::size_t i, Spec& spec) const {
        AddedToken token;
        token.id = static_cast<std::int32_t>(i);
        token.content = texts_[i];
        token.special = types_[i] != PieceType::user_defined;
        spec.added.push_back(std::move(token));
    }

    Result<Preparation> read_preparation() {
        if (header_.find(pre_key) == nullptr) {
            note(fmt::format(
                "{} is missing (an old file): text is split by GPT-2's rule, and token ids are likely "
                "to be wrong.",
                pre_key));
            return preparations[0];
        }
        std::string_view name;
        DS_TRY(header_.read_text(pre_key, label_, name));
        for (const Preparation& one : preparations) {
            if (one.name == name) return one;
        }
        std::string known;
        for (const Preparation& one : preparations) {
            known += fmt::format("{}{}", known.empty() ? "" : ", ", one.name);
        }
        return Error{ErrorKind::unsupported,
                     fmt::format("{}: {} is {}, expected one of {}; prompts must be given as token ids.",
                                 label_, pre_key, quote(name), known)};
    }

    Result<GgufTokenizer> make_byte_level() {
        const auto preparation = read_preparation();
        if (!preparation) {
            if (preparation.error().kind != ErrorKind::unsupported) return preparation.error();
            out_.notes.push_back(preparation.error().message);
            return std::move(out_);
        }
        ByteLevelSpec spec;
        spec.split = preparation->split;
        spec.nfc = preparation->nfc;
        spec.ignore_merges = preparation->ignore_merges;
        spec.label = label_;
        spec.vocab_name = tokens_key;
        spec.merge_label = fmt::format("{}: {}", label_, merges_key);
        if (!has_types_) note(fmt::format("{} is missing: no token is a control token.", types_key));
        for (std::size_t i = 0; i < texts_.size(); ++i) {
            const auto id = static_cast<std::int32_t>(i);
            switch (types_[i]) {
                case PieceType::normal:
                case PieceType::byte:
                case PieceType::unused: spec.spellings.add(id, texts_[i]); break;
                case PieceType::unknown:
                case PieceType::control:
                case PieceType::user_defined: add_searched(i, spec); break;
            }
        }
        auto merges = read_merges();
        if (!merges) return merges.error();
        if (merges->size() == 0) return fail(fmt::format("lacks {}", merges_key));
        spec.merges = *std::move(merges);
        DS_TRY(read_ends(preparation->add_bos, spec));
        return keep(make_byte_level_bpe(std::move(spec), &out_.notes));
    }

    Result<GgufTokenizer> make_sentence_piece() {
        if (!has_types_) return fail(fmt::format("lacks {}", types_key));
        SentencePieceSpec spec;
        spec.label = label_;
        for (std::size_t i = 0; i < texts_.size(); ++i) {
            spec.tokens.add(static_cast<std::int32_t>(i), texts_[i]);
        }
        spec.types = types_;
        DS_TRY(read_scores(spec.scores));
        if (spec.scores.empty()) {
            auto merges = read_merges();
            if (!merges) return merges.error();
            if (merges->size() == 0) return fail(fmt::format("lacks {}", scores_key));
            spec.merges = *std::move(merges);
        }
        const auto prefix = read_flag("add_space_prefix", true);
        if (!prefix) return prefix.error();
        spec.prefix = *prefix ? SentencePieceSpec::Prefix::every : SentencePieceSpec::Prefix::none;
        DS_TRY(read_ends(true, spec));
        return keep(make_sentence_piece_bpe(std::move(spec), &out_.notes));
    }

    Result<void> read_scores(std::vector<float>& scores) const {
        const auto list = find_list(scores_key);
        if (!list) return list.error();
        if (*list == nullptr) return {};
        const auto numbers = (*list)->numbers();
        if (!numbers) {
            return fail(
                fmt::format("{} is of type {}, expected an array of numbers", scores_key, type_name(**list)));
        }
        for (std::size_t id = 0; id < numbers->size(); ++id) {
            if (std::isnan((*numbers)[id])) return fail(fmt::format("{} of token {} is NaN", scores_key, id));
            scores.push_back(static_cast<float>((*numbers)[id]));
        }
        return {};
    }

    Result<GgufTokenizer> keep(Result<std::shared_ptr<const Tokenizer>> made) {
        if (!made) return made.error();
        out_.tokenizer = *std::move(made);
        return std::move(out_);
    }

    const GgufHeader& header_;
    const std::string& label_;
    int n_row_;
    std::vector<std::string_view> texts_;
    std::vector<PieceType> types_;
    bool has_types_ = false;
    GgufTokenizer out_;
};

}  // namespace

Result<GgufTokenizer> read_gguf_tokenizer(const GgufHeader& header, const std::string& label, int n_row) {
    return TokenizerReader(header, label, n_row).read();
}

}  // namespace decodescope
