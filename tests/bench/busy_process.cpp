// SPDX-License-Identifier: GPL-3.0-or-later
#include "busy_process.h"

#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <string>

namespace decodescope::bench {

void keep_busy() {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    cpu_set_t allowed;
    if (sched_getaffinity(0, sizeof allowed, &allowed) == 0) {
        for (int cpu = CPU_SETSIZE - 1; cpu >= 0; --cpu) {
            if (!CPU_ISSET(cpu, &allowed)) continue;
            cpu_set_t last;
            CPU_ZERO(&last);
            CPU_SET(cpu, &last);
            sched_setaffinity(0, sizeof last, &last);
            break;
        }
    }
    volatile std::uint64_t x = 1;
    while (getppid() != 1) {
        for (int i = 0; i < 100'000'000; ++i) x = x * 3 + 1;
    }
    _exit(0);
}

// Not a bare fork: a copy of this process would make every page that is written next fault.
BusyProcess::BusyProcess() {
    std::string argument(busy_argument);
    std::string program = "/proc/self/exe";
    char* arguments[] = {program.data(), argument.data(), nullptr};
    if (posix_spawn(&child_, program.c_str(), nullptr, nullptr, arguments, environ) != 0) child_ = -1;
    // Until it is at work.
    usleep(50'000);
}

BusyProcess::~BusyProcess() {
    if (child_ <= 0) return;
    kill(child_, SIGKILL);
    waitpid(child_, nullptr, 0);
}

}  // namespace decodescope::bench
