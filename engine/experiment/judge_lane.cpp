// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/experiment/judge_lane.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "engine/core/quote.h"
#include "engine/experiment/workload.h"
#include "engine/measure/environment.h"
#include "engine/verify/trace_recorder.h"

namespace decodescope {

namespace {

constexpr std::int64_t most_logit_bytes = std::int64_t{256} << 20;

/// Feeds a lane what it was fed in the run.
class RecordedFeed final : public TokenFeed {
public:
    explicit RecordedFeed(const Record& record) : experiment_(record.experiment) {
        const auto& repetitions = record.reference().repetitions;
        for (std::size_t i = 0; i < record.prompts.size() && !repetitions.empty(); ++i)
            reference_.push_back(repetitions.front().tokens(static_cast<int>(i)));
    }

    std::optional<std::int32_t> next(int request, int index, std::int32_t chosen) override {
        if (experiment_.drive == Drive::free) return chosen;
        const auto r = static_cast<std::size_t>(request);
        if (experiment_.drive == Drive::forced && r >= reference_.size()) return std::nullopt;
        const auto& tokens = experiment_.drive == Drive::fixed ? experiment_.fixed_ids : reference_[r];
        const auto i = static_cast<std::size_t>(index);
        return i < tokens.size() ? std::optional(tokens[i]) : std::nullopt;
    }

private:
    const Experiment& experiment_;
    std::vector<std::vector<std::int32_t>> reference_;  // [requests]
};

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
    if (lane >= record.lanes.size())
        return Error{ErrorKind::bad_input, fmt::format("The record has no lane {}.", lane)};
    if (!record.model_hash.empty() && weights_hash(*model.weights) != record.model_hash) {
        return Error{ErrorKind::bad_input,
                     fmt::format("The record was made with other weights than those of {}: run it again.",
                                 model.weights->source)};
    }
    const LaneSpec& spec = record.lanes[lane].spec;
    const int threads = record.experiment.threads > 0 ? record.experiment.threads : physical_core_count();
    const auto backend = make_cpu_backend(threads);
    LaneContext context{model.weights, nullptr, backend.get(), ledger};
    if (spec.mode == LaneMode::speculative && spec.draft.kind == DraftKind::model) {
        auto draft = load_model(spec.draft.model, ledger, {stop, {}});
        if (!draft) return draft.error();
        context.draft_weights = draft->weights;
    }
    RecordedFeed feed(record);
    auto trace = record_trace(
        spec, workload_of(record.experiment, record.prompts, record.model, record.experiment.new_tokens),
        std::move(context), &feed, {.logits = kept_logits(record, spec)}, stop);
    if (!trace) return trace.error();
    return judge_trace(*trace, model.weights, *backend, std::move(ledger), std::move(stop));
}

}  // namespace decodescope
