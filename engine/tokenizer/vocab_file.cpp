// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/tokenizer/vocab_file.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <string_view>
#include <system_error>
#include <utility>

#include "engine/core/quote.h"
#include "engine/core/text_file.h"
#include "engine/tokenizer/token_checks.h"

namespace decodescope {

namespace {

Error file_error(const std::filesystem::path& path, std::string_view what) {
    return Error{ErrorKind::bad_input, fmt::format("{}: {}.", path.string(), what)};
}

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

/// Receives the vocabulary while it is parsed: a flat object of numbers, so neither nesting nor duplicates
/// can pass unseen and no document tree is built.
class VocabReader : public nlohmann::json_sax<nlohmann::json> {
public:
    TokenTable vocab;
    std::string failure;

    bool start_object(std::size_t) override {
        if (in_object_) return fail_value("an object");
        in_object_ = true;
        return true;
    }
    bool end_object() override { return true; }
    bool key(string_t& name) override {
        key_ = name;
        return true;
    }
    bool number_unsigned(number_unsigned_t id) override {
        if (!in_object_) return fail_value("a number");
        if (id >= max_token_ids) {
            return fail(
                fmt::format("token {} has the id {}, expected less than {}", quote(key_), id, max_token_ids));
        }
        switch (vocab.add(static_cast<std::int32_t>(id), key_)) {
            case TokenTable::Added::text_taken:
                return fail(fmt::format("token {} is listed twice", quote(key_)));
            case TokenTable::Added::id_taken:
                if (vocab.find(key_) == static_cast<std::int32_t>(id))
                    return fail(fmt::format("token {} is listed twice", quote(key_)));
                return fail(fmt::format("tokens {} and {} share the id {}",
                                        quote(vocab.text(static_cast<std::int32_t>(id))), quote(key_), id));
            default: return true;
        }
    }
    bool null() override { return fail_value("null"); }
    bool boolean(bool) override { return fail_value("a boolean"); }
    bool number_integer(number_integer_t) override { return fail_value("a negative number"); }
    bool number_float(number_float_t, const string_t&) override { return fail_value("a fraction"); }
    bool string(string_t&) override { return fail_value("a string"); }
    bool binary(binary_t&) override { return fail_value("binary data"); }
    bool start_array(std::size_t) override { return fail_value("an array"); }
    bool end_array() override { return true; }
    bool parse_error(std::size_t at, const std::string&, const nlohmann::json::exception&) override {
        return fail(fmt::format("is not valid JSON (at byte {})", at));
    }

private:
    bool fail(std::string what) {
        failure = std::move(what);
        return false;
    }
    bool fail_value(std::string_view what) {
        return fail(in_object_
                        ? fmt::format("token {} has {} where a whole id was expected", quote(key_), what)
                        : fmt::format("holds {}, expected one object of token: id", what));
    }

    bool in_object_ = false;
    std::string key_;
};

}  // namespace

Result<TokenTable> load_vocab(const std::filesystem::path& path) {
    const auto text = read_text_file(path, max_tokenizer_bytes);
    if (!text) return text.error();
    VocabReader reader;
    if (!nlohmann::json::sax_parse(*text, &reader)) return file_error(path, reader.failure);
    if (reader.vocab.size() == 0) return file_error(path, "holds no tokens");
    return std::move(reader.vocab);
}

Result<MergeFile> load_merges(const std::filesystem::path& path) {
    const auto text = read_text_file(path, max_tokenizer_bytes);
    if (!text) return text.error();
    MergeFile file;
    std::string_view rest = *text;
    for (std::size_t number = 1; !rest.empty(); ++number) {
        const std::size_t end = std::min(rest.find('\n'), rest.size());
        std::string_view line = rest.substr(0, end);
        rest.remove_prefix(std::min(end + 1, rest.size()));
        if (line.ends_with('\r')) line.remove_suffix(1);
        if (number == 1 && line.starts_with("#version")) {
            file.first_line = 2;
            continue;
        }
        if (line.empty() && rest.empty()) break;

        const std::size_t space = line.find(' ');
        if (space == std::string_view::npos || space == 0 || space + 1 == line.size() ||
            line.find(' ', space + 1) != std::string_view::npos) {
            return file_error(
                path, fmt::format("line {} is {}, expected two symbols with one space between them", number,
                                  quote(line)));
        }
        if (file.merges.size() == max_token_ids) {
            return file_error(path, fmt::format("holds more than {} merges", max_token_ids));
        }
        file.merges.add(line.substr(0, space), line.substr(space + 1));
    }
    return file;
}

Result<ByteLevelSpec> load_vocab_and_merges(const std::filesystem::path& folder) {
    const auto vocab_path = find_file(folder, {"vocab.json", "encoder.json"});
    if (!vocab_path) return vocab_path.error();
    const auto merges_path = find_file(folder, {"merges.txt", "vocab.bpe"});
    if (!merges_path) return merges_path.error();
    auto vocab = load_vocab(*vocab_path);
    if (!vocab) return vocab.error();
    auto merges = load_merges(*merges_path);
    if (!merges) return merges.error();
    ByteLevelSpec spec;
    spec.spellings = *std::move(vocab);
    spec.merges = std::move(merges->merges);
    spec.label = vocab_path->string();
    spec.vocab_name = vocab_path->filename().string();
    spec.merge_label = merges_path->string() + ": line";
    spec.first_merge = merges->first_line;
    return spec;
}

Result<std::shared_ptr<const Tokenizer>> load_byte_level_bpe(const std::filesystem::path& folder) {
    auto spec = load_vocab_and_merges(folder);
    if (!spec) return spec.error();
    constexpr std::string_view end_of_text = "<|endoftext|>";
    if (const std::int32_t id = spec->spellings.find(end_of_text); id >= 0) {
        AddedToken token;
        token.id = id;
        token.content = end_of_text;
        spec->added.push_back(std::move(token));
    }
    return make_byte_level_bpe(*std::move(spec));
}

}  // namespace decodescope
