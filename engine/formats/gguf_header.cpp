// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/formats/gguf_header.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <new>
#include <unordered_set>
#include <utility>

#include "engine/core/quote.h"
#include "engine/formats/gguf_value.h"

namespace decodescope {

namespace {

// Far above every published model; they bound memory and time for files that lie.
constexpr std::uint64_t max_header = std::uint64_t{64} << 20;
constexpr std::uint64_t max_keys = 65'536;
constexpr std::uint64_t max_tensors = 100'000;
constexpr std::uint64_t max_key_bytes = 65'535;
constexpr std::uint64_t max_all_keys_bytes = std::uint64_t{4} << 20;
constexpr std::uint64_t max_name_bytes = 63;
constexpr std::uint32_t max_rank = 4;
constexpr int max_nesting = 4;
constexpr std::uint64_t max_alignment = 65'536;

// The smallest possible records: a count larger than the bytes left divided by these is a lie.
constexpr std::uint64_t least_key_bytes = 8 + 1 + 4 + 1;
constexpr std::uint64_t least_tensor_bytes = 8 + 1 + 4 + 8 + 4 + 8;
constexpr std::uint64_t least_array_bytes = 4 + 8;

constexpr std::size_t read_bytes = std::size_t{256} << 10;

std::uint64_t round_up(std::uint64_t value, std::uint64_t alignment) {
    return (value + alignment - 1) / alignment * alignment;
}

bool is_printable(std::string_view text) {
    return !find_invalid_utf8(text) && std::all_of(text.begin(), text.end(), [](char c) {
        return static_cast<unsigned char>(c) >= 0x20 && c != 0x7f;
    });
}

class HeaderParser {
public:
    HeaderParser(std::uint64_t file_bytes, const GgufRead& read, const std::string& label)
        : file_bytes_(file_bytes), read_(read), label_(label) {}

    Result<GgufHeader> parse() {
        // Address space only: pages that are not written take no memory, and growing never copies.
        buffer_.reserve(static_cast<std::size_t>(std::min(file_bytes_, max_header)));
        DS_TRY(parse_start());
        for (std::uint64_t i = 0; i < n_key_; ++i) DS_TRY(parse_key(i));
        const std::size_t metadata_end = at_;
        DS_TRY(parse_settings());
        header_.tensors.reserve(static_cast<std::size_t>(n_tensor_));
        for (std::uint64_t i = 0; i < n_tensor_; ++i) DS_TRY(parse_tensor(i));
        header_.data_start = round_up(at_, header_.alignment);
        DS_TRY(check_placement());
        buffer_.resize(metadata_end);
        header_.buffer = std::move(buffer_);
        for (const Found& found : found_) {
            const std::string_view bytes(header_.buffer.data() + found.begin, found.end - found.begin);
            header_.metadata.emplace(found.key, found.type == GgufType::array
                                                    ? GgufValue(found.element, found.count, bytes)
                                                    : GgufValue(found.type, bytes));
        }
        return std::move(header_);
    }

private:
    /// Where a value stands in the buffer, which may still move.
    struct Found {
        std::string key;
        GgufType type = GgufType::u8;
        GgufType element = GgufType::u8;
        std::uint64_t count = 0;
        std::size_t begin = 0;
        std::size_t end = 0;
    };

    Error fail(const std::string& what, ErrorKind kind = ErrorKind::bad_input) const {
        return {kind, fmt::format("{}: {}.", label_, what)};
    }
    std::uint64_t left() const { return file_bytes_ - at_; }

    /// Makes sure that the next `n` bytes of the file are in the buffer. `place` names them.
    template <class Place>
    Result<void> need(std::uint64_t n, const Place& place) {
        if (n <= buffer_.size() - at_) return {};
        if (n > left()) {
            return fail(fmt::format("is cut short or damaged: {} takes {} bytes, of which the file holds {}",
                                    place(), n, left()));
        }
        if (n > max_header - at_) {
            return fail(
                fmt::format("has a header larger than the limit of {} bytes (at {})", max_header, place()),
                ErrorKind::unsupported);
        }
        const std::uint64_t wanted = std::max<std::uint64_t>(at_ + n, buffer_.size() + read_bytes);
        const std::size_t before = buffer_.size();
        buffer_.resize(static_cast<std::size_t>(std::min({wanted, file_bytes_, max_header})));
        return read_(before, std::as_writable_bytes(std::span(buffer_).subspan(before)));
    }
    std::uint64_t take(std::size_t n) {
        const std::uint64_t value = load_little_endian({buffer_.data() + at_, n});
        at_ += n;
        return value;
    }
    template <class Place>
    Result<std::uint64_t> read_number(std::size_t n, const Place& place) {
        DS_TRY(need(n, place));
        return take(n);
    }
    /// A length and that many bytes, which the view shows until more is read.
    template <class Place>
    Result<std::string_view> read_string(const Place& place) {
        DS_TRY(need(8, [&] { return "the length of " + place(); }));
        const std::uint64_t length = take(8);
        DS_TRY(need(length, place));
        const std::string_view text(buffer_.data() + at_, static_cast<std::size_t>(length));
        at_ += static_cast<std::size_t>(length);
        return text;
    }

