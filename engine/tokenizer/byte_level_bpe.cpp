// SPDX-License-Identifier: GPL-3.0-or-later
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "engine/core/quote.h"
#include "engine/tokenizer/bpe.h"
#include "engine/tokenizer/split_gpt2.h"
#include "engine/tokenizer/tokenizer.h"
#include "engine/tokenizer/vocab_file.h"

namespace decodescope {

namespace {

constexpr std::string_view end_of_text = "<|endoftext|>";
constexpr std::int32_t no_token = -1;

class ByteLevelBpe : public Tokenizer {
public:
    ByteLevelBpe(const Vocab& vocab, const ByteAlphabet& alphabet, BpeMerges merges)
        : merges_(std::move(merges)) {
        std::int32_t largest = -1;
        for (const auto& [spelling, id] : vocab) largest = std::max(largest, id);
        tokens_.resize(static_cast<std::size_t>(largest) + 1);
        for (const auto& [spelling, id] : vocab) {
            // A spelling outside the byte alphabet is an added token, written as plain text.
            tokens_[static_cast<std::size_t>(id)] = alphabet.bytes_of(spelling).value_or(spelling);
        }
        if (const auto found = vocab.find(std::string(end_of_text)); found != vocab.end()) {
            end_of_text_ = found->second;
        }
    }

    std::vector<std::int32_t> encode_text(std::string_view text) const override {
        std::vector<std::int32_t> ids;
        encode(text, ids);
        return ids;
    }

    std::vector<std::int32_t> encode_prompt(std::string_view text) const override {
        std::vector<std::int32_t> ids;
        while (end_of_text_ != no_token) {
            const std::size_t at = text.find(end_of_text);
            if (at == std::string_view::npos) break;
            encode(text.substr(0, at), ids);
            ids.push_back(end_of_text_);
            text.remove_prefix(at + end_of_text.size());
        }
        encode(text, ids);
        return ids;
    }

    std::string_view token_bytes(std::int32_t id) const override {
        return id >= 0 && id < n_token() ? std::string_view(tokens_[static_cast<std::size_t>(id)])
                                         : std::string_view();
    }
    bool is_special(std::int32_t id) const override { return id != no_token && id == end_of_text_; }
    std::int32_t n_token() const override { return static_cast<std::int32_t>(tokens_.size()); }

private:
    void encode(std::string_view text, std::vector<std::int32_t>& ids) const {
        while (!text.empty()) {
            const std::size_t length = first_piece_gpt2(text);
            merges_.encode(text.substr(0, length), ids);
            text.remove_prefix(length);
        }
    }

    BpeMerges merges_;
    std::vector<std::string> tokens_;  // [n_token] bytes
    std::int32_t end_of_text_ = no_token;
};

/// The first of `names` that exists in `folder`.
Result<std::filesystem::path> find_file(const std::filesystem::path& folder,
                                        const std::array<const char*, 2>& names) {
    for (const char* name : names) {
        std::error_code code;
        if (std::filesystem::exists(folder / name, code)) return folder / name;
    }
    return Error{ErrorKind::io,
                 fmt::format("{}: has no tokenizer file {} (or {}).", folder.string(), names[0], names[1])};
}

}  // namespace

Result<std::shared_ptr<const Tokenizer>> load_byte_level_bpe(const std::filesystem::path& folder) {
    const auto vocab_path = find_file(folder, {"vocab.json", "encoder.json"});
    if (!vocab_path) return vocab_path.error();
    const auto merges_path = find_file(folder, {"merges.txt", "vocab.bpe"});
    if (!merges_path) return merges_path.error();
    const auto vocab = load_vocab(*vocab_path);
    if (!vocab) return vocab.error();
    const auto lines = load_merges(*merges_path);
    if (!lines) return lines.error();

    const ByteAlphabet alphabet;
    BpeMerges merges;
    for (int byte = 0; byte < 256; ++byte) {
        const auto found = vocab->find(alphabet.symbol(static_cast<unsigned char>(byte)));
        if (found == vocab->end()) {
            return Error{
                ErrorKind::bad_input,
                fmt::format("{}: has no token for the byte 0x{:02X} (spelt \"{}\"), so not every text "
                            "could be encoded.",
                            vocab_path->string(), byte, alphabet.symbol(static_cast<unsigned char>(byte)))};
        }
        merges.byte_token[static_cast<std::size_t>(byte)] = found->second;
    }
    for (const MergeLine& line : *lines) {
        std::array<std::int32_t, 3> ids{};
        const std::array<std::string, 3> parts = {line.left, line.right, line.left + line.right};
        for (std::size_t i = 0; i < parts.size(); ++i) {
            const auto found = vocab->find(parts[i]);
            if (found == vocab->end()) {
                return Error{
                    ErrorKind::bad_input,
                    fmt::format("{}: line {} merges {} and {}, but {} is not in {}.", merges_path->string(),
                                line.line, quote(line.left), quote(line.right), quote(parts[i]),
                                vocab_path->filename().string())};
            }
            ids[i] = found->second;
        }
        merges.add(ids[0], ids[1], ids[2]);
    }
    return std::shared_ptr<const Tokenizer>(
        std::make_shared<ByteLevelBpe>(*vocab, alphabet, std::move(merges)));
}

}  // namespace decodescope
