// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "engine/attention/attention_plan.h"
#include "engine/attention/call_tokens.h"
#include "engine/cache/cache_spec.h"
#include "engine/core/dtype.h"
#include "engine/core/memory.h"
#include "engine/core/result.h"
#include "engine/fault/fault.h"

namespace decodescope {

/// What a cache is made for. Everything that is appended must fit it.
struct KvShape {
    int n_layer = 0;
    int batch = 0;
    int n_kv_head = 0;
    int head_dim = 0;

    /// Elements of K and V of one token of one row in all layers.
    std::uint64_t elements_per_token() const {
        return std::uint64_t{2} * static_cast<std::uint64_t>(n_layer) *
               static_cast<std::uint64_t>(n_kv_head) * static_cast<std::uint64_t>(head_dim);
    }
    /// Floats of K or V of one token of one row in one layer.
    int width() const { return n_kv_head * head_dim; }
};

/// How much a cache may be asked to hold.
struct KvRoom {
    int capacity = 0;  ///< tokens per row, pads included
    int max_call = 0;  ///< most tokens of one row in one call
    int rollback = 0;  ///< most tokens of one row that `truncate` may be asked to drop
    Window window;     ///< kind window: what it keeps
};

class KvCache;

/// Keys and values of one layer as attention reads them. Either f32 in place: element (row b, kv head h,
/// slot s, i) lies at `b * batch_stride + h * head_stride + s * slot_stride + i`, i < head_dim. Or, when
/// `source` is set, not as f32 in one place: `source->read(layer, ...)` hands out pieces. Or, `by_token`, the
/// call's own keys and values: row b begins at the token of its first query.
struct KeyValueView {
    const float* k = nullptr;
    const float* v = nullptr;
    /// Beside `source`, where the entries lie in place as 16-bit floats of type `half`, with the same
    /// strides.
    const std::uint16_t* k16 = nullptr;
    const std::uint16_t* v16 = nullptr;
    DType half = DType::f16;
    std::int64_t batch_stride = 0;
    std::int64_t head_stride = 0;
    std::int64_t slot_stride = 0;
    const KvCache* source = nullptr;
    int layer = 0;
    bool by_token = false;
};

/// Where the entries of one layer lie, for a backend that stores and reads them itself. Element (row b, kv
/// head h, slot s, i) of K and of V lies, counted in elements, at
///   b * row_stride + h * head_stride + s * slot_stride + i                                      without
///   blocks, block_table(b)[s / block] * row_stride + h * head_stride + (s % block) * slot_stride + i    with
///   them.
struct KvLayout {
    std::byte* k = nullptr;
    std::byte* v = nullptr;
    DType dtype = DType::f32;   ///< unless there are scales
    float* k_scales = nullptr;  ///< int8 codes: the scale of an entry lies at the place of its first element,
    float* v_scales = nullptr;  ///< divided by head_dim
    std::int64_t row_stride = 0;
    std::int64_t head_stride = 0;
    std::int64_t slot_stride = 0;
    int block = 0;  ///< tokens of a block; 0 = no blocks
};

/// New keys and values of one layer: [n_token, n_kv_head, head_dim] with `token_stride` floats between
/// tokens, in the order of the call.
struct KeyValueBlock {
    const float* k = nullptr;
    const float* v = nullptr;
    std::int64_t token_stride = 0;
};

/// Where the bytes of a cache are. `reserved` = live + padding + slack + free + kept.
struct KvBytes {
    std::uint64_t live = 0;      ///< valid entries, shared ones once: payload + scales + residual
    std::uint64_t payload = 0;   ///< of `live`: keys and values in the cache's own form
    std::uint64_t scales = 0;    ///< of `live`: scales and zero points of quantised entries
    std::uint64_t residual = 0;  ///< of `live`: entries that a quantising cache still holds in f32
    std::uint64_t padding = 0;   ///< slots that hold pads
    std::uint64_t slack = 0;     ///< given to rows, but empty: spare slots, the rest of a row's last block
    std::uint64_t free = 0;      ///< blocks of the pool that nobody uses
    std::uint64_t kept = 0;      ///< blocks that nobody uses, kept for a request with the same prefix
    std::uint64_t reserved = 0;  ///< allocated for entries
    std::uint64_t meta = 0;      ///< block tables, reference counts, prefix index, slot positions
    std::uint64_t shared = 0;    ///< bytes that rows would need more if they shared nothing
};

/// Storage for the keys and values of the rows of one lane. Owned by the lane and passed explicitly; never
/// part of a model.
///
/// One forward call appends in three moves: `begin` checks everything and reserves room before anything is
/// written, `append` stores one layer after the other, `commit` makes the new entries count. `rollback` drops
/// an append that was begun and not finished; the stored entries are then what they were before. Not shared
/// between threads.
class KvCache {
public:
    virtual ~KvCache() = default;
    KvCache(const KvCache&) = delete;
    KvCache& operator=(const KvCache&) = delete;

