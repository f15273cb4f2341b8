// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/core/memory.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <cstdlib>
#include <cstring>
#include <limits>
#include <utility>

namespace decodescope {

namespace {

constexpr std::size_t huge_page = std::size_t{2} << 20;
constexpr std::size_t cache_line = 64;

Error refused(Owner owner, std::size_t bytes, const char* why) {
    return {ErrorKind::out_of_memory,
            fmt::format("Could not allocate {} bytes for {}: {}.", bytes, to_string(owner), why)};
}

Result<void> check_limit(const MemoryLedger& ledger, Owner owner, std::size_t bytes) {
    const std::uint64_t limit = ledger.limit();
    if (limit == 0) return {};
    const std::uint64_t total = ledger.total();
    if (bytes <= limit && total <= limit - bytes) return {};
    return refused(owner, bytes, fmt::format("the memory limit is {} bytes", limit).c_str());
}

}  // namespace

const char* to_string(Owner owner) {
    switch (owner) {
        case Owner::weights: return "weights";
        case Owner::kv: return "kv";
        case Owner::activations: return "activations";
        case Owner::logits: return "logits";
        case Owner::workspace: return "workspace";
    }
    return "workspace";
}

OwnerBytes MemoryLedger::live() const {
    OwnerBytes bytes{};
    for (std::size_t i = 0; i < n_owner; ++i) bytes[i] = live_[i].load(std::memory_order_relaxed);
    return bytes;
}

std::uint64_t MemoryLedger::total() const {
    std::uint64_t sum = 0;
    for (const std::uint64_t bytes : live()) sum += bytes;
    return sum;
}

Result<Buffer> Buffer::allocate(std::shared_ptr<MemoryLedger> ledger, Owner owner, std::size_t bytes,
                                BufferSource source) {
    Buffer buffer;
    if (bytes == 0) return buffer;
    DS_TRY(check_limit(*ledger, owner, bytes));
    if (bytes > std::numeric_limits<std::size_t>::max() - 2 * huge_page) {
        return refused(owner, bytes, "larger than the address space");
    }
    const bool fill = source == BufferSource::best || ledger->poison();
    if (DeviceMemory* device = ledger->device()) {
        const auto block = device->allocate(bytes);
        if (!block && block.error().kind == ErrorKind::out_of_memory)
            return refused(owner, bytes, fmt::format("{} has no memory left", device->name()).c_str());
        if (!block) return block.error();
        buffer.data_ = *block;
        if (fill) device->fill(buffer.data_, ledger->poison() ? 0xFF : 0, bytes);
    } else if (bytes >= huge_page && source == BufferSource::best) {
        // Over-map by one huge page and trim, because mmap only promises 4 KiB alignment.
        const std::size_t rounded = (bytes + huge_page - 1) / huge_page * huge_page;
        void* raw =
            mmap(nullptr, rounded + huge_page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (raw == MAP_FAILED) return refused(owner, bytes, "the system has no memory left");
        const auto start = reinterpret_cast<std::uintptr_t>(raw);
        const std::size_t head = (huge_page - start % huge_page) % huge_page;
        auto* aligned = static_cast<std::byte*>(raw) + head;
        if (head != 0) munmap(raw, head);
        if (const std::size_t tail = huge_page - head; tail != 0) munmap(aligned + rounded, tail);
#ifdef MADV_HUGEPAGE
        madvise(aligned, rounded, MADV_HUGEPAGE);
#endif
        buffer.data_ = aligned;
        buffer.mapped_bytes_ = rounded;
    } else {
        const std::size_t rounded = (bytes + cache_line - 1) / cache_line * cache_line;
        buffer.data_ = static_cast<std::byte*>(std::aligned_alloc(cache_line, rounded));
        if (buffer.data_ == nullptr) return refused(owner, bytes, "the system has no memory left");
        if (source == BufferSource::best) std::memset(buffer.data_, 0, rounded);
    }
    if (ledger->poison() && ledger->device() == nullptr) std::memset(buffer.data_, 0xFF, bytes);
    buffer.bytes_ = bytes;
    buffer.owner_ = owner;
    buffer.ledger_ = std::move(ledger);
    buffer.ledger_->live_[MemoryLedger::index(owner)].fetch_add(bytes, std::memory_order_relaxed);
    buffer.ledger_->n_allocation_.fetch_add(1, std::memory_order_relaxed);
    return buffer;
}

Result<Buffer> Buffer::floats(std::shared_ptr<MemoryLedger> ledger, Owner owner, std::size_t count,
                              BufferSource source) {
    if (count > std::numeric_limits<std::size_t>::max() / sizeof(float)) {
        return refused(owner, std::numeric_limits<std::size_t>::max(), "larger than the address space");
    }
    return allocate(std::move(ledger), owner, count * sizeof(float), source);
}

void Buffer::copy_pieces(std::size_t to, std::size_t pitch, const Buffer& from, std::size_t at,
                         std::size_t from_pitch, std::size_t width, std::size_t n) {
    if (width == 0 || n == 0) return;
    if (DeviceMemory* device = ledger_->device())
        return device->copy(data_ + to, pitch, from.data_ + at, from_pitch, width, n);
    for (std::size_t i = 0; i < n; ++i)
        std::memcpy(data_ + to + i * pitch, from.data_ + at + i * from_pitch, width);
}

void Buffer::release() {
    if (data_ == nullptr) return;
    if (ledger_->device() != nullptr) {
        ledger_->device()->free(data_);
    } else if (mapped_bytes_ != 0) {
        munmap(data_, mapped_bytes_);
    } else {
        std::free(data_);
    }
    ledger_->live_[MemoryLedger::index(owner_)].fetch_sub(bytes_, std::memory_order_relaxed);
    ledger_.reset();
    data_ = nullptr;
    bytes_ = 0;
    mapped_bytes_ = 0;
}

void Buffer::swap(Buffer& other) noexcept {
    std::swap(ledger_, other.ledger_);
    std::swap(owner_, other.owner_);
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    std::swap(mapped_bytes_, other.mapped_bytes_);
}

Result<MappedCount> MappedCount::count(std::shared_ptr<MemoryLedger> ledger, Owner owner,
                                       std::uint64_t bytes) {
    if (bytes == 0) return MappedCount();
    DS_TRY(check_limit(*ledger, owner, static_cast<std::size_t>(bytes)));
    MappedCount counted;
    counted.owner_ = owner;
    counted.bytes_ = bytes;
    counted.ledger_ = std::move(ledger);
    counted.ledger_->live_[MemoryLedger::index(owner)].fetch_add(bytes, std::memory_order_relaxed);
    counted.ledger_->mapped_.fetch_add(bytes, std::memory_order_relaxed);
    return counted;
}

MappedCount::~MappedCount() {
    if (ledger_ == nullptr) return;
    ledger_->live_[MemoryLedger::index(owner_)].fetch_sub(bytes_, std::memory_order_relaxed);
    ledger_->mapped_.fetch_sub(bytes_, std::memory_order_relaxed);
}

void MappedCount::swap(MappedCount& other) noexcept {
    std::swap(ledger_, other.ledger_);
    std::swap(owner_, other.owner_);
    std::swap(bytes_, other.bytes_);
}

}  // namespace decodescope
