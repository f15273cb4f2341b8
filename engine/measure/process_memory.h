// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/experiment/events.h"

namespace decodescope {

/// Resident memory (/proc/self/statm), glibc heap figures (mallinfo2) and minor faults (getrusage), now.
ProcessMemory read_process_memory();
/// Minor page faults of this process so far; `ProcessMemory::not_measured` where the system does not tell.
std::int64_t read_minor_faults();

}  // namespace decodescope
