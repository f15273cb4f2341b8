// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <stop_token>
#include <thread>

namespace decodescope::cli {

/// Turns Ctrl-C (SIGINT) and SIGTERM into a stop request, so that results so far can be kept; a second one
/// ends the program at once. One per program.
class InterruptWatch {
public:
    InterruptWatch();
    InterruptWatch(const InterruptWatch&) = delete;
    InterruptWatch& operator=(const InterruptWatch&) = delete;
    ~InterruptWatch();

    std::stop_token token() const { return source_.get_token(); }

private:
    void wait();

    std::stop_source source_;
    std::array<int, 2> pipe_{-1, -1};  // read end, write end
    std::thread thread_;
};

}  // namespace decodescope::cli
