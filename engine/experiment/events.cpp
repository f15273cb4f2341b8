// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/experiment/events.h"

namespace decodescope {

const char* to_string(FinishReason reason) {
    switch (reason) {
        case FinishReason::length: return "length";
        case FinishReason::stop_token: return "stop_token";
        case FinishReason::capacity: return "capacity";
        case FinishReason::cancelled: return "cancelled";
        case FinishReason::failed: return "failed";
    }
    return "failed";
}

const char* to_string(Phase phase) {
    return phase == Phase::prefill ? "prefill" : "decode";
}

}  // namespace decodescope