    const KvShape& shape() const { return shape_; }
    int batch() const { return shape_.batch; }
    /// Valid entries that `row` stores: without pads, and without what a window has forgotten.
    int length(int row = 0) const { return rows_[index(row)].n_valid; }
    /// Tokens of `row` that have been appended so far, pads not counted: the position of its next token.
    int next_position(int row = 0) const { return rows_[index(row)].next_position; }
    /// Positions held by the slots of `row` that are in use, those of an open append included, with
    /// `slot_padding` for pads and `slot_empty` for slots that a window has emptied.
    std::span<const std::int32_t> slot_positions(int row = 0) const { return rows_[index(row)].positions; }
    /// Slots (pads included) that a row can ever hold; 0 = no limit of its own.
    virtual int capacity() const = 0;

    /// Opens an append of the tokens of `call`. Refuses, writing nothing, when the number of rows differs, a
    /// position is not the next one of its row, an append is open already or there is no room.
    Result<void> begin(const CallTokens& call);
    /// Stores layer `layer` of the open append; layers come in order 0 .. n_layer - 1.
    Result<void> append(int layer, const KeyValueBlock& block);
    /// The same in two moves, for kinds whose heads lie apart: `begin_layer`, then `store_heads` for all kv
    /// heads, [first, last) each, which may come from several threads at once.
    virtual bool heads_lie_apart() const { return false; }
    Result<void> begin_layer(int layer);
    void store_heads(int layer, const KeyValueBlock& block, int first, int last);
    /// Keys and values of `layer`, those of the open append included once it has been appended. The default
    /// hands them out through `read`.
    virtual KeyValueView view(int layer) const;
    /// Copies slots [range.begin, range.end) of one row and kv head as f32 [n, head_dim] to `k` and `v`
    /// (either may be null). For kinds whose `view` has a `source`; called from several threads at once.
    virtual void read(int layer, int row, int kv_head, SlotRange range, float* k, float* v) const;
    /// Where the entries of `layer` lie; none for kinds that no backend but the processor's can read. Valid
    /// until the next `begin_layer`.
    virtual std::optional<KvLayout> layout(int /*layer*/) { return std::nullopt; }
    /// Slots that the tokens of the open append are stored in, [n_token].
    std::span<const std::int32_t> new_slots() const { return pending_slots_; }
    /// Blocks of `row`, in order; empty for kinds without blocks.
    virtual std::span<const int> block_table(int /*row*/) const { return {}; }
    /// Closes the open append; an internal error unless every layer was appended.
    Result<void> commit();
    void rollback();

    /// Drops the newest entries of `row` until only positions below `n_token` are left. Refuses when entries
    /// that would then be needed are gone or can no longer be changed one by one.
    Result<void> truncate(int row, int n_token);
    /// Row i goes on from what row parents[i] holds, [batch]. Copies unless the kind can share.
    Result<void> reorder(std::span<const int> parents);
    /// Empties `row` for another request and gives back what it alone used.
    void clear_row(int row);
    /// For kinds that share: lets an empty `row` take over the stored entries of the longest known prefix of
    /// `tokens`, within the group `isolation`, at most all but the last token. Returns how many. Others: 0.
    virtual Result<int> adopt_prefix(int row, std::span<const std::int32_t> tokens, std::uint64_t isolation);

    /// From now on the cache makes those of these mistakes that are a cache's to make; see `fault_catalogue`.
    void misbehave(FaultSet faults) { faults_ = faults; }

    virtual KvBytes bytes() const = 0;
    /// Bytes of old entries moved so far: because storage grew, a shared block was written, or rows were
    /// reordered.
    std::uint64_t copied_bytes() const { return copied_bytes_; }

protected:
    explicit KvCache(const KvShape& shape);

