// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/experiment/events.h"
#include "engine/experiment/record.h"

namespace decodescope {

/// Sum over owners.
std::uint64_t total_bytes(const OwnerBytes& bytes);

/// `unaccounted`: resident bytes that neither a tensor nor the allocator's free list explains, which are the
/// program, its libraries, fonts, drawing, the tokenizer. Weights in a mapped file count as tensors, as their
/// pages count as resident. Negative when reserved tensors are not resident yet, or the system took pages of
/// the file back; none when the system does not tell the resident memory.
std::optional<std::int64_t> unaccounted_bytes(const ProcessMemory& memory, const OwnerBytes& tensors);

/// The whole process when a step of some lane had just ended.
struct MemorySample {
    std::int32_t lane = 0;
    std::int32_t repetition = 0;
    std::int32_t step = 0;
    std::int64_t at_ns = 0;  ///< end of the step, since the start of the run's first one
    OwnerBytes tensors{};
    ProcessMemory memory;
    std::int64_t kv_copied = 0;  ///< of the step's lane, since the start of its repetition

    std::uint64_t tensor_total() const { return total_bytes(tensors); }
    std::optional<std::int64_t> unaccounted() const { return unaccounted_bytes(memory, tensors); }
};
MemorySample memory_sample(const StepEvent& step, std::int64_t run_start_ns);

/// The samples with the most resident and with the most tensor bytes; of equal ones the first.
struct MemoryPeaks {
    std::optional<MemorySample> rss;  ///< none where the system does not tell
    std::optional<MemorySample> tensors;

    /// Returns whether `sample` is a peak of either kind so far.
    bool add(const MemorySample& sample);
};

/// What a run did to the memory of the process.
struct MemoryUse {
    MemorySample last;
    MemoryPeaks peaks;
    /// Page faults of the process from the end of the first step to that of the last; `not_measured` where
    /// the system does not count them.
    std::int64_t minor_faults = ProcessMemory::not_measured;
};

/// One sample per step of all lanes and repetitions, in the order of time.
std::vector<MemorySample> memory_samples(const Record& record);
/// None without a step.
std::optional<MemoryUse> memory_use(const Record& record);

/// The newest of the steps with the most live bytes in the cache; null without a step.
const StepEvent* fullest_step(const RepetitionRecord& repetition);

/// Where the bytes of one lane's cache are at its fullest step of the newest repetition, beside what the
/// formula says it must hold, and what a decode step of that repetition costs the allocator.
struct CacheUse {
    LaneSpec spec;
    bool any = false;                     ///< whether the lane has made a step at all
    StepEvent step;                       ///< see `fullest_step`
    std::optional<std::int64_t> formula;  ///< of `kv_live_formula`; none where it needs every row's length
    std::int64_t copied = 0;              ///< moved by growing, sharing and reordering, whole repetition
    std::int64_t faults_per_step = -1;    ///< medians over decode steps; negative = not measured
    std::int64_t tensor_allocations = -1;
    std::int64_t heap_allocations = -1;

    bool cached() const { return spec.cache.kind != CacheKind::none; }
    /// Payload of valid entries: live bytes less scales and entries in full precision.
    std::int64_t payload() const {
        return step.kv_bytes_live - step.kv_bytes_scales - step.kv_bytes_residual;
    }
    /// Blocks of the pool that nobody uses.
    std::int64_t free() const {
        return step.kv_bytes_reserved - step.kv_bytes_live - step.kv_bytes_padding - step.kv_bytes_slack -
               step.kv_bytes_kept;
    }
    /// What the formula, which knows nothing of sharing, is compared with.
    std::int64_t unshared() const { return step.kv_bytes_live + step.kv_bytes_shared; }
    bool agrees() const { return formula && *formula == unshared(); }
};
CacheUse cache_use(const Record& record, std::size_t lane);

}  // namespace decodescope
