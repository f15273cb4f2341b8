// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "engine/core/result.h"

namespace decodescope {

/// Tensor types of GGUF files that `dequantize` reads, with the numbers they have in the file.
enum class GgmlType : std::uint32_t {
    f32 = 0,
    f16 = 1,
    q4_0 = 2,
    q4_1 = 3,
    q5_0 = 6,
    q5_1 = 7,
    q8_0 = 8,
    q2_k = 10,
    q3_k = 11,
    q4_k = 12,
    q5_k = 13,
    q6_k = 14,
    bf16 = 30,
};

/// How the elements of one tensor type are stored: in blocks of `block_elements`, `block_bytes` each.
struct GgmlTypeInfo {
    std::uint32_t id = 0;   ///< its number in the file; a `GgmlType` when `readable`
    std::string_view name;  ///< "F32", "Q4_K", ...
    std::uint32_t block_elements = 1;
    std::uint32_t block_bytes = 0;
    bool readable = false;  ///< `dequantize` knows it; of the others only the size is known
};

/// The type of that number, or null for numbers that are unknown, removed, or used differently by different
/// programs (40 and up).
const GgmlTypeInfo* find_ggml_type(std::uint32_t id);

/// All types that `find_ggml_type` knows, for messages: "F32 (0), F16 (1), ...".
std::string known_ggml_types();

/// Turns whole blocks into floats, each product and sum rounded to float in the order that the reference
/// program uses, so that the results equal its own bit for bit. `blocks` needs no alignment. Fails with
/// `unsupported` for a type that is not `readable`, and with `internal` when `blocks` is not exactly what
/// `out.size()` elements take.
Result<void> dequantize(const GgmlTypeInfo& type, std::span<const std::byte> blocks, std::span<float> out);

}  // namespace decodescope
