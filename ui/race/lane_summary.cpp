// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/race/lane_summary.h"

namespace decodescope {

namespace {

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
            const int different = lane.first_different_token(reference);
            summary.maxError = lane.max_relative_error();
            if (different >= 0) {
                summary.agreement = Agreement::differs;
                summary.firstDifferent = different + 1;
            } else if (lane.agrees_with(reference)) {
                summary.agreement = Agreement::exact;
            } else if (!(summary.maxError < 0)) {
                summary.agreement = Agreement::close;
            }
            const SpeedUp faster = speed_up(record, i);
            if (faster.why_not.empty()) summary.againstReference = faster.factor;
            summary.whyNoRatio = faster.why_not;
        }
        summaries.push_back(std::move(summary));
    }
    return summaries;
}

}  // namespace decodescope
