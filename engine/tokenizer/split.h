// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <string_view>

namespace decodescope {

/// How a text is cut into pieces before merging. Pieces never cross, so merging inside each of them gives the
/// tokens of the text. White space, letters and numbers are as in `CharClass`.
enum class SplitRule {
    /// The whole text is one piece.
    none,
    /// A lower-case English contraction; letters, numbers or other signs, each with at most one space in
    /// front; or white space, of which the last character stays for the next piece unless the text ends.
    gpt2,
    /// As gpt2, but: contractions in any case; letters with at most one sign in front that is neither letter,
    /// number nor line end; one to three numbers, without a space; other signs also take the line ends
    /// behind them; white space ends after its last line end.
    llama3,
    /// As llama3 with one number a piece.
    qwen2,
    /// Each number alone, then gpt2 on what lies between.
    smollm2,
};

/// Cuts a text into pieces, in order and without gaps. Linear in the length of the text. Not for empty
/// stretches: `next` gives none.
class PieceSplitter {
public:
    /// `text` must outlive the splitter and the pieces.
    PieceSplitter(SplitRule rule, std::string_view text) : rule_(rule), text_(text) {}
    /// The next piece; empty at the end.
    std::string_view next();

private:
    std::size_t length_of_next();

    SplitRule rule_;
    std::string_view text_;    // what is left
    std::size_t between_ = 0;  // bytes left of it before the next number (smollm2)
};

}  // namespace decodescope
