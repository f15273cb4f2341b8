// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <vector>

#include "engine/experiment/memory_use.h"

namespace decodescope {

/// Memory of the process over a run, one sample per step of any lane, in order of time. A long run is
/// thinned: of two neighbours a peak stays, or else the one with more tensor bytes.
class MemorySeries {
public:
    /// `limit`: about how many samples are kept at most, at least 2.
    explicit MemorySeries(std::size_t limit = 2000) : m_limit(limit) {}

    void clear();
    void add(const StepEvent& step);
    /// All steps of a record, sorted by time.
    void setRecord(const Record& record);

    const std::vector<MemorySample>& samples() const { return m_samples; }
    /// Of everything added so far.
    const MemoryPeaks& peaks() const { return m_peaks; }
    /// Page faults since the end of the first step; `not_measured` where the system does not count them.
    std::int64_t minorFaults() const;
    std::int64_t faultsBefore() const { return m_firstFaults; }  ///< at the end of the first step
    /// The newest sample, thinned or not; null before the first.
    const MemorySample* newest() const { return m_any ? &m_newest : nullptr; }
    /// Raised whenever earlier samples have changed (thinned, cleared): draw all of them again.
    int generation() const { return m_generation; }

private:
    void addSample(MemorySample sample);
    void thin();
    bool isPeak(const MemorySample& sample) const;
    const MemorySample& better(const MemorySample& a, const MemorySample& b) const;

    std::size_t m_limit;
    std::vector<MemorySample> m_samples;
    MemoryPeaks m_peaks;
    MemorySample m_group;  // the best of the steps not yet in `m_samples`
    MemorySample m_newest;
    bool m_any = false;
    std::size_t m_inGroup = 0;    // steps in `m_group`
    std::size_t m_perSample = 1;  // steps that share a sample
    std::int64_t m_start = -1;
    std::int64_t m_firstFaults = ProcessMemory::not_measured;
    int m_generation = 0;
};

}  // namespace decodescope
