// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QComboBox>

#include "engine/experiment/experiment.h"
#include "ui/experiment_panel/lane_card.h"
#include "ui/experiment_panel/lane_kinds.h"

namespace decodescope::test {

/// Two lanes and a prompt: what a panel may begin with.
inline Experiment base() {
    Experiment experiment;
    for (const char* name : {"naive", "static"}) experiment.lanes.push_back(*lane_from_name(name));
    experiment.prompts[0].text = "It is a truth";
    return experiment;
}

/// Chooses the kind of lane with this name in a card's list.
inline void chooseKind(LaneCard* card, const char* word) {
    auto* box = card->findChild<QComboBox*>("laneKind");
    for (int kind = 0; kind < laneKinds().size(); ++kind) {
        if (laneKinds().at(kind).lane.name == word) box->setCurrentIndex(box->findData(kind));
    }
}

}  // namespace decodescope::test
