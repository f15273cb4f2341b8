// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/formats/gguf_value.h"

#include <bit>
#include <limits>

namespace decodescope {

namespace {

std::optional<std::int64_t> integer_of(GgufType type, std::string_view bytes) {
    const std::uint64_t raw = load_little_endian(bytes.substr(0, size_of(type)));
    switch (type) {
        case GgufType::u8:
        case GgufType::u16:
        case GgufType::u32: return static_cast<std::int64_t>(raw);
        case GgufType::i8: return static_cast<std::int8_t>(raw);
        case GgufType::i16: return static_cast<std::int16_t>(raw);
        case GgufType::i32: return static_cast<std::int32_t>(raw);
        case GgufType::i64: return static_cast<std::int64_t>(raw);
        case GgufType::u64:
            if (raw > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) return {};
            return static_cast<std::int64_t>(raw);
        default: return {};
    }
}

std::optional<double> number_of(GgufType type, std::string_view bytes) {
    const std::uint64_t raw = load_little_endian(bytes.substr(0, size_of(type)));
    if (type == GgufType::f32) return std::bit_cast<float>(static_cast<std::uint32_t>(raw));
    if (type == GgufType::f64) return std::bit_cast<double>(raw);
    if (type == GgufType::u64) return static_cast<double>(raw);
    const auto whole = integer_of(type, bytes);
    if (!whole) return {};
    return static_cast<double>(*whole);
}

/// All elements of an array, each by `convert`; nothing when one does not fit.
template <class T, class Convert>
std::optional<std::vector<T>> elements(GgufType type, std::uint64_t count, std::string_view bytes,
                                       Convert convert) {
    const std::size_t size = size_of(type);
    if (size == 0) return {};
    std::vector<T> values;
    values.reserve(static_cast<std::size_t>(count));
    for (std::size_t i = 0; i < count; ++i) {
        const std::optional<T> value = convert(type, bytes.substr(i * size, size));
        if (!value) return {};
        values.push_back(*value);
    }
    return values;
}

}  // namespace

const char* to_string(GgufType type) {
    switch (type) {
        case GgufType::u8: return "u8";
        case GgufType::i8: return "i8";
        case GgufType::u16: return "u16";
        case GgufType::i16: return "i16";
        case GgufType::u32: return "u32";
        case GgufType::i32: return "i32";
        case GgufType::f32: return "f32";
        case GgufType::boolean: return "bool";
        case GgufType::string: return "string";
        case GgufType::array: return "array";
        case GgufType::u64: return "u64";
        case GgufType::i64: return "i64";
        case GgufType::f64: return "f64";
    }
    return "unknown";
}

std::size_t size_of(GgufType type) {
    switch (type) {
        case GgufType::u8:
        case GgufType::i8:
        case GgufType::boolean: return 1;
        case GgufType::u16:
        case GgufType::i16: return 2;
        case GgufType::u32:
        case GgufType::i32:
        case GgufType::f32: return 4;
        case GgufType::u64:
        case GgufType::i64:
        case GgufType::f64: return 8;
        case GgufType::string:
        case GgufType::array: return 0;
    }
    return 0;
}

std::uint64_t load_little_endian(std::string_view bytes) {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        value |= static_cast<std::uint64_t>(static_cast<unsigned char>(bytes[i])) << (8 * i);
    }
    return value;
}

std::string type_name(const GgufValue& value) {
    if (value.type() != GgufType::array) return to_string(value.type());
    return std::string("array of ") + to_string(value.element());
}

std::optional<std::int64_t> GgufValue::integer() const {
    return integer_of(type_, bytes_);
}

std::optional<double> GgufValue::number() const {
    return number_of(type_, bytes_);
}

std::optional<bool> GgufValue::boolean() const {
    if (type_ != GgufType::boolean) return {};
    return bytes_[0] != 0;
}

std::optional<std::string_view> GgufValue::text() const {
    if (type_ != GgufType::string) return {};
    return bytes_;
}

std::optional<std::vector<std::int64_t>> GgufValue::integers() const {
    if (type_ != GgufType::array) return {};
    return elements<std::int64_t>(element_, count_, bytes_, integer_of);
}

std::optional<std::vector<double>> GgufValue::numbers() const {
    if (type_ != GgufType::array) return {};
    return elements<double>(element_, count_, bytes_, number_of);
}

std::optional<std::vector<std::string_view>> GgufValue::texts() const {
    if (type_ != GgufType::array || element_ != GgufType::string) return {};
    std::vector<std::string_view> strings;
    strings.reserve(static_cast<std::size_t>(count_));
    std::string_view rest = bytes_;
    for (std::uint64_t i = 0; i < count_; ++i) {
        const auto length = static_cast<std::size_t>(load_little_endian(rest.substr(0, 8)));
        strings.push_back(rest.substr(8, length));
        rest.remove_prefix(8 + length);
    }
    return strings;
}

}  // namespace decodescope
