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

void PrefixTree::cut(int block, std::size_t n_token) {
    Node& node = nodes_[static_cast<std::size_t>(block)];
    if (node.tokens.size() <= n_token) return;
    if (n_token == 0) return remove(block);
    node.serial = ++last_serial_;
    node.tokens.resize(n_token);
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

bool PrefixTree::agrees(int block, std::span<const std::int32_t> tokens) const {
    const auto& known = nodes_[static_cast<std::size_t>(block)].tokens;
    return known.size() <= tokens.size() && std::equal(known.begin(), known.end(), tokens.begin());
}

int PrefixTree::find(std::uint64_t parent, std::span<const std::int32_t> tokens,
                     std::vector<int>& blocks) const {
    struct Visit {
        int block = -1;
        std::size_t end = 0;   // of the tokens matched up to here
        std::size_t from = 0;  // the visit before
        bool whole = true;
    };
    // Blocks that hold the same tokens can lie side by side with different ones behind them: look at all.
    std::vector<Visit> visits(1);
    std::size_t best = 0;
    for (std::size_t i = 0; i < visits.size(); ++i) {
        const Visit here = visits[i];
        if (!here.whole) continue;
        const auto [first, last] = children_.equal_range(i == 0 ? parent : serial(here.block));
        for (auto child = first; child != last; ++child) {
            const auto& held = nodes_[static_cast<std::size_t>(child->second)].tokens;
            const auto rest = tokens.subspan(here.end, std::min(held.size(), tokens.size() - here.end));
            const auto matched = static_cast<std::size_t>(
                std::mismatch(rest.begin(), rest.end(), held.begin()).first - rest.begin());
            if (matched == 0) continue;
            visits.push_back({child->second, here.end + matched, i, matched == held.size()});
            if (visits.back().end > visits[best].end) best = visits.size() - 1;
        }
    }
    blocks.clear();
    for (std::size_t i = best; i != 0; i = visits[i].from) blocks.push_back(visits[i].block);
    std::reverse(blocks.begin(), blocks.end());
    return static_cast<int>(visits[best].end);
}

std::size_t PrefixTree::bytes() const {
    std::size_t bytes = nodes_.size() * sizeof(Node);
    for (const Node& node : nodes_) bytes += node.tokens.capacity() * sizeof(std::int32_t);
    // A node of the hash table: the pair, its link and a bucket; of the map: four words more.
    bytes += roots_.size() * (sizeof(decltype(roots_)::value_type) + 4 * sizeof(void*));
    return bytes + children_.size() * (sizeof(std::pair<std::uint64_t, int>) + 2 * sizeof(void*));
}

}  // namespace decodescope
