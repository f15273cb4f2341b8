// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>

namespace decodescope {

enum class SamplingKind { greedy, sample };

/// How the next token is chosen. The steps come in this order: repetition penalty (greedy too), temperature,
/// top-k, top-p, min-p, softmax over what is left, one draw. Every request has a random stream of its own,
/// from `seed` and its number alone, and one draw per new token, so equal logits give equal text in every
/// lane, batch and order.
struct Sampling {
    SamplingKind kind = SamplingKind::greedy;
    double temperature = 1.0;
    int top_k = 0;  ///< the k largest logits stay; 0 = all
    std::uint64_t seed = 0;
    double top_p =
        1.0;  ///< the fewest largest tokens whose probabilities sum to at least top_p stay; 1 = all
    double min_p = 0.0;  ///< tokens with at least min_p times the largest probability stay; 0 = all
    /// Logits of tokens that the prompt or the answer holds already: positive ones divided by it, negative
    /// ones multiplied (Keskar et al. 2019, CTRL); 1 = off.
    double repetition_penalty = 1.0;
};

}  // namespace decodescope
