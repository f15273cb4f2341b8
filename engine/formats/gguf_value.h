// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace decodescope {

/// Types of metadata values, with the numbers they have in the file.
enum class GgufType : std::uint32_t {
    u8,
    i8,
    u16,
    i16,
    u32,
    i32,
    f32,
    boolean,
    string,
    array,
    u64,
    i64,
    f64
};
/// The name as messages use it: "u8", "bool", "string", ...
const char* to_string(GgufType type);

/// Bytes of one value of a type of fixed size; 0 for strings and arrays.
std::size_t size_of(GgufType type);
/// `bytes`, at most 8, as a number whose least significant byte comes first.
std::uint64_t load_little_endian(std::string_view bytes);

/// One metadata value. The getters return nothing when the value is of another type or does not fit; whole
/// numbers are taken from any integer type, since writers differ.
class GgufValue {
public:
    GgufValue(GgufType type, std::string_view bytes) : type_(type), bytes_(bytes) {}
    GgufValue(GgufType element, std::uint64_t count, std::string_view bytes)
        : type_(GgufType::array), element_(element), count_(count), bytes_(bytes) {}

    GgufType type() const { return type_; }
    /// Type of an array's elements; `array` for arrays of arrays, which can only be counted.
    GgufType element() const { return element_; }
    /// Number of elements of an array.
    std::uint64_t count() const { return count_; }

    std::optional<std::int64_t> integer() const;
    /// Of any float or integer type.
    std::optional<double> number() const;
    std::optional<bool> boolean() const;
    /// Any bytes: not necessarily UTF-8.
    std::optional<std::string_view> text() const;
    std::optional<std::vector<std::int64_t>> integers() const;
    std::optional<std::vector<double>> numbers() const;
    /// Views that live as long as the header.
    std::optional<std::vector<std::string_view>> texts() const;

private:
    GgufType type_;
    GgufType element_ = GgufType::u8;
    std::uint64_t count_ = 0;
    std::string_view bytes_;  // the elements as in the file; a single string without its length
};

/// The type as messages use it: "u32", "array of string".
std::string type_name(const GgufValue& value);

}  // namespace decodescope
