// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "engine/backend/token_draw.h"
#include "engine/core/result.h"
#include "engine/decode/sampling.h"

namespace decodescope {

/// Chooses tokens for one request. The random numbers of a token depend on the seed, the request's number and
/// the token's number in the answer alone, so equal logits give the same token in every lane, whatever the
/// order of lanes or the batch. Ties go to the lower id; so `top_k` keeps exactly k tokens, where Hugging
/// Face keeps all that tie with the k-th. Not shared between threads.
class Sampler {
public:
    explicit Sampler(const Sampling& sampling, int request = 0) : sampling_(sampling), request_(request) {}

    /// Makes room, so that `choose` and `distribution` allocate nothing for this vocabulary.
    void reserve(int vocab);

    /// Token number `index` of the answer from one row of logits [vocab]. `history` is the prompt and the
    /// answer so far; only the repetition penalty looks at it. Fails with `non_finite` when a logit is NaN or
    /// infinite, and with `bad_input` when there are no logits or the history holds an id outside of them.
    /// `found`: what a backend has found in these very logits; `found.drawn` by what `draw` gives for
    /// `index`.
    Result<std::int32_t> choose(std::span<const float> logits, std::int64_t index,
                                std::span<const std::int32_t> history, FoundTokens found = {});

    /// How token `index` is drawn from its logits; none where it is not drawn, or the text so far counts too.
    std::optional<TokenDraw> draw(std::int64_t index) const;

    /// The distribution that `choose` draws from, summing to 1; greedy: 1 at the token it takes. `out` is as
    /// long as `logits`. Fails like `choose`.
    Result<void> distribution(std::span<const float> logits, std::span<const std::int32_t> history,
                              std::span<double> out);

    /// The number in [0, 1) that token `index` is drawn with. `use` tells further draws for the same token
    /// apart: 0 is that of `choose`.
    double uniform(std::int64_t index, std::uint64_t use = 0) const;

private:
    /// Tokens that the filters leave: the first `count` of `order_`, whose weights have this sum.
    struct Kept {
        std::size_t count = 0;
        double sum = 0;
        float largest = 0;  ///< logit
    };

    Result<std::span<const float>> penalised(std::span<const float> logits,
                                             std::span<const std::int32_t> history);
    Kept filter(std::span<const float> logits);
    /// Brings the first `count` of the first `end` ids into falling order.
    void sort_to(std::span<const float> logits, std::size_t count, std::size_t end);
    /// Sees to it that at least `rank + 1` ids are sorted.
    void sort_past(std::span<const float> logits, std::size_t rank, std::size_t end);
    /// Probability relative to that of the largest logit.
    double token_weight(std::span<const float> logits, std::int32_t id, float largest) const;
    double weight(std::span<const float> logits, std::size_t rank, float largest) const {
        return token_weight(logits, order_[rank], largest);
    }

    Sampling sampling_;
    int request_ = 0;
    std::vector<float> penalised_;     // [vocab]
    std::vector<std::uint8_t> seen_;   // [vocab], zeros between calls
    std::vector<std::int32_t> order_;  // [vocab], ids; the first `sorted_` are in their final order
    std::size_t sorted_ = 0;
};

/// Index of the largest value, the first of equals. `values` is not empty and holds no NaN.
std::int32_t argmax(std::span<const float> values);

}  // namespace decodescope
