// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QComboBox>
#include <QTest>
#include <QToolButton>

#include "engine/experiment/experiment.h"
#include "ui/experiment_panel/experiment_panel.h"
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

/// Shows the panel as narrow as it gets, high enough for everything, with every fold open.
inline void showUnfolded(ExperimentPanel& panel) {
    panel.resize(panel.minimumSizeHint().width(), 3000);
    panel.show();
    for (LaneCard* card : panel.findChildren<LaneCard*>()) card->setFormVisible(true);
    for (const char* fold : {"promptAdvanced", "generationMore"}) {
        for (QToolButton* button : panel.findChildren<QToolButton*>(QLatin1String(fold)))
            button->setChecked(true);
    }
    QTest::qWait(100);
}

/// Chooses the kind of lane with this name in a card's list.
inline void chooseKind(LaneCard* card, const char* word) {
    auto* box = card->findChild<QComboBox*>("laneKind");
    for (int kind = 0; kind < laneKinds().size(); ++kind) {
        if (laneKinds().at(kind).lane.name == word) box->setCurrentIndex(box->findData(kind));
    }
}

}  // namespace decodescope::test
