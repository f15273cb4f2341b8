// SPDX-License-Identifier: GPL-3.0-or-later
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <new>
#include <optional>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "engine/core/quote.h"
#include "engine/formats/safetensors.h"

namespace decodescope {

namespace {

constexpr std::size_t max_entry_rank = 8;  // the format has no limit; models need 4
constexpr std::size_t max_json_depth = 4;  // 3 are defined; one more for fields we do not know
// The format allows headers of 100 MB. These limits, far above every model's, keep memory near the file's
// size.
constexpr std::size_t max_entries = 100'000;
constexpr std::size_t max_stretch = std::size_t{4} << 20;  // of one string, or between two
constexpr std::size_t max_kept = std::size_t{16} << 20;    // of all names and metadata together

constexpr auto dtype_bits = std::to_array<std::pair<std::string_view, unsigned>>({
    {"F32", 32},        {"F16", 16},        {"BF16", 16},   {"F64", 64},    {"BOOL", 8},    {"U8", 8},
    {"I8", 8},          {"I16", 16},        {"U16", 16},    {"I32", 32},    {"U32", 32},    {"I64", 64},
    {"U64", 64},        {"C64", 64},        {"F8_E5M2", 8}, {"F8_E4M3", 8}, {"F8_E8M0", 8}, {"F4", 4},
    {"F8_E4M3FNUZ", 8}, {"F8_E5M2FNUZ", 8}, {"F6_E2M3", 6}, {"F6_E3M2", 6},
});

std::optional<unsigned> bits_of(std::string_view dtype) {
    for (const auto& [name, bits] : dtype_bits) {
        if (name == dtype) return bits;
    }
    return std::nullopt;
}

/// Receives the parser's events and builds the entries. The parser keeps its nesting on the heap, so depth
/// cannot exhaust the stack. Returning false ends the parse; `error` then says why.
class HeaderReader {
public:
    explicit HeaderReader(SafetensorsHeader& header) : header_(header) {}

    const Error& error() const { return error_; }

    bool start_object(std::size_t) {
        if (!deeper()) return false;
        switch (state_) {
            case State::start: state_ = State::top; return true;
            case State::top: return key_ == "__metadata__" ? enter_metadata() : enter_entry();
            default: return enter_unknown("an object");
        }
    }

    bool start_array(std::size_t) {
        if (!deeper()) return false;
        if (state_ == State::entry && (field_ == Field::shape || field_ == Field::data_offsets)) {
            state_ = State::list;
            return true;
        }
        return enter_unknown("an array");
    }

    bool end_object() { return leave(); }
    bool end_array() { return leave(); }

    bool key(std::string& name) {
        if (state_ == State::entry) return entry_key(name);
        if (state_ == State::unknown) return true;
        key_ = std::move(name);
        if (state_ == State::metadata && header_.metadata.contains(key_)) {
            return fail(fmt::format("has the __metadata__ key {} twice", quote(key_)));
        }
        return true;
    }

    bool string(std::string& text) {
        if (state_ == State::metadata) {
            if (!keep(key_.size() + text.size())) return false;
            header_.metadata.emplace(std::move(key_), std::move(text));
            return true;
        }
        if (state_ != State::entry || field_ != Field::dtype) return scalar("a string");
        if (!bits_of(text)) {
            return fail(fmt::format("gives tensor {} the unknown dtype {}", tensor(), quote(text)),
                        ErrorKind::unsupported);
        }
        entry().dtype = std::move(text);
        return true;
    }

    bool number_unsigned(std::uint64_t value) {
        if (state_ != State::list) return scalar("a number");
        if (field_ == Field::shape) {
            if (entry().shape.size() == max_entry_rank) {
                return fail(fmt::format("gives tensor {} more than {} dimensions", tensor(), max_entry_rank),
                            ErrorKind::unsupported);
            }
            entry().shape.push_back(value);
            return true;
        }
        if (n_offset_ == 0) entry().begin = value;
        if (n_offset_ == 1) entry().end = value;
        if (++n_offset_ <= 2) return true;
        return fail(fmt::format("has more than 2 data_offsets for tensor {}", tensor()));
    }

    bool number_integer(std::int64_t value) { return odd_number(fmt::format("{}", value)); }
    bool number_float(double, const std::string& text) { return odd_number(text); }
    bool boolean(bool) { return scalar("true or false"); }
    bool null() { return scalar("null"); }
    bool binary(nlohmann::json::binary_t&) { return scalar("binary data"); }

    bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception&) {
        return fail(fmt::format("is not valid JSON at byte {}", position == 0 ? 0 : position - 1));
    }

private:
    enum class State { start, top, metadata, entry, list, unknown };
    enum class Field { none, dtype, shape, data_offsets };
    static constexpr std::array<const char*, 4> field_names = {"", "dtype", "shape", "data_offsets"};
    static constexpr std::array<const char*, 4> field_values = {"", "a string", "a list of whole numbers",
                                                                "a list of 2 whole numbers"};

