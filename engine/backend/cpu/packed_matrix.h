// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/model/weight_type.h"

namespace decodescope {

/// Rows of a matrix whose weights lie side by side.
inline constexpr int panel_rows = weight_panel;

/// A matrix [n_out, n_in] repacked for our kernels: panels of 16 output rows, within which the values of all
/// rows at one k lie side by side, so that one pass reads a panel from front to back and a vector register
/// holds 16 outputs. Rows beyond n_out are zero. What one panel holds, by type:
///  - f32, f16: [n_in][16]
///  - bf16: [(n_in + 1) / 2][16][2], pairs of k beside each other
///  - int8: [n_in / 64] records of two groups: scales f16 [2][16], then codes u8 [2][8][16][4] (32 k of a
///    group as 8 times 4), each code being q + 128
///  - int4: the same with codes [2][4][16][4], of which one byte holds k = 8 i + j of q + 8 in its low half
///  and
///    k = 8 i + 4 + j in its high half
/// Does not own its bytes.
class PackedMatrix {
public:
    static constexpr int code_offset_int8 = 128;
    static constexpr int code_offset_int4 = 8;
    static constexpr std::size_t scale_bytes = 64;  ///< of one record
    /// Bytes of the codes of one group in a panel.
    static constexpr std::size_t group_bytes(WeightType type) { return type == WeightType::int8 ? 512 : 256; }
    static constexpr std::size_t record_bytes(WeightType type) { return scale_bytes + 2 * group_bytes(type); }
    /// Where the scales [16] and the codes of group g begin in a panel.
    static constexpr std::size_t scales_at(WeightType type, int g) {
        return static_cast<std::size_t>(g / 2) * record_bytes(type) +
               static_cast<std::size_t>(g % 2) * panel_rows * sizeof(std::uint16_t);
    }
    static constexpr std::size_t codes_at(WeightType type, int g) {
        return static_cast<std::size_t>(g / 2) * record_bytes(type) + scale_bytes +
               static_cast<std::size_t>(g % 2) * group_bytes(type);
    }
    /// Whether rows of n_in weights can be stored as `type`: whole groups.
    static constexpr bool fits(WeightType type, int n_in) {
        return !has_groups(type) || n_in % weight_group == 0;
    }
    /// Bytes that a matrix takes.
    static constexpr std::size_t bytes(WeightType type, int n_in, int n_out) {
        return static_cast<std::size_t>(prepared_matrix_bytes(type, n_in, n_out));
    }

    PackedMatrix() = default;
    /// `data`: `bytes(type, n_in, n_out)` bytes on a 64-byte border, zero-filled or overwritten by `pack`.
    PackedMatrix(WeightType type, int n_in, int n_out, std::byte* data)
        : type_(type), n_in_(n_in), n_out_(n_out), panel_bytes_(bytes(type, n_in, panel_rows)), data_(data) {}

    WeightType type() const { return type_; }
    int n_in() const { return n_in_; }
    int n_out() const { return n_out_; }
    int n_panel() const { return (n_out_ + panel_rows - 1) / panel_rows; }
    std::size_t panel_bytes() const { return panel_bytes_; }
    std::size_t bytes() const { return panel_bytes_ * static_cast<std::size_t>(n_panel()); }
    const std::byte* panel(int i) const { return data_ + static_cast<std::size_t>(i) * panel_bytes_; }

    /// Fills one panel from the f32 matrix [n_out, n_in]. Groups with a value that is not finite get a scale
    /// that is not a number. Different panels may be filled by different threads.
    void pack(const float* weight, int panel);
    /// The weights of one row as the kernels compute with them, [n_in].
    void unpack(int row, float* out) const;

private:
    WeightType type_ = WeightType::f32;
    int n_in_ = 0;
    int n_out_ = 0;
    std::size_t panel_bytes_ = 0;
    std::byte* data_ = nullptr;
};

}  // namespace decodescope
