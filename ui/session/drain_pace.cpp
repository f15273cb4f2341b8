// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/session/drain_pace.h"

#include <algorithm>
#include <utility>

namespace decodescope {

int DrainPace::next(std::int64_t busyNs) {
    const std::int64_t before = std::exchange(m_before, busyNs);
    if (!m_sparse || before < 0 || busyNs < before) return shortestMs;
    const auto turn = static_cast<double>(busyNs - before);
    // One long turn, as when the window is resized, is not to slow those after it.
    m_turnNs = m_turnNs == 0 ? turn : 0.75 * m_turnNs + 0.25 * turn;
    return static_cast<int>(std::clamp(m_turnNs / share / 1e6, double{shortestMs}, double{longestMs}));
}

}  // namespace decodescope
