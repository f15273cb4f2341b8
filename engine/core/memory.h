// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "engine/core/result.h"

namespace decodescope {

/// Who a tensor belongs to. The order is the one of every table, chart and file.
enum class Owner { weights, kv, activations, logits, workspace };
inline constexpr std::size_t n_owner = 5;

/// Lower-case name of an owner, as in records ("weights", "kv", ...).
const char* to_string(Owner owner);

/// Bytes by owner, indexed by `static_cast<std::size_t>(Owner)`.
using OwnerBytes = std::array<std::uint64_t, n_owner>;

/// What the allocator and the driver of a device say about its memory, in bytes.
struct DeviceMemoryUse {
    std::uint64_t allocated = 0;       ///< living blocks of this program
    std::uint64_t reserved = 0;        ///< what its allocator holds for them and for later ones
    std::uint64_t peak_allocated = 0;  ///< most since `reset_peak`
    std::uint64_t peak_reserved = 0;
    std::uint64_t device_used = 0;  ///< by everything on the device, other programs included
    std::uint64_t device_total = 0;
    std::uint64_t baseline_used = 0;  ///< `device_used` before anything was allocated
};

/// Memory that the processor cannot reach, that of a GPU. Used by one thread at a time; what is asked for is
/// done in order, after what its backend was asked to do before.
class DeviceMemory {
public:
    virtual ~DeviceMemory() = default;
    /// Name of the device, e.g. "cuda:0".
    virtual std::string name() const = 0;
    /// `bytes` bytes, aligned to 256. Fails with `out_of_memory` when the device has no such block left,
    /// which changes nothing else, or with `device`.
    virtual Result<std::byte*> allocate(std::size_t bytes) = 0;
    virtual void free(std::byte* block) = 0;
    virtual void fill(std::byte* to, unsigned char value, std::size_t bytes) = 0;
    /// Copies `n` pieces of `width` bytes within the device; both sides do not overlap.
    virtual void copy(std::byte* to, std::size_t to_pitch, const std::byte* from, std::size_t from_pitch,
                      std::size_t width, std::size_t n) = 0;
    /// None where nobody can be asked.
    virtual std::optional<DeviceMemoryUse> use() { return std::nullopt; }
    /// The peaks of `use` begin anew.
    virtual void reset_peak() {}
    /// Gives back what is reserved and not allocated.
    virtual void trim() {}
};

/// Counts the live tensor bytes of each owner. Shared by every buffer of a session; safe from any thread.
class MemoryLedger {
public:
    /// For buffers in the memory of `device`; null = in that of the processor.
    explicit MemoryLedger(std::shared_ptr<DeviceMemory> device = nullptr) : device_(std::move(device)) {}
    DeviceMemory* device() const { return device_.get(); }

    /// Live bytes of one owner (payload as asked for, without page rounding).
    std::uint64_t live(Owner owner) const { return live_[index(owner)].load(std::memory_order_relaxed); }
    /// Live bytes of all owners.
    OwnerBytes live() const;
    std::uint64_t total() const;
    /// The part of `live` that lies in mapped files: pages that the system shares and can take back.
    std::uint64_t mapped() const { return mapped_.load(std::memory_order_relaxed); }

    /// Refuses allocations that would bring the total above `bytes`; 0 = no limit.
    void set_limit(std::uint64_t bytes) { limit_.store(bytes, std::memory_order_relaxed); }
    std::uint64_t limit() const { return limit_.load(std::memory_order_relaxed); }

    /// Tensor allocations made so far, by all owners.
    std::uint64_t n_allocation() const { return n_allocation_.load(std::memory_order_relaxed); }

    /// New buffers begin as NaN in every float type instead of zeros: what is read before it was written
    /// shows.
    void set_poison(bool on) { poison_.store(on, std::memory_order_relaxed); }
    bool poison() const { return poison_.load(std::memory_order_relaxed); }

private:
    friend class Buffer;
    friend class MappedCount;
    static std::size_t index(Owner owner) { return static_cast<std::size_t>(owner); }

