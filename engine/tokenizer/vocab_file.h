// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

#include "engine/core/result.h"
#include "engine/tokenizer/byte_level_bpe.h"
#include "engine/tokenizer/token_table.h"

namespace decodescope {

/// Reads a vocabulary: one JSON object of spelling -> id. Ids are unique and below `max_token_ids`; holes are
/// legal.
Result<TokenTable> load_vocab(const std::filesystem::path& path);

/// Merges of a file, in order of priority.
struct MergeFile {
    MergeList merges;
    std::size_t first_line = 1;  ///< the line of the first merge, counted from 1; one merge per line follows
};

/// Reads a list of merges: an optional first line starting with "#version", then "left right" per line.
/// Lines end at LF (a CR before it is dropped), never elsewhere.
Result<MergeFile> load_merges(const std::filesystem::path& path);

/// Spellings and merges from `vocab.json` and `merges.txt` of a folder (or `encoder.json` and `vocab.bpe`);
/// the rest of the spec is as GPT-2 has it. Errors name the file, the line or key, and what was expected.
Result<ByteLevelSpec> load_vocab_and_merges(const std::filesystem::path& folder);

}  // namespace decodescope
