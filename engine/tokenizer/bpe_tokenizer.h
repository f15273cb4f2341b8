// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/core/result.h"
#include "engine/tokenizer/added_tokens.h"
#include "engine/tokenizer/bpe.h"
#include "engine/tokenizer/token_table.h"
#include "engine/tokenizer/tokenizer.h"

namespace decodescope {

/// What both kinds of BPE tokenizers are made of. Filled once, by the kind's builder.
struct BpeParts {
    TokenTable bytes;  ///< of each token
    BpeMerges merges;
    std::array<std::int32_t, 256> byte_token{};  ///< or -1
    AddedTokenFinder raw;                        ///< looked for in the text as it comes
    AddedTokenFinder normalized;                 ///< and in what the kind has made of it
    std::vector<std::int32_t> special;           ///< ascending
    std::vector<std::int32_t> before;            ///< put in front of a prompt
    std::vector<std::int32_t> after;             ///< put behind it

    /// Sorts tokens, their content as it is looked for, into `raw`, `normalized` and `special`.
    void take_added(std::vector<AddedToken> added);
    /// Takes the ids around a prompt; all must be tokens. Errors begin with `label`.
    Result<void> take_around(std::vector<std::int32_t> ids_before, std::vector<std::int32_t> ids_after,
                             const std::string& label);
};

/// What both kinds answer alike; a kind adds how a text becomes ids, and to `Parts` what that takes.
template <class Parts>
class BpeTokenizer : public Tokenizer {
public:
    explicit BpeTokenizer(Parts parts) : parts_(std::move(parts)) {}

    std::vector<std::int32_t> encode_text(std::string_view text) const override {
        std::vector<std::int32_t> ids;
        encode(text, false, ids);
        return ids;
    }

    std::vector<std::int32_t> encode_prompt(std::string_view text) const override {
        std::vector<std::int32_t> ids = parts_.before;
        encode(text, true, ids);
        ids.insert(ids.end(), parts_.after.begin(), parts_.after.end());
        return ids;
    }

    std::span<const std::int32_t> ids_before() const override { return parts_.before; }
    std::span<const std::int32_t> ids_after() const override { return parts_.after; }

    std::string_view token_bytes(std::int32_t id) const override { return parts_.bytes.text(id); }
    bool is_special(std::int32_t id) const override {
        return std::binary_search(parts_.special.begin(), parts_.special.end(), id);
    }
    std::int32_t n_token() const override { return parts_.bytes.n_token(); }

protected:
    /// Appends the ids of `text`; special tokens are recognised `with_special`.
    virtual void encode(std::string_view text, bool with_special, std::vector<std::int32_t>& ids) const = 0;

    Parts parts_;
};

}  // namespace decodescope
