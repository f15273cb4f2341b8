// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/cache/prefix_tree.h"

#include <algorithm>

namespace decodescope {

std::uint64_t PrefixTree::root(std::uint64_t model_identity, std::uint64_t isolation) {
    std::uint64_t& serial = roots_[{model_identity, isolation}];
    if (serial == 0) serial = ++last_serial_;
    return serial;
}

void PrefixTree::set(int block, std::uint64_t parent, std::span<const std::int32_t> tokens) {
    Node& node = nodes_[static_cast<std::size_t>(block)];
    const bool grows = node.serial != 0 && node.parent == parent && node.tokens.size() <= tokens.size() &&
                       std::equal(node.tokens.begin(), node.tokens.end(), tokens.begin());
    if (!grows) {
        remove(block);
        node.serial = ++last_serial_;
        node.parent = parent;
        children_.emplace(parent, block);
    }
    node.tokens.assign(tokens.begin(), tokens.end());
}

void PrefixTree::remove(int block) {
    Node& node = nodes_[static_cast<std::size_t>(block)];
    if (node.serial == 0) return;
    const auto [first, last] = children_.equal_range(node.parent);
    const auto mine = std::find_if(first, last, [&](const auto& child) { return child.second == block; });
    if (mine != last) children_.erase(mine);
    // The vector keeps its memory for the block's next content.
    node.serial = node.parent = 0;
    node.tokens.clear();
}

std::pair<int, int> PrefixTree::find(std::uint64_t parent, std::span<const std::int32_t> tokens) const {
    std::pair<int, int> best{-1, 0};
    const auto [first, last] = children_.equal_range(parent);
    for (auto child = first; child != last; ++child) {
        const auto& held = nodes_[static_cast<std::size_t>(child->second)].tokens;
        const std::size_t n = std::min(held.size(), tokens.size());
        const auto end =
            std::mismatch(held.begin(), held.begin() + static_cast<std::ptrdiff_t>(n), tokens.begin());
        const int matched = static_cast<int>(end.first - held.begin());
        if (matched > best.second) best = {child->second, matched};
    }
    return best;
}

std::size_t PrefixTree::bytes() const {
    std::size_t bytes = nodes_.size() * sizeof(Node);
    for (const Node& node : nodes_) bytes += node.tokens.capacity() * sizeof(std::int32_t);
    // A node of the hash table: the pair, its link and a bucket.
    return bytes + children_.size() * (sizeof(std::pair<std::uint64_t, int>) + 2 * sizeof(void*));
}

}  // namespace decodescope
