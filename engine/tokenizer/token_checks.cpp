// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/tokenizer/token_checks.h"

#include <fmt/format.h>

#include <unordered_map>

#include "engine/core/quote.h"
#include "engine/tokenizer/byte_alphabet.h"

namespace decodescope {

Result<void> check_added_tokens(const std::vector<AddedToken>& added, const TokenTable& vocab,
                                const std::string& label) {
    const ByteAlphabet alphabet;
    const auto fail = [&](const AddedToken& token, const std::string& what) {
        return Error{ErrorKind::bad_input,
                     fmt::format("{}: the added token {} {}.", label, quote(token.content), what)};
    };
    std::unordered_map<std::int32_t, const AddedToken*> by_id;
    for (const AddedToken& token : added) {
        if (token.id < 0 || static_cast<std::size_t>(token.id) >= max_token_ids) {
            return fail(token,
                        fmt::format("has the id {}, expected one from 0 to {}", token.id, max_token_ids - 1));
        }
        if (token.content.size() > max_added_bytes) {
            return fail(token, fmt::format("has {} bytes, expected at most {}", token.content.size(),
                                           max_added_bytes));
        }
        const auto [other, is_new] = by_id.emplace(token.id, &token);
        if (!is_new && other->second->content != token.content) {
            return fail(token,
                        fmt::format("shares the id {} with {}", token.id, quote(other->second->content)));
        }
        if (vocab.has(token.id)) {
            const std::string_view text = vocab.text(token.id);
            if (text == token.content || alphabet.bytes_of(text) == token.content) continue;
            return fail(token, fmt::format("has the id {}, which is the token {}", token.id, quote(text)));
        }
        if (const std::int32_t id = vocab.find(token.content); id >= 0) {
            return fail(token, fmt::format("has the id {}, but the vocabulary gives it {}", token.id, id));
        }
    }
    return {};
}

Result<void> check_ids_around(const std::vector<std::int32_t>& ids, const TokenTable& tokens,
                              const std::string& label) {
    for (const std::int32_t id : ids) {
        if (tokens.has(id)) continue;
        return Error{
            ErrorKind::bad_input,
            fmt::format("{}: the token {}, which belongs around a prompt, does not exist.", label, id)};
    }
    return {};
}

void note_shared_texts(const TokenTable& tokens, const std::string& label, std::vector<std::string>* notes) {
    if (notes == nullptr) return;
    std::size_t n_shared = 0;
    std::int32_t first = -1;
    for (std::int32_t id = 0; id < tokens.n_token(); ++id) {
        if (!tokens.has(id) || tokens.find(tokens.text(id)) == id) continue;
        if (n_shared++ == 0) first = id;
    }
    if (n_shared == 0) return;
    notes->push_back(
        fmt::format("{}: {} tokens have the text of an earlier one, {} (id {}) first; texts are "
                    "encoded with the earlier id.",
                    label, n_shared, quote(tokens.text(first)), first));
}

}  // namespace decodescope
