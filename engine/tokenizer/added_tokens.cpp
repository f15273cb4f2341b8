// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/tokenizer/added_tokens.h"

#include <algorithm>
#include <utility>

#include "engine/tokenizer/char_class.h"

namespace decodescope {

namespace {

/// Bytes of white space at the end of `text`.
std::size_t space_at_end(std::string_view text) {
    std::size_t left = text.size();
    while (left > 0) {
        const Char last = last_char(text.substr(0, left));
        if (last.type != CharClass::space) break;
        left -= last.length;
    }
    return text.size() - left;
}

std::size_t space_at_start(std::string_view text) {
    std::size_t at = 0;
    while (at < text.size()) {
        const Char next = char_at(text, at);
        if (next.type != CharClass::space) break;
        at += next.length;
    }
    return at;
}

}  // namespace

AddedTokenFinder::AddedTokenFinder(std::vector<AddedToken> tokens) : tokens_(std::move(tokens)) {
    std::erase_if(tokens_, [](const AddedToken& token) { return token.content.empty(); });
    const auto by_content = [](const AddedToken& a, const AddedToken& b) { return a.content < b.content; };
    std::stable_sort(tokens_.begin(), tokens_.end(), by_content);
    const auto same = [](const AddedToken& a, const AddedToken& b) { return a.content == b.content; };
    tokens_.erase(std::unique(tokens_.begin(), tokens_.end(), same), tokens_.end());
    for (const AddedToken& token : tokens_) starts_[static_cast<unsigned char>(token.content[0])] = true;
}

const AddedToken* AddedTokenFinder::longest_at(std::string_view text) const {
    // Narrows the sorted tokens to those that begin as the text does, one byte at a time; the shortest of
    // them comes first.
    const AddedToken* longest = nullptr;
    auto low = tokens_.begin();
    auto high = tokens_.end();
    for (std::size_t n = 0; n < text.size(); ++n) {
        const auto byte = static_cast<unsigned char>(text[n]);
        const auto byte_of = [n](const AddedToken& token) {
            return n < token.content.size() ? static_cast<unsigned char>(token.content[n]) : -1;
        };
        low = std::lower_bound(low, high, int{byte},
                               [&](const AddedToken& token, int value) { return byte_of(token) < value; });
        high = std::upper_bound(low, high, int{byte},
                                [&](int value, const AddedToken& token) { return value < byte_of(token); });
        if (low == high) break;
        if (low->content.size() == n + 1) longest = &*low;
    }
    return longest;
}

std::vector<AddedTokenFinder::Part> AddedTokenFinder::split(std::string_view text, bool with_special) const {
    std::vector<Part> parts;
    std::size_t done = 0;
    std::size_t space_start = 1;  // of the last white space that a token has taken
    std::size_t space_end = 0;
    for (std::size_t at = 0; !tokens_.empty() && at < text.size();) {
        const AddedToken* token =
            starts_[static_cast<unsigned char>(text[at])] ? longest_at(text.substr(at)) : nullptr;
        if (token == nullptr) {
            ++at;
            continue;
        }
        std::size_t start = at;
        std::size_t end = at + token->content.size();
        at = end;  // what was found and not taken is passed over, too
        if (token->special && !with_special) continue;
        if (token->single_word &&
            (ends_with_word(text.substr(0, start)) || starts_with_word(text.substr(end))))
            continue;
        // White space that the token before has taken already stays with it.
        if (token->lstrip && start > done) start -= space_at_end(text.substr(done, start - done));
        if (token->rstrip) {
            // Remembered, since tokens may begin with white space themselves.
            if (end < space_start || end > space_end) {
                space_start = end;
                space_end = end + space_at_start(text.substr(end));
            }
            end = space_end;
        }
        if (start > done) parts.push_back({text.substr(done, start - done), -1});
        parts.push_back({text.substr(start, end - start), token->id});
        done = end;
    }
    if (done < text.size()) parts.push_back({text.substr(done), -1});
    return parts;
}

}  // namespace decodescope
