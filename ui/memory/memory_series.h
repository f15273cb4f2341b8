// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <vector>

#include "engine/experiment/events.h"
#include "engine/experiment/record.h"

namespace decodescope {

/// Memory of the process over a run, one sample per step of any lane, in order of time. A long run is
/// thinned: of two neighbours the one with more tensor bytes stays, so that a peak is never lost.
class MemorySeries {
public:
    struct Sample {
        double seconds = 0;  ///< end of the step, since the start of the first one
        OwnerBytes tensors{};
        ProcessMemory memory;
    };

    /// `limit`: largest number of samples kept, at least 2.
    explicit MemorySeries(std::size_t limit = 2000) : m_limit(limit) {}

    void clear();
    void add(const StepEvent& step);
    /// All steps of a record, sorted by time.
    void setRecord(const Record& record);

    const std::vector<Sample>& samples() const { return m_samples; }
    /// Raised whenever earlier samples have changed (thinned, cleared): draw all of them again.
    int generation() const { return m_generation; }

private:
    void thin();

    std::size_t m_limit;
    std::vector<Sample> m_samples;
    Sample m_group;               // the best of the steps not yet in `m_samples`
    std::size_t m_inGroup = 0;    // steps in `m_group`
    std::size_t m_perSample = 1;  // steps that share a sample
    std::int64_t m_start = -1;
    int m_generation = 0;
};

/// Sum over owners.
std::uint64_t totalBytes(const OwnerBytes& bytes);
/// Resident bytes that neither a tensor nor the allocator's free list explains: program code, libraries,
/// fonts, drawing, the tokenizer. Weights in a mapped file count as tensors, as their pages count as
/// resident. May be negative when reserved tensors are not resident yet, or the system took pages of the file
/// back. `not_measured` when it does not tell.
std::int64_t unaccountedBytes(const ProcessMemory& memory, const OwnerBytes& tensors);

}  // namespace decodescope
