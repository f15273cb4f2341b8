// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/memory/memory_series.h"

#include <algorithm>
#include <numeric>

namespace decodescope {

std::uint64_t totalBytes(const OwnerBytes& bytes) {
    return std::accumulate(bytes.begin(), bytes.end(), std::uint64_t{0});
}

std::int64_t unaccountedBytes(const ProcessMemory& memory, const OwnerBytes& tensors) {
    if (memory.rss < 0) return ProcessMemory::not_measured;
    return memory.rss - static_cast<std::int64_t>(totalBytes(tensors)) -
           std::max<std::int64_t>(0, memory.heap_free);
}

void MemorySeries::clear() {
    m_samples.clear();
    m_inGroup = 0;
    m_perSample = 1;
    m_start = -1;
    ++m_generation;
}

void MemorySeries::add(const StepEvent& step) {
    if (m_start < 0) m_start = step.start_ns;
    Sample sample{static_cast<double>(step.end_ns - m_start) / 1e9, step.tensor_bytes, step.memory};
    if (!m_samples.empty()) sample.seconds = std::max(sample.seconds, m_samples.back().seconds);
    if (m_inGroup == 0 || totalBytes(sample.tensors) >= totalBytes(m_group.tensors)) m_group = sample;
    if (++m_inGroup < m_perSample) return;
    m_samples.push_back(m_group);
    m_inGroup = 0;
    if (m_samples.size() >= m_limit) thin();
}

void MemorySeries::thin() {
    std::size_t kept = 0;
    for (std::size_t i = 0; i + 1 < m_samples.size(); i += 2) {
        const Sample& a = m_samples[i];
        const Sample& b = m_samples[i + 1];
        m_samples[kept++] = totalBytes(a.tensors) > totalBytes(b.tensors) ? a : b;
    }
    m_samples.resize(kept);
    m_perSample *= 2;
    ++m_generation;
}

void MemorySeries::setRecord(const Record& record) {
    clear();
    std::vector<const StepEvent*> steps;
    for (const LaneRecord& lane : record.lanes)
        for (const RepetitionRecord& repetition : lane.repetitions)
            for (const StepEvent& step : repetition.steps) steps.push_back(&step);
    std::sort(steps.begin(), steps.end(),
              [](const StepEvent* a, const StepEvent* b) { return a->end_ns < b->end_ns; });
    for (const StepEvent* step : steps) add(*step);
}

}  // namespace decodescope
