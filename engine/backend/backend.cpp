// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/backend/backend.h"

#include <algorithm>

#include "engine/model/rotary.h"

namespace decodescope {

int ForwardCall::most_slots() const {
    return cache != nullptr ? std::max(cache->capacity(), plan->max_slot()) : plan->max_slot();
}

void Backend::embed(const ForwardCall& call, float* out) {
    const Weights& weights = *call.weights;
    const std::int64_t d = weights.config.d_model;
    const auto tokens = call.tokens->tokens();
    for (std::size_t row = 0; row < tokens.size(); ++row) {
        const float* token = weights.token_embedding + tokens[row] * d;
        if (weights.position_embedding == nullptr) {
            std::copy_n(token, d, out);
        } else {
            const float* place = weights.position_embedding + std::max(call.positions[row], 0) * d;
            for (std::int64_t i = 0; i < d; ++i) out[i] = token[i] + place[i];
        }
        out += d;
    }
}

void Backend::turns(const ForwardCall& call, std::span<const std::int32_t> positions, float* out) {
    const Weights& weights = *call.weights;
    rotary_turns(weights.rotary_frequencies, weights.config.rotary->amplitude, positions, out);
}

void Backend::pick_rows(const ForwardCall& call, const float* x, std::int64_t d, float* out) {
    for (const std::int32_t row : call.logit_rows) {
        std::copy_n(x + row * d, d, out);
        out += d;
    }
}

}  // namespace decodescope
