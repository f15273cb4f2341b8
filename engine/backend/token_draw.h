// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>

namespace decodescope {

/// How the token of one row of logits is drawn. Tokens stand in falling order of their logits, those with
/// equal ones by their id, and token i weighs exp((logit_i - largest logit) / temperature). The first `top_k`
/// stay; of these the fewest first ones whose weights sum to at least `top_p` of all that stayed; of these
/// all that weigh at least `min_p`. The token is the first at which the sum of the weights up to it passes
/// `uniform` times the sum of all that are left.
struct TokenDraw {
    double temperature = 1.0;
    double top_p = 1.0;      ///< 1 = all
    double min_p = 0.0;      ///< 0 = all
    double uniform = 0.0;    ///< in [0, 1)
    std::int32_t top_k = 0;  ///< 0 = all
};

/// What a backend has found in a row of logits while it had them at hand; -1 = nobody has looked, or they are
/// not all finite.
struct FoundTokens {
    std::int32_t largest = -1;  ///< the first of equal ones
    std::int32_t drawn = -1;
};

}  // namespace decodescope