    Result<void> parse_start() {
        DS_TRY(need(4, [] { return std::string("the magic number"); }));
        if (std::string_view(buffer_.data(), 4) != "GGUF") return fail("does not begin with \"GGUF\"");
        at_ = 4;
        const auto version = read_number(4, [] { return std::string("the version"); });
        if (!version) return version.error();
        if (*version == 0x02000000 || *version == 0x03000000) {
            return fail("is a big-endian GGUF file, expected little-endian", ErrorKind::unsupported);
        }
        if (*version != 2 && *version != 3) {
            return fail(fmt::format("is a GGUF file of version {}, expected 2 or 3", *version),
                        ErrorKind::unsupported);
        }
        header_.version = static_cast<std::uint32_t>(*version);
        DS_TRY(read_count("tensors", least_tensor_bytes, max_tensors, n_tensor_));
        return read_count("metadata keys", least_key_bytes, max_keys, n_key_);
    }

    Result<void> read_count(const char* what, std::uint64_t least_bytes, std::uint64_t limit,
                            std::uint64_t& count) {
        const auto number = read_number(8, [&] { return fmt::format("the number of {}", what); });
        if (!number) return number.error();
        if (*number > left() / least_bytes) {
            return fail(fmt::format("says that it has {} {}, more than fit into the {} bytes that follow",
                                    *number, what, left()));
        }
        if (*number > limit) {
            return fail(fmt::format("has {} {}, the limit is {}", *number, what, limit),
                        ErrorKind::unsupported);
        }
        count = *number;
        return {};
    }

    Result<void> parse_key(std::uint64_t i) {
        const auto place = [&] { return fmt::format("metadata key {} of {}", i + 1, n_key_); };
        const auto key = read_string(place);
        if (!key) return key.error();
        if (key->empty() || key->size() > max_key_bytes || !is_printable(*key)) {
            return fail(fmt::format("{} is {}, expected 1 to {} bytes of printable UTF-8", place(),
                                    quote(*key), max_key_bytes));
        }
        if (!keys_.insert(std::string(*key)).second) {
            return fail(fmt::format("has the metadata key {} twice", quote(*key)));
        }
        all_keys_bytes_ += key->size();
        if (all_keys_bytes_ > max_all_keys_bytes) {
            return fail(fmt::format("has more than {} bytes of metadata keys", max_all_keys_bytes),
                        ErrorKind::unsupported);
        }
        Found found;
        found.key = *key;
        const auto type = read_type([&] { return "the type of " + quote(found.key); });
        if (!type) return type.error();
        found.type = *type;
        DS_TRY(parse_value(found));
        found_.push_back(std::move(found));
        return {};
    }

    template <class Place>
    Result<GgufType> read_type(const Place& place) {
        const auto number = read_number(4, place);
        if (!number) return number.error();
        if (*number > static_cast<std::uint64_t>(GgufType::f64)) {
            return fail(fmt::format("{} is {}, expected 0 to {}", place(), *number,
                                    static_cast<unsigned>(GgufType::f64)));
        }
        return static_cast<GgufType>(*number);
    }

    Result<void> parse_value(Found& found) {
        const auto place = [&] { return "the value of " + quote(found.key); };
        if (found.type == GgufType::string) {
            const auto text = read_string(place);
            if (!text) return text.error();
            found.begin = at_ - text->size();
        } else if (found.type == GgufType::array) {
            DS_TRY(parse_array(found.key, 1, &found));
        } else {
            const std::size_t size = size_of(found.type);
            DS_TRY(need(size, place));
            found.begin = at_;
            at_ += size;
            if (found.type == GgufType::boolean) DS_TRY(check_booleans(found.key, found.begin));
        }
        found.end = at_;
        return {};
    }

