// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "engine/model/weight_type.h"

namespace decodescope {

/// What the kernels multiply with: rows of inputs as they are, rounded to bf16, or rounded to 8 bits in
/// groups of 32 with a scale each.
enum class InputForm { f32, bf16, int8 };

/// Multiplies `streams` panels with one block of m rows: out[stream][row][16] = sum over k, in the order of
/// k (kernels of matrix tiles: in an order of their own within 32 k). `panels`: where each begins. `block`:
/// as PreparedRows makes it.
using TileKernel = void (*)(const std::byte* const* panels, int n_in, const float* block, float* out);

/// Makes of one panel of its type a panel [n_in][16] of bf16, on a 64-byte border.
using PanelDecoder = void (*)(const std::byte* panel, int n_in, std::byte* to);

inline constexpr int most_streams = 4;      ///< panels that a kernel reads side by side
inline constexpr int most_block_rows = 32;  ///< rows of a block
inline constexpr int tile_rows = 16;        ///< blocks of so many rows and more are laid out row by row

/// The kernels of one type of weights on this machine. With one set, an output does not depend on the number
/// of rows and panels that are computed together, except by the rounding of tiles beside that of vectors.
struct KernelSet {
    InputForm form = InputForm::f32;
    int streams_one = 1;                                 ///< of `one`
    TileKernel one = nullptr;                            ///< one row
    int streams = 1;                                     ///< of `rows`
    std::array<TileKernel, most_block_rows + 1> rows{};  ///< by the number of rows; null where there is none
    PanelDecoder decode = nullptr;  ///< the kernels take panels of bf16, which this makes; null: as they are
    /// Rows of the next block when `left` are left: the largest kernel that they fill, but for the last but
    /// one of kernels that differ little, which leaves more than a few to the last.
    int block_rows(int left) const {
        const int largest = largest_block(left);
        constexpr int few = 3;
        if (left == largest || left - largest > few || largest >= tile_rows) return largest;
        const int smaller = largest_block(largest - 1);
        return largest - smaller <= few ? smaller : largest;
    }

private:
    int largest_block(int left) const {
        int m = left < most_block_rows ? left : most_block_rows;
        while (rows[static_cast<std::size_t>(m)] == nullptr) --m;
        return m;
    }
};

/// The kernels for products of `rows` rows of n_in values with weights of `type`.
const KernelSet& kernel_set(WeightType type, int rows, int n_in);

/// Kernels written with vector instructions that every processor of the chosen instruction set has: any type
/// of weights, f32 inputs.
const KernelSet& float_kernels(WeightType type);
/// Kernels with integer and bf16 dot products (AVX-512 VNNI and BF16); null where the processor has none for
/// `type`, or fewer instructions were asked for.
const KernelSet* dot_kernels(WeightType type);

/// Kernels with matrix tiles (Intel's AMX) for blocks of 16 and 32 rows, dot products for what is left; null
/// where there are none for `type`. n_in a multiple of 32.
const KernelSet* tile_kernels(WeightType type);

/// Rounds one row to 8 bits in groups of 32: q[i] = round(x[i] / scale), scale = largest magnitude / 127;
/// offsets[g] = -code_offset * scale * sum of the group's q, what undoes the offset of the weights' codes. A
/// group with a value that is not finite gets a scale that is not a number. n a multiple of 32.
void quantise_row(const float* x, int n, int code_offset, std::int8_t* q, float* scales, float* offsets);

}  // namespace decodescope
