// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/formats/gguf_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <unordered_map>

#include "engine/formats/input_file.h"

namespace decodescope {

namespace {

class OpenGguf final : public GgufFile {
public:
    OpenGguf(InputFile file, GgufHeader header) : file_(std::move(file)), header_(std::move(header)) {
        for (const GgufTensor& tensor : header_.tensors) by_name_.emplace(tensor.name, &tensor);
    }

    const std::filesystem::path& path() const override { return file_.path(); }
    const GgufHeader& header() const override { return header_; }
    const GgufTensor* find(std::string_view name) const override {
        const auto found = by_name_.find(name);
        return found == by_name_.end() ? nullptr : found->second;
    }
    Result<void> read(const GgufTensor& tensor, std::uint64_t offset,
                      std::span<std::byte> out) const override {
        if (offset > tensor.bytes || out.size() > tensor.bytes - offset) {
            return Error{ErrorKind::internal,
                         fmt::format("{}: read beyond tensor \"{}\".", file_.path().string(), tensor.name)};
        }
        return file_.read_at(offset_in_file(tensor) + offset, out);
    }
    std::uint64_t offset_in_file(const GgufTensor& tensor) const override {
        return header_.data_start + tensor.offset;
    }
    Result<MappedFile> map() const override { return file_.map(); }
    std::uint64_t file_size() const override { return file_.size(); }
    Result<std::string> sha256() const override { return hash_.of(file_); }

private:
    InputFile file_;
    GgufHeader header_;
    std::unordered_map<std::string_view, const GgufTensor*> by_name_;
    FileHash hash_;
};

}  // namespace

bool is_gguf(std::span<const std::byte> first_bytes) {
    return first_bytes.size() >= 4 && std::memcmp(first_bytes.data(), "GGUF", 4) == 0;
}

Result<std::shared_ptr<const GgufFile>> GgufFile::open(const std::filesystem::path& path) {
    auto file = InputFile::open(path);
    if (!file) return file.error();
    std::array<std::byte, 64> head{};
    const auto start =
        std::span(head).first(static_cast<std::size_t>(std::min<std::uint64_t>(file->size(), head.size())));
    DS_TRY(file->read_at(0, start));
    if (!is_gguf(start)) {
        DS_TRY(refuse_impostor(path, start));
        return Error{ErrorKind::bad_input,
                     fmt::format("{}: does not begin with \"GGUF\", expected a GGUF file.", path.string())};
    }
    auto header = parse_gguf_header(
        file->size(),
        [&](std::uint64_t offset, std::span<std::byte> out) { return file->read_at(offset, out); },
        path.string());
    if (!header) return header.error();
    return std::shared_ptr<const GgufFile>(std::make_shared<OpenGguf>(*std::move(file), *std::move(header)));
}

}  // namespace decodescope
