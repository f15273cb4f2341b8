// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/interrupt.h"

#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>

namespace decodescope::cli {

namespace {

constexpr int exitInterrupted = 130;
constexpr char signalled = 's';
constexpr char closing = 'c';

// A signal handler can reach nothing but globals. Blocking the signals and waiting for them instead does not
// work: OpenBLAS starts threads before main, and those would still die of the default action.
std::atomic<int> wakeUpEnd{-1};
static_assert(std::atomic<int>::is_always_lock_free);

void put(int fd, char what) {
    while (::write(fd, &what, 1) < 0 && errno == EINTR) {
    }
}

extern "C" void onSignal(int) {
    const int saved = errno;
    put(wakeUpEnd.load(), signalled);
    errno = saved;
}

void handleWith(void (*handler)(int)) {
    struct sigaction action {};
    action.sa_handler = handler;
    action.sa_flags = SA_RESTART;
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, nullptr);
    sigaction(SIGTERM, &action, nullptr);
}

}  // namespace

InterruptWatch::InterruptWatch() {
    if (::pipe(pipe_.data()) != 0) return;  // then the signals keep their default action
    wakeUpEnd = pipe_[1];
    thread_ = std::thread([this] { wait(); });
    handleWith(onSignal);
}

InterruptWatch::~InterruptWatch() {
    if (!thread_.joinable()) return;
    handleWith(SIG_DFL);
    put(pipe_[1], closing);
    thread_.join();
    ::close(pipe_[0]);
    ::close(pipe_[1]);
}

void InterruptWatch::wait() {
    for (char what = 0; what != closing;) {
        if (::read(pipe_[0], &what, 1) != 1 || what != signalled) continue;
        if (source_.stop_requested()) std::_Exit(exitInterrupted);
        source_.request_stop();
        fmt::print(
            stderr,
            "\ndecodescope-cli: Interrupted; what was measured so far is kept. Again to quit at once.\n");
    }
}

}  // namespace decodescope::cli
