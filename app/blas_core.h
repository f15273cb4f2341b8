// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

#include "engine/measure/environment.h"

namespace decodescope {

/// To be called first in `main`, before any thread exists: where OpenBLAS took its slowest kernels because it
/// does not know the processor, starts the program anew with kernels that fit. OpenBLAS reads that setting
/// while it is being loaded, so it cannot be changed later. Returns when there is nothing to mend or no way
/// to restart.
inline void restartWithBetterBlasCore(char** argv) {
    const std::string core = better_blas_core();
    if (core.empty() || setenv("OPENBLAS_CORETYPE", core.c_str(), 1) != 0) return;
    // Its real path, because a process started by the link's name would be called "exe".
    std::error_code error;
    const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error);
    if (!error) execv(program.c_str(), argv);
}

}  // namespace decodescope
