// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/tokenizer/sentence_piece_bpe.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "engine/core/quote.h"
#include "engine/core/utf8.h"
#include "engine/tokenizer/bpe_tokenizer.h"
#include "engine/tokenizer/token_checks.h"

namespace decodescope {

namespace {

using Prefix = SentencePieceSpec::Prefix;

// Every place where a token can be cut in two is looked at.
constexpr std::size_t max_normal_bytes = 512;
constexpr std::size_t max_pairs = 2 * max_token_ids;

/// A symbol below 0 stands for a byte, or for characters that no token can write.
constexpr std::int32_t unknown_symbol = -1;
std::int32_t symbol_of_byte(unsigned char byte) {
    return -2 - std::int32_t{byte};
}
unsigned char byte_of_symbol(std::int32_t symbol) {
    return static_cast<unsigned char>(-2 - symbol);
}

std::string replaced(std::string_view text, std::string_view from, std::string_view to) {
    std::string out;
    out.reserve(text.size());
    while (true) {
        const std::size_t at = text.find(from);
        out.append(text.substr(0, at));
        if (at == std::string_view::npos) return out;
        out.append(to);
        text.remove_prefix(at + from.size());
    }
}

struct SentencePieceParts : BpeParts {
    std::unordered_map<char32_t, std::int32_t> symbols;  // of single characters
    std::int32_t n_id = 0;                               // symbols below it are token ids
    std::vector<char32_t> wordless;  // the characters of those from there on: parts of tokens, but none
    std::int32_t unknown = -1;
    bool words_apart = true;  // nothing merges across the end of a word, so words can be merged alone
    Prefix prefix = Prefix::every;
};

/// Text as the vocabulary spells it.
std::string normalize(std::string_view text, bool with_prefix) {
    std::string normal = replaced(text, " ", space_mark);
    return with_prefix ? std::string(space_mark) + normal : normal;
}

/// Whether spaces are put in before added tokens are looked for in the normalized text, and not after.
bool prefix_is_normalizer(Prefix prefix) {
    return prefix == Prefix::none || prefix == Prefix::every;
}

class SentencePieceBpe : public BpeTokenizer<SentencePieceParts> {
public:
    using BpeTokenizer::BpeTokenizer;

private:
    void encode(std::string_view text, bool with_special, std::vector<std::int32_t>& ids) const override {
        const bool normalize_first = prefix_is_normalizer(parts_.prefix);
        for (const auto& part : parts_.raw.split(text, with_special)) {
            if (part.id >= 0) {
                ids.push_back(part.id);
                continue;
            }
            const std::string normal = normalize_first ? normalize(part.text, parts_.prefix == Prefix::every)
                                                       : std::string(part.text);
            for (const auto& inner : parts_.normalized.split(normal, with_special)) {
                if (inner.id >= 0) {
                    ids.push_back(inner.id);
                } else if (normalize_first) {
                    encode_stretch(inner.text, ids);
                } else {
                    const bool at_start =
                        part.text.data() == text.data() && inner.text.data() == normal.data();
                    const bool missing = !inner.text.starts_with(' ') && !inner.text.starts_with(space_mark);
                    const bool wanted = parts_.prefix == Prefix::every_missing || at_start;
                    encode_stretch(normalize(inner.text, missing && wanted), ids);
                }
            }
        }
    }

    /// The first part of `text` that can be merged alone: up to a space behind something else.
    std::string_view first_word(std::string_view text) const {
        if (!parts_.words_apart) return text;
        std::size_t at = 0;
        while (text.substr(at).starts_with(space_mark)) at += space_mark.size();
        return text.substr(0, text.find(space_mark, at));
    }

    void encode_stretch(std::string_view text, std::vector<std::int32_t>& ids) const {
        std::vector<std::int32_t> symbols;
        bool after_unknown = false;
        while (!text.empty()) {
            const std::string_view word = first_word(text);
            text.remove_prefix(word.size());
            symbols.clear();
            for (std::size_t at = 0; at < word.size();) at += add_symbols(word, at, symbols);
            parts_.merges.merge(symbols);
            for (const std::int32_t symbol : symbols) after_unknown = write(symbol, after_unknown, ids);
        }
    }

