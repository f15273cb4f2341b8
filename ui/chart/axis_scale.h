// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/chart/format.h"

namespace decodescope {

/// Smallest readable tick step that divides `span` into at most `max_intervals`. Byte axes step in binary
/// units; `whole` allows no fractions.
double niceStep(double span, int max_intervals, Unit unit, bool whole);
/// Smallest readable end of an axis from 0 that is at least `value`: a whole number of steps of `niceStep`,
/// so that the end carries a label.
double niceMaximum(double value, int max_intervals, Unit unit, bool whole);

}  // namespace decodescope
