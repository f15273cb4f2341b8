// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <stop_token>
#include <thread>

namespace decodescope::cli {

/// Turns Ctrl-C (SIGINT) and SIGTERM into a stop request, so that results so far can be kept; a second one
/// ends the program at once. Made before any other thread is started, because it blocks the signals in those.
class InterruptWatch {
public:
    InterruptWatch();
    InterruptWatch(const InterruptWatch&) = delete;
    InterruptWatch& operator=(const InterruptWatch&) = delete;

    std::stop_token token() const { return source_.get_token(); }

private:
    void wait(const std::stop_token& closing);

    std::stop_source source_;
    std::jthread thread_;  // last: it uses the members above
};

}  // namespace decodescope::cli