    /// Appends the symbols of one character; returns its length.
    std::size_t add_symbols(std::string_view text, std::size_t at, std::vector<std::int32_t>& symbols) const {
        const Utf8Step step = utf8_at(text, at);
        if (step.kind == Utf8Step::Kind::character) {
            if (const auto found = parts_.symbols.find(step.code_point); found != parts_.symbols.end()) {
                symbols.push_back(found->second);
                return step.length;
            }
        }
        add_bytes(text.substr(at, step.length), symbols);
        return step.length;
    }

    void add_bytes(std::string_view bytes, std::vector<std::int32_t>& symbols) const {
        const bool all = std::all_of(bytes.begin(), bytes.end(), [this](char byte) {
            return parts_.byte_token[static_cast<unsigned char>(byte)] >= 0;
        });
        if (!all) return symbols.push_back(unknown_symbol);
        for (const char byte : bytes) symbols.push_back(symbol_of_byte(static_cast<unsigned char>(byte)));
    }

    /// Appends the tokens of a symbol. Unknown characters in a row are one token; true after one.
    bool write(std::int32_t symbol, bool after_unknown, std::vector<std::int32_t>& ids) const {
        if (symbol == unknown_symbol) {
            if (!after_unknown) ids.push_back(parts_.unknown);
            return true;
        }
        if (symbol < 0) {
            ids.push_back(parts_.byte_token[byte_of_symbol(symbol)]);
            return false;
        }
        if (symbol < parts_.n_id) {
            ids.push_back(symbol);
            return false;
        }
        std::string bytes;
        append_utf8(bytes, parts_.wordless[static_cast<std::size_t>(symbol - parts_.n_id)]);
        std::vector<std::int32_t> parts;
        add_bytes(bytes, parts);
        for (const std::int32_t part : parts) after_unknown = write(part, after_unknown, ids);
        return after_unknown;
    }
};

class SentencePieceBuilder {
public:
    SentencePieceBuilder(SentencePieceSpec& spec, std::vector<std::string>* notes)
        : spec_(spec), notes_(notes) {}

    Result<std::shared_ptr<const Tokenizer>> build() {
        DS_TRY(check_lists());
        DS_TRY(check_added_tokens(spec_.added, spec_.tokens, spec_.label));
        DS_TRY(find_bytes());
        find_characters();
        DS_TRY(spec_.scores.empty() ? merges_by_rank() : merges_by_score());
        find_added();
        fill_token_bytes();
        DS_TRY(parts_.take_around(std::move(spec_.before), std::move(spec_.after), spec_.label));
        note_shared_texts(spec_.tokens, spec_.label, notes_);
        parts_.prefix = spec_.prefix;
        return std::shared_ptr<const Tokenizer>(std::make_shared<SentencePieceBpe>(std::move(parts_)));
    }

private:
    Error fail(const std::string& what) const {
        return {ErrorKind::bad_input, fmt::format("{}: {}.", spec_.label, what)};
    }
    PieceType type(std::int32_t id) const { return spec_.types[static_cast<std::size_t>(id)]; }
    /// Normal, and the one that its text is encoded with.
    bool merges_into(std::int32_t id) const {
        return spec_.tokens.has(id) && type(id) == PieceType::normal &&
               spec_.tokens.find(spec_.tokens.text(id)) == id;
    }

    Result<void> check_lists() const {
        const auto n = static_cast<std::size_t>(spec_.tokens.n_token());
        if (n == 0) return fail("holds no tokens");
        if (spec_.types.size() != n) {
            return fail(fmt::format("has {} token types for {} tokens", spec_.types.size(), n));
        }
        if (!spec_.scores.empty() && spec_.scores.size() != n) {
            return fail(fmt::format("has {} scores for {} tokens", spec_.scores.size(), n));
        }
        for (std::size_t id = 0; id < spec_.scores.size(); ++id) {
            if (std::isnan(spec_.scores[id])) return fail(fmt::format("the score of token {} is NaN", id));
        }
        for (std::size_t id = 0; id < n; ++id) {
            const auto number = static_cast<int>(spec_.types[id]);
            if (number >= 1 && number <= 6) continue;
            return fail(fmt::format("the type of token {} is {}, expected a number from 1 to 6", id, number));
        }
        return {};
    }

