// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>

#include "engine/cache/kv_cache.h"
#include "engine/cache/prefix_tree.h"

namespace decodescope {

/// Entries in blocks of a fixed number of tokens, taken from a pool as rows grow (after Kwon et al. 2023,
/// PagedAttention). Each row has a block table; slot s lies in block table[s / block]. Blocks are counted:
/// rows that share one read it, and whoever writes into a shared block gets a copy first. Blocks of finished
/// rows stay known by their tokens until the room is needed, least recently used first.
/// A block: K and V each [n_layer, n_kv_head, block, head_dim], in f32, f16 or bf16.
class PagedCache final : public KvCache {
public:
    static Result<std::unique_ptr<KvCache>> make(const CacheSpec& spec, const KvShape& shape,
                                                 const KvRoom& room, std::shared_ptr<MemoryLedger> ledger,
                                                 std::uint64_t model_identity);

    int capacity() const override { return capacity_; }
    std::optional<KvLayout> layout(int layer) override;
    void read(int layer, int row, int kv_head, SlotRange range, float* k, float* v) const override;
    KvBytes bytes() const override;
    Result<int> adopt_prefix(int row, std::span<const std::int32_t> tokens, std::uint64_t isolation) override;

    int block_tokens() const { return block_; }
    int n_block() const { return static_cast<int>(blocks_.size()); }
    std::span<const int> block_table(int row) const override { return tables_[index(row)]; }
    /// Rows that use `block`.
    int references(int block) const { return blocks_[index(block)].references; }
    /// Blocks that a row could still get: never used, given back, or kept for a prefix only.
    int n_available() const;

protected:
    Result<void> reserve(const CallTokens& call) override;
    void store(int layer, int row, int slot, const float* k, const float* v) override;
    void committed() override;
    void rolled_back() override;
    void truncated(int row) override;
    void cleared(int row) override;
    Result<void> reorder_storage(std::span<const int> parents) override;

private:
    struct Block {
        int references = 0;
        std::uint64_t last_use = 0;
    };
    /// What a row's blocks may be shared as.
    struct Lineage {
        std::optional<std::uint64_t> root;  // none: the row holds pads or sharing is off
        std::vector<std::int32_t> tokens;   // of the row, [next_position]
    };

    PagedCache(const CacheSpec& spec, const KvShape& shape, int capacity, int n_block,
               std::uint64_t model_identity);
    std::size_t offset(int block, int side, int layer, int kv_head, int slot) const;
    int blocks_for(std::size_t n_slot) const {
        return static_cast<int>((n_slot + index(block_) - 1) / index(block_));
    }
    int first_written(const CallTokens& call, int row) const;
    int take_block();
    void release_block(int block);
    void shrink_table(int row);
    void remember(int row, std::size_t first_slot);

    DType dtype_;
    int block_;
    int capacity_;
    bool share_;
    std::uint64_t model_identity_;
    std::size_t block_bytes_ = 0;
    Buffer storage_;                        // [n_block] blocks
    std::vector<Block> blocks_;             // [n_block]
    std::vector<std::vector<int>> tables_;  // [batch]
    std::vector<Lineage> lineages_;         // [batch]
    std::vector<int> free_;                 // blocks that hold nothing
    PrefixTree tree_;
    std::uint64_t clock_ = 0;
    mutable std::vector<int> fill_, pads_;  // [n_block], scratch of `bytes`
};

}  // namespace decodescope
