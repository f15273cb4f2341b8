// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/core/result.h"
#include "engine/tokenizer/added_tokens.h"
#include "engine/tokenizer/token_table.h"

namespace decodescope {

/// Most bytes of a file with a vocabulary or a whole tokenizer.
inline constexpr std::uint64_t max_tokenizer_bytes = std::uint64_t{256} << 20;
/// Most bytes of an added token.
inline constexpr std::size_t max_added_bytes = 4096;

/// Checks added tokens against the vocabulary: ids in range, no id that the vocabulary gives another text, no
/// text that it gives another id, no id twice. Errors begin with `label`.
Result<void> check_added_tokens(const std::vector<AddedToken>& added, const TokenTable& vocab,
                                const std::string& label);
/// Checks that the ids put around a prompt are tokens.
Result<void> check_ids_around(const std::vector<std::int32_t>& ids, const TokenTable& tokens,
                              const std::string& label);
/// Notes texts that several ids of `tokens` share.
void note_shared_texts(const TokenTable& tokens, const std::string& label, std::vector<std::string>* notes);

}  // namespace decodescope
