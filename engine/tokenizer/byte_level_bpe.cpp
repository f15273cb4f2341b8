// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/tokenizer/byte_level_bpe.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "engine/core/quote.h"
#include "engine/tokenizer/bpe_tokenizer.h"
#include "engine/tokenizer/byte_alphabet.h"
#include "engine/tokenizer/nfc.h"
#include "engine/tokenizer/token_checks.h"

namespace decodescope {

namespace {

/// Vocabularies that were trained without the whole alphabet lack bytes that their texts did not hold.
constexpr std::size_t max_missing_bytes = 64;

/// With `ignore_merges`, `bytes.find` gives the tokens that whole pieces may become.
struct ByteLevelParts : BpeParts {
    SplitRule split = SplitRule::gpt2;
    bool nfc = false;
    bool ignore_merges = false;
    bool add_prefix_space = false;
};

class ByteLevelBpe : public BpeTokenizer<ByteLevelParts> {
public:
    using BpeTokenizer::BpeTokenizer;

private:
    void encode(std::string_view text, bool with_special, std::vector<std::int32_t>& ids) const override {
        for (const auto& part : parts_.raw.split(text, with_special)) {
            if (part.id >= 0) {
                ids.push_back(part.id);
                continue;
            }
            const std::string normal = parts_.nfc ? to_nfc(part.text) : std::string();
            const std::string_view stretch = parts_.nfc ? std::string_view(normal) : part.text;
            for (const auto& inner : parts_.normalized.split(stretch, with_special)) {
                if (inner.id >= 0) {
                    ids.push_back(inner.id);
                } else {
                    encode_stretch(inner.text, ids);
                }
            }
        }
    }

    void encode_stretch(std::string_view text, std::vector<std::int32_t>& ids) const {
        std::string prefixed;
        if (parts_.add_prefix_space && text[0] != ' ') {
            prefixed.reserve(text.size() + 1);
            text = prefixed.append(" ").append(text);
        }
        std::vector<std::int32_t> symbols;
        PieceSplitter pieces(parts_.split, text);
        for (std::string_view piece = pieces.next(); !piece.empty(); piece = pieces.next()) {
            if (parts_.ignore_merges) {
                if (const std::int32_t id = parts_.bytes.find(piece); id >= 0) {
                    ids.push_back(id);
                    continue;
                }
            }
            symbols.clear();
            for (const char byte : piece) {
                const std::int32_t token = parts_.byte_token[static_cast<unsigned char>(byte)];
                if (token >= 0) symbols.push_back(token);
            }
            parts_.merges.merge(symbols);
            ids.insert(ids.end(), symbols.begin(), symbols.end());
        }
    }
};

class ByteLevelBuilder {
public:
    ByteLevelBuilder(ByteLevelSpec& spec, std::vector<std::string>* notes) : spec_(spec), notes_(notes) {}

    Result<std::shared_ptr<const Tokenizer>> build() {
        DS_TRY(find_merges());
        DS_TRY(find_bytes());
        DS_TRY(check_added_tokens(spec_.added, spec_.spellings, spec_.label));
        fill_token_bytes();
        DS_TRY(parts_.take_around(std::move(spec_.before), std::move(spec_.after), spec_.label));
        note_shared_texts(spec_.spellings, spec_.label, notes_);
        normalize_added();
        parts_.take_added(std::move(spec_.added));
        parts_.split = spec_.split;
        parts_.nfc = spec_.nfc;
        parts_.ignore_merges = spec_.ignore_merges;
        parts_.add_prefix_space = spec_.add_prefix_space;
        return std::shared_ptr<const Tokenizer>(std::make_shared<ByteLevelBpe>(std::move(parts_)));
    }

private:
    Result<void> find_bytes() {
        std::vector<int> missing;
        for (int byte = 0; byte < 256; ++byte) {
            const std::int32_t id = spec_.spellings.find(alphabet_.symbol(static_cast<unsigned char>(byte)));
            parts_.byte_token[static_cast<std::size_t>(byte)] = id;
            if (id < 0) missing.push_back(byte);
        }
        if (missing.empty()) return {};
        const int first = missing.front();
        if (missing.size() > max_missing_bytes) {
            return Error{
                ErrorKind::bad_input,
                fmt::format("{}: has no token for the byte 0x{:02X} (spelt \"{}\") and {} others, so "
                            "most texts could not be encoded.",
                            spec_.label, first, alphabet_.symbol(static_cast<unsigned char>(first)),
                            missing.size() - 1)};
        }
        if (notes_ != nullptr) {
            notes_->push_back(fmt::format(
                "{}: has no token for {} of the 256 bytes, 0x{:02X} first; texts are encoded without them.",
                spec_.label, missing.size(), first));
        }
        return {};
    }

    Result<void> find_merges() {
        if (spec_.merges.size() > max_token_ids) {
            return Error{ErrorKind::bad_input, fmt::format("{}: holds {} merges, expected at most {}.",
                                                           spec_.label, spec_.merges.size(), max_token_ids)};
        }
        for (std::size_t i = 0; i < spec_.merges.size(); ++i) {
            const std::array<std::string_view, 3> texts = {spec_.merges.left(i), spec_.merges.right(i),
                                                           spec_.merges.both(i)};
            std::array<std::int32_t, 3> ids{};
            for (std::size_t part = 0; part < texts.size(); ++part) {
                ids[part] = spec_.spellings.find(texts[part]);
                if (ids[part] >= 0) continue;
                return Error{ErrorKind::bad_input,
                             fmt::format("{} {} merges {} and {}, but {} is not in {}.", spec_.merge_label,
                                         i + spec_.first_merge, quote(texts[0]), quote(texts[1]),
                                         quote(texts[part]), spec_.vocab_name)};
            }
            parts_.merges.add(ids[0], ids[1], ids[2]);
        }
        return {};
    }

    void fill_token_bytes() {
        for (const AddedToken& token : spec_.added) parts_.bytes.add_hidden(token.id, token.content);
        for (std::int32_t id = 0; id < spec_.spellings.n_token(); ++id) {
            if (!spec_.spellings.has(id) || parts_.bytes.has(id)) continue;
            const std::string_view spelling = spec_.spellings.text(id);
            const auto bytes = alphabet_.bytes_of(spelling);
            if (!bytes) {
                parts_.bytes.add_hidden(id, spelling);  // plain text, as of an added token
            } else if (spec_.ignore_merges && spec_.spellings.find(spelling) == id) {
                parts_.bytes.add(id, *bytes);
            } else {
                parts_.bytes.add_hidden(id, *bytes);
            }
        }
    }

    void normalize_added() {
        for (AddedToken& token : spec_.added) {
            if (token.normalized && spec_.nfc) token.content = to_nfc(token.content);
        }
    }

    ByteLevelSpec& spec_;
    std::vector<std::string>* notes_;
    ByteAlphabet alphabet_;
    ByteLevelParts parts_;
};

}  // namespace

Result<std::shared_ptr<const Tokenizer>> make_byte_level_bpe(ByteLevelSpec spec,
                                                             std::vector<std::string>* notes) {
    return ByteLevelBuilder(spec, notes).build();
}

}  // namespace decodescope
