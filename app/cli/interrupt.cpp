// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/interrupt.h"

#include <fmt/format.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>

namespace decodescope::cli {

namespace {

constexpr int exitInterrupted = 130;

sigset_t watchedSignals() {
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    return signals;
}

}  // namespace

InterruptWatch::InterruptWatch() {
    const sigset_t signals = watchedSignals();
    pthread_sigmask(SIG_BLOCK, &signals, nullptr);
    thread_ = std::jthread([this](const std::stop_token& closing) { wait(closing); });
}

void InterruptWatch::wait(const std::stop_token& closing) {
    const sigset_t signals = watchedSignals();
    // A waiting thread cannot be woken by the end of the program, so it looks again now and then.
    const timespec pause{.tv_sec = 0, .tv_nsec = 50'000'000};
    while (!closing.stop_requested()) {
        if (sigtimedwait(&signals, nullptr, &pause) < 0) continue;
        if (source_.stop_requested()) std::_Exit(exitInterrupted);
        source_.request_stop();
        fmt::print(
            stderr,
            "\ndecodescope-cli: Interrupted; what was measured so far is kept. Again to quit at once.\n");
    }
}

}  // namespace decodescope::cli
