// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/race/lane_summary.h"

#include <algorithm>

namespace decodescope {

namespace {

// First step whose token differs in any repetition; compares what both lanes have so far.
int firstDifferentStep(const LaneRecord& lane, const LaneRecord& reference) {
    int first = -1;
    const std::size_t n = std::min(lane.repetitions.size(), reference.repetitions.size());
    for (std::size_t r = 0; r < n; ++r) {
        const auto& mine = lane.repetitions[r].steps;
        const auto& theirs = reference.repetitions[r].steps;
        const auto end = static_cast<std::ptrdiff_t>(std::min(mine.size(), theirs.size()));
        const auto at =
            std::mismatch(mine.begin(), mine.begin() + end, theirs.begin(), [](const auto& a, const auto& b) {
                return a.token == b.token;
            }).first;
        if (at != mine.begin() + end && (first < 0 || at->step < first)) first = at->step;
    }
    return first;
}

// Time of the reference's decode steps over the time of the same steps of `lane`; negative without any.
double ratioOfCommonSteps(const LaneRecord& lane, const LaneRecord& reference) {
    std::int64_t mine = 0;
    std::int64_t theirs = 0;
    const std::size_t n = std::min(lane.repetitions.size(), reference.repetitions.size());
    for (std::size_t r = 0; r < n; ++r) {
        const auto& a = lane.repetitions[r].steps;
        const auto& b = reference.repetitions[r].steps;
        for (std::size_t s = 0; s < std::min(a.size(), b.size()); ++s) {
            if (a[s].phase != Phase::decode || b[s].phase != Phase::decode) continue;
            mine += a[s].end_ns - a[s].start_ns;
            theirs += b[s].end_ns - b[s].start_ns;
        }
    }
    return mine > 0 ? static_cast<double>(theirs) / static_cast<double>(mine) : -1;
}

// Rows per reading of the weights, in the newest decode step.
std::int64_t rowsPerStep(const LaneRecord& lane) {
    if (lane.repetitions.empty() || lane.repetitions.back().steps.empty()) return 0;
    return lane.repetitions.back().steps.back().positions_forwarded;
}

}  // namespace

std::vector<LaneSummary> summarizeLanes(const Record& record) {
    constexpr std::int64_t manyRows = 16;
    std::vector<LaneSummary> summaries;
    const std::size_t referenceIndex = record.reference_index();
    for (std::size_t i = 0; i < record.lanes.size(); ++i) {
        const LaneRecord& lane = record.lanes[i];
        LaneSummary summary;
        summary.name = lane.spec.name;
        if (const Summary first = lane.ttft_ns(); first.n > 0 && first.median > 0)
            summary.firstTokenNs = first.median;
        if (const Summary step = lane.step_ns(); step.n > 0) {
            summary.perTokenNs = step.median;
            summary.tokensPerSecond = lane.decode_tok_s();
            summary.readGbS = lane.read_gb_s();
            const double limit = record.environment.read_bandwidth_gb_s;
            if (limit > 0) summary.readShare = summary.readGbS / limit;
            summary.computeBound = rowsPerStep(lane) >= manyRows;
        }
        if (!lane.repetitions.empty() && !lane.repetitions.back().steps.empty())
            summary.kvBytesLive = lane.repetitions.back().steps.back().kv_bytes_live;

        if (i == referenceIndex) {
            summary.agreement = Agreement::reference;
            if (summary.perTokenNs >= 0) summary.againstReference = 1;
        } else if (referenceIndex < record.lanes.size()) {
            const LaneRecord& reference = record.lanes[referenceIndex];
            const int different = firstDifferentStep(lane, reference);
            summary.maxError = lane.max_relative_error();
            if (different >= 0) {
                summary.agreement = Agreement::differs;
                summary.firstDifferent = different + 1;
            } else if (summary.maxError >= 0) {
                summary.agreement =
                    summary.maxError <= f32RoundingLimit ? Agreement::exact : Agreement::close;
            }
            if (summary.agreement == Agreement::exact || summary.agreement == Agreement::close)
                summary.againstReference = ratioOfCommonSteps(lane, reference);
        }
        summaries.push_back(std::move(summary));
    }
    return summaries;
}

}  // namespace decodescope
