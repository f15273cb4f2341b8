// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/formats/ggml_types.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <iterator>

#include "engine/core/dtype.h"

namespace decodescope {

namespace {

using Byte = std::uint8_t;

constexpr GgmlTypeInfo types[] = {
    {0, "F32", 1, 4, true},          {1, "F16", 1, 2, true},          {2, "Q4_0", 32, 18, true},
    {3, "Q4_1", 32, 20, true},       {6, "Q5_0", 32, 22, true},       {7, "Q5_1", 32, 24, true},
    {8, "Q8_0", 32, 34, true},       {9, "Q8_1", 32, 36, false},      {10, "Q2_K", 256, 84, true},
    {11, "Q3_K", 256, 110, true},    {12, "Q4_K", 256, 144, true},    {13, "Q5_K", 256, 176, true},
    {14, "Q6_K", 256, 210, true},    {15, "Q8_K", 256, 292, false},   {16, "IQ2_XXS", 256, 66, false},
    {17, "IQ2_XS", 256, 74, false},  {18, "IQ3_XXS", 256, 98, false}, {19, "IQ1_S", 256, 50, false},
    {20, "IQ4_NL", 32, 18, false},   {21, "IQ3_S", 256, 110, false},  {22, "IQ2_S", 256, 82, false},
    {23, "IQ4_XS", 256, 136, false}, {24, "I8", 1, 1, false},         {25, "I16", 1, 2, false},
    {26, "I32", 1, 4, false},        {27, "I64", 1, 8, false},        {28, "F64", 1, 8, false},
    {29, "IQ1_M", 256, 56, false},   {30, "BF16", 1, 2, true},        {34, "TQ1_0", 256, 54, false},
    {35, "TQ2_0", 256, 66, false},   {39, "MXFP4", 32, 17, false},
};

constexpr std::size_t small_block = 32;
constexpr std::size_t super_block = 256;

float half_at(const Byte* bytes) {
    return f16_to_f32(static_cast<std::uint16_t>(bytes[0] | bytes[1] << 8));
}

std::uint32_t word_at(const Byte* bytes) {
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < 4; ++i) value |= static_cast<std::uint32_t>(bytes[i]) << (8 * i);
    return value;
}

// Quants are unpacked to bytes first and scaled then, in loops that the compiler turns into vectors.
using SmallQuants = std::array<Byte, small_block>;
using SuperQuants = std::array<Byte, super_block>;

/// 32 nibbles: the low halves of 16 bytes come first, then the high ones.
void unpack_nibbles(const Byte* bytes, SmallQuants& quants) {
    for (std::size_t i = 0; i < 16; ++i) {
        quants[i] = bytes[i] & 15;
        quants[i + 16] = bytes[i] >> 4;
    }
}

/// 32 numbers of 5 bits, whose highest bits stand apart.
void unpack_five_bits(const Byte* bytes, std::uint32_t high, SmallQuants& quants) {
    unpack_nibbles(bytes, quants);
    for (std::size_t i = 0; i < small_block; ++i) {
        quants[i] = static_cast<Byte>(quants[i] | ((high & (std::uint32_t{1} << i)) != 0 ? 16 : 0));
    }
}

void read_q4_0(const Byte* block, float* out) {
    const float scale = half_at(block);
    SmallQuants quants;
    unpack_nibbles(block + 2, quants);
    for (std::size_t i = 0; i < small_block; ++i) out[i] = static_cast<float>(quants[i] - 8) * scale;
}

void read_q4_1(const Byte* block, float* out) {
    const float scale = half_at(block);
    const float least = half_at(block + 2);
    SmallQuants quants;
    unpack_nibbles(block + 4, quants);
    for (std::size_t i = 0; i < small_block; ++i) out[i] = static_cast<float>(quants[i]) * scale + least;
}

void read_q5_0(const Byte* block, float* out) {
    const float scale = half_at(block);
    SmallQuants quants;
    unpack_five_bits(block + 6, word_at(block + 2), quants);
    for (std::size_t i = 0; i < small_block; ++i) out[i] = static_cast<float>(quants[i] - 16) * scale;
}

void read_q5_1(const Byte* block, float* out) {
    const float scale = half_at(block);
    const float least = half_at(block + 2);
    SmallQuants quants;
    unpack_five_bits(block + 8, word_at(block + 4), quants);
    for (std::size_t i = 0; i < small_block; ++i) out[i] = static_cast<float>(quants[i]) * scale + least;
}

void read_q8_0(const Byte* block, float* out) {
    const float scale = half_at(block);
    for (std::size_t i = 0; i < small_block; ++i)
        out[i] = static_cast<float>(static_cast<std::int8_t>(block[2 + i])) * scale;
}

/// 256 numbers of 2 bits. A half of 128 elements is 32 bytes, read four times from the low bits up.
void unpack_two_bits(const Byte* bytes, SuperQuants& quants) {
    for (std::size_t part = 0; part < 8; ++part) {
        const Byte* from = bytes + part / 4 * 32;
        for (std::size_t i = 0; i < 32; ++i) quants[part * 32 + i] = from[i] >> (2 * (part % 4)) & 3;
    }
}

void read_q2_k(const Byte* block, float* out) {
    const Byte* scales = block;  // low nibble: scale, high nibble: least value
    const float scale = half_at(block + 80);
    const float least = half_at(block + 82);
    SuperQuants quants;
    unpack_two_bits(block + 16, quants);
    for (std::size_t group = 0; group < 16; ++group) {
        const float step = scale * static_cast<float>(scales[group] & 15);
        const float offset = least * static_cast<float>(scales[group] >> 4);
        for (std::size_t i = group * 16; i < group * 16 + 16; ++i)
            out[i] = step * static_cast<float>(quants[i]) - offset;
    }
}

void read_q3_k(const Byte* block, float* out) {
    const Byte* high = block;  // bit i / 32 of byte i % 32
    const Byte* packed = block + 96;
    const float scale = half_at(block + 108);
    SuperQuants quants;
    unpack_two_bits(block + 32, quants);
    for (std::size_t part = 0; part < 8; ++part) {
        for (std::size_t i = 0; i < 32; ++i)
            quants[part * 32 + i] = static_cast<Byte>(quants[part * 32 + i] | (high[i] >> part & 1) << 2);
    }
    for (std::size_t group = 0; group < 16; ++group) {
        const int low4 = group < 8 ? packed[group] & 15 : packed[group - 8] >> 4;
        const int high2 = packed[8 + group % 4] >> (2 * (group / 4)) & 3;
        const float step = scale * static_cast<float>((low4 | high2 << 4) - 32);
        for (std::size_t i = group * 16; i < group * 16 + 16; ++i)
            out[i] = step * static_cast<float>(quants[i] - 4);
    }
}

struct ScaleAndLeast {
    float scale = 0;
    float least = 0;
};

/// The eight pairs of 6 bits that Q4_K and Q5_K pack into 12 bytes.
std::array<ScaleAndLeast, 8> unpack_pairs(const Byte* packed, float scale, float least) {
    std::array<ScaleAndLeast, 8> pairs;
    for (std::size_t k = 0; k < pairs.size(); ++k) {
        const int a = k < 4 ? packed[k] & 63 : (packed[k + 4] & 15) | packed[k - 4] >> 6 << 4;
        const int b = k < 4 ? packed[k + 4] & 63 : packed[k + 4] >> 4 | packed[k] >> 6 << 4;
        pairs[k] = {scale * static_cast<float>(a), least * static_cast<float>(b)};
    }
    return pairs;
}

/// 256 nibbles: each 32 bytes give 32 low halves, then 32 high ones.
void unpack_group_nibbles(const Byte* bytes, SuperQuants& quants) {
    for (std::size_t group = 0; group < 4; ++group) {
        for (std::size_t i = 0; i < 32; ++i) {
            quants[group * 64 + i] = bytes[group * 32 + i] & 15;
            quants[group * 64 + 32 + i] = bytes[group * 32 + i] >> 4;
        }
    }
}

void scale_pairs(const Byte* block, const SuperQuants& quants, float* out) {
    const auto pairs = unpack_pairs(block + 4, half_at(block), half_at(block + 2));
    for (std::size_t group = 0; group < pairs.size(); ++group) {
        const ScaleAndLeast pair = pairs[group];
        for (std::size_t i = group * 32; i < group * 32 + 32; ++i)
            out[i] = pair.scale * static_cast<float>(quants[i]) - pair.least;
    }
}

void read_q4_k(const Byte* block, float* out) {
    SuperQuants quants;
    unpack_group_nibbles(block + 16, quants);
    scale_pairs(block, quants, out);
}

void read_q5_k(const Byte* block, float* out) {
    const Byte* high = block + 16;  // bit i / 32 of byte i % 32
    SuperQuants quants;
    unpack_group_nibbles(block + 48, quants);
    for (std::size_t part = 0; part < 8; ++part) {
        for (std::size_t i = 0; i < 32; ++i)
            quants[part * 32 + i] = static_cast<Byte>(quants[part * 32 + i] | (high[i] >> part & 1) << 4);
    }
    scale_pairs(block, quants, out);
}

void read_q6_k(const Byte* block, float* out) {
    const Byte* scales = block + 192;
    const float scale = half_at(block + 208);
    SuperQuants quants;
    for (std::size_t part = 0; part < 8; ++part) {
        const std::size_t quarter = part % 4;
        const Byte* low = block + part / 4 * 64 + quarter % 2 * 32;
        const Byte* high = block + 128 + part / 4 * 32;
        for (std::size_t i = 0; i < 32; ++i) {
            const int low4 = low[i] >> (quarter < 2 ? 0 : 4) & 15;
            quants[part * 32 + i] = static_cast<Byte>(low4 | (high[i] >> (2 * quarter) & 3) << 4);
        }
    }
    for (std::size_t group = 0; group < 16; ++group) {
        const float step = scale * static_cast<float>(static_cast<std::int8_t>(scales[group]));
        for (std::size_t i = group * 16; i < group * 16 + 16; ++i)
            out[i] = step * static_cast<float>(quants[i] - 32);
    }
}

using ReadBlock = void (*)(const Byte*, float*);

/// For the types with blocks; null for plain floats.
ReadBlock reader_of(GgmlType type) {
    switch (type) {
        case GgmlType::f32:
        case GgmlType::f16:
        case GgmlType::bf16: return nullptr;
        case GgmlType::q4_0: return read_q4_0;
        case GgmlType::q4_1: return read_q4_1;
        case GgmlType::q5_0: return read_q5_0;
        case GgmlType::q5_1: return read_q5_1;
        case GgmlType::q8_0: return read_q8_0;
        case GgmlType::q2_k: return read_q2_k;
        case GgmlType::q3_k: return read_q3_k;
        case GgmlType::q4_k: return read_q4_k;
        case GgmlType::q5_k: return read_q5_k;
        case GgmlType::q6_k: return read_q6_k;
    }
    return nullptr;
}

}  // namespace

