// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/decode/lane_spec.h"

namespace decodescope {

const char* to_string(LaneMode mode) {
    switch (mode) {
        case LaneMode::naive: return "naive";
        case LaneMode::cached: return "cached";
        case LaneMode::speculative: return "speculative";
        case LaneMode::beam: return "beam";
    }
    return "cached";
}

const char* to_string(Kernels kernels) {
    return kernels == Kernels::packed ? "packed" : "openblas";
}

const char* to_string(Batching batching) {
    switch (batching) {
        case Batching::single: return "single";
        case Batching::static_: return "static";
        case Batching::continuous: return "continuous";
    }
    return "single";
}

const char* to_string(Padding padding) {
    switch (padding) {
        case Padding::left: return "left";
        case Padding::right: return "right";
        case Padding::none: return "none";
    }
    return "left";
}

const char* to_string(AllocationPolicy policy) {
    return policy == AllocationPolicy::reused ? "reused" : "fresh";
}

const char* to_string(DraftKind kind) {
    switch (kind) {
        case DraftKind::layers: return "layers";
        case DraftKind::ngram: return "ngram";
        case DraftKind::model: return "model";
    }
    return "ngram";
}

const char* to_string(Acceptance acceptance) {
    return acceptance == Acceptance::match ? "match" : "rejection";
}

}  // namespace decodescope
