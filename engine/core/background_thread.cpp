// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/core/background_thread.h"

#if defined(__linux__)
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace decodescope {

void yield_to_windows() {
#if defined(__linux__)
    constexpr int background = 10;
    setpriority(PRIO_PROCESS, static_cast<id_t>(syscall(SYS_gettid)), background);
#endif
}

}  // namespace decodescope
