// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <cstdint>

#include "engine/core/dtype.h"

/// The arithmetic of attention over one tile of slots, compiled for every instruction set. A row is one query
/// of one head; rows of queries, keys and sums are `width` floats, the head's size rounded up to
/// `width_step`, with zeros (or, in sums, anything) behind it.
namespace decodescope::attend_kernels {

inline constexpr int width_step = 16;    ///< floats of the widest vector
inline constexpr int most_rows = 64;     ///< rows that share a tile
inline constexpr int few_rows = 8;       ///< up to here keys are read where they lie
inline constexpr int tile_slots = 64;    ///< slots of a tile of many rows, or one that has to be copied
inline constexpr int most_slots = 256;   ///< slots of a tile of few rows that is read where it lies
inline constexpr int sums_per_row = 16;  ///< a row's partial sums, one per lane

/// Keys or values of a tile: slot s begins `s * stride` elements behind `at`.
struct Entries {
    const void* at = nullptr;
    std::int64_t stride = 0;
    DType dtype = DType::f32;
};

/// Which slots of a tile a query sees: those whose bits are set, all of them in [begin, end).
struct Seen {
    int begin = 0;
    int end = 0;
    bool whole = false;  ///< all
    std::array<std::uint64_t, most_slots / 64> bits{};
};

/// Rows of one tile: row i belongs to query i / n_head, of which `seen` says what it sees. Its scores, later
/// weights, begin at `scores + i * stride`; stride is a multiple of `width_step` and at least `n_slot`.
struct Tile {
    float* scores = nullptr;
    std::int64_t stride = 0;
    int n_row = 0;
    int n_head = 1;
    int n_slot = 0;
    const Seen* seen = nullptr;
};

/// Whether entries of this type are converted on the way into the registers here.
bool reads_in_place(DType dtype);

/// scores[i][s] = q[i] . k[s], keys where they lie. q [n_row, width]. Scores behind n_slot are left
/// undefined, as with `score_many`.
void score_few(const float* q, const Entries& k, int width, const Tile& tile);
/// columns[i][s] = k[s][i] for s < n_slot <= tile_slots; the other columns are left undefined. [width,
/// tile_slots]
void to_columns(const float* k, std::int64_t stride, int n_slot, int width, float* columns);
/// scores[i][s] = q[i] . column s.
void score_many(const float* q, const float* columns, int width, const Tile& tile);

/// One step of a running softmax (Milakov and Gimelshein 2018, "Online normalizer calculation for softmax"):
/// scores become weights 2^(score - largest[i]), 0 where nothing is seen; `largest` [n_row] and the partial
/// `sums` [n_row, sums_per_row] move on to this tile, and `factors` [n_row] are what earlier sums of values
/// have to be multiplied with. A score that is not finite makes the row's sums NaN for good. `largest` and
/// `factors` are read and written up to a multiple of `width_step`.
void soften(const Tile& tile, float* largest, float* sums, float* factors);

/// out[i] = factors[i] * out[i] + sum over s of weights[i][s] * v[s]. out [n_row, width].
void mix(const Tile& tile, const float* factors, const Entries& v, int width, float* out);

}  // namespace decodescope::attend_kernels