    Result<void> find_bytes() {
        parts_.byte_token.fill(-1);
        for (std::int32_t id = 0; id < spec_.tokens.n_token(); ++id) {
            if (!spec_.tokens.has(id)) continue;
            if (type(id) == PieceType::unknown && parts_.unknown < 0) parts_.unknown = id;
            if (type(id) != PieceType::byte) continue;
            const auto byte = byte_token_value(spec_.tokens.text(id));
            if (!byte) {
                return fail(fmt::format("token {} is of the type byte and spelt {}, expected <0xHH>", id,
                                        quote(spec_.tokens.text(id))));
            }
            if (parts_.byte_token[*byte] < 0) parts_.byte_token[*byte] = id;
        }
        const auto missing = std::find(parts_.byte_token.begin(), parts_.byte_token.end(), -1);
        if (missing != parts_.byte_token.end() && parts_.unknown < 0) {
            return fail(
                fmt::format("has neither a token for the byte 0x{:02X} nor an unknown token, so not "
                            "every text could be encoded",
                            missing - parts_.byte_token.begin()));
        }
        return {};
    }

    void find_characters() {
        parts_.n_id = spec_.tokens.n_token();
        for (const AddedToken& token : spec_.added) parts_.n_id = std::max(parts_.n_id, token.id + 1);
        for (std::int32_t id = 0; id < spec_.tokens.n_token(); ++id) {
            if (!merges_into(id)) continue;
            const std::string_view text = spec_.tokens.text(id);
            if (text.empty()) continue;
            const Utf8Step step = utf8_at(text, 0);
            if (step.kind == Utf8Step::Kind::character && step.length == text.size()) {
                parts_.symbols.emplace(step.code_point, id);
            }
        }
    }

    /// The symbol of a part of a token, or -1.
    std::int32_t symbol_of(std::string_view text) {
        const Utf8Step step = utf8_at(text, 0);
        if (step.kind != Utf8Step::Kind::character) return -1;
        if (step.length < text.size()) {
            const std::int32_t id = spec_.tokens.find(text);
            return id >= 0 && type(id) == PieceType::normal ? id : -1;
        }
        // A character that is no token of its own can still be part of one.
        const auto next = parts_.n_id + static_cast<std::int32_t>(parts_.wordless.size());
        const auto [found, is_new] = parts_.symbols.emplace(step.code_point, next);
        if (is_new) parts_.wordless.push_back(step.code_point);
        return found->second;
    }

    void add_merge(std::string_view left, std::string_view right, const std::array<std::int32_t, 3>& ids,
                   std::int32_t rank) {
        if (right.starts_with(space_mark) && !left.ends_with(space_mark)) parts_.words_apart = false;
        parts_.merges.add(ids[0], ids[1], ids[2], rank);
    }

    Result<void> merges_by_score() {
        std::vector<std::int32_t> order;
        for (std::int32_t id = 0; id < spec_.tokens.n_token(); ++id) {
            if (merges_into(id)) order.push_back(id);
        }
        const auto score = [this](std::int32_t id) { return spec_.scores[static_cast<std::size_t>(id)]; };
        std::stable_sort(order.begin(), order.end(),
                         [&](std::int32_t a, std::int32_t b) { return score(a) > score(b); });
        std::int32_t rank = 0;
        std::size_t n_pair = 0;
        for (std::size_t i = 0; i < order.size(); ++i) {
            const std::int32_t id = order[i];
            if (i > 0 && score(id) < score(order[i - 1])) ++rank;
            const std::string_view text = spec_.tokens.text(id);
            if (text.size() > max_normal_bytes) {
                return fail(fmt::format("token {} has {} bytes, expected at most {}", id, text.size(),
                                        max_normal_bytes));
            }
            for (std::size_t cut = 1; cut < text.size(); ++cut) {
                if ((static_cast<unsigned char>(text[cut]) & 0xC0) == 0x80) continue;  // inside a character
                const std::string_view left = text.substr(0, cut);
                const std::string_view right = text.substr(cut);
                const std::int32_t left_id = symbol_of(left);
                const std::int32_t right_id = left_id < 0 ? -1 : symbol_of(right);
                if (right_id < 0) continue;
                if (++n_pair > max_pairs) {
                    return fail(fmt::format("has more than {} pairs of tokens to merge", max_pairs));
                }
                add_merge(left, right, {left_id, right_id, id}, rank);
            }
        }
        return {};
    }

