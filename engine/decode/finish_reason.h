// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/core/result.h"

namespace decodescope {

/// Why a request, a lane or a run stopped.
enum class FinishReason { length, stop_token, capacity, cancelled, failed };
const char* to_string(FinishReason reason);
/// What a failed call means for the one that made it.
FinishReason finish_reason(ErrorKind kind);

}  // namespace decodescope
