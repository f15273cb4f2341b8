// SPDX-License-Identifier: GPL-3.0-or-later
// Input: a merges.txt, a line "----", a vocab.json. What is accepted must encode and decode without loss.
#include <string>
#include <string_view>
#include <vector>

#include "engine/tokenizer/byte_level_bpe.h"
#include "engine/tokenizer/vocab_file.h"
#include "tests/fuzz/fuzz.h"

using namespace decodescope;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const fuzz::Folder folder;
    constexpr std::string_view separator = "\n----\n";
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const std::size_t border = text.find(separator);
    folder.write("merges.txt", text.substr(0, border));
    folder.write("vocab.json",
                 border == text.npos ? std::string_view() : text.substr(border + separator.size()));
    auto spec = load_vocab_and_merges(folder.path());
    if (!spec) {
        fuzz::require_sentence(spec.error());
        return 0;
    }
    std::vector<std::string> notes;
    const auto tokenizer = make_byte_level_bpe(*std::move(spec), &notes);
    if (!tokenizer) {
        fuzz::require_sentence(tokenizer.error());
        return 0;
    }
    const std::string sample =
        "Hello, hello wor\xc3\xa9 \t\n 123 \xff\xf0\x9f\x98\x80 " + std::string(text.substr(0, 200));
    std::string bytes;
    for (const std::int32_t id : (*tokenizer)->encode_text(sample)) {
        fuzz::require(id >= 0 && id < (*tokenizer)->n_token(), "ids are in range");
        bytes += (*tokenizer)->token_bytes(id);
    }
    fuzz::require(bytes == sample || !notes.empty(), "text comes back byte for byte");
    for (const std::int32_t id : (*tokenizer)->encode_prompt(sample)) {
        fuzz::require(id >= 0 && id < (*tokenizer)->n_token(), "ids of prompts are in range");
    }
    return 0;
}
