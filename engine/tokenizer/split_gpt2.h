// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string_view>

namespace decodescope {

/// Length in bytes of the first piece of `text` (not empty) under GPT-2's split rule: a lower-case English
/// contraction; letters, numbers or other signs, each with at most one space in front; or white space, of
/// which the last character stays for the next piece unless the text ends. Letters are Unicode's L*, numbers
/// N*, white space the White_Space property; a byte that is not UTF-8 is an "other" sign. Pieces never cross,
/// so merging inside each piece gives the tokens of the text.
std::size_t first_piece_gpt2(std::string_view text);

}  // namespace decodescope
