// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "engine/model/model_config.h"

namespace decodescope {

/// The largest output of a row so far, apart for each of the 16 places in a panel.
struct RowBest {
    std::array<float, 16> value;
    std::array<std::int32_t, 16> panel;
    std::array<float, 16> poison;  ///< 0 as long as every output was finite, else not a number

    void clear();
    /// Takes over what another part of the same row found.
    void merge(const RowBest& other);
    /// Output with the largest value, the first of equal ones; -1 when one was not finite.
    std::int32_t index() const;
};

/// What happens to the sums of a product before they are stored:
/// y = f(sum + bias), then times what y holds, or added to it.
struct TileFinish {
    const float* bias = nullptr;  ///< [n_out] or null
    std::optional<Activation> activation{};
    bool multiply = false;    ///< y *= ...
    bool accumulate = false;  ///< y += ...
    float* y = nullptr;       ///< [rows, n_out]
    int n_out = 0;
    RowBest* best = nullptr;  ///< [rows] or null: also looks for the largest
};

/// Finishes the sums [n_row][16] of panel `panel` for rows first_row .. first_row + n_row - 1.
void finish_tile(const float* sums, int n_row, int panel, int first_row, const TileFinish& finish);

}  // namespace decodescope
