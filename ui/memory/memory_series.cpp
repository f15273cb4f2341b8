// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/memory/memory_series.h"

#include <algorithm>
#include <utility>

namespace decodescope {

void MemorySeries::clear() {
    m_samples.clear();
    m_peaks = {};
    m_any = false;
    m_inGroup = 0;
    m_perSample = 1;
    m_start = -1;
    m_firstFaults = ProcessMemory::not_measured;
    ++m_generation;
}

void MemorySeries::add(const StepEvent& step) {
    if (m_start < 0) m_start = step.start_ns;
    MemorySample sample = memory_sample(step, m_start);
    if (m_any) sample.at_ns = std::max(sample.at_ns, m_newest.at_ns);
    addSample(std::move(sample));
}

void MemorySeries::addSample(MemorySample sample) {
    if (!m_any) m_firstFaults = sample.memory.minor_faults;
    m_any = true;
    m_newest = sample;
    const bool peak = m_peaks.add(sample);
    if (m_inGroup > 0 && peak && isPeak(m_group)) {
        m_samples.push_back(m_group);
        m_inGroup = 0;
    }
    m_group = m_inGroup == 0 ? std::move(sample) : better(m_group, sample);
    if (++m_inGroup < m_perSample) return;
    m_samples.push_back(m_group);
    m_inGroup = 0;
    if (m_samples.size() >= m_limit) thin();
}

bool MemorySeries::isPeak(const MemorySample& sample) const {
    const auto same = [&](const std::optional<MemorySample>& peak) {
        return peak && peak->lane == sample.lane && peak->repetition == sample.repetition &&
               peak->step == sample.step && peak->at_ns == sample.at_ns;
    };
    return same(m_peaks.rss) || same(m_peaks.tensors);
}

const MemorySample& MemorySeries::better(const MemorySample& a, const MemorySample& b) const {
    if (isPeak(a) != isPeak(b)) return isPeak(a) ? a : b;
    return a.tensor_total() > b.tensor_total() ? a : b;
}

void MemorySeries::thin() {
    std::vector<MemorySample> kept;
    kept.reserve(m_samples.size() / 2 + 2);
    for (std::size_t i = 0; i < m_samples.size(); i += 2) {
        const MemorySample& a = m_samples[i];
        if (i + 1 == m_samples.size()) {
            if (isPeak(a)) kept.push_back(a);
            break;
        }
        const MemorySample& b = m_samples[i + 1];
        if (isPeak(a) && isPeak(b)) kept.push_back(a);
        kept.push_back(isPeak(b) ? b : better(a, b));
    }
    m_samples = std::move(kept);
    m_perSample *= 2;
    ++m_generation;
}

std::int64_t MemorySeries::minorFaults() const {
    if (!m_any || m_firstFaults < 0 || m_newest.memory.minor_faults < 0) return ProcessMemory::not_measured;
    return m_newest.memory.minor_faults - m_firstFaults;
}

void MemorySeries::setRecord(const Record& record) {
    clear();
    for (MemorySample& sample : memory_samples(record)) addSample(std::move(sample));
}

}  // namespace decodescope
