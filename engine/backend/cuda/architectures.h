// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string_view>

namespace decodescope::cuda {

/// Whether kernels that were compiled for `architectures` run on a GPU of this compute capability. They are
/// written as CMake does it, with commas: "75-real,90" are machine code for 7.5, and machine code and PTX for
/// 9.0. Machine code runs on its own major version from its minor one on, PTX also on all that are newer;
/// what is specific to an architecture ("90a") or a family ("100f") on no other. Words that name none
/// ("native", "all") count as all.
bool runs_on(std::string_view architectures, int major, int minor);

}  // namespace decodescope::cuda