    /// Checks an array and passes over it. `found` receives what the outermost one holds.
    Result<void> parse_array(const std::string& key, int depth, Found* found) {
        const auto place = [&] { return "the array " + quote(key); };
        if (depth > max_nesting) {
            return fail(fmt::format("nests {} more than {} arrays deep", place(), max_nesting),
                        ErrorKind::unsupported);
        }
        const auto element = read_type([&] { return "the element type of " + place(); });
        if (!element) return element.error();
        const auto count = read_number(8, [&] { return "the length of " + place(); });
        if (!count) return count.error();
        const std::uint64_t least = *element == GgufType::string  ? 8
                                    : *element == GgufType::array ? least_array_bytes
                                                                  : size_of(*element);
        if (*count > left() / least) {
            return fail(
                fmt::format("{} says that it has {} elements, more than fit into the {} bytes that follow",
                            place(), *count, left()));
        }
        const std::size_t begin = at_;
        if (*element == GgufType::string) {
            for (std::uint64_t i = 0; i < *count; ++i) {
                const auto text =
                    read_string([&] { return fmt::format("element {} of {}", i + 1, place()); });
                if (!text) return text.error();
            }
        } else if (*element == GgufType::array) {
            for (std::uint64_t i = 0; i < *count; ++i) DS_TRY(parse_array(key, depth + 1, nullptr));
        } else {
            DS_TRY(need(*count * least, place));
            at_ += static_cast<std::size_t>(*count * least);
            if (*element == GgufType::boolean) DS_TRY(check_booleans(key, begin));
        }
        if (found != nullptr) {
            found->element = *element;
            found->count = *count;
            found->begin = begin;
        }
        return {};
    }

    Result<void> check_booleans(const std::string& key, std::size_t begin) const {
        for (std::size_t i = begin; i < at_; ++i) {
            if (static_cast<unsigned char>(buffer_[i]) > 1) {
                return fail(fmt::format("{} holds {} as a bool, expected 0 or 1", quote(key),
                                        static_cast<unsigned>(static_cast<unsigned char>(buffer_[i]))));
            }
        }
        return {};
    }

    /// The keys that say how to read the rest of the file.
    Result<void> parse_settings() {
        for (const Found& found : found_) {
            const GgufValue value(found.type, {buffer_.data() + found.begin, found.end - found.begin});
            if (found.key == "general.alignment") {
                if (found.type != GgufType::u32) {
                    return fail(
                        fmt::format("general.alignment is of type {}, expected u32", to_string(found.type)));
                }
                header_.alignment = static_cast<std::uint64_t>(*value.integer());
                if (!std::has_single_bit(header_.alignment) || header_.alignment < 8 ||
                    header_.alignment > max_alignment) {
                    return fail(fmt::format("general.alignment is {}, expected a power of two from 8 to {}",
                                            header_.alignment, max_alignment));
                }
            } else if (found.key == "split.count") {
                const auto n_part = value.integer();
                if (!n_part) {
                    return fail(fmt::format("split.count is of type {}, expected a whole number",
                                            to_string(found.type)));
                }
                if (*n_part > 1) {
                    return fail(
                        fmt::format("is one of {} parts of a split GGUF file (split.count), expected the "
                                    "whole model in one file; merge the parts first",
                                    *n_part),
                        ErrorKind::unsupported);
                }
            }
        }
        return {};
    }

    Result<void> parse_tensor(std::uint64_t i) {
        const auto place = [&] { return fmt::format("the name of tensor {} of {}", i + 1, n_tensor_); };
        const auto name = read_string(place);
        if (!name) return name.error();
        if (name->empty() || name->size() > max_name_bytes || !is_printable(*name)) {
            return fail(fmt::format("{} is {}, expected 1 to {} bytes of printable UTF-8", place(),
                                    quote(*name), max_name_bytes));
        }
        GgufTensor tensor;
        tensor.name = *name;
        const std::string quoted = "tensor " + quote(tensor.name);
        const auto record = [&] { return "the record of " + quoted; };
        if (!names_.insert(tensor.name).second) return fail(fmt::format("lists {} twice", quoted));
        const auto rank = read_number(4, record);
        if (!rank) return rank.error();
        if (*rank < 1 || *rank > max_rank) {
            return fail(fmt::format("gives {} {} dimensions, expected 1 to {}", quoted, *rank, max_rank));
        }
        DS_TRY(need(8 * *rank + 4 + 8, record));
        for (std::uint64_t d = 0; d < *rank; ++d) tensor.shape.push_back(take(8));
        std::reverse(tensor.shape.begin(), tensor.shape.end());
        const auto type = static_cast<std::uint32_t>(take(4));
        tensor.offset = take(8);
        tensor.type = find_ggml_type(type);
        if (tensor.type == nullptr) {
            return fail(
                fmt::format("gives {} the type {}, expected one of {}", quoted, type, known_ggml_types()),
                ErrorKind::unsupported);
        }
        DS_TRY(measure(tensor, quoted));
        header_.tensors.push_back(std::move(tensor));
        return {};
    }

