// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/tokenizer/tokenizer_json_text.h"

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <new>
#include <optional>
#include <utility>
#include <vector>

#include "engine/core/quote.h"

namespace decodescope {

namespace {

using Json = nlohmann::json;

constexpr std::size_t max_depth = 64;
constexpr std::size_t max_values = 500'000;
constexpr std::size_t max_string_bytes = std::size_t{16} << 20;

/// What the parser would not refuse in bounded memory, or at all: it takes a NUL byte for the end.
std::optional<std::string> find_hostile(std::string_view text) {
    if (text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF")) {
        return "is UTF-16 text, expected UTF-8";
    }
    bool in_string = false;
    std::size_t start = 0;
    for (std::size_t at = 0; at < text.size(); ++at) {
        const char c = text[at];
        if (c == '\0') return fmt::format("is not valid JSON (a NUL byte at {})", at);
        if (c == '"') {
            in_string = !in_string;
            start = at;
        } else if (in_string && c == '\\') {
            ++at;
        } else if (in_string && at - start > max_string_bytes) {
            return fmt::format("holds a string of more than {} bytes", max_string_bytes);
        }
    }
    return std::nullopt;
}

/// Receives the file while it is parsed.
class TextReader : public nlohmann::json_sax<Json> {
public:
    TokenizerJsonText result;
    std::string failure;

    bool null() override { return value(nullptr, "null"); }
    bool boolean(bool is) override { return value(is, "a boolean"); }
    bool number_integer(number_integer_t number) override { return value(number, "a negative number"); }
    bool number_float(number_float_t number, const string_t&) override { return value(number, "a fraction"); }
    bool binary(binary_t&) override { return fail("holds binary data"); }

    bool number_unsigned(number_unsigned_t number) override {
        if (place_ == Place::vocab) return add_token(number);
        return value(number, "a number");
    }
    bool string(string_t& text) override {
        if (place_ == Place::merges) return add_merge(text);
        if (place_ == Place::pair) {
            if (n_part_ == 2) return fail_merge("a list of more than two");
            pair_[n_part_++] = std::move(text);
            return true;
        }
        return value(std::move(text), "a string");
    }
    bool key(string_t& name) override {
        key_ = std::move(name);
        return true;
    }

    bool start_object(std::size_t) override {
        if (place_ != Place::tree) return wrong("an object");
        if (in_model() && key_ == "vocab") {
            if (result.has_vocab) return fail("model.vocab is listed twice");
            result.has_vocab = true;
            place_ = Place::vocab;
            return true;
        }
        return open(Json::object());
    }
    bool end_object() override { return close(); }
    bool start_array(std::size_t) override {
        if (place_ == Place::merges) {
            place_ = Place::pair;
            n_part_ = 0;
            return true;
        }
        if (place_ != Place::tree) return wrong("a list");
        if (in_model() && key_ == "merges") {
            if (std::exchange(has_merges_, true)) return fail("model.merges is listed twice");
            place_ = Place::merges;
            return true;
        }
        return open(Json::array());
    }
    bool end_array() override {
        if (place_ == Place::pair) {
            if (n_part_ != 2) return fail_merge("a list of fewer than two");
            place_ = Place::merges;
            return keep_merge(pair_[0], pair_[1]);
        }
        return close();
    }

    bool parse_error(std::size_t at, const std::string&, const nlohmann::json::exception&) override {
        return fail(fmt::format("is not valid JSON (at byte {})", at));
    }

private:
    enum class Place { tree, vocab, merges, pair };

    bool fail(std::string what) {
        failure = std::move(what);
        return false;
    }
    bool fail_merge(std::string_view what) {
        return fail(
            fmt::format("model.merges: merge {} is {}, expected two tokens", result.merges.size() + 1, what));
    }
    /// Refuses a value that the vocabulary or the merges cannot have.
    bool wrong(std::string_view what) {
        if (place_ == Place::vocab) {
            return fail(
                fmt::format("model.vocab: token {} has {} where a whole id was expected", quote(key_), what));
        }
        return fail_merge(what);
    }

