// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/tokenizer/vocab_file.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <utility>

#include "engine/core/quote.h"
#include "engine/core/text_file.h"
#include "engine/core/utf8.h"

namespace decodescope {

namespace {

constexpr std::uint64_t max_file_bytes = std::uint64_t{256} << 20;
constexpr std::size_t max_entries = std::size_t{4} << 20;

Error file_error(const std::filesystem::path& path, std::string_view what) {
    return Error{ErrorKind::bad_input, fmt::format("{}: {}.", path.string(), what)};
}

/// Receives the vocabulary while it is parsed: a flat object of numbers, so neither nesting nor duplicates
/// can pass unseen and no document tree is built.
class VocabReader : public nlohmann::json_sax<nlohmann::json> {
public:
    Vocab vocab;
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
        if (id >= max_entries) {
            return fail(
                fmt::format("token {} has the id {}, expected less than {}", quote(key_), id, max_entries));
        }
        if (vocab.size() == max_entries) return fail(fmt::format("holds more than {} tokens", max_entries));
        if (!vocab.emplace(key_, static_cast<std::int32_t>(id)).second) {
            return fail(fmt::format("token {} is listed twice", quote(key_)));
        }
        return true;
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

ByteAlphabet::ByteAlphabet() {
    bytes_.fill(-1);
    char32_t next_free = 0x100;
    for (int byte = 0; byte < 256; ++byte) {
        const bool printable = (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || byte >= 174;
        const char32_t code_point = printable ? static_cast<char32_t>(byte) : next_free++;
        append_utf8(symbols_[static_cast<std::size_t>(byte)], code_point);
        bytes_[code_point] = byte;
    }
}

std::optional<std::string> ByteAlphabet::bytes_of(std::string_view spelling) const {
    std::string bytes;
    for (std::size_t at = 0; at < spelling.size();) {
        const Utf8Step step = utf8_at(spelling, at);
        if (step.kind != Utf8Step::Kind::character || step.code_point >= bytes_.size() ||
            bytes_[step.code_point] < 0) {
            return std::nullopt;
        }
        bytes.push_back(static_cast<char>(static_cast<unsigned char>(bytes_[step.code_point])));
        at += step.length;
    }
    return bytes;
}

Result<Vocab> load_vocab(const std::filesystem::path& path) {
    const auto text = read_text_file(path, max_file_bytes);
    if (!text) return text.error();
    VocabReader reader;
    if (!nlohmann::json::sax_parse(*text, &reader)) return file_error(path, reader.failure);
    if (reader.vocab.empty()) return file_error(path, "holds no tokens");

    std::vector<std::pair<std::int32_t, const std::string*>> by_id;
    by_id.reserve(reader.vocab.size());
    for (const auto& [spelling, id] : reader.vocab) by_id.emplace_back(id, &spelling);
    std::sort(by_id.begin(), by_id.end(), [](const auto& a, const auto& b) {
        return a.first != b.first ? a.first < b.first : *a.second < *b.second;
    });
    for (std::size_t i = 1; i < by_id.size(); ++i) {
        if (by_id[i].first == by_id[i - 1].first) {
            return file_error(path,
                              fmt::format("tokens {} and {} share the id {}", quote(*by_id[i - 1].second),
                                          quote(*by_id[i].second), by_id[i].first));
        }
    }
    return std::move(reader.vocab);
}

Result<std::vector<MergeLine>> load_merges(const std::filesystem::path& path) {
    const auto text = read_text_file(path, max_file_bytes);
    if (!text) return text.error();
    std::vector<MergeLine> merges;
    std::string_view rest = *text;
    for (std::size_t number = 1; !rest.empty(); ++number) {
        const std::size_t end = std::min(rest.find('\n'), rest.size());
        std::string_view line = rest.substr(0, end);
        rest.remove_prefix(std::min(end + 1, rest.size()));
        if (line.ends_with('\r')) line.remove_suffix(1);
        if (number == 1 && line.starts_with("#version")) continue;
        if (line.empty() && rest.empty()) break;

        const std::size_t space = line.find(' ');
        if (space == std::string_view::npos || space == 0 || space + 1 == line.size() ||
            line.find(' ', space + 1) != std::string_view::npos) {
            return file_error(
                path, fmt::format("line {} is {}, expected two symbols with one space between them", number,
                                  quote(line)));
        }
        if (merges.size() == max_entries) {
            return file_error(path, fmt::format("holds more than {} merges", max_entries));
        }
        merges.push_back({number, std::string(line.substr(0, space)), std::string(line.substr(space + 1))});
    }
    return merges;
}

}  // namespace decodescope
