// SPDX-License-Identifier: GPL-3.0-or-later
// The session's looks into single steps: on the engine thread, between other requests, or while a run is
// held.
#include <utility>

#include "engine/experiment/runner.h"
#include "ui/session/session.h"

namespace decodescope {

void Session::stopInspecting() {
    m_inspectStop.request_stop();
    const std::lock_guard lock(m_mutex);
    std::erase_if(m_queue, [](const Request& r) { return r.tag == Tag::inspect || r.tag == Tag::profile; });
    if (m_runningTag == Tag::profile) m_runningStop.request_stop();
}

void Session::inspect(std::shared_ptr<const Record> record, int lane, const StepQuery& query) {
    stopInspecting();
    m_inspectStop = std::stop_source();
    const int number = ++m_inspection;
    auto work = [this, number, record = std::move(record), lane, query, stop = m_inspectStop.get_token()] {
        Result<StepView> view = inspectOnEngine(record, lane, query, stop);
        if (!view) {
            toGui([this, number, error = view.error()] {
                if (number == m_inspection) emit inspectFailed(error);
            });
            return;
        }
        toGui([this, number, seen = std::make_shared<const StepView>(*std::move(view))] {
            if (number == m_inspection) emit stepInspected(seen);
        });
    };
    // While a run goes on the engine thread is its own; it can be visited when it waits.
    if (m_control)
        m_control->visit(std::move(work));
    else
        post(Tag::inspect, [work = std::move(work)](std::stop_token) { work(); });
}

void Session::profileLane(std::shared_ptr<const Record> record, int lane) {
    if (m_control) return;
    post(Tag::profile, [this, record = std::move(record), lane](std::stop_token stop) {
        const Result<ModelPointer> model = modelToJudgeWith(record->experiment.model, stop);
        if (!model) return;
        const auto profile = profile_lane(*record, static_cast<std::size_t>(lane), **model,
                                          std::make_shared<MemoryLedger>(), {.plain_pass = false}, stop);
        auto splits = std::make_shared<std::vector<TimeSplit>>();
        if (profile) {
            for (const StepProfile& step : profile->steps)
                splits->push_back(time_split(step, (*model)->weights->config.n_layer));
        } else if (profile.error().kind == ErrorKind::cancelled) {
            return;
        }
        toGui([this, record, lane, splits] { emit laneProfiled(record, lane, splits); });
    });
}

Result<StepView> Session::inspectOnEngine(const std::shared_ptr<const Record>& record, int lane,
                                          const StepQuery& query, const std::stop_token& stop) {
    if (stop.stop_requested()) return Error{ErrorKind::cancelled, "Stopped on request."};
    const auto index = static_cast<std::size_t>(lane);
    if (!m_inspector || m_inspected != record || m_inspector->lane() != index) {
        m_inspector.reset();
        const Result<ModelPointer> model = modelToJudgeWith(record->experiment.model, stop);
        if (!model) return model.error();
        std::shared_ptr<const Record> used = record;
        if (record->prompts.empty()) {
            // A record that still grows does not know its prompts yet.
            auto ids = prompt_ids(record->experiment, **model);
            if (!ids) return ids.error();
            Record complete = *record;
            for (auto& prompt : *ids) complete.prompts.push_back({std::move(prompt), {}});
            used = std::make_shared<const Record>(std::move(complete));
        }
        // Its memory is no lane's of the run: a ledger of its own keeps it out of the record.
        auto made = StepInspector::make(used, index, *model, std::make_shared<MemoryLedger>(), stop);
        if (!made) return made.error();
        m_inspector = *std::move(made);
        m_inspected = record;
    }
    return m_inspector->look(query, stop);
}

}  // namespace decodescope
