// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

namespace decodescope {

/// What a step of a lane does: forward prompts, forward what was chosen, or both (a continuous batch).
enum class Phase { prefill, decode, mixed };
const char* to_string(Phase phase);

}  // namespace decodescope