    bool in_model() const { return open_.size() == 2 && model_is_open_; }

    bool value(Json json, std::string_view what) {
        if (place_ != Place::tree) return wrong(what);
        return put(std::move(json)) != nullptr;
    }
    /// The place of a new value in the tree, or null after a failure.
    Json* put(Json json) {
        if (++n_value_ > max_values) {
            fail(fmt::format("holds more than {} values", max_values));
            return nullptr;
        }
        if (open_.empty()) {
            result.rest = std::move(json);
            return &result.rest;
        }
        Json& parent = *open_.back();
        if (parent.is_array()) {
            parent.push_back(std::move(json));
            return &parent.back();
        }
        const auto [member, is_new] = parent.emplace(key_, std::move(json));
        if (!is_new) {
            fail(fmt::format("the key {} is listed twice", quote(key_)));
            return nullptr;
        }
        return &*member;
    }
    bool open(Json json) {
        if (open_.size() == max_depth) return fail(fmt::format("is nested deeper than {} levels", max_depth));
        Json* placed = put(std::move(json));
        if (placed == nullptr) return false;
        if (open_.size() == 1) model_is_open_ = key_ == "model" && open_.front()->is_object();
        open_.push_back(placed);
        return true;
    }
    bool close() {
        if (place_ == Place::tree) {
            open_.pop_back();
        } else {
            place_ = Place::tree;
        }
        return true;
    }

    bool add_token(number_unsigned_t number) {
        if (number >= max_token_ids) {
            return fail(fmt::format("model.vocab: token {} has the id {}, expected less than {}", quote(key_),
                                    number, max_token_ids));
        }
        const auto id = static_cast<std::int32_t>(number);
        if (result.vocab.find(key_) >= 0) {
            return fail(fmt::format("model.vocab: token {} is listed twice", quote(key_)));
        }
        if (result.vocab.add(id, key_) != TokenTable::Added::ok) {
            return fail(fmt::format("model.vocab: tokens {} and {} share the id {}",
                                    quote(result.vocab.text(id)), quote(key_), id));
        }
        return true;
    }
    bool add_merge(const std::string& text) {
        const std::size_t space = text.find(' ');
        if (space == std::string::npos || text.find(' ', space + 1) != std::string::npos) {
            return fail(
                fmt::format("model.merges: merge {} is {}, expected two tokens with one space between",
                            result.merges.size() + 1, quote(text)));
        }
        return keep_merge(std::string_view(text).substr(0, space), std::string_view(text).substr(space + 1));
    }
    bool keep_merge(std::string_view left, std::string_view right) {
        if (left.empty() || right.empty()) return fail_merge("without one of its parts");
        if (result.merges.size() == max_token_ids) {
            return fail(fmt::format("model.merges: holds more than {} merges", max_token_ids));
        }
        result.merges.add(left, right);
        return true;
    }

    Place place_ = Place::tree;
    std::vector<Json*> open_;  // from the root to the innermost
    bool model_is_open_ = false;
    bool has_merges_ = false;
    std::size_t n_value_ = 0;
    std::size_t n_part_ = 0;
    std::string pair_[2];
    std::string key_;
};

}  // namespace

Result<TokenizerJsonText> parse_tokenizer_json(std::string_view text, const std::string& label) {
    const auto refuse = [&](std::string_view what) {
        return Error{ErrorKind::bad_input, fmt::format("{}: {}.", label, what)};
    };
    try {
        if (const auto hostile = find_hostile(text)) return refuse(*hostile);
        TextReader reader;
        if (!Json::sax_parse(text, &reader)) return refuse(reader.failure);
        if (!reader.result.rest.is_object()) {
            return refuse(fmt::format("holds {}, expected an object", reader.result.rest.type_name()));
        }
        return std::move(reader.result);
    } catch (const std::bad_alloc&) {
        return Error{ErrorKind::out_of_memory, fmt::format("{}: no memory to read it.", label)};
    }
}

}  // namespace decodescope
