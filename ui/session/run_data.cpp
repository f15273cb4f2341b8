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
    for (const LaneSpec& spec : experiment.lanes) {
        record.lanes.push_back({spec, {}, {}});
        record.lanes.back().on_gpu = experiment.device_of(spec).is_gpu();
    }
    return record;
}

}  // namespace

void RunData::preview(const Experiment& experiment) {
    if (!isEmpty()) return;
    m_promptLengths.clear();
    for (const PromptSpec& prompt : experiment.prompts)
        m_promptLengths.push_back(
            prompt.kind == PromptSpec::Kind::random ? prompt.length : static_cast<int>(prompt.ids.size()));
    m_growing = withoutSteps(experiment);
    emit reset();
}

void RunData::begin(const Experiment& experiment, const RunStarted& started, const LoadedModel& model,
                    const Environment* environment) {
    m_live = true;
    leaveNotes();
    m_finished.reset();
    m_notes = {};
    m_tokenizer = model.tokenizer;
    m_promptLengths.assign(started.prompt_lengths.begin(), started.prompt_lengths.end());
    m_growing = withoutSteps(experiment);
    if (environment != nullptr) m_growing.environment = *environment;
    m_growing.environment.threads = started.threads;
    m_growing.environment.read_bandwidth_gb_s = started.read_bandwidth_gb_s;
    m_growing.model = model.weights->config;
    m_growing.model_source = model.weights->source;
    m_growing.model_hash = model.weights->hash;
    m_growing.weight_bytes = model.weights->bytes();
    m_growing.weight_bytes_mapped = model.weights->mapped.size_bytes();
    for (LaneRecord& lane : m_growing.lanes)
        lane.repetitions.reserve(static_cast<std::size_t>(std::max(started.repetitions, 0)));
    emit reset();
}

RepetitionRecord* RunData::growing(std::int32_t lane, std::int32_t repetition) {
    if (lane < 0 || repetition < 0 || static_cast<std::size_t>(lane) >= m_growing.lanes.size())
        return nullptr;
    auto& repetitions = m_growing.lanes[static_cast<std::size_t>(lane)].repetitions;
    while (repetitions.size() <= static_cast<std::size_t>(repetition)) {
        repetitions.emplace_back();
        const auto expected = static_cast<std::size_t>(m_growing.experiment.new_tokens);
        repetitions.back().steps.reserve(expected);
        repetitions.back().chosen.reserve(expected);
    }
    return &repetitions[static_cast<std::size_t>(repetition)];
}

void RunData::append(const std::vector<RunEvent>& events) {
    if (!m_live) return;
    for (const RunEvent& event : events) {
        if (const auto* step = std::get_if<StepEvent>(&event)) {
            if (RepetitionRecord* to = growing(step->lane, step->repetition)) to->steps.push_back(*step);
        } else if (const auto* token = std::get_if<TokenEvent>(&event)) {
            if (RepetitionRecord* to = growing(token->lane, token->repetition)) to->chosen.push_back(*token);
        }
    }
    emit appended(events);
}

std::shared_ptr<const Record> RunData::soFar() const {
    if (m_finished || isEmpty()) return m_finished;
    auto record = std::make_shared<Record>(withoutSteps(m_growing.experiment));
    record->model = m_growing.model;
    record->model_hash = m_growing.model_hash;
    const LaneRecord& reference = m_growing.reference();
    if (!reference.repetitions.empty()) {
        // All repetitions choose the same; the first has most.
        LaneRecord& to = record->lanes[m_growing.reference_index()];
        to.repetitions.emplace_back().chosen = reference.repetitions.front().chosen;
    }
    return record;
}

int RunData::promptLength(int request) const {
    return request >= 0 && request < requestCount() ? m_promptLengths[static_cast<std::size_t>(request)] : 0;
}

void RunData::finish(std::shared_ptr<const Record> record) {
    m_live = false;
    leaveNotes();
    m_finished = std::move(record);
    const auto written = m_otherNotes.find(m_finished);
    m_notes = written == m_otherNotes.end() ? m_finished->notes : written->second;
    m_growing = Record();
    m_promptLengths.clear();
    for (const PromptRecord& prompt : m_finished->prompts)
        m_promptLengths.push_back(static_cast<int>(prompt.ids.size()));
    emit reset();
}

void RunData::setNotes(const RecordNotes& notes) {
    if (m_finished == nullptr || notes == m_notes) return;
    m_notes = notes;
    emit notesEdited();
}

void RunData::leaveNotes() {
    std::erase_if(m_otherNotes, [](const auto& entry) { return entry.first.expired(); });
    if (m_finished != nullptr) m_otherNotes[m_finished] = m_notes;
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
