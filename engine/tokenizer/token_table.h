// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace decodescope {

/// Most tokens and most merges of a tokenizer. Ids are below it. Bounds memory; real vocabularies stay under
/// a third of it.
inline constexpr std::size_t max_token_ids = std::size_t{1} << 20;

/// Texts by token id, and back. Compact: one block of bytes and a few numbers per token.
class TokenTable {
public:
    enum class Added {
        ok,
        id_taken,    ///< the id has another text already, which stays
        text_taken,  ///< another id has this text and stays the one that `find` gives
        bad_id,      ///< below 0 or not below max_token_ids; nothing changes
    };
    /// Sets the text of `id`.
    Added add(std::int32_t id, std::string_view text);
    /// The same for a text that `find` never gives.
    Added add_hidden(std::int32_t id, std::string_view text);

    /// The id with this text, or -1.
    std::int32_t find(std::string_view text) const;
    /// The text of `id`; empty for ids without one and ids out of range.
    std::string_view text(std::int32_t id) const;
    bool has(std::int32_t id) const;
    /// One more than the largest id.
    std::int32_t n_token() const { return static_cast<std::int32_t>(places_.size()); }
    /// Number of ids that have a text.
    std::size_t size() const { return n_text_; }

private:
    static constexpr std::size_t no_text = static_cast<std::size_t>(-1);
    struct Place {
        std::size_t offset = 0;
        std::size_t length = no_text;
    };
    std::size_t slot_of(std::string_view text) const;
    void grow();

    std::string bytes_;
    std::vector<Place> places_;        // by id
    std::vector<std::int32_t> slots_;  // a hash table of ids; -1 = free
    std::size_t n_slot_used_ = 0;
    std::size_t n_text_ = 0;
};

/// Pairs of symbols in order of priority. Compact.
class MergeList {
public:
    void add(std::string_view left, std::string_view right);
    std::size_t size() const { return places_.size(); }
    std::string_view left(std::size_t i) const;
    std::string_view right(std::size_t i) const;
    /// Both without what lies between them.
    std::string_view both(std::size_t i) const;

private:
    struct Place {
        std::size_t offset = 0;
        std::size_t left_length = 0;
    };
    std::string bytes_;
    std::vector<Place> places_;
};

}  // namespace decodescope
