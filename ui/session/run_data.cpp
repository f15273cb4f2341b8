// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/session/run_data.h"

#include <algorithm>
#include <utility>

namespace decodescope {

namespace {

// A record that has lanes, but no steps yet.
Record withoutSteps(const Experiment& experiment) {
    Record record;
    record.experiment = experiment;
    for (const LaneSpec& spec : experiment.lanes) record.lanes.push_back({spec, {}, {}});
    return record;
}

}  // namespace

void RunData::preview(const Experiment& experiment) {
    if (!isEmpty()) return;
    m_promptLength = experiment.prompt.kind == PromptSpec::Kind::random
                         ? experiment.prompt.length
                         : static_cast<int>(experiment.prompt.ids.size());
    m_growing = withoutSteps(experiment);
    emit reset();
}

void RunData::begin(const Experiment& experiment, const RunStarted& started, const LoadedModel& model,
                    const Environment* environment) {
    m_live = true;
    m_finished.reset();
    m_tokenizer = model.tokenizer;
    m_promptLength = started.prompt_length;
    m_growing = withoutSteps(experiment);
    if (environment != nullptr) m_growing.environment = *environment;
    m_growing.environment.threads = started.threads;
    m_growing.environment.read_bandwidth_gb_s = started.read_bandwidth_gb_s;
    m_growing.model = model.weights->config;
    m_growing.model_source = model.weights->source;
    m_growing.model_hash = model.weights->hash;
    m_growing.weight_bytes = model.weights->storage.size_bytes();
    for (LaneRecord& lane : m_growing.lanes)
        lane.repetitions.reserve(static_cast<std::size_t>(std::max(started.repetitions, 0)));
    emit reset();
}

void RunData::append(const std::vector<StepEvent>& steps) {
    if (!m_live) return;
    for (const StepEvent& step : steps) {
        if (step.lane < 0 || step.repetition < 0) continue;
        const auto lane = static_cast<std::size_t>(step.lane);
        const auto repetition = static_cast<std::size_t>(step.repetition);
        if (lane >= m_growing.lanes.size()) continue;
        auto& repetitions = m_growing.lanes[lane].repetitions;
        while (repetitions.size() <= repetition) {
            repetitions.emplace_back();
            repetitions.back().steps.reserve(static_cast<std::size_t>(m_growing.experiment.new_tokens));
        }
        repetitions[repetition].steps.push_back(step);
    }
    emit appended(steps);
}

void RunData::finish(std::shared_ptr<const Record> record) {
    m_live = false;
    m_finished = std::move(record);
    m_growing = Record();
    m_promptLength = static_cast<int>(m_finished->prompt_ids.size());
    emit reset();
}

void RunData::abandon() {
    if (!m_live) return;
    m_live = false;
    emit reset();
}

void RunData::show(std::shared_ptr<const Record> record, const LoadedModel* model) {
    // A large file's hash is not known yet, and computing it here would block the window: its place decides
    // then.
    const auto same = [&](const Weights& weights) {
        return weights.hash.empty() ? weights.source == record->model_source
                                    : weights.hash == record->model_hash;
    };
    const bool sameModel = model != nullptr && same(*model->weights);
    m_tokenizer = sameModel ? model->tokenizer : nullptr;
    finish(std::move(record));
}

int RunData::repetition() const {
    std::size_t n = 0;
    for (const LaneRecord& lane : record().lanes) n = std::max(n, lane.repetitions.size());
    return static_cast<int>(n) - 1;
}

const RepetitionRecord* RunData::latest(int lane) const {
    const auto& lanes = record().lanes;
    if (lane < 0 || static_cast<std::size_t>(lane) >= lanes.size()) return nullptr;
    const auto& repetitions = lanes[static_cast<std::size_t>(lane)].repetitions;
    return repetitions.empty() ? nullptr : &repetitions.back();
}

}  // namespace decodescope
