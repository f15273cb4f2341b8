// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/cache/paged_cache.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>

#include "engine/cache/entry_codec.h"

namespace decodescope {

PagedCache::PagedCache(const CacheSpec& spec, const KvShape& shape, int capacity, int n_block,
                       std::uint64_t model_identity)
    : KvCache(shape),
      dtype_(spec.dtype),
      block_(spec.block),
      capacity_(capacity),
      share_(spec.share_prefixes),
      model_identity_(model_identity),
      blocks_(index(n_block)),
      tables_(index(shape.batch)),
      lineages_(index(shape.batch)),
      tree_(n_block),
      fill_(index(n_block), 0),
      pads_(index(n_block), 0) {
    block_bytes_ = static_cast<std::size_t>(shape.elements_per_token()) * index(block_) * size_of(dtype_);
    free_.reserve(index(n_block));
    for (int i = n_block; i-- > 0;) free_.push_back(i);
    for (auto& table : tables_) table.reserve(index(blocks_for(index(capacity))));
    for (Lineage& lineage : lineages_) lineage.tokens.reserve(index(capacity));
}

Result<std::unique_ptr<KvCache>> PagedCache::make(const CacheSpec& spec, const KvShape& shape,
                                                  const KvRoom& room, std::shared_ptr<MemoryLedger> ledger,
                                                  std::uint64_t model_identity) {
    if (room.capacity < 1 || spec.block < 1 || spec.blocks < 0) {
        return Error{
            ErrorKind::bad_input,
            fmt::format("Paged cache: got capacity {} and {} blocks of {} tokens, expected at least 1 token "
                        "in each.",
                        room.capacity, spec.blocks, spec.block)};
    }
    const std::int64_t per_row = (std::int64_t{room.capacity} + spec.block - 1) / spec.block;
    const std::int64_t wanted = spec.blocks > 0 ? spec.blocks : per_row * shape.batch;
    constexpr std::int64_t most_blocks = 1 << 24;
    if (wanted > most_blocks) {
        return Error{
            ErrorKind::capacity,
            fmt::format("Paged cache: {} blocks are needed, expected at most {}.", wanted, most_blocks)};
    }
    std::unique_ptr<PagedCache> cache(
        new PagedCache(spec, shape, room.capacity, static_cast<int>(wanted), model_identity));
    auto storage = Buffer::allocate(std::move(ledger), Owner::kv,
                                    cache->block_bytes_ * static_cast<std::size_t>(wanted));
    if (!storage) return storage.error();
    cache->storage_ = *std::move(storage);
    cache->reserve_slots(room.capacity, room.max_call);
    return std::unique_ptr<KvCache>(std::move(cache));
}

/// Bytes in front of slot `slot` of a block; `side` 0 = K, 1 = V.
std::size_t PagedCache::offset(int block, int side, int layer, int kv_head, int slot) const {
    const std::size_t head =
        (index(side) * index(shape().n_layer) + index(layer)) * index(shape().n_kv_head) + index(kv_head);
    return index(block) * block_bytes_ +
           (head * index(block_) + index(slot)) * index(shape().head_dim) * size_of(dtype_);
}

std::optional<KvLayout> PagedCache::layout(int layer) {
    const int d = shape().head_dim;
    KvLayout layout;
    layout.dtype = dtype_;
    layout.k = storage_.data() + offset(0, 0, layer, 0, 0);
    layout.v = storage_.data() + offset(0, 1, layer, 0, 0);
    layout.slot_stride = d;
    layout.head_stride = std::int64_t{block_} * d;
    layout.row_stride = static_cast<std::int64_t>(block_bytes_ / size_of(dtype_));
    layout.block = block_;
    return layout;
}

void PagedCache::read(int layer, int row, int kv_head, SlotRange slots, float* k, float* v) const {
    const auto& table = tables_[index(row)];
    const int d = shape().head_dim;
    for (int slot = slots.begin; slot < slots.end;) {
        const int first = slot % block_;
        const int n = std::min(block_ - first, slots.end - slot);
        const int block = table[index(slot / block_)];
        const std::int64_t out = std::int64_t{slot - slots.begin} * d;
        const auto copy = [&](int side, float* to) {
            decode_entries(dtype_, storage_.data() + offset(block, side, layer, kv_head, first),
                           std::int64_t{n} * d, to + out);
        };
        if (k != nullptr) copy(0, k);
        if (v != nullptr) copy(1, v);
        slot += n;
    }
}

int PagedCache::n_available() const {
    return static_cast<int>(
        std::count_if(blocks_.begin(), blocks_.end(), [](const Block& b) { return b.references == 0; }));
}

/// A block for somebody to write to: one that holds nothing, else the kept one that was used longest ago.
/// The caller has made sure that there is one.
int PagedCache::take_block() {
    int block = -1;
    if (!free_.empty()) {
        block = free_.back();
        free_.pop_back();
    } else {
        for (int i = 0; i < n_block(); ++i) {
            if (blocks_[index(i)].references != 0) continue;
            if (block < 0 || blocks_[index(i)].last_use < blocks_[index(block)].last_use) block = i;
        }
        assert(block >= 0);
        tree_.remove(block);
    }
    blocks_[index(block)].references = 1;
    return block;
}

void PagedCache::release_block(int block) {
    Block& here = blocks_[index(block)];
    if (here.references == 0 && faults().has(Fault::blocks_freed_early)) return;
    if (--here.references > 0) return;
    here.last_use = ++clock_;
    if (tree_.serial(block) == 0) free_.push_back(block);
}

/// The block in which the first entry goes that `call` appends to `row`, if the row has it already; else -1.
int PagedCache::first_written(const CallTokens& call, int row) const {
    const std::size_t stored = slot_positions(row).size();
    if (call.end(row) == call.begin(row) || stored % index(block_) == 0) return -1;
    return tables_[index(row)][stored / index(block_)];
}

Result<void> PagedCache::reserve(const CallTokens& call) {
    int needed = 0;
    for (int b = 0; b < call.batch(); ++b) {
        const auto n_new = index(call.end(b) - call.begin(b));
        if (n_new == 0) continue;
        needed += blocks_for(slot_positions(b).size() + n_new) - static_cast<int>(tables_[index(b)].size());
        const int written = first_written(call, b);
        if (written < 0 || references(written) == 1) continue;
        // Whoever writes last into a block that all its rows write into can have it.
        int others = references(written) - 1;
        for (int earlier = 0; earlier < b; ++earlier) others -= first_written(call, earlier) == written;
        needed += others > 0;
    }
    // Kept blocks are only counted when the untouched ones do not do.
    if (needed > static_cast<int>(free_.size()) && needed > n_available()) {
        return Error{
            ErrorKind::capacity,
            fmt::format("Paged cache: {} more blocks of {} tokens are needed, but {} of {} are left.", needed,
                        block_, n_available(), n_block())};
    }
    for (int b = 0; b < call.batch(); ++b) {
        const auto n_new = index(call.end(b) - call.begin(b));
        if (n_new == 0) continue;
        auto& table = tables_[index(b)];
        const std::size_t stored = slot_positions(b).size();
        const int written = faults().has(Fault::prefix_mutated) ? -1 : first_written(call, b);
        if (written >= 0 && references(written) > 1) {
            const int own = take_block();
            storage_.copy(offset(own, 0, 0, 0, 0), storage_, offset(written, 0, 0, 0, 0), block_bytes_);
            copied_bytes_ += block_bytes_;
            release_block(written);
            table[stored / index(block_)] = own;
        } else if (written >= 0) {
            // It may have held more than this row does; nobody may share what will be overwritten.
            tree_.cut(written, stored % index(block_));
        }
        while (static_cast<int>(table.size()) < blocks_for(stored + n_new)) {
            table.push_back(take_block());
            if (faults().has(Fault::blocks_freed_early) && stored > 0 && table.size() > 1)
                release_block(table[table.size() - 2]);
        }
    }
    return {};
}

void PagedCache::store(int layer, int row, int slot, const float* k, const float* v) {
    const int block = tables_[index(row)][index(slot / block_)];
    const int d = shape().head_dim;
    for (int h = 0; h < shape().n_kv_head; ++h) {
        encode_entries(dtype_, k + std::int64_t{h} * d, d,
                       storage_.data() + offset(block, 0, layer, h, slot % block_));
        encode_entries(dtype_, v + std::int64_t{h} * d, d,
                       storage_.data() + offset(block, 1, layer, h, slot % block_));
    }
}

/// Makes the blocks of `row` from `first_slot` on known by their tokens.
void PagedCache::remember(int row, std::size_t first_slot) {
    Lineage& lineage = lineages_[index(row)];
    if (!lineage.root) return;
    const auto& table = tables_[index(row)];
    const std::size_t first = first_slot / index(block_);
    std::uint64_t parent = first == 0 ? *lineage.root : tree_.serial(table[first - 1]);
    for (std::size_t i = first; i < table.size() && parent != 0; ++i) {
        const std::size_t begin = i * index(block_);
        const std::size_t end = std::min(begin + index(block_), lineage.tokens.size());
        if (begin >= end) break;
        const auto tokens = std::span(lineage.tokens).subspan(begin, end - begin);
        const bool unnoticed = faults().has(Fault::prefix_mutated) && !tree_.agrees(table[i], tokens);
        if (references(table[i]) == 1 && !unnoticed) tree_.set(table[i], parent, tokens);
        parent = tree_.serial(table[i]);
    }
}

void PagedCache::committed() {
    if (!share_) return;
    for (int b = 0; b < batch(); ++b) {
        const auto tokens = open_call().tokens(b);
        if (tokens.empty()) continue;
        Lineage& lineage = lineages_[index(b)];
        const std::size_t before = lineage.tokens.size();
        if (n_padding(b) > 0) lineage.root.reset();
        if (!lineage.root) continue;
        lineage.tokens.insert(lineage.tokens.end(), tokens.begin(), tokens.end());
        remember(b, before);
    }
}

/// Gives back the blocks of `row` that none of its slots lies in.
void PagedCache::shrink_table(int row) {
    auto& table = tables_[index(row)];
    while (static_cast<int>(table.size()) > blocks_for(slot_positions(row).size())) {
        if (!faults().has(Fault::blocks_never_freed)) release_block(table.back());
        table.pop_back();
    }
}

void PagedCache::rolled_back() {
    for (int b = 0; b < batch(); ++b) shrink_table(b);
}

void PagedCache::truncated(int row) {
    shrink_table(row);
    Lineage& lineage = lineages_[index(row)];
    if (lineage.root) lineage.tokens.resize(slot_positions(row).size());
}

void PagedCache::cleared(int row) {
    // Last block first, so that a prefix is forgotten after what follows it.
    shrink_table(row);
    lineages_[index(row)].root.reset();
    lineages_[index(row)].tokens.clear();
}

Result<void> PagedCache::reorder_storage(std::span<const int> parents) {
    std::vector<std::vector<int>> tables;
    std::vector<Lineage> lineages;
    for (const int parent : parents) {
        tables.push_back(tables_[index(parent)]);
        tables.back().reserve(tables_[index(parent)].capacity());
        lineages.push_back(lineages_[index(parent)]);
        for (const int block : tables.back()) ++blocks_[index(block)].references;
    }
    for (const auto& table : tables_) {
        for (const int block : table) release_block(block);
    }
    tables_ = std::move(tables);
    lineages_ = std::move(lineages);
    return {};
}

Result<int> PagedCache::adopt_prefix(int row, std::span<const std::int32_t> tokens, std::uint64_t isolation) {
    if (!share_) return 0;
    auto& table = tables_[index(row)];
    if (!slot_positions(row).empty() || open()) {
        return Error{ErrorKind::internal, "Paged cache: a prefix was asked for by a row that is not empty."};
    }
    Lineage& lineage = lineages_[index(row)];
    lineage.root = tree_.root(model_identity_, isolation);
    lineage.tokens.clear();
    // The last token must be forwarded in any case: its logits are wanted.
    const auto rest = tokens.first(tokens.empty() ? 0 : tokens.size() - 1);
    const auto n = index(tree_.find(*lineage.root, rest, table));
    for (const int block : table) ++blocks_[index(block)].references;
    lineage.tokens.assign(rest.begin(), rest.begin() + static_cast<std::ptrdiff_t>(n));
    adopt(row, static_cast<int>(n));
    return static_cast<int>(n);
}

KvBytes PagedCache::bytes() const {
    KvBytes bytes;
    const std::uint64_t slot = block_bytes_ / index(block_);
    std::fill(fill_.begin(), fill_.end(), 0);
    std::fill(pads_.begin(), pads_.end(), 0);
    std::uint64_t used = 0;
    std::uint64_t wanted = 0;
    for (int b = 0; b < batch(); ++b) {
        const auto& table = tables_[index(b)];
        const auto positions = slot_positions(b);
        wanted += slot * positions.size();
        for (std::size_t i = 0; i < table.size(); ++i) {
            const auto mine = positions.subspan(
                i * index(block_), std::min(index(block_), positions.size() - i * index(block_)));
            int& fill = fill_[index(table[i])];
            fill = std::max(fill, static_cast<int>(mine.size()));
            if (n_padding(b) == 0) continue;
            int& pads = pads_[index(table[i])];
            pads = std::max(pads, static_cast<int>(std::count(mine.begin(), mine.end(), slot_padding)));
        }
    }
    for (int i = 0; i < n_block(); ++i) {
        const bool in_use = references(i) > 0;
        // Whoever never gives back what no row has any more believes it to be in use.
        if (in_use && fill_[index(i)] == 0 && faults().has(Fault::blocks_never_freed)) {
            fill_[index(i)] = block_;
            wanted += block_bytes_;
        }
        used += slot * index(fill_[index(i)]);
        bytes.padding += slot * index(pads_[index(i)]);
        if (in_use) {
            bytes.slack += slot * index(block_ - fill_[index(i)]);
        } else if (tree_.serial(i) != 0) {
            bytes.kept += block_bytes_;
        } else {
            bytes.free += block_bytes_;
        }
    }
    bytes.payload = bytes.live = used - bytes.padding;
    bytes.shared = wanted - used;
    bytes.reserved = storage_.size_bytes();
    bytes.meta =
        slot_map_bytes() + blocks_.size() * sizeof(Block) + free_.capacity() * sizeof(int) + tree_.bytes();
    for (const auto& table : tables_) bytes.meta += table.capacity() * sizeof(int);
    for (const Lineage& lineage : lineages_) bytes.meta += lineage.tokens.capacity() * sizeof(std::int32_t);
    return bytes;
}

}  // namespace decodescope