    std::shared_ptr<DeviceMemory> device_;
    std::array<std::atomic<std::uint64_t>, n_owner> live_{};
    std::atomic<std::uint64_t> mapped_{0};
    std::atomic<std::uint64_t> limit_{0};
    std::atomic<std::uint64_t> n_allocation_{0};
    std::atomic<bool> poison_{false};
};

/// Buffers kept for the whole run, or allocated afresh for every temporary (what a tutorial's code does).
enum class AllocationPolicy { reused, fresh };

/// Where a buffer comes from: `best` is fast for what is kept; `heap` asks the C library for every size and
/// does not fill, as the temporaries of a tensor library do.
enum class BufferSource { best, heap };

/// One tracked allocation, 64-byte aligned, zero-filled unless from the heap on request. Blocks of 2 MiB and
/// more come straight from the system on huge pages where it grants them, and go back to it when freed. Of a
/// ledger with a device they lie in its memory: nothing but that device may read or write them.
/// Move-only; frees and un-counts itself.
class Buffer {
public:
    Buffer() = default;
    Buffer(Buffer&& other) noexcept { swap(other); }
    Buffer& operator=(Buffer&& other) noexcept {
        Buffer moved(std::move(other));
        swap(moved);
        return *this;
    }
    Buffer(const Buffer&) = delete;
    Buffer& operator=(const Buffer&) = delete;
    ~Buffer() { release(); }

    /// Allocates `bytes` for `owner`. Fails with `out_of_memory` when the system or the ledger's limit
    /// refuses.
    static Result<Buffer> allocate(std::shared_ptr<MemoryLedger> ledger, Owner owner, std::size_t bytes,
                                   BufferSource source = BufferSource::best);
    /// Same, for `count` floats; `count * 4` is checked against overflow.
    static Result<Buffer> floats(std::shared_ptr<MemoryLedger> ledger, Owner owner, std::size_t count,
                                 BufferSource source = BufferSource::best);

    std::size_t size_bytes() const { return bytes_; }
    bool empty() const { return bytes_ == 0; }
    std::byte* data() { return data_; }
    const std::byte* data() const { return data_; }
    float* f32() { return reinterpret_cast<float*>(data_); }
    const float* f32() const { return reinterpret_cast<const float*>(data_); }

    /// Copies `bytes` bytes at `at` of `from`, a buffer in the same memory, to `to` of this one.
    void copy(std::size_t to, const Buffer& from, std::size_t at, std::size_t bytes) {
        copy_pieces(to, bytes, from, at, bytes, bytes, 1);
    }
    /// The same for `n` pieces of `width` bytes, `pitch` and `from_pitch` bytes apart.
    void copy_pieces(std::size_t to, std::size_t pitch, const Buffer& from, std::size_t at,
                     std::size_t from_pitch, std::size_t width, std::size_t n);

    /// Frees the block now; the buffer is empty afterwards.
    void release();

private:
    void swap(Buffer& other) noexcept;

    std::shared_ptr<MemoryLedger> ledger_;
    Owner owner_ = Owner::workspace;
    std::byte* data_ = nullptr;
    std::size_t bytes_ = 0;
    std::size_t mapped_bytes_ = 0;  // 0: from the C++ heap
};

/// Counts bytes of mapped files that are used as tensors where they lie. Move-only; un-counts itself.
class MappedCount {
public:
    MappedCount() = default;
    MappedCount(MappedCount&& other) noexcept { swap(other); }
    MappedCount& operator=(MappedCount&& other) noexcept {
        MappedCount moved(std::move(other));
        swap(moved);
        return *this;
    }
    MappedCount(const MappedCount&) = delete;
    MappedCount& operator=(const MappedCount&) = delete;
    ~MappedCount();

    /// Fails with `out_of_memory` when the ledger's limit refuses.
    static Result<MappedCount> count(std::shared_ptr<MemoryLedger> ledger, Owner owner, std::uint64_t bytes);
    std::uint64_t size_bytes() const { return bytes_; }

private:
    void swap(MappedCount& other) noexcept;

    std::shared_ptr<MemoryLedger> ledger_;
    Owner owner_ = Owner::weights;
    std::uint64_t bytes_ = 0;
};

}  // namespace decodescope
