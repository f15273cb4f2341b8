// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/verify/verdict.h"

namespace decodescope {

const char* to_string(VerdictWord word) {
    switch (word) {
        case VerdictWord::equal: return "equal";
        case VerdictWord::precision: return "precision";
        case VerdictWord::harmless: return "harmless";
        case VerdictWord::fault: return "fault";
        case VerdictWord::cannot_tell: return "cannot tell";
    }
    return "cannot tell";
}

const char* to_string(FaultKind kind) {
    switch (kind) {
        case FaultKind::position: return "position";
        case FaultKind::mask: return "mask";
        case FaultKind::padding: return "padding";
        case FaultKind::isolation: return "isolation";
        case FaultKind::content: return "content";
        case FaultKind::window: return "window";
        case FaultKind::capacity: return "capacity";
        case FaultKind::rollback: return "rollback";
        case FaultKind::prefix: return "prefix";
        case FaultKind::state: return "state";
        case FaultKind::mode: return "mode";
        case FaultKind::head_layout: return "head layout";
        case FaultKind::batch: return "batch";
        case FaultKind::dtype: return "dtype";
        case FaultKind::other_model: return "other model";
        case FaultKind::cost: return "cost";
    }
    return "cost";
}

const char* to_string(Certainty certainty) {
    switch (certainty) {
        case Certainty::certain: return "certain";
        case Certainty::likely: return "likely";
        case Certainty::possible: return "possible";
    }
    return "possible";
}

}  // namespace decodescope
