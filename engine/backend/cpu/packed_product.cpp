// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/backend/cpu/packed_product.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "engine/cache/entry_codec.h"

namespace decodescope {

namespace {

/// to[i * n_row + j] = row j's unit i, 32 bits each. N: the number of rows where the loop is to be made for
/// it.
template <int N = 0>
void interleave(const float* const* rows, int n_row, int n_unit, float* to) {
    const int n = N > 0 ? N : n_row;
    std::array<const float*, most_block_rows> from{};
    std::copy_n(rows, n, from.begin());
    for (int i = 0; i < n_unit; ++i) {
        for (int j = 0; j < n; ++j)
            std::memcpy(to + i * n + j, from[static_cast<std::size_t>(j)] + i, sizeof(float));
    }
}

constexpr int least_pieces = 8;  // of a matrix, so that no worker waits long for the last one

/// Bytes of panels that may stay in a core's second cache: half of it, the rest is for what passes by.
std::size_t group_bytes() {
    constexpr std::size_t least = 256 * 1024, most = 2048 * 1024;
#if defined(_SC_LEVEL2_CACHE_SIZE)
    static const long cache = sysconf(_SC_LEVEL2_CACHE_SIZE);
    return std::clamp(static_cast<std::size_t>(std::max(0L, cache)) / 2, least, most);
#else
    return least;
#endif
}

/// Outputs are written once and would be waited for: they are asked for before their sums are computed.
void fetch_outputs(const TileFinish& finish, int panel, int distance, int n_stream, int row, int n_row) {
    for (int s = 0; s < n_stream; ++s) {
        const float* y =
            finish.y + std::int64_t{row} * finish.n_out + std::int64_t{panel + s * distance} * panel_rows;
        for (int j = 0; j < n_row; ++j, y += finish.n_out) __builtin_prefetch(y, 1, 3);
    }
}

}  // namespace

std::int64_t PreparedRows::per_row() const {
    const std::int64_t n_group = n_in_ / weight_group;
    switch (kernels_->form) {
        case InputForm::f32: return n_in_;
        case InputForm::bf16: return (n_in_ + 1) / 2;
        case InputForm::int8: break;
    }
    return n_in_ / 4 + 2 * n_group;
}

int PreparedRows::n_block() const {
    int n = 0;
    for (int row = 0; row < rows_; row += kernels_->block_rows(rows_ - row)) ++n;
    return n;
}

PreparedRows::Rows PreparedRows::block_rows(int i) const {
    int row = 0;
    while (i-- > 0) row += kernels_->block_rows(rows_ - row);
    return {row, row + kernels_->block_rows(rows_ - row)};
}

void PreparedRows::prepare(int i, const float* x, std::int64_t stride) {
    const Rows rows = block_rows(i);
    const int m = rows.end - rows.begin;
    float* to = block(rows);
    std::array<const float*, most_block_rows> from{};
    for (int j = 0; j < m; ++j) from[static_cast<std::size_t>(j)] = x + j * stride;
    const bool by_row = m >= tile_rows;
    if (kernels_->form == InputForm::f32) {
        if (m == 14) return interleave<14>(from.data(), m, n_in_, to);
        if (m == 6) return interleave<6>(from.data(), m, n_in_, to);
        return interleave(from.data(), m, n_in_, to);
    }
    // Rounded piece by piece, row after row, then laid side by side.
    constexpr int piece = 512;
    const int n_group = n_in_ / weight_group;
    alignas(64) float units[most_block_rows][piece / 2];
    std::array<const float*, most_block_rows> rounded{};
    for (int j = 0; j < m; ++j) rounded[static_cast<std::size_t>(j)] = units[j];
    for (int k = 0; k < n_in_; k += piece) {
        const int n = std::min(piece, n_in_ - k);
        const bool bf16 = kernels_->form == InputForm::bf16;
        std::array<float, piece / weight_group> scales;
        std::array<float, piece / weight_group> offsets;
        const int offset =
            type_ == WeightType::int8 ? PackedMatrix::code_offset_int8 : PackedMatrix::code_offset_int4;
        const int per_unit = bf16 ? 2 : 4;
        for (int j = 0; j < m; ++j) {
            const float* row = from[static_cast<std::size_t>(j)] + k;
            float* whole = to + (std::int64_t{j} * n_in_ + k) / per_unit;
            auto* bytes = reinterpret_cast<std::byte*>(by_row ? whole : units[j]);
            if (bf16) {
                encode_entries(DType::bf16, row, n, bytes);
                if (n % 2 != 0) std::memset(bytes + 2 * n, 0, 2);
                continue;
            }
            quantise_row(row, n, offset, reinterpret_cast<std::int8_t*>(bytes), scales.data(),
                         offsets.data());
            float* row_scales = to + std::int64_t{n_in_ / 4} * m + k / weight_group * m + j;
            for (int g = 0; g < n / weight_group; ++g) {
                row_scales[g * m] = scales[static_cast<std::size_t>(g)];
                row_scales[(n_group + g) * m] = offsets[static_cast<std::size_t>(g)];
            }
        }
        if (by_row) continue;
        interleave(rounded.data(), m, (n + per_unit - 1) / per_unit, to + std::int64_t{k / per_unit} * m);
    }
}

PreparedRows::Panels PreparedRows::decode(const PackedMatrix& matrix, int first, int last,
                                          float* decoded) const {
    auto* to = reinterpret_cast<std::byte*>(decoded);
    const std::size_t bytes = PackedMatrix::bytes(WeightType::bf16, n_in_, panel_rows);
    for (int i = first; i < last; ++i)
        kernels_->decode(matrix.panel(i), n_in_, to + static_cast<std::size_t>(i - first) * bytes);
    return {to, bytes, first};
}

void PreparedRows::multiply_tile(const Panels& panels, PanelWalk walk, int row, int m,
                                 const TileFinish& finish) const {
    const bool one = rows_ == 1;
    const int streams = one ? kernels_->streams_one : kernels_->streams;
    alignas(64) std::array<float, std::size_t{most_streams} * most_block_rows * panel_rows> sums;
    std::array<const std::byte*, most_streams> from{};
    int n_stream = 0;
    for (int s = 0; s < streams; ++s) {
        const int panel = walk.first + s * walk.distance;
        if (panel < walk.end) n_stream = s + 1;
        from[static_cast<std::size_t>(s)] = panels.panel(panel < walk.end ? panel : walk.first);
    }
    const TileKernel kernel = one ? kernels_->one : kernels_->rows[static_cast<std::size_t>(m)];
    if (m > 1) fetch_outputs(finish, walk.first, walk.distance, n_stream, row, m);
    kernel(from.data(), n_in_, row_ != nullptr ? row_ : block({row, row + m}), sums.data());
    for (int s = 0; s < n_stream; ++s) {
        finish_tile(sums.data() + s * m * panel_rows, m, walk.first + s * walk.distance, row, finish);
    }
}

int PreparedRows::panels_at_once(const PackedMatrix& matrix) const {
    const int streams = kernels_->streams;
    const int fit = kernels_->decode != nullptr ? static_cast<int>(most_decoded)
                                                : static_cast<int>(group_bytes() / matrix.panel_bytes());
    return std::max(1, std::min(fit, matrix.n_panel() / least_pieces) / streams) * streams;
}

void PreparedRows::multiply(const PackedMatrix& matrix, int begin, int end, const TileFinish& finish,
                            float* decoded) const {
    const auto rows_of = [this](int row) { return rows_ == 1 ? 1 : kernels_->block_rows(rows_ - row); };
    const int streams = rows_ == 1 ? kernels_->streams_one : kernels_->streams;
    const Panels as_they_are{matrix.panel(0), matrix.panel_bytes(), 0};
    if (rows_ <= few_rows) {
        // Every panel is read once: streams begin far apart, so that the memory system follows several.
        const int distance = (end - begin + streams - 1) / streams;
        for (int i = begin; i < begin + distance; ++i) {
            for (int row = 0; row < rows_; row += rows_of(row))
                multiply_tile(as_they_are, {i, distance, end}, row, rows_of(row), finish);
        }
        return;
    }
    // Groups of panels that stay in the second cache while all rows pass by; what is written of a row lies
    // together.
    const int group = panels_at_once(matrix);
    for (int first = begin; first < end; first += group) {
        const int last = std::min(end, first + group);
        const Panels panels =
            kernels_->decode != nullptr ? decode(matrix, first, last, decoded) : as_they_are;
        for (int row = 0; row < rows_; row += rows_of(row)) {
            for (int i = first; i < last; i += streams)
                multiply_tile(panels, {i, 1, last}, row, rows_of(row), finish);
        }
    }
}

}  // namespace decodescope
