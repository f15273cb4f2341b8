// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace decodescope {

/// Position stored in a slot that holds nothing, and in one that holds a padding token.
inline constexpr std::int32_t slot_empty = -1;
inline constexpr std::int32_t slot_padding = -2;

/// The tokens of one forward call, row after row; rows may have different numbers of tokens, also none. Kept
/// and refilled between calls, so that a decode step allocates nothing.
class CallTokens {
public:
    /// Forgets all rows and keeps the memory.
    void clear() {
        tokens_.clear();
        positions_.clear();
        begin_.assign(1, 0);
    }
    /// Makes room, so that calls up to this size allocate nothing.
    void reserve(int n_row, int n_token) {
        tokens_.reserve(static_cast<std::size_t>(n_token));
        positions_.reserve(static_cast<std::size_t>(n_token));
        begin_.reserve(static_cast<std::size_t>(n_row) + 1);
    }
    /// Adds one token to the row that is being built; `slot_padding` as position marks a pad.
    void add(std::int32_t token, std::int32_t position) {
        tokens_.push_back(token);
        positions_.push_back(position);
    }
    /// Closes the row that is being built.
    void end_row() { begin_.push_back(static_cast<std::int32_t>(tokens_.size())); }
    /// A whole row of tokens at consecutive positions.
    void add_row(std::span<const std::int32_t> tokens, std::int32_t first_position) {
        for (const std::int32_t token : tokens) add(token, first_position++);
        end_row();
    }

    /// Rows, closed ones.
    int batch() const { return static_cast<int>(begin_.size()) - 1; }
    /// Tokens of all rows.
    int n_token() const { return static_cast<int>(tokens_.size()); }
    /// Index of the first token of row `b`, and one past its last.
    int begin(int b) const { return begin_[static_cast<std::size_t>(b)]; }
    int end(int b) const { return begin_[static_cast<std::size_t>(b) + 1]; }
    std::span<const std::int32_t> tokens() const { return tokens_; }
    std::span<const std::int32_t> positions() const { return positions_; }
    std::span<const std::int32_t> tokens(int b) const {
        return std::span(tokens_).subspan(static_cast<std::size_t>(begin(b)),
                                          static_cast<std::size_t>(end(b) - begin(b)));
    }
    std::span<const std::int32_t> positions(int b) const {
        return std::span(positions_)
            .subspan(static_cast<std::size_t>(begin(b)), static_cast<std::size_t>(end(b) - begin(b)));
    }

private:
    std::vector<std::int32_t> tokens_;     // [n_token]
    std::vector<std::int32_t> positions_;  // [n_token]
    std::vector<std::int32_t> begin_{0};   // [batch + 1]
};

}  // namespace decodescope
