// SPDX-License-Identifier: GPL-3.0-or-later
// Input: a GGUF file.
#include <cstring>
#include <unordered_set>
#include <vector>

#include "engine/formats/gguf_header.h"
#include "engine/formats/gguf_model.h"
#include "engine/formats/gguf_tokenizer.h"
#include "tests/fuzz/fuzz.h"

using namespace decodescope;

namespace {

/// Asks every value for everything: no getter may read beyond it.
void read_everything(const GgufValue& value) {
    const auto text = value.text();
    fuzz::require(text.has_value() == (value.type() == GgufType::string), "only strings are text");
    (void)value.integer();
    (void)value.number();
    (void)value.boolean();
    if (const auto integers = value.integers())
        fuzz::require(integers->size() == value.count(), "all integers are there");
    if (const auto numbers = value.numbers())
        fuzz::require(numbers->size() == value.count(), "all numbers are there");
    std::size_t sum = 0;
    if (const auto texts = value.texts()) {
        fuzz::require(texts->size() == value.count(), "all strings are there");
        for (const std::string_view one : *texts) {
            for (const char c : one) sum += static_cast<unsigned char>(c);
        }
    }
    fuzz::require(sum < ~std::size_t{0}, "every byte can be read");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto read = [&](std::uint64_t offset, std::span<std::byte> out) -> Result<void> {
        fuzz::require(offset <= size && out.size() <= size - offset, "nothing beyond the file is read");
        if (!out.empty()) std::memcpy(out.data(), data + offset, out.size());
        return {};
    };
    const auto header = parse_gguf_header(size, read, "f");
    if (!header) {
        fuzz::require_sentence(header.error());
        return 0;
    }
    for (const auto& [key, value] : header->metadata) {
        fuzz::require(!key.empty(), "keys have a name");
        read_everything(value);
    }
    if (const auto model = read_gguf_model(*header, "f")) {
        fuzz::require(!model->architecture.empty(), "a model has an architecture");
        (void)model->config.kv_bytes_per_token(DType::f32);
        if (model->obstacle)
            fuzz::require_sentence(*model->obstacle);
        else
            fuzz::require(model->config.validate().ok(), "a complete config is valid");
    } else {
        fuzz::require_sentence(model.error());
    }
    if (const auto tokenizer = read_gguf_tokenizer(*header, "f", 0)) {
        if (tokenizer->tokenizer != nullptr) {
            for (const std::int32_t id : tokenizer->tokenizer->encode_prompt("a text, 12 \u00e9<s>")) {
                fuzz::require(id >= 0 && id < tokenizer->tokenizer->n_token(), "ids are of the vocabulary");
            }
        }
    } else {
        fuzz::require_sentence(tokenizer.error());
    }
    std::uint64_t end = 0;
    std::unordered_set<std::string_view> names;
    for (const GgufTensor& tensor : header->tensors) {
        fuzz::require(names.insert(tensor.name).second, "names are unique");
        fuzz::require(tensor.type != nullptr && tensor.bytes > 0, "tensors have a type and bytes");
        fuzz::require(!tensor.shape.empty() && tensor.shape.size() <= 4, "the rank is bounded");
        fuzz::require(tensor.offset >= end && tensor.offset % header->alignment == 0,
                      "tensors are aligned and do not overlap");
        end = tensor.offset + tensor.bytes;
        fuzz::require(header->data_start + end <= size, "tensors lie inside the file");
        if (!tensor.type->readable || tensor.bytes > 65'536) continue;
        std::vector<std::byte> blocks(static_cast<std::size_t>(tensor.bytes));
        (void)read(header->data_start + tensor.offset, blocks);
        std::vector<float> values(blocks.size() / tensor.type->block_bytes * tensor.type->block_elements);
        fuzz::require(dequantize(*tensor.type, blocks, values).ok(), "a checked tensor can be read");
    }
    return 0;
}
