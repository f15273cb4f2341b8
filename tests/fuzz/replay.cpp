// SPDX-License-Identifier: GPL-3.0-or-later
// Runs a fuzz target without a fuzzer: every file of a corpus, then a fixed number of mutations of them that
// are the same on every machine. Usage: fuzz_NAME ROUNDS FILE-OR-FOLDER...
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "engine/core/random.h"
#include "tests/fuzz/fuzz.h"

namespace {

namespace fs = std::filesystem;

/// Pieces that reach deeper into parsers than random bytes do.
constexpr std::string_view pieces[] = {
    "\"",
    "{",
    "}",
    "[",
    "]",
    ":",
    ",",
    "0",
    "-1",
    "18446744073709551615",
    "1e9",
    "null",
    "true",
    "\\u0000",
    "\\ud800",
    "\xff",
    "\xef\xbb\xbf",
    "F32",
    "BF16",
    "\"shape\":",
    "NaN",
    "Infinity",
    "\n",
    " ",
    "\xc4\xa0",
    "<|endoftext|>",
    "\"dtype\":",
    "9223372036854775807",
    "{\"a\":",
    "[[[[[[[[",
};

std::string read_file(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<std::string> read_corpus(int count, char** paths) {
    std::vector<fs::path> files;
    for (int i = 0; i < count; ++i) {
        if (!fs::is_directory(paths[i])) {
            files.emplace_back(paths[i]);
            continue;
        }
        for (const auto& entry : fs::directory_iterator(paths[i])) files.push_back(entry.path());
    }
    std::sort(files.begin(), files.end());
    std::vector<std::string> corpus;
    for (const fs::path& file : files) corpus.push_back(read_file(file));
    return corpus;
}

class Mutator {
public:
    explicit Mutator(std::uint64_t round) : round_(round) {}

    std::string mutate(const std::vector<std::string>& corpus) {
        std::string text = corpus[below(corpus.size())];
        for (std::size_t change = 0, n = 1 + below(4); change < n; ++change) {
            const std::size_t at = place(text);
            switch (below(7)) {
                case 0:
                    if (at < text.size()) text[at] = static_cast<char>(below(256));
                    break;
                case 1:
                    if (at < text.size()) text[at] = static_cast<char>(text[at] ^ (1 << below(8)));
                    break;
                case 2: text.insert(at, pieces[below(std::size(pieces))]); break;
                case 3: text.erase(at, 1 + below(16)); break;
                case 4: text.insert(at, text.substr(place(text), 1 + below(64))); break;
                case 5: text.resize(at); break;
                default: {
                    const std::string& other = corpus[below(corpus.size())];
                    text = text.substr(0, at) + other.substr(place(other));
                }
            }
        }
        return text;
    }

private:
    std::size_t below(std::size_t n) {
        return static_cast<std::size_t>(decodescope::random_bits(1, round_, draw_++) % n);
    }
    /// Mostly near the start, where headers are.
    std::size_t place(const std::string& text) {
        const std::size_t reach = below(2) == 0 ? text.size() : std::min<std::size_t>(text.size(), 512);
        return below(reach + 1);
    }

    std::uint64_t round_;
    std::uint64_t draw_ = 0;
};

void run(const std::string& input) {
    // A block of exactly this size lets AddressSanitizer see a read of one byte too many.
    const std::vector<std::uint8_t> bytes(input.begin(), input.end());
    LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
}

}  // namespace

int main(int argc, char** argv) {
    std::uint64_t rounds = 0;
    if (argc < 3 || std::from_chars(argv[1], argv[1] + std::strlen(argv[1]), rounds).ec != std::errc()) {
        fmt::print(stderr, "usage: {} ROUNDS FILE-OR-FOLDER...\n", argv[0]);
        return 2;
    }
    const auto corpus = read_corpus(argc - 2, argv + 2);
    if (corpus.empty()) {
        fmt::print(stderr, "no input in the corpus\n");
        return 2;
    }
    for (const std::string& input : corpus) run(input);
    for (std::uint64_t round = 0; round < rounds; ++round) run(Mutator(round).mutate(corpus));
    fmt::print("{} inputs and {} mutations ran without a fault\n", corpus.size(), rounds);
    return 0;
}
