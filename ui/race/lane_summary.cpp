// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/race/lane_summary.h"

#include "engine/experiment/memory_use.h"
#include "engine/experiment/token_times.h"

namespace decodescope {

namespace {

void addTimes(LaneSummary& summary, const LaneRecord& lane, double readLimit) {
    if (const Summary queue = lane.queue_ns(); queue.n > 0) summary.queueNs = queue.median;
    if (const Summary first = lane.ttft_ns(); first.n > 0 && first.median > 0)
        summary.firstTokenNs = first.median;
    const Summary perToken = token_ns(lane);
    if (perToken.n == 0) return;
    summary.perTokenNs = perToken.median;
    if (const Summary device = device_token_ns(lane); device.n > 0) summary.devicePerTokenNs = device.median;
    summary.tokensPerSecond = lane.decode_tok_s();
    summary.totalTokensPerSecond = lane.total_tok_s();
    summary.readGbS = lane.read_gb_s();
    if (readLimit > 0) summary.readShare = summary.readGbS / readLimit;
    summary.computeBound = compute_bound(lane);
}

void addDrafts(LaneSummary& summary, const LaneRecord& lane) {
    if (lane.spec.mode != LaneMode::speculative) return;
    summary.drafts = lane.acceptance();
    if (const double tokens = lane.tokens_per_step(); tokens > 0) summary.tokensPerCheck = tokens;
}

void addAgreement(LaneSummary& summary, const Record& record, std::size_t index) {
    const LaneRecord& lane = record.lanes[index];
    const LaneRecord& reference = record.reference();
    summary.approximation = approximation(record, index);
    summary.quality = lane.quality();
    const int different = lane.first_different_token(reference);
    summary.maxError = lane.max_relative_error();
    if (different >= 0) summary.firstDifferent = different + 1;
    const bool compared = different >= 0 || !(summary.maxError < 0);
    if (lane.agrees_with(reference))
        summary.agreement = Agreement::exact;
    else if (!compared)
        summary.agreement = Agreement::unknown;
    else if (!summary.approximation.empty())
        summary.agreement = Agreement::approximate;
    else
        summary.agreement = different >= 0 ? Agreement::differs : Agreement::close;
}

}  // namespace

std::vector<LaneSummary> summarizeLanes(const Record& record) {
    std::vector<LaneSummary> summaries;
    const std::size_t referenceIndex = record.reference_index();
    for (std::size_t i = 0; i < record.lanes.size(); ++i) {
        const LaneRecord& lane = record.lanes[i];
        LaneSummary summary;
        summary.name = lane.spec.name;
        summary.faults = lane.spec.faults;
        summary.weights = weights_words(record.experiment, lane.spec);
        summary.weightBytes = lane.weight_bytes;
        summary.limitStated = record.experiment.device_of(lane.spec).is_gpu();
        addTimes(summary, lane,
                 read_limit_gb_s(record.environment, record.experiment.device_of(lane.spec).name()));
        addDrafts(summary, lane);
        const StepEvent* fullest = lane.repetitions.empty() ? nullptr : fullest_step(lane.repetitions.back());
        if (fullest != nullptr) summary.kvBytesLive = fullest->kv_bytes_live;
        if (i == referenceIndex) {
            summary.agreement = Agreement::reference;
            if (summary.perTokenNs >= 0) summary.againstReference = 1;
        } else if (referenceIndex < record.lanes.size()) {
            addAgreement(summary, record, i);
            const SpeedUp faster = speed_up(record, i);
            if (faster.why_not.empty()) summary.againstReference = faster.factor;
            summary.whyNoRatio = faster.why_not;
        }
        summaries.push_back(std::move(summary));
    }
    return summaries;
}

}  // namespace decodescope
