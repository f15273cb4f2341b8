// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

namespace decodescope {

/// Sliding window of a model or lane: a query sees itself and the `size - 1` positions before it, plus the
/// first `sinks` positions for ever. size 0 = no window.
struct Window {
    int size = 0;
    int sinks = 0;

    friend bool operator==(const Window&, const Window&) = default;
};

/// The window a lane decodes with: its own, else the one its model was trained with (0 = none).
inline Window effective_window(const Window& lane, int model_window) {
    return lane.size > 0 ? lane : Window{model_window, 0};
}

}  // namespace decodescope
