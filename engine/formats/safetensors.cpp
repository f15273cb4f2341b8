// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/formats/safetensors.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <new>
#include <unordered_map>

#include "engine/formats/input_file.h"

namespace decodescope {

namespace {

constexpr std::uint64_t length_bytes = 8;
constexpr std::uint64_t max_header_bytes = 100'000'000;

class OpenSafetensors final : public SafetensorsFile {
public:
    OpenSafetensors(InputFile file, SafetensorsHeader header, std::uint64_t data_start)
        : file_(std::move(file)), header_(std::move(header)), data_start_(data_start) {
        for (const SafetensorsEntry& entry : header_.entries) by_name_.emplace(entry.name, &entry);
    }

    const std::filesystem::path& path() const override { return file_.path(); }
    const std::vector<SafetensorsEntry>& entries() const override { return header_.entries; }
    const SafetensorsEntry* find(std::string_view name) const override {
        const auto found = by_name_.find(name);
        return found == by_name_.end() ? nullptr : found->second;
    }
    const std::map<std::string, std::string>& metadata() const override { return header_.metadata; }
    Result<void> read(const SafetensorsEntry& entry, std::uint64_t offset,
                      std::span<std::byte> out) const override {
        if (offset > entry.size() || out.size() > entry.size() - offset) {
            return Error{ErrorKind::internal,
                         fmt::format("{}: read beyond tensor \"{}\".", file_.path().string(), entry.name)};
        }
        return file_.read_at(offset_in_file(entry) + offset, out);
    }
    std::uint64_t offset_in_file(const SafetensorsEntry& entry) const override {
        return data_start_ + entry.begin;
    }
    Result<MappedFile> map() const override { return file_.map(); }
    std::uint64_t file_size() const override { return file_.size(); }
    Result<std::string> sha256() const override { return hash_.of(file_); }

private:
    InputFile file_;
    SafetensorsHeader header_;
    std::uint64_t data_start_ = 0;
    std::unordered_map<std::string_view, const SafetensorsEntry*> by_name_;
    FileHash hash_;
};

std::uint64_t load_little_endian(std::span<const std::byte, length_bytes> bytes) {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < length_bytes; ++i) {
        value |= static_cast<std::uint64_t>(bytes[i]) << (8 * i);
    }
    return value;
}

}  // namespace

Result<std::shared_ptr<const SafetensorsFile>> SafetensorsFile::open(const std::filesystem::path& path) {
    auto file = InputFile::open(path);
    if (!file) return file.error();
    const std::string label = path.string();
    const auto refuse = [&](std::string what) {
        return Error{ErrorKind::bad_input, fmt::format("{}: {}.", label, what)};
    };

    std::array<std::byte, 64> head{};
    const auto start =
        std::span(head).first(static_cast<std::size_t>(std::min<std::uint64_t>(file->size(), head.size())));
    DS_TRY(file->read_at(0, start));
    DS_TRY(refuse_impostor(path, start));
    if (file->size() < length_bytes) {
        return refuse(fmt::format(
            "has {} bytes, too small for a safetensors file (at least 8 bytes and a header)", file->size()));
    }
    const std::uint64_t header_bytes = load_little_endian(std::span(head).first<length_bytes>());
    if (header_bytes > max_header_bytes) {
        return refuse(
            fmt::format("says that its header has {} bytes, too large for safetensors (the limit is {})",
                        header_bytes, max_header_bytes));
    }
    if (header_bytes > file->size() - length_bytes) {
        return refuse(
            fmt::format("says that its header has {} bytes, longer than the file, which holds {} after "
                        "the length field",
                        header_bytes, file->size() - length_bytes));
    }
    std::string json;
    try {
        json.resize(static_cast<std::size_t>(header_bytes));
    } catch (const std::bad_alloc&) {
        return Error{ErrorKind::out_of_memory, fmt::format("{}: no memory to read the header.", label)};
    }
    DS_TRY(file->read_at(length_bytes, std::as_writable_bytes(std::span(json))));
    const std::uint64_t data_start = length_bytes + header_bytes;
    auto header = parse_safetensors_header(json, file->size() - data_start, label);
    if (!header) return header.error();
    return std::shared_ptr<const SafetensorsFile>(
        std::make_shared<OpenSafetensors>(*std::move(file), *std::move(header), data_start));
}

}  // namespace decodescope
