// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

#include "engine/experiment/memory_use.h"
#include "ui/chart/line_chart.h"

namespace decodescope {

// The charts of a run over time, the whole process in each: `setUp...` makes the series, `append...` adds the
// end of one step, `show...` draws a record. x in s since the start of the run's first step. What the system
// does not tell leaves a gap, or no points at all.

/// In what the memory chart counts: bytes, or per cent of the resident memory at that moment.
enum class MemoryScale { bytes, share };

/// One area per owner, what the allocator keeps and what is unaccounted on top of them, so that they reach to
/// the resident memory, which is a line. As shares, that line is 100 % and left out.
void setUpMemoryChart(LineChart& chart, MemoryScale scale = MemoryScale::bytes);
void appendMemory(LineChart& chart, const MemorySample& sample, MemoryScale scale = MemoryScale::bytes);
/// Names the peaks of resident and of tensor bytes in the chart.
void markPeaks(LineChart& chart, const MemoryPeaks& peaks, MemoryScale scale = MemoryScale::bytes);
/// The peaks in one sentence: how much, when, in which lane's step. Empty without a step.
QString peaksInWords(const MemoryPeaks& peaks, const Record& record);

/// Lines of the allocator's figures: in use, kept, mapped.
void setUpAllocatorChart(LineChart& chart);
void appendAllocator(LineChart& chart, const MemorySample& sample);
/// Page faults of the process since the end of the run's first step, when there had been `before`.
void setUpPageFaultsChart(LineChart& chart);
void appendPageFaults(LineChart& chart, const MemorySample& sample, std::int64_t before);
/// Bytes that the cache of each lane with one has copied since the start of its repetition: one series per
/// lane of `record`.
void setUpCopiedChart(LineChart& chart, const Record& record);
void appendCopied(LineChart& chart, const MemorySample& sample, const Record& record);

void showMemory(LineChart& chart, const Record& record);
void showAllocator(LineChart& chart, const Record& record);
void showPageFaults(LineChart& chart, const Record& record);
/// Empty where no cache has copied anything.
void showCopiedBytes(LineChart& chart, const Record& record);

}  // namespace decodescope
