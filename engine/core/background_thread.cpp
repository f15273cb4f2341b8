// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/core/background_thread.h"

#if defined(__linux__)
#include <sched.h>
#endif

namespace decodescope {

void yield_to_windows() {
#if defined(__linux__)
    // Not a lower nice value: beside another busy program that leaves a tenth of a core, and threads that
    // wait for each other in every layer then take ten times as long and more.
    const sched_param none{};
    sched_setscheduler(0, SCHED_BATCH, &none);
#endif
}

}  // namespace decodescope
