// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>

#include "engine/attention/window.h"
#include "engine/cache/cache_spec.h"
#include "engine/core/result.h"
#include "engine/plan/plan_shape.h"

namespace decodescope {

/// What a cache is to hold.
struct KvLoad {
    CacheSpec cache;
    Window window{};          ///< kind window: what it keeps, in the layers that have a window; size 0 = the
                              ///< model's own
    int batch = 1;            ///< requests side by side, all of the same length
    std::int64_t length = 0;  ///< tokens of each that are stored
    std::int64_t capacity = 0;  ///< tokens of each there is room for; 0 = `length`. The cache's own wins
    std::int64_t max_call = 1;  ///< most tokens of one request in one call
};

/// Bytes of a cache, as its own `KvBytes` counts them.
struct KvArithmetic {
    std::int64_t per_token = 0;  ///< of one stored token, all layers, without windows; kivi: while quantised
    std::int64_t live = 0;       ///< valid entries with scales and what is still in f32
    std::int64_t reserved = 0;   ///< allocated for entries
    std::int64_t meta = 0;       ///< slot positions, block tables, reference counts
    std::int64_t blocks = 0;     ///< paged: blocks of the pool (a count), and the bytes of all block tables
    std::int64_t block_tables = 0;
    /// concat: most bytes that exist during the last append, when a layer has its old and its new tensors;
    /// other kinds: `reserved`.
    std::int64_t peak = 0;
    /// Of a program that keeps all layers in one tensor and joins old and new: both at once.
    std::int64_t peak_of_one_tensor = 0;
};

/// The bytes of a cache in closed form. Refuses what a kind cannot hold (kivi: groups that do not divide the
/// width of a head, a latent) and what overflows, naming it.
Result<KvArithmetic> kv_arithmetic(const PlanShape& shape, const KvLoad& load);

/// Tokens that a growing cache copies when `prompt` tokens come in calls of `chunk` (0 = all in one) and
/// `steps` more one by one: every append copies what was stored before it.
std::int64_t concat_copied_tokens(std::int64_t prompt, std::int64_t steps, std::int64_t chunk = 0);

/// Tokens of a request of `length` that a layer with `window` keeps once they are stored.
std::int64_t tokens_in_window(std::int64_t length, const Window& window);

}  // namespace decodescope
