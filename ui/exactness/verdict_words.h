// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

#include "engine/verify/verdict.h"
#include "ui/theme/theme.h"

namespace decodescope {

/// How a verdict looks: a symbol, so that the colour is not needed, and the colour.
struct VerdictLook {
    QString symbol;
    ColorRef::Role tone;
};
VerdictLook lookOf(VerdictWord word);
/// "A fault, not rounding: position ids".
QString headlineOf(const Verdict& verdict);
QString certaintyText(Certainty certainty);
/// "call 24 → row 0 → column 2 → layer 0 → scores"; empty when nothing is known.
QString placeText(const VerdictPlace& place);

}  // namespace decodescope
