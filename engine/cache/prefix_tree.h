// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

namespace decodescope {

/// Which block holds which tokens behind which others: a radix tree whose edges are blocks of a paged cache.
/// Tokens are compared, never hashes of them, so two prefixes cannot be mistaken for each other. A block's
/// serial number names its content: it changes when the content does, and what was behind the old content
/// can no longer be reached.
class PrefixTree {
public:
    explicit PrefixTree(int n_block) : nodes_(static_cast<std::size_t>(n_block)) {}

    /// Where the requests of one isolation group and model begin.
    std::uint64_t root(std::uint64_t model_identity, std::uint64_t isolation);
    /// Block `block` now holds `tokens` behind what `parent` (a root or a serial) stands for.
    void set(int block, std::uint64_t parent, std::span<const std::int32_t> tokens);
    /// What `block` holds behind its first `n_token` tokens will be overwritten.
    void cut(int block, std::size_t n_token);
    /// `block` holds nothing that may be shared any more.
    void remove(int block);
    /// Serial of `block`; 0 when it is not in the tree.
    std::uint64_t serial(int block) const { return nodes_[static_cast<std::size_t>(block)].serial; }

    /// Whether what is known of `block`, if anything, is how `tokens` begin.
    bool agrees(int block, std::span<const std::int32_t> tokens) const;
    /// How many of `tokens` are known behind `parent`, and in which `blocks`: all but the last of them
    /// whole, the last one perhaps in part.
    int find(std::uint64_t parent, std::span<const std::int32_t> tokens, std::vector<int>& blocks) const;
    std::size_t bytes() const;

private:
    struct Node {
        std::uint64_t serial = 0;
        std::uint64_t parent = 0;
        std::vector<std::int32_t> tokens;
    };

    std::vector<Node> nodes_;  // [n_block]
    std::unordered_multimap<std::uint64_t, int> children_;
    std::map<std::pair<std::uint64_t, std::uint64_t>, std::uint64_t> roots_;
    std::uint64_t last_serial_ = 0;
};

}  // namespace decodescope
