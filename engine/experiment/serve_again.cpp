// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/experiment/serve_again.h"

#include <fmt/format.h>

#include <optional>
#include <utility>
#include <vector>

#include "engine/core/quote.h"
#include "engine/decode/lane_weights.h"
#include "engine/experiment/workload.h"
#include "engine/measure/environment.h"

namespace decodescope {

namespace {

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

}  // namespace

Result<void> can_serve_again(const Experiment& experiment, const LaneSpec& lane) {
    const Device device = experiment.device_of(lane);
    if (!device.is_gpu()) return {};
    return Error{ErrorKind::unsupported,
                 fmt::format("Lane {} computes on {}, and the inside of steps is looked at on the CPU alone.",
                             quote(lane.name), device.name())};
}

Result<ServeAgain> serve_again(const Record& record, std::size_t lane, const LoadedModel& model,
                               std::shared_ptr<MemoryLedger> ledger, std::stop_token stop) {
    if (lane >= record.lanes.size())
        return Error{ErrorKind::bad_input, fmt::format("The record has no lane {}.", lane)};
    if (!record.model_hash.empty() && weights_hash(*model.weights) != record.model_hash) {
        return Error{ErrorKind::bad_input,
                     fmt::format("The record was made with other weights than those of {}: run it again.",
                                 model.weights->source)};
    }
    ServeAgain again;
    again.spec = record.lanes[lane].spec;
    DS_TRY(can_serve_again(record.experiment, again.spec));
    const int threads = record.experiment.threads > 0 ? record.experiment.threads : physical_core_count();
    again.backend = make_cpu_backend(threads);
    again.context = {model.weights, nullptr, again.backend.get(), ledger};
    if (again.spec.mode == LaneMode::speculative && again.spec.draft.kind == DraftKind::model) {
        auto draft = load_model(again.spec.draft.model, ledger, {stop, {}});
        if (!draft) return draft.error();
        again.context.draft_weights = draft->weights;
    }
    auto prepared = prepared_context(again.spec, std::move(again.context), std::move(stop));
    if (!prepared) return prepared.error();
    again.context = *std::move(prepared);
    again.workload =
        workload_of(record.experiment, record.prompts, record.model, record.experiment.new_tokens);
    again.feed = std::make_unique<RecordedFeed>(record);
    return again;
}

}  // namespace decodescope
