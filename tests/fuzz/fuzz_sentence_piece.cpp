// SPDX-License-Identifier: GPL-3.0-or-later
// Input: a byte of settings, then tokens: a byte for the type, one for the score (or 0xFF for a merge of this
// token and the next), one for the length, the text. What is accepted must give ids that exist, and keep text
// whose bytes all have tokens.
#include <string>
#include <string_view>
#include <vector>

#include "engine/tokenizer/sentence_piece_bpe.h"
#include "tests/fuzz/fuzz.h"

using namespace decodescope;

namespace {

SentencePieceSpec spec_of(std::string_view text) {
    SentencePieceSpec spec;
    spec.label = "fuzz";
    const auto take = [&]() -> unsigned char {
        if (text.empty()) return 0;
        const char byte = text.front();
        text.remove_prefix(1);
        return static_cast<unsigned char>(byte);
    };
    const unsigned char settings = take();
    spec.prefix = static_cast<SentencePieceSpec::Prefix>(settings % 4);
    const bool with_scores = (settings & 4) != 0;
    const auto add = [&](PieceType type, float score, std::string_view token) {
        spec.tokens.add(spec.tokens.n_token(), token);
        spec.types.push_back(type);
        if (with_scores) spec.scores.push_back(score);
    };
    if ((settings & 8) != 0) {
        constexpr std::string_view digits = "0123456789ABCDEF";
        for (std::size_t byte = 0; byte < 256; ++byte) {
            std::string token = "<0x00>";
            token[3] = digits[byte / 16];
            token[4] = digits[byte % 16];
            add(PieceType::byte, 0, token);
        }
    }
    std::string before;
    while (!text.empty()) {
        const unsigned char type = take();
        const unsigned char score = take();
        const std::size_t length = take();
        const std::string_view token = text.substr(0, length);
        text.remove_prefix(token.size());
        if (score == 0xFF && !before.empty() && !token.empty()) {
            spec.merges.add(before, token);
        } else {
            add(static_cast<PieceType>(type % 8), static_cast<float>(score), token);
        }
        before = token;
    }
    if ((settings & 16) != 0) spec.before = {static_cast<std::int32_t>(settings >> 5)};
    return spec;
}

/// The mark for a space is decoded as one, wherever it comes from; its bytes are not.
std::string with_spaces(std::string_view text) {
    constexpr std::string_view mark = "\u2581";
    std::string out;
    while (!text.empty()) {
        const bool is_mark = text.starts_with(mark);
        out += is_mark ? ' ' : text.front();
        text.remove_prefix(is_mark ? mark.size() : 1);
    }
    return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    SentencePieceSpec spec = spec_of(text);
    const bool with_bytes = size > 0 && (data[0] & 8) != 0;
    const bool with_prefix = size > 0 && data[0] % 4 != 0;
    std::vector<std::string> notes;
    const auto tokenizer = make_sentence_piece_bpe(std::move(spec), &notes);
    if (!tokenizer) {
        fuzz::require_sentence(tokenizer.error());
        return 0;
    }
    for (const std::string& note : notes) fuzz::require_sentence({ErrorKind::bad_input, note});
    const std::string sample =
        "Hello  wor\xc3\xa9 \t\n 123 \xff\xf0\x9f\x98\x80 <s> x " + std::string(text.substr(0, 200));
    std::string bytes;
    for (const std::int32_t id : (*tokenizer)->encode_text(sample)) {
        fuzz::require(id >= 0 && id < (*tokenizer)->n_token(), "ids are in range");
        bytes += (*tokenizer)->token_bytes(id);
    }
    if (with_bytes && !with_prefix) {
        fuzz::require(with_spaces(bytes) == with_spaces(sample), "text comes back byte for byte");
    }
    for (const std::int32_t id : (*tokenizer)->encode_prompt(sample)) {
        fuzz::require(id >= 0 && id < (*tokenizer)->n_token(), "ids of prompts are in range");
    }
    return 0;
}
