// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/inside/step_facts.h"

#include <QCoreApplication>

#include <algorithm>

namespace decodescope {

namespace {

QString text(const char* source) {
    return QCoreApplication::translate("StepFacts", source);
}

QString tokens(int n) {
    return n == 1 ? text("one token") : text("%1 tokens").arg(n);
}

}  // namespace

int lastPrefillChunk(const LaneSpec& lane, int promptLength) {
    if (!lane.prefill_partition.empty()) return lane.prefill_partition.back();
    if (lane.prefill_chunk <= 0 || lane.prefill_chunk >= promptLength) return promptLength;
    const int rest = promptLength % lane.prefill_chunk;
    return rest == 0 ? lane.prefill_chunk : rest;
}

QString whyNotShown(const LaneSpec& lane, int n_request) {
    switch (lane.mode) {
        case LaneMode::speculative:
            return text(
                "A speculative lane checks several drafts at once and takes back what it refuses: its steps "
                "are not drawn yet.");
        case LaneMode::beam:
            return text("A beam lane keeps several continuations in one cache: its steps are not drawn yet.");
        case LaneMode::naive:
        case LaneMode::cached: break;
    }
    if (n_request > 1)
        return lane.batching == Batching::single
                   ? text(
                         "This lane serves %1 requests one after another: which step belongs to which is not "
                         "drawn yet.")
                         .arg(n_request)
                   : text(
                         "This lane puts %1 requests into one call: its rows, pads and blocks are not drawn "
                         "yet.")
                         .arg(n_request);
    if (lane.batching == Batching::continuous)
        return text("A continuous batch mixes prefill and decode in one call: its steps are not drawn yet.");
    if (lane.cache.kind == CacheKind::window)
        return text(
            "A window cache forgets keys and uses their slots again: which slot holds what is not drawn "
            "yet.");
    return {};
}

StepFacts stepFacts(const LaneSpec& lane, int modelWindow, int promptLength, int step) {
    const bool cached = lane.mode == LaneMode::cached;
    AttentionPlan plan = plan_of_step(cached, promptLength, lastPrefillChunk(lane, promptLength), step,
                                      effective_window(lane.window, modelWindow));
    const int n_stored = cached ? plan.n_slot(0) - plan.n_query() : 0;
    return {std::move(plan), n_stored, step, cached};
}

QString StepFacts::heading() const {
    if (!cached) {
        return step == 0
                   ? text("query × key · prefill: the whole prompt of %1").arg(plan.n_query())
                   : text("query × key · step %1: all %2 tokens once more").arg(step).arg(plan.n_query());
    }
    if (step == 0) {
        return n_stored == 0 ? text("query × key · prefill: the whole prompt of %1").arg(plan.n_query())
                             : text("query × key · prefill: the last chunk of %1 after %2 cached")
                                   .arg(plan.n_query())
                                   .arg(n_stored);
    }
    return text("query × key · step %1: %2 after %3 cached")
        .arg(step)
        .arg(tokens(plan.n_query()))
        .arg(n_stored);
}

QString StepFacts::keysSentence() const {
    const int last = plan.n_slot(0) - 1;
    if (n_stored == 0) return text("keys 0–%1 are computed in this call").arg(last);
    const QString fromCache = n_stored == 1 ? text("key 0 comes from the cache")
                                            : text("keys 0–%1 come from the cache").arg(n_stored - 1);
    return n_stored == last ? text("%1, key %2 from this call").arg(fromCache).arg(last)
                            : text("%1, %2–%3 from this call").arg(fromCache).arg(n_stored).arg(last);
}

QString StepFacts::cellSentence(int query, int key) const {
    if (query < 0 || query >= plan.n_query() || key < 0 || key >= plan.n_slot(0)) return {};
    const int position = plan.query_positions(0)[static_cast<std::size_t>(query)];
    const QString origin = key < n_stored ? text("from the cache") : text("from this call");
    switch (plan.cell(0, query, key)) {
        case CellState::visible:
            return key == position
                       ? text("Query %1 sees key %2: it is its own (%3).").arg(position).arg(key).arg(origin)
                       : text("Query %1 sees key %2, %3 positions back (%4).")
                             .arg(position)
                             .arg(key)
                             .arg(position - plan.slot_positions(0)[static_cast<std::size_t>(key)])
                             .arg(origin);
        case CellState::future:
            return text("Query %1 cannot see key %2: it lies in the future.").arg(position).arg(key);
        case CellState::padding:
            return text("Query %1 cannot see key %2: it is padding.").arg(position).arg(key);
        case CellState::outside_window:
            return text("Query %1 cannot see key %2: it lies outside the window.").arg(position).arg(key);
        case CellState::empty: return text("Slot %1 is empty: nothing is stored there yet.").arg(key);
    }
    return {};
}

int StepFacts::wrongPositions() const {
    int wrong = 0;
    for (int key = 0; key < plan.n_slot(0); ++key)
        wrong += plan.slot_positions(0)[static_cast<std::size_t>(key)] != expectedPosition(key);
    for (int query = 0; query < plan.n_query(); ++query)
        wrong +=
            plan.query_positions(0)[static_cast<std::size_t>(query)] != expectedPosition(n_stored + query);
    return wrong;
}

}  // namespace decodescope
