// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <concepts>
#include <cstdint>
#include <span>
#include <stop_token>
#include <vector>

#include "engine/attention/attention_plan.h"
#include "engine/attention/call_tokens.h"
#include "engine/backend/backend.h"
#include "engine/backend/token_draw.h"
#include "engine/cache/kv_cache.h"
#include "engine/core/result.h"
#include "engine/model/forward_hook.h"
#include "engine/model/weights.h"
#include "engine/model/workspace.h"

namespace decodescope {

/// What is wanted of a forward call; a plain list of tokens will do. What it points to lives as long as the
/// call.
struct WantedLogits {
    std::span<const std::int32_t> rows;  ///< tokens of the call (indices, any order) whose logits are wanted
    /// [rows] or empty: what is to be drawn from these logits, if the backend can and no hook may change
    /// them.
    std::span<const TokenDraw> draws;

    WantedLogits() = default;
    template <std::convertible_to<std::span<const std::int32_t>> Rows>
    WantedLogits(const Rows& wanted, std::span<const TokenDraw> drawn = {}) : rows(wanted), draws(drawn) {}
};

struct ForwardOutput {
    /// [wanted rows, vocab]; lies in the workspace and is valid until its next use.
    std::span<const float> logits;
    /// [wanted rows] or empty: where each row of logits is largest, and what was drawn from it; see
    /// `ProductCall::largest` and `Backend::draw`.
    std::span<const std::int32_t> largest;
    std::span<const std::int32_t> drawn;
    /// Logits of the token that was asked for as number `row`, [vocab], and what was found in them; -1 =
    /// look.
    std::span<const float> logits_of(std::size_t row, int vocab) const {
        const auto n = static_cast<std::size_t>(vocab);
        return logits.subspan(row * n, n);
    }
    std::int32_t largest_of(std::size_t row) const { return row < largest.size() ? largest[row] : -1; }
    FoundTokens found_in(std::size_t row) const {
        return {largest_of(row), row < drawn.size() ? drawn[row] : -1};
    }
    /// Query-key pairs that causality, padding and window allow, per head and layer, all rows together.
    std::int64_t score_cells_allowed = 0;
    /// Query-key pairs computed per head and layer, masked ones included.
    std::int64_t score_cells_computed = 0;
};

/// The largest calls that will be made.
struct CallRoom {
    int batch = 1;                ///< rows of a call
    std::int64_t rows = 1;        ///< tokens of all rows together
    std::int64_t logit_rows = 1;  ///< tokens whose logits are wanted
    int n_slot = 1;               ///< slots that a row attends to
    bool draws = false;           ///< tokens are drawn from the logits
};
/// Makes room in `workspace`, so that calls up to this size allocate nothing.
Result<void> reserve_room(Workspace& workspace, const Weights& weights, const Backend& backend,
                          const CallRoom& room);

/// One forward call: the tokens of `call`, appended to `cache` when there is one, else seeing only each other
/// (row by row). `wanted`: whose logits are wanted; none is fine. Everything is checked before anything is
/// written: token ids, positions, the cache's capacity; and at the end, that no file the weights lie in has
/// changed meanwhile. `stop` is looked at between layers; a cancelled or failed call leaves the cache as it
/// was before. What saw what is in `workspace.plan()` afterwards. `hook`: watches the call and may change it.
Result<ForwardOutput> forward(const Weights& weights, const CallTokens& call, const WantedLogits& wanted,
                              KvCache* cache, Window window, Workspace& workspace, Backend& backend,
                              std::stop_token stop = {}, ForwardHook* hook = nullptr);

/// Indices of all tokens of `call`, and of the last token of every row that has one.
std::vector<std::int32_t> all_rows(const CallTokens& call);
std::vector<std::int32_t> last_rows(const CallTokens& call);

}  // namespace decodescope
