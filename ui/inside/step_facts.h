// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

#include "engine/attention/attention_plan.h"
#include "engine/experiment/experiment.h"

namespace decodescope {

/// Tokens in the last prefill call of a lane.
int lastPrefillChunk(const LaneSpec& lane, int promptLength);

/// Why the steps of a lane cannot be drawn yet: one sentence, empty when they can. What is drawn is rebuilt
/// from lengths alone, which is only right for one request whose tokens lie one behind the other.
QString whyNotShown(const LaneSpec& lane, int n_request);

/// One step of one lane as the Inside screen shows it: who sees whom, and where keys come from.
struct StepFacts {
    AttentionPlan plan;
    int n_stored = 0;  ///< keys that were in the cache before this call; 0 without a cache
    int step = 0;
    bool cached = false;

    /// "step 9: one token after 16 cached", "step 0: the whole prompt of 8".
    QString heading() const;
    /// Where the keys come from.
    QString keysSentence() const;
    /// One sentence about a cell: "Query 9 cannot see key 12: it lies in the future."
    QString cellSentence(int query, int key) const;
    /// Position that slot `key` must hold.
    int expectedPosition(int key) const { return key; }
    /// Slots whose position is not the expected one.
    int wrongPositions() const;
};

/// Step `step` of a lane of which `whyNotShown` says nothing. `modelWindow`: the one the model was trained
/// with, 0 = none.
StepFacts stepFacts(const LaneSpec& lane, int modelWindow, int promptLength, int step);

}  // namespace decodescope