    SafetensorsEntry& entry() { return header_.entries.back(); }
    std::string tensor() { return quote(entry().name); }
    static std::size_t index(Field field) { return static_cast<std::size_t>(field); }

    bool fail(std::string what, ErrorKind kind = ErrorKind::bad_input) {
        error_ = {kind, std::move(what)};
        return false;
    }

    bool keep(std::size_t n) {
        n_kept_ += n;
        if (n_kept_ <= max_kept) return true;
        return fail(fmt::format("holds more than {} bytes of names and metadata", max_kept),
                    ErrorKind::unsupported);
    }

    bool deeper() {
        if (++depth_ <= max_json_depth) return true;
        return fail(fmt::format("is nested deeper than {} levels", max_json_depth));
    }

    bool enter_metadata() {
        if (seen_metadata_) return fail("has \"__metadata__\" twice");
        seen_metadata_ = true;
        state_ = State::metadata;
        return true;
    }

    bool enter_entry() {
        if (header_.entries.size() == max_entries) {
            return fail(fmt::format("lists more than {} tensors", max_entries), ErrorKind::unsupported);
        }
        if (!keep(key_.size())) return false;
        header_.entries.emplace_back().name = std::move(key_);
        seen_ = {};
        n_offset_ = 0;
        field_ = Field::none;
        state_ = State::entry;
        return true;
    }

    /// Fields that the format does not define may hold anything.
    bool enter_unknown(const char* what) {
        if (!may_ignore()) return unexpected(what);
        state_ = State::unknown;
        ++unknown_depth_;
        return true;
    }

    bool leave() {
        --depth_;
        switch (state_) {
            case State::unknown:
                if (--unknown_depth_ == 0) state_ = State::entry;
                return true;
            case State::list:
                state_ = State::entry;
                if (field_ != Field::data_offsets || n_offset_ == 2) return true;
                return fail(
                    fmt::format("has {} data_offsets for tensor {}, expected 2", n_offset_, tensor()));
            case State::entry:
                state_ = State::top;
                for (std::size_t i = 1; i < seen_.size(); ++i) {
                    if (!seen_[i]) {
                        return fail(fmt::format("lacks the {} of tensor {}", field_names[i], tensor()));
                    }
                }
                return true;
            default: state_ = State::top; return true;
        }
    }

    bool entry_key(std::string_view name) {
        field_ = Field::none;
        for (std::size_t i = 1; i < field_names.size(); ++i) {
            if (name != field_names[i]) continue;
            if (seen_[i]) return fail(fmt::format("has the {} of tensor {} twice", name, tensor()));
            seen_[i] = true;
            field_ = static_cast<Field>(i);
        }
        return true;
    }

    bool odd_number(const std::string& text) {
        if (state_ != State::list) return scalar("a number");
        return fail(fmt::format("has {} in the {} of tensor {}, expected whole numbers from 0 to 2^64 - 1",
                                quote(text, 32), field_names[index(field_)], tensor()));
    }

    bool may_ignore() const {
        return state_ == State::unknown || (state_ == State::entry && field_ == Field::none);
    }

    bool scalar(const char* what) { return may_ignore() ? true : unexpected(what); }

    bool unexpected(const char* what) {
        switch (state_) {
            case State::start: return fail(fmt::format("is {}, expected an object", what));
            case State::metadata:
                return fail(
                    fmt::format("has {} as the __metadata__ value {}, expected a string", what, quote(key_)));
            case State::entry:
            case State::list:
                return fail(fmt::format("has {} in the {} of tensor {}, expected {}", what,
                                        field_names[index(field_)], tensor(), field_values[index(field_)]));
            default: return fail(fmt::format("has {} for {}, expected an object", what, quote(key_)));
        }
    }

