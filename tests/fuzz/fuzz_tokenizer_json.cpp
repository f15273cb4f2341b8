// SPDX-License-Identifier: GPL-3.0-or-later
// Input: a tokenizer.json. What is accepted must give ids that exist, in a text and in a prompt, and decode.
#include <string>
#include <string_view>
#include <vector>

#include "engine/tokenizer/tokenizer_json.h"
#include "tests/fuzz/fuzz.h"

using namespace decodescope;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const fuzz::Folder folder;
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    folder.write("tokenizer.json", text);
    std::vector<std::string> notes;
    const auto tokenizer = load_tokenizer_json(folder.path() / "tokenizer.json", &notes);
    if (!tokenizer) {
        fuzz::require_sentence(tokenizer.error());
        return 0;
    }
    for (const std::string& note : notes) fuzz::require_sentence({ErrorKind::bad_input, note});
    const std::string sample =
        "Hello, hello wor\xc3\xa9 e\xcc\x81 \t\n 123 \xff\xf0\x9f\x98\x80 <s><|endoftext|> x " +
        std::string(text.substr(0, 200));
    for (const bool as_prompt : {false, true}) {
        const auto ids = as_prompt ? (*tokenizer)->encode_prompt(sample) : (*tokenizer)->encode_text(sample);
        for (const std::int32_t id : ids) {
            fuzz::require(id >= 0 && id < (*tokenizer)->n_token(), "ids are in range");
        }
        (*tokenizer)->decode(ids);
    }
    return 0;
}
