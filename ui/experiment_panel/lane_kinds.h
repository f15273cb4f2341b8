// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>
#include <QVector>

#include "engine/decode/lane_spec.h"

namespace decodescope {

/// One ready way of decoding, as a lane's list offers it.
struct LaneKind {
    QString group;
    QString title;
    QString toolTip;
    LaneSpec lane;  ///< its settings; `lane.name` is the word for it
};

/// All of them, those of one group side by side.
const QVector<LaneKind>& laneKinds();
/// The kind that a lane is, whatever its further settings are.
int laneKindOf(const LaneSpec& lane);
/// The lane as another kind: what both have is kept, the rest is the kind's own.
LaneSpec asKind(const LaneSpec& lane, int kind);
/// Cache kinds that a lane of this mode and batching can have, the usual one first.
std::vector<CacheKind> cacheKindsFor(const LaneSpec& lane);
/// Puts back to their defaults all settings that the lane's cache, batching and mode do not have.
void dropForeignSettings(LaneSpec& lane);

/// What a lane does, in a few words: "static cache · prefill in chunks of 16".
QString laneDescription(const LaneSpec& spec);
/// "whole prompt" as empty, one chunk size as "16", explicit chunks as "4, 3, 2".
QString prefillText(const LaneSpec& spec);
/// Reads `prefillText` back into a lane; returns false for anything else.
bool setPrefill(LaneSpec& spec, const QString& text);
/// As `parse_model_ref` reads it: "preset:tiny,seed=3", else a folder or bundled name.
QString modelRefText(const ModelRef& ref);

}  // namespace decodescope