    /// Makes room for the entries of `call` (all layers) before anything is written; on failure nothing may
    /// have changed. The default accepts.
    virtual Result<void> reserve(const CallTokens& call);
    /// First slot of `row` for `n_new` more entries, after `reserve`; the slots are then consecutive. Kinds
    /// that reuse slots override `place`.
    virtual void place(int row, std::span<const std::int32_t> positions, std::vector<std::int32_t>& placed);
    /// Prepares layer `layer` of the open append (a growing kind allocates here).
    virtual Result<void> grow(int) { return {}; }
    /// Writes one entry: k and v each [n_kv_head, head_dim].
    virtual void store(int layer, int row, int slot, const float* k, const float* v) = 0;
    /// Writes kv heads [first, last) of one entry, where heads lie apart.
    virtual void store_part(int /*layer*/, int /*row*/, int /*slot*/, int /*first*/, int /*last*/,
                            const float* /*k*/, const float* /*v*/) {}
    /// The append was committed, given up, or entries behind those that `row` still has were dropped.
    virtual void committed() {}
    virtual void rolled_back() {}
    virtual Result<void> can_truncate(int row, int n_token) const;
    virtual void truncated(int) {}
    virtual void cleared(int) {}
    virtual Result<void> reorder_storage(std::span<const int> parents) = 0;

    /// Slots of `row`, writable by kinds that reuse them.
    std::vector<std::int32_t>& row_slots(int row) { return rows_[index(row)].positions; }
    /// An empty `row` now holds positions 0 .. n_token - 1 in its first slots.
    void adopt(int row, int n_token);
    /// Drops `slot` of `row`: it holds nothing any more.
    void forget(int row, int slot);
    /// Room for `capacity` slots per row, so that appends do not allocate.
    void reserve_slots(int capacity, int max_call);
    const CallTokens& open_call() const { return call_; }
    bool open() const { return open_; }
    /// The bytes of a kind whose slots of all rows take `slot` bytes each, out of `reserved`.
    KvBytes bytes_of_slots(std::uint64_t slot, std::uint64_t reserved) const;
    /// Bytes of the bookkeeping that every kind has.
    std::uint64_t slot_map_bytes() const;
    /// Slots of `row` that hold pads.
    int n_padding(int row) const { return rows_[index(row)].n_padding; }
    /// Entries of type `dtype` in place, and where they lie, for K and V each [batch, n_kv_head, n_slot,
    /// head_dim] elements from `k` and `v` on.
    KeyValueView view_in_place(int layer, DType dtype, const std::byte* k, const std::byte* v,
                               int n_slot) const;
    KvLayout layout_in_place(std::byte* k, std::byte* v, int n_slot) const;
    static std::size_t index(int i) { return static_cast<std::size_t>(i); }

    FaultSet faults() const { return faults_; }

    std::uint64_t copied_bytes_ = 0;

private:
    struct Row {
        std::vector<std::int32_t> positions;  // position held by each slot in use
        int n_valid = 0;
        int n_padding = 0;
        int next_position = 0;
        std::size_t committed_slots =
            0;  // of `positions`, when an append is open: how many there were before
    };

    KvShape shape_;
    FaultSet faults_;
    std::vector<Row> rows_;  // [batch]
    CallTokens call_;        // of the open append
    bool open_ = false;
    std::vector<std::int32_t> pending_slots_;  // [n_token] of the open append
    int next_layer_ = 0;                       // layers appended so far
};

/// Rebuilds `plan` for the open append of `cache`: every row's new tokens over its slots.
void plan_of_append(const KvCache& cache, const CallTokens& call, Window window, AttentionPlan& plan);

/// A cache of the asked-for kind. `model_identity` keeps prefixes of different models apart in a paged cache.
Result<std::unique_ptr<KvCache>> make_cache(const CacheSpec& spec, const KvShape& shape, const KvRoom& room,
                                            std::shared_ptr<MemoryLedger> ledger,
                                            std::uint64_t model_identity = 0);

/// Bytes of the valid entries that a cache of kind `spec` holds for rows of these lengths when no row shares
/// anything: the formula that `KvCache::bytes().live` is checked against. `lengths`: entries per row.
///   concat, static, paged, window: 2 n_layer n_kv_head head_dim n x size_of(dtype)
///   int8: the same x 1, + 2 n_layer n_kv_head n x 4 for the scales
///   kivi: see `kivi_quantised_tokens`; codes x bits / 8, K: 8 bytes per channel and group, V: 8 bytes per
///         token and group of channels, the rest x 4
std::uint64_t kv_live_formula(const CacheSpec& spec, const KvShape& shape, std::span<const int> lengths);
/// Tokens of a row of `length` that a kivi cache holds quantised: whole groups, at least `residual` newest
/// tokens left over.
int kivi_quantised_tokens(const CacheSpec& spec, int length);

}  // namespace decodescope
