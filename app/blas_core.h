// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <unistd.h>

#include <cstdlib>
#include <string>

#include "engine/measure/environment.h"

namespace decodescope {

/// To be called first in `main`, before any thread exists: where OpenBLAS took its slowest kernels because it
/// does not know the processor, starts the program anew with kernels that fit. OpenBLAS reads that setting
/// while it is being loaded, so it cannot be changed later. Returns when there is nothing to mend or no way
/// to restart.
inline void restartWithBetterBlasCore(char** argv) {
    const std::string core = better_blas_core();
    if (core.empty() || setenv("OPENBLAS_CORETYPE", core.c_str(), 1) != 0) return;
    execv("/proc/self/exe", argv);
}

}  // namespace decodescope
