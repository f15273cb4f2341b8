// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <vector>

#include "engine/core/result.h"
#include "engine/formats/ggml_types.h"
#include "engine/model/weights.h"

namespace decodescope::bench {

/// The tensor type of GGUF files that stores weights as `type` does.
GgmlType ggml_type_of(WeightType type);

/// Rows of `type` made of floats, whole groups only: rounded to nearest even (F16, BF16); per 32 the largest
/// magnitude over 127 as scale (Q8_0), or the value of largest magnitude over -8 (Q4_0), scales rounded to
/// f16 after the codes were chosen.
std::vector<std::byte> encode_blocks(GgmlType type, std::span<const float> values);

/// Writes a model as a GGUF file that llama.cpp and this program load: architecture gpt2 or llama, all
/// matrices and the token embedding of one type, norms, biases and learned positions in F32. Its tokenizer is
/// a placeholder: the bytes, one merge, and names that mean nothing; none for fewer than 258 tokens. Fails
/// with `unsupported` for a model that GGUF files of these architectures cannot describe, and with `io`.
Result<void> write_gguf(const Weights& weights, WeightType type, const std::filesystem::path& path);

}  // namespace decodescope::bench
