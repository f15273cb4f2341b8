// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/experiment/judge_lane.h"

#include <utility>

#include "engine/experiment/serve_again.h"
#include "engine/verify/trace_recorder.h"

namespace decodescope {

namespace {

constexpr std::int64_t most_logit_bytes = std::int64_t{256} << 20;

/// Logits of every token, unless these are too many.
LogitRows kept_logits(const Record& record, const LaneSpec& lane) {
    std::int64_t rows = 0;
    const std::int64_t steps = record.experiment.new_tokens;
    for (const PromptRecord& prompt : record.prompts) {
        const auto length = static_cast<std::int64_t>(prompt.ids.size());
        rows += lane.mode == LaneMode::naive ? steps * (length + steps / 2) : length + steps;
    }
    const std::int64_t bytes = rows * record.model.vocab * static_cast<std::int64_t>(sizeof(float));
    return bytes <= most_logit_bytes ? LogitRows::all : LogitRows::last;
}

}  // namespace

Result<Judgement> judge_lane(const Record& record, std::size_t lane, const LoadedModel& model,
                             std::shared_ptr<MemoryLedger> ledger, std::stop_token stop) {
    auto again = serve_again(record, lane, model, ledger, stop);
    if (!again) return again.error();
    auto trace = record_trace(again->spec, std::move(again->workload), again->context, again->feed.get(),
                              {.logits = kept_logits(record, again->spec)}, stop);
    if (!trace) return trace.error();
    return judge_trace(*trace, again->context.weights, *again->backend, std::move(ledger), std::move(stop));
}

}  // namespace decodescope