    SafetensorsHeader& header_;
    Error error_;
    State state_ = State::start;
    std::size_t depth_ = 0;
    std::size_t unknown_depth_ = 0;
    std::size_t n_kept_ = 0;
    std::string key_;  // the latest key of the outer object or of __metadata__
    Field field_ = Field::none;
    std::array<bool, 4> seen_{};  // by Field
    int n_offset_ = 0;
    bool seen_metadata_ = false;
};

/// Rules about the raw text that the parser does not check: it would take a NUL byte for the end and skip a
/// byte order mark, and it copies whatever lies between two quotes. Blanks at the end are cut off already.
Result<void> check_text(std::string_view json) {
    const auto refuse = [](std::string what) { return Error{ErrorKind::bad_input, std::move(what)}; };
    if (json.empty()) return refuse("is empty, expected a JSON object");
    if (const auto bad = find_invalid_utf8(json)) {
        return refuse(fmt::format("is not valid UTF-8 at byte {}", *bad));
    }
    if (const auto zero = json.find('\0'); zero != json.npos) {
        return refuse(fmt::format("is not valid JSON at byte {}", zero));
    }
    if (const auto first = json.find_first_not_of(" \t\r\n"); first == json.npos || json[first] != '{') {
        return refuse("does not start with {");
    }
    bool in_string = false;
    std::size_t start = 0;
    for (std::size_t i = 0; i < json.size(); ++i) {
        if (json[i] == '\\' && in_string) {
            ++i;
        } else if (json[i] == '"') {
            in_string = !in_string;
            start = i;
        } else if (i - start > max_stretch) {
            return refuse(
                fmt::format("holds a {} of more than {} bytes", in_string ? "string" : "gap", max_stretch));
        }
    }
    return {};
}

Result<void> check_size(const SafetensorsEntry& entry) {
    const auto overflow = [&] {
        return Error{ErrorKind::bad_input,
                     fmt::format("gives tensor {} the shape [{}], whose size overflows 64 bits",
                                 quote(entry.name), fmt::join(entry.shape, ", "))};
    };
    std::uint64_t bits = bits_of(entry.dtype).value_or(0);
    for (const std::uint64_t dimension : entry.shape) {
        if (__builtin_mul_overflow(bits, dimension, &bits)) return overflow();
    }
    if (entry.end < entry.begin) {
        return Error{ErrorKind::bad_input, fmt::format("gives tensor {} the data_offsets [{}, {}], which run "
                                                       "backwards",
                                                       quote(entry.name), entry.begin, entry.end)};
    }
    if (bits % 8 == 0 && bits / 8 == entry.size()) return {};
    return Error{ErrorKind::bad_input,
                 fmt::format("gives tensor {} {} bytes of data, but {} [{}] needs {}", quote(entry.name),
                             entry.size(), entry.dtype, fmt::join(entry.shape, ", "),
                             bits % 8 == 0 ? fmt::format("{}", bits / 8) : fmt::format("{} bits", bits))};
}

Result<void> check_names(const std::vector<SafetensorsEntry>& entries) {
    std::unordered_set<std::string_view> names;
    for (const SafetensorsEntry& entry : entries) {
        if (!names.insert(entry.name).second) {
            return Error{ErrorKind::bad_input, fmt::format("lists tensor {} twice", quote(entry.name))};
        }
    }
    return {};
}

/// `entries` in the order of their data must cover [0, data_bytes) exactly.
Result<void> check_coverage(const std::vector<SafetensorsEntry>& entries, std::uint64_t data_bytes) {
    const auto refuse = [](std::string what) { return Error{ErrorKind::bad_input, std::move(what)}; };
    const SafetensorsEntry* previous = nullptr;
    for (const SafetensorsEntry& entry : entries) {
        const std::uint64_t expected = previous == nullptr ? 0 : previous->end;
        if (entry.begin < expected) {
            return refuse(fmt::format("lets tensors {} (bytes {} to {}) and {} (bytes {} to {}) overlap",
                                      quote(previous->name), previous->begin, previous->end,
                                      quote(entry.name), entry.begin, entry.end));
        }
        if (entry.begin > expected) {
            const std::string place = previous == nullptr
                                          ? std::string("before tensor ")
                                          : fmt::format("between tensors {} and ", quote(previous->name));
            return refuse(fmt::format("leaves bytes {} to {} unused, {}{}", expected, entry.begin, place,
                                      quote(entry.name)));
        }
        previous = &entry;
    }
    const std::uint64_t end = previous == nullptr ? 0 : previous->end;
    if (end > data_bytes) {
        return refuse(
            fmt::format("describes {} bytes of data, but the file holds {} ({} missing: cut short?)", end,
                        data_bytes, end - data_bytes));
    }
    if (end < data_bytes) {
        return refuse(
            fmt::format("describes {} bytes of data, but the file holds {} ({} bytes after the last "
                        "tensor)",
                        end, data_bytes, data_bytes - end));
    }
    return {};
}

Result<SafetensorsHeader> parse(std::string_view json, std::uint64_t data_bytes) {
    json = json.substr(0, json.find_last_not_of(" \t\r\n") + 1);
    DS_TRY(check_text(json));
    SafetensorsHeader header;
    HeaderReader reader(header);
    if (!nlohmann::json::sax_parse(json, &reader)) return reader.error();
    DS_TRY(check_names(header.entries));
    for (const SafetensorsEntry& entry : header.entries) DS_TRY(check_size(entry));
    std::stable_sort(header.entries.begin(), header.entries.end(), [](const auto& a, const auto& b) {
        return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
    });
    DS_TRY(check_coverage(header.entries, data_bytes));
    return header;
}

}  // namespace

Result<SafetensorsHeader> parse_safetensors_header(std::string_view json, std::uint64_t data_bytes,
                                                   const std::string& label) {
    try {
        auto header = parse(json, data_bytes);
        if (header) return header;
        return Error{header.error().kind, fmt::format("{}: the header {}.", label, header.error().message)};
    } catch (const std::bad_alloc&) {
        return Error{ErrorKind::out_of_memory, fmt::format("{}: no memory to read the header.", label)};
    }
}

}  // namespace decodescope
