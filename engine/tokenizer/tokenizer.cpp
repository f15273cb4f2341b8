// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/tokenizer/tokenizer.h"

#include "engine/core/utf8.h"

namespace decodescope {

namespace {

constexpr std::string_view replacement = "\xEF\xBF\xBD";

}  // namespace

std::string Utf8Stream::push(std::string_view bytes) {
    pending_.append(bytes);
    std::string out;
    out.reserve(pending_.size());
    std::size_t at = 0;
    while (at < pending_.size()) {
        const Utf8Step step = utf8_at(pending_, at);
        if (step.kind == Utf8Step::Kind::unfinished) break;
        if (step.kind == Utf8Step::Kind::character) {
            out.append(pending_, at, step.length);
        } else {
            out.append(replacement);
        }
        at += step.length;
    }
    pending_.erase(0, at);
    return out;
}

std::string Utf8Stream::finish() {
    const bool unfinished = !pending_.empty();
    pending_.clear();
    return unfinished ? std::string(replacement) : std::string();
}

std::vector<std::int32_t> Tokenizer::encode_to_continue(std::string_view text, bool control) const {
    if (control) {
        auto ids = encode_prompt(text);
        ids.resize(ids.size() - ids_after().size());
        return ids;
    }
    auto ids = encode_text(text);
    ids.insert(ids.begin(), ids_before().begin(), ids_before().end());
    return ids;
}

std::string Tokenizer::decode(std::span<const std::int32_t> ids) const {
    Utf8Stream stream;
    std::string out;
    for (const std::int32_t id : ids) out += stream.push(token_bytes(id));
    return out + stream.finish();
}

}  // namespace decodescope