    Result<void> measure(GgufTensor& tensor, const std::string& quoted) const {
        const std::string shape = fmt::format("[{}]", fmt::join(tensor.shape, ", "));
        std::uint64_t n = 1;
        for (const std::uint64_t dimension : tensor.shape) {
            if (dimension == 0) {
                return fail(fmt::format("gives {} the shape {}, expected no zeros", quoted, shape));
            }
            if (__builtin_mul_overflow(n, dimension, &n)) {
                return fail(
                    fmt::format("gives {} the shape {}, whose size overflows 64 bits", quoted, shape));
            }
        }
        const GgmlTypeInfo& type = *tensor.type;
        if (tensor.shape.back() % type.block_elements != 0) {
            return fail(fmt::format("gives {} rows of {} elements, expected a multiple of {} for type {}",
                                    quoted, tensor.shape.back(), type.block_elements, type.name));
        }
        if (__builtin_mul_overflow(n / type.block_elements, std::uint64_t{type.block_bytes}, &tensor.bytes)) {
            return fail(fmt::format("gives {} the shape {}, whose size overflows 64 bits", quoted, shape));
        }
        if (tensor.offset % header_.alignment != 0) {
            return fail(fmt::format("puts {} at offset {}, expected a multiple of the alignment {}", quoted,
                                    tensor.offset, header_.alignment));
        }
        return {};
    }

    /// In bounds, and no two on the same bytes. Sorts the tensors by place.
    Result<void> check_placement() {
        const std::uint64_t data_bytes = file_bytes_ - std::min(file_bytes_, header_.data_start);
        std::vector<GgufTensor>& tensors = header_.tensors;
        std::uint64_t expected = 0;
        bool in_a_row = true;
        for (const GgufTensor& tensor : tensors) {
            if (tensor.offset > data_bytes || tensor.bytes > data_bytes - tensor.offset) {
                return fail(
                    fmt::format("puts tensor {} ({} bytes) at offset {}, beyond the {} bytes of data "
                                "that the file holds (cut short?)",
                                quote(tensor.name), tensor.bytes, tensor.offset, data_bytes));
            }
            in_a_row = in_a_row && tensor.offset == expected;
            expected = round_up(tensor.offset + tensor.bytes, header_.alignment);
        }
        std::stable_sort(tensors.begin(), tensors.end(),
                         [](const auto& a, const auto& b) { return a.offset < b.offset; });
        for (std::size_t i = 1; i < tensors.size(); ++i) {
            if (tensors[i].offset - tensors[i - 1].offset < tensors[i - 1].bytes) {
                return fail(fmt::format("lets tensors {} and {} overlap at offset {}",
                                        quote(tensors[i - 1].name), quote(tensors[i].name),
                                        tensors[i].offset));
            }
        }
        if (tensors.empty()) {
            header_.notes.emplace_back("holds no tensors.");
            return {};
        }
        if (!in_a_row) {
            header_.notes.emplace_back(
                "the tensors' data does not follow the order of the list without gaps.");
        }
        const std::uint64_t end = round_up(tensors.back().offset + tensors.back().bytes, header_.alignment);
        if (data_bytes > end) {
            header_.notes.push_back(fmt::format("{} bytes follow the last tensor.", data_bytes - end));
        }
        return {};
    }

    std::uint64_t file_bytes_;
    const GgufRead& read_;
    const std::string& label_;
    GgufHeader header_;
    std::vector<char> buffer_;
    std::size_t at_ = 0;
    std::uint64_t n_tensor_ = 0;
    std::uint64_t n_key_ = 0;
    std::uint64_t all_keys_bytes_ = 0;
    std::vector<Found> found_;
    std::unordered_set<std::string> keys_;
    std::unordered_set<std::string> names_;
};

}  // namespace

const GgufValue* GgufHeader::find(std::string_view key) const {
    const auto found = metadata.find(key);
    return found == metadata.end() ? nullptr : &found->second;
}

Result<void> GgufHeader::read_text(std::string_view key, const std::string& label,
                                   std::string_view& out) const {
    const GgufValue* value = find(key);
    if (value == nullptr) return {};
    const auto text = value->text();
    if (!text) {
        return Error{ErrorKind::bad_input,
                     fmt::format("{}: {} is of type {}, expected a string.", label, key, type_name(*value))};
    }
    out = *text;
    return {};
}

Result<GgufHeader> parse_gguf_header(std::uint64_t file_bytes, const GgufRead& read,
                                     const std::string& label) {
    try {
        return HeaderParser(file_bytes, read, label).parse();
    } catch (const std::bad_alloc&) {
        return Error{ErrorKind::out_of_memory, fmt::format("{}: no memory to read the header.", label)};
    }
}

}  // namespace decodescope
