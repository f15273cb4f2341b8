// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/tokenizer/split.h"

#include <array>

#include "engine/tokenizer/char_class.h"

namespace decodescope {

namespace {

/// End of the run of characters of `type` that starts at `at`, and the place of its last character.
struct Run {
    std::size_t end = 0;
    std::size_t last = 0;
};

Run run_at(std::string_view text, std::size_t at, CharClass type, std::size_t most = std::string_view::npos) {
    Run run{at, at};
    for (std::size_t n = 0; n < most && run.end < text.size(); ++n) {
        const Char next = char_at(text, run.end);
        if (next.type != type) break;
        run.last = run.end;
        run.end += next.length;
    }
    return run;
}

bool is_line_end(char c) {
    return c == '\r' || c == '\n';
}

/// Length of white space that starts the text, without the character that the next piece takes.
std::size_t space_length(std::string_view text, const Run& spaces) {
    return spaces.end == text.size() || spaces.last == 0 ? spaces.end : spaces.last;
}

std::size_t first_gpt2(std::string_view text) {
    constexpr std::array<std::string_view, 7> contractions = {"'s", "'t", "'re", "'ve", "'m", "'ll", "'d"};
    if (text[0] == '\'') {
        for (const std::string_view contraction : contractions) {
            if (text.starts_with(contraction)) return contraction.size();
        }
    }
    const std::size_t word = text[0] == ' ' && text.size() > 1 ? 1 : 0;
    const CharClass type = char_at(text, word).type;
    if (type != CharClass::space) return run_at(text, word, type).end;
    return space_length(text, run_at(text, 0, CharClass::space));
}

/// Length of a contraction in any case at the start of the text, else 0.
std::size_t contraction_any_case(std::string_view text) {
    constexpr std::string_view long_s = "\u017F";  // equals s when case is ignored
    if (text[0] != '\'' || text.size() < 2) return 0;
    const auto lower = [&](std::size_t at) {
        const char c = at < text.size() ? text[at] : '\0';
        return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    };
    switch (lower(1)) {
        case 's':
        case 't':
        case 'm':
        case 'd': return 2;
        case 'r':
        case 'v': return lower(2) == 'e' ? 3 : 0;
        case 'l': return lower(2) == 'l' ? 3 : 0;
        default: return text.substr(1).starts_with(long_s) ? 1 + long_s.size() : 0;
    }
}

std::size_t first_llama3(std::string_view text, std::size_t most_numbers) {
    if (const std::size_t length = contraction_any_case(text); length != 0) return length;
    const Char first = char_at(text, 0);
    if (first.type == CharClass::letter) return run_at(text, 0, CharClass::letter).end;
    if (first.type == CharClass::number) return run_at(text, 0, CharClass::number, most_numbers).end;
    if (!is_line_end(text[0]) && first.length < text.size() &&
        char_at(text, first.length).type == CharClass::letter) {
        return run_at(text, first.length, CharClass::letter).end;
    }
    const std::size_t sign = text[0] == ' ' && text.size() > 1 ? 1 : 0;
    if (char_at(text, sign).type == CharClass::other) {
        std::size_t end = run_at(text, sign, CharClass::other).end;
        while (end < text.size() && is_line_end(text[end])) ++end;
        return end;
    }
    const Run spaces = run_at(text, 0, CharClass::space);
    const std::size_t line_end = text.substr(0, spaces.end).find_last_of("\r\n");
    return line_end != std::string_view::npos ? line_end + 1 : space_length(text, spaces);
}

std::size_t up_to_number(std::string_view text) {
    std::size_t at = 0;
    while (at < text.size()) {
        const Char next = char_at(text, at);
        if (next.type == CharClass::number) break;
        at += next.length;
    }
    return at;
}

}  // namespace

std::size_t PieceSplitter::length_of_next() {
    switch (rule_) {
        case SplitRule::none: break;
        case SplitRule::gpt2: return first_gpt2(text_);
        case SplitRule::llama3: return first_llama3(text_, 3);
        case SplitRule::qwen2: return first_llama3(text_, 1);
        case SplitRule::smollm2: {
            if (between_ == 0) between_ = up_to_number(text_);
            if (between_ == 0) return char_at(text_, 0).length;
            const std::size_t length = first_gpt2(text_.substr(0, between_));
            between_ -= length;
            return length;
        }
    }
    return text_.size();
}

std::string_view PieceSplitter::next() {
    if (text_.empty()) return {};
    const std::string_view piece = text_.substr(0, length_of_next());
    text_.remove_prefix(piece.size());
    return piece;
}

}  // namespace decodescope
