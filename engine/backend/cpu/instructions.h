// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>

#include "engine/core/result.h"

namespace decodescope {

/// Lets the environment variable DECODESCOPE_SIMD (best, avx512, avx2, plain) choose what the kernels of this
/// process may use; without it, or with `best`, the most that the processor has. Called once, before the
/// first kernel runs; later calls change nothing. Fails with `bad_input` for another word and with
/// `unsupported` for what the processor or this build does not have; the best is used then.
Result<void> choose_instructions();

/// What the kernels use, e.g. "AVX-512 (VNNI, BF16)", "AVX2", "NEON", "plain".
std::string instructions_in_use();
/// Whether they may use dot products of bytes (AVX-512 VNNI) and of bf16 (AVX-512 BF16).
bool has_byte_dots();
bool has_bf16_dots();
/// Whether dot products of bf16 are faster than those of f32.
bool has_fast_bf16_dots();
/// Whether they may use matrix tiles of bytes and bf16 (Intel AMX). Asks the system for them once.
bool has_tiles();

}  // namespace decodescope
