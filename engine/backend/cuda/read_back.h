// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "engine/backend/cuda/cuda_memory.h"
#include "engine/core/result.h"

namespace decodescope::cuda {

/// What a call computed, on its way to the processor: copies are queued into pinned memory that stays where
/// it is from call to call, so that a graph can hold them.
class ReadBack {
public:
    explicit ReadBack(std::shared_ptr<CudaMemory> memory) : memory_(std::move(memory)) {}

    /// A call begins: what was read before it is no longer needed.
    void begin();
    /// Where `bytes` bytes at `from` will be when the call is over. `copy`: queue that; else a graph does it.
    Result<const std::byte*> queue(const void* from, std::size_t bytes, bool copy);
    /// The same for numbers that somebody wants to have at `to` then.
    Result<void> queue_for(const std::int32_t* from, std::int32_t* to, int n, bool copy);
    /// Everything has arrived: writes what was queued for somebody.
    void hand_over();
    /// Adds the places that calls are read into to what a graph depends on.
    void add_places(std::vector<std::uintptr_t>& key) const;

private:
    struct Wanted {
        const std::byte* from = nullptr;
        std::int32_t* to = nullptr;
        int n = 0;
    };
    std::shared_ptr<CudaMemory> memory_;
    std::vector<PinnedBlock> blocks_;  // one for every read of a call
    std::size_t next_ = 0;
    std::vector<Wanted> wanted_;
};

}  // namespace decodescope::cuda
