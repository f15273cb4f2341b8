// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "engine/core/result.h"
#include "engine/tokenizer/added_tokens.h"
#include "engine/tokenizer/split.h"
#include "engine/tokenizer/token_table.h"
#include "engine/tokenizer/tokenizer.h"

namespace decodescope {

/// What makes a byte-level BPE tokenizer, whatever file it comes from.
struct ByteLevelSpec {
    /// By id, in the byte alphabet (`ByteAlphabet`); a spelling with another character is plain text. Ids may
    /// be missing. Should spell every single byte.
    TokenTable spellings;
    MergeList merges;  ///< in order of rank; left, right and both together are spellings
    SplitRule split = SplitRule::gpt2;
    bool nfc = false;               ///< text is brought to normal form C first
    bool ignore_merges = false;     ///< a piece that is a token is taken as it is
    bool add_prefix_space = false;  ///< in front of each stretch between added tokens that has none
    /// Ids may lie outside `spellings`; where they lie inside, the content counts for the bytes.
    std::vector<AddedToken> added;
    std::vector<std::int32_t> before;  ///< ids put before a prompt
    std::vector<std::int32_t> after;   ///< ids put behind a prompt

    // Parts of messages: "a/vocab.json: ...", "a/merges.txt: line 7 merges ..., but ... is not in
    // vocab.json."
    std::string label;                      ///< where the tokens come from
    std::string vocab_name = "its tokens";  ///< the same within a sentence
    std::string merge_label;                ///< where a merge comes from, before its number
    std::size_t first_merge = 1;            ///< number of the first merge
};

/// Checks `spec` and makes the tokenizer. Errors are one sentence that names the token or merge. `notes`
/// receives what is unusual: a text that two ids share (the first is encoded), bytes without a token (they
/// are left out of texts).
///
/// Bytes that are not UTF-8 are kept: what `encode_text` gives decodes to the same bytes, unless `nfc`,
/// `add_prefix_space` or an added token's flags say otherwise.
Result<std::shared_ptr<const Tokenizer>> make_byte_level_bpe(ByteLevelSpec spec,
                                                             std::vector<std::string>* notes = nullptr);

}  // namespace decodescope
