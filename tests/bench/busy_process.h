// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <sys/types.h>

#include <string_view>

namespace decodescope::bench {

/// First argument with which a program that uses `BusyProcess` must call `keep_busy` and nothing else.
inline constexpr std::string_view busy_argument = "--keep-a-core-busy";
/// Computes on the last core this process may use until its parent ends it or dies.
[[noreturn]] void keep_busy();

/// This program once more, as another process that keeps one core busy while the object lives.
class BusyProcess {
public:
    BusyProcess();
    ~BusyProcess();
    BusyProcess(const BusyProcess&) = delete;
    BusyProcess& operator=(const BusyProcess&) = delete;

    bool running() const { return child_ > 0; }

private:
    pid_t child_ = -1;
};

}  // namespace decodescope::bench
