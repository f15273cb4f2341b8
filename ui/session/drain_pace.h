// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>

namespace decodescope {

/// How often the window takes over what a run has measured: 30 times a second, or less often where drawing it
/// would keep a core from the run for more than a small share of the time. Looks at no clock: times are what
/// its caller says they are.
class DrainPace {
public:
    static constexpr int shortestMs = 33;
    static constexpr int longestMs = 200;
    /// Of a core's time that drawing may take while the run has a thread for every core.
    static constexpr double share = 0.05;

    /// `sparse`: the run leaves the window no core of its own.
    explicit DrainPace(bool sparse = false) : m_sparse(sparse) {}

    /// Milliseconds until the next turn. `busyNs`: processor time that the window's thread has had so far;
    /// negative = not known.
    int next(std::int64_t busyNs);

private:
    bool m_sparse;
    std::int64_t m_before = -1;
    double m_turnNs = 0;  // that a turn takes, smoothed
};

}  // namespace decodescope