const GgmlTypeInfo* find_ggml_type(std::uint32_t id) {
    const auto* found =
        std::find_if(std::begin(types), std::end(types), [&](const auto& type) { return type.id == id; });
    return found == std::end(types) ? nullptr : found;
}

std::string known_ggml_types() {
    std::string text;
    for (const GgmlTypeInfo& type : types) {
        text += fmt::format("{}{} ({})", text.empty() ? "" : ", ", type.name, type.id);
    }
    return text;
}

Result<void> dequantize(const GgmlTypeInfo& type, std::span<const std::byte> blocks, std::span<float> out) {
    if (!type.readable) {
        return Error{ErrorKind::unsupported,
                     fmt::format("Weights of type {} cannot be read by this version.", type.name)};
    }
    const std::size_t n_block = out.size() / type.block_elements;
    if (out.size() % type.block_elements != 0 || blocks.size() / type.block_bytes != n_block ||
        blocks.size() % type.block_bytes != 0) {
        return Error{ErrorKind::internal, fmt::format("{} bytes of type {} do not make {} elements.",
                                                      blocks.size(), type.name, out.size())};
    }
    switch (static_cast<GgmlType>(type.id)) {
        case GgmlType::f32: convert_to_f32(DType::f32, blocks.data(), out); return {};
        case GgmlType::f16: convert_to_f32(DType::f16, blocks.data(), out); return {};
        case GgmlType::bf16: convert_to_f32(DType::bf16, blocks.data(), out); return {};
        default: break;
    }
    const ReadBlock read = reader_of(static_cast<GgmlType>(type.id));
    const Byte* block = reinterpret_cast<const Byte*>(blocks.data());
    for (std::size_t i = 0; i < n_block; ++i) {
        read(block + i * type.block_bytes, out.data() + i * type.block_elements);
    }
    return {};
}

}  // namespace decodescope
