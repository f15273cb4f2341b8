// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>

#include "engine/backend/cpu/packed_matrix.h"
#include "engine/backend/cpu/panel_kernels.h"
#include "engine/backend/cpu/tile_finish.h"

namespace decodescope {

/// Rows of inputs as the kernels of one matrix type want them: blocks of rows, one after the other, in each
/// the values of all its rows at one k side by side, as f32, as pairs of bf16, or as four bytes; after the
/// bytes come the scales of all rows group by group, then their offsets.
class PreparedRows {
public:
    /// For products of `rows` rows with `type`; `room` takes `floats(rows, n_in)` floats.
    PreparedRows(WeightType type, int rows, int n_in, float* room)
        : kernels_(&kernel_set(type, rows, n_in)), type_(type), rows_(rows), n_in_(n_in), room_(room) {}

    /// Room for any form.
    static std::int64_t floats(std::int64_t rows, std::int64_t n_in) { return rows * (n_in + n_in / 16 + 2); }

    int n_block() const;
    /// Rows [begin, end) of block i.
    struct Rows {
        int begin = 0;
        int end = 0;
    };
    Rows block_rows(int i) const;
    /// Fills block i from its rows x, `stride` floats apart. Different blocks may be filled by different
    /// threads.
    void prepare(int i, const float* x, std::int64_t stride);
    /// The rows as they are: one f32 row needs no other form.
    bool as_they_are() const { return rows_ == 1 && kernels_->form == InputForm::f32; }
    void use(const float* row) { row_ = row; }

    /// Panels that are worth taking at once when there are many rows: what stays in a core's second cache, or
    /// less where the matrix would make too few pieces.
    int panels_at_once(const PackedMatrix& matrix) const;

    /// Multiplies panels [begin, end) of `matrix`, which has the type and n_in given before, with all rows.
    /// `decoded`: room for `decoded_floats(n_in)` floats on a 64-byte border, where many rows may want panels
    /// decoded.
    void multiply(const PackedMatrix& matrix, int begin, int end, const TileFinish& finish,
                  float* decoded = nullptr) const;
    static std::int64_t decoded_floats(std::int64_t n_in) { return most_decoded * panel_rows * n_in / 2; }

private:
    static constexpr int few_rows = 16;
    static constexpr std::int64_t most_decoded = 8;  // panels at once

    /// Panels first, first + distance, ... below end, one for every stream.
    struct PanelWalk {
        int first = 0;
        int distance = 1;
        int end = 0;
    };
    /// Where panels lie: in the matrix, or from panel `first` on where they were decoded.
    struct Panels {
        const std::byte* at;
        std::size_t bytes;
        int first;
        const std::byte* panel(int i) const { return at + static_cast<std::size_t>(i - first) * bytes; }
    };
    Panels decode(const PackedMatrix& matrix, int first, int last, float* decoded) const;
    /// Multiplies those panels with the block of m rows that begins at `row`.
    void multiply_tile(const Panels& panels, PanelWalk walk, int row, int m, const TileFinish& finish) const;
    float* block(Rows rows) const { return room_ + rows.begin * per_row(); }
    std::int64_t per_row() const;

    const KernelSet* kernels_;
    WeightType type_;
    int rows_;
    int n_in_;
    float* room_;
    const float* row_ = nullptr;
};

}  // namespace decodescope