    Result<void> merges_by_rank() {
        if (spec_.merges.size() > max_token_ids) {
            return fail(
                fmt::format("holds {} merges, expected at most {}", spec_.merges.size(), max_token_ids));
        }
        for (std::size_t i = 0; i < spec_.merges.size(); ++i) {
            const std::array<std::string_view, 3> texts = {spec_.merges.left(i), spec_.merges.right(i),
                                                           spec_.merges.both(i)};
            std::array<std::int32_t, 3> ids{};
            for (std::size_t part = 0; part < texts.size(); ++part) {
                ids[part] = spec_.tokens.find(texts[part]);
                if (ids[part] >= 0) continue;
                return fail(fmt::format("merge {} joins {} and {}, but {} is not in the vocabulary", i + 1,
                                        quote(texts[0]), quote(texts[1]), quote(texts[part])));
            }
            const auto is_normal = [this](std::int32_t id) { return type(id) == PieceType::normal; };
            if (!std::all_of(ids.begin(), ids.end(), is_normal)) continue;
            add_merge(texts[0], texts[1], ids, static_cast<std::int32_t>(i));
        }
        return {};
    }

    void find_added() {
        std::vector<AddedToken> all = std::move(spec_.added);
        std::vector<std::int32_t> given;
        for (const AddedToken& token : all) given.push_back(token.id);
        std::sort(given.begin(), given.end());
        for (std::int32_t id = 0; id < spec_.tokens.n_token(); ++id) {
            if (!spec_.tokens.has(id) || std::binary_search(given.begin(), given.end(), id)) continue;
            const bool user = type(id) == PieceType::user_defined;
            if (!user && type(id) != PieceType::control && type(id) != PieceType::unknown) continue;
            AddedToken token;
            token.id = id;
            token.content =
                user ? replaced(spec_.tokens.text(id), space_mark, " ") : std::string(spec_.tokens.text(id));
            token.special = !user;
            all.push_back(std::move(token));
        }
        for (AddedToken& token : all) {
            if (token.normalized && prefix_is_normalizer(spec_.prefix)) {
                token.content = normalize(token.content, spec_.prefix == Prefix::every);
                // It takes the space before it from the text, so it gives one back.
                parts_.bytes.add_hidden(token.id, replaced(token.content, space_mark, " "));
            } else {
                parts_.bytes.add_hidden(token.id, token.content);
            }
        }
        parts_.take_added(std::move(all));
    }

    void fill_token_bytes() {
        for (std::int32_t id = 0; id < spec_.tokens.n_token(); ++id) {
            if (!spec_.tokens.has(id) || parts_.bytes.has(id)) continue;
            const std::string_view text = spec_.tokens.text(id);
            if (type(id) == PieceType::byte) {
                const char byte = static_cast<char>(byte_token_value(text).value_or(0));
                parts_.bytes.add_hidden(id, std::string_view(&byte, 1));
            } else {
                parts_.bytes.add_hidden(id, replaced(text, space_mark, " "));
            }
        }
    }

    SentencePieceSpec& spec_;
    std::vector<std::string>* notes_;
    SentencePieceParts parts_;
};

}  // namespace

std::optional<unsigned char> byte_token_value(std::string_view text) {
    if (text.size() != 6 || !text.starts_with("<0x") || text.back() != '>') return std::nullopt;
    int byte = 0;
    for (const char c : text.substr(3, 2)) {
        const int digit = c >= '0' && c <= '9'   ? c - '0'
                          : c >= 'A' && c <= 'F' ? c - 'A' + 10
                          : c >= 'a' && c <= 'f' ? c - 'a' + 10
                                                 : -1;
        if (digit < 0) return std::nullopt;
        byte = 16 * byte + digit;
    }
    return static_cast<unsigned char>(byte);
}

Result<std::shared_ptr<const Tokenizer>> make_sentence_piece_bpe(SentencePieceSpec spec,
                                                                 std::vector<std::string>* notes) {
    return SentencePieceBuilder(spec, notes).build();
}

}  // namespace decodescope
