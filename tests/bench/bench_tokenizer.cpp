// SPDX-License-Identifier: GPL-3.0-or-later
// How fast text becomes token ids, for the tokenizer of a model (default: demo) and for the small ones of the
// tests, each with its own split rule: 1 MB of mixed text, and 1 MB of one letter as the hardest single
// piece. Prints a table; judges nothing.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "engine/formats/model_source.h"
#include "engine/tokenizer/tokenizer_json.h"

using namespace decodescope;

namespace {

constexpr std::size_t n_byte = 1'000'000;
constexpr int n_repetition = 5;

/// Prose, code, numbers and other scripts, varied so that no stretch comes twice in a row.
std::string mixed_text() {
    constexpr std::string_view parts[] = {
        "It is a truth universally acknowledged, that a single man in possession of a good fortune, must be "
        "in "
        "want of a wife. ",
        "\"I'll tell you what they've done,\" she said; \"it doesn't matter, we're leaving.\"\n\n",
        "def measure(values):\n    total = 0\n    for value in values:\n        total += value * 2\n    "
        "return total\n\n",
        "In 1812 the price was 1,440.50 a ton, 12.5% more than in 1811. ",
        "\u041c\u043e\u0441\u043a\u0432\u0430 \u2014 \u0441\u0442\u043e\u043b\u0438\u0446\u0430. Le "
        "caf\u00e9 est "
        "d\u00e9j\u00e0 ferm\u00e9. ",
        "\u4f60\u597d\uff0c\u4e16\u754c\u3002\u4eca\u5929\u5929\u6c14\u5f88\u597d\u3002\n",
        "https://example.com/search?q=tokens&page=3#results -- see also [7], (8) and {9}! \U0001F600\n",
    };
    std::string text;
    for (std::size_t i = 0; text.size() < n_byte; ++i) {
        text += parts[(i * i + i / 3) % std::size(parts)];
        text += fmt::format("{:x} ", i * 2654435761u % 1000003u);
    }
    text.resize(n_byte);
    return text;
}

struct Timing {
    double best_ms = 0;
    std::size_t n_token = 0;
};

Timing time_of(const Tokenizer& tokenizer, const std::string& text) {
    Timing timing;
    for (int i = 0; i < n_repetition; ++i) {
        const auto start = std::chrono::steady_clock::now();
        timing.n_token = tokenizer.encode_text(text).size();
        const double ms =
            std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
        timing.best_ms = i == 0 ? ms : std::min(timing.best_ms, ms);
    }
    return timing;
}

void report(const std::string& name, const Tokenizer& tokenizer) {
    const Timing mixed = time_of(tokenizer, mixed_text());
    const Timing letter = time_of(tokenizer, std::string(n_byte, 'a'));
    fmt::print("{:12} mixed {:7.1f} ms {:6.1f} MB/s {:7} tokens   one letter {:7.1f} ms {:7} tokens\n", name,
               mixed.best_ms, static_cast<double>(n_byte) / 1e3 / mixed.best_ms, mixed.n_token,
               letter.best_ms, letter.n_token);
}

}  // namespace

int main(int argc, char** argv) {
    const std::string name = argc > 1 ? argv[1] : "demo";
    const auto start = std::chrono::steady_clock::now();
    const auto ref = parse_model_ref(name);
    const auto tokenizer = ref ? load_tokenizer(*ref) : ref.error();
    if (!tokenizer) {
        fmt::print(stderr, "{}\n", tokenizer.error().message);
        return 2;
    }
    fmt::print("{} tokens loaded in {:.1f} ms\n", (*tokenizer)->n_token(),
               std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count());
    report(name.substr(name.find_last_of('/') + 1), **tokenizer);
    for (const char* small : {"gpt2", "llama3", "qwen2", "smollm2", "llama2"}) {
        const auto loaded = load_tokenizer_json(
            fmt::format("{}/tests/data/tokenizer/{}.tokenizer.json", DECODESCOPE_SOURCE_DIR, small));
        if (!loaded) {
            fmt::print(stderr, "{}\n", loaded.error().message);
            return 2;
        }
        report(small, **loaded);
    }
    return 0;
}
