// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/core/dtype.h"

namespace decodescope {

/// How a cached lane stores K and V.
///  - `concat`: a new tensor for old and new entries on every append, as most tutorials do
///  - `static_`: all slots allocated before the first token
///  - `paged`: blocks of a pool, a block table per row, copy-on-write, prefix sharing
///  - `window`: sliding window with optional sinks that forgets what it will never show again
///  - `int8`: one scale per token, head and K or V
///  - `kivi`: 2 or 4 bits; K per channel in groups of tokens, V per token; recent tokens in f32
enum class CacheKind { none, concat, static_, paged, window, int8, kivi };
const char* to_string(CacheKind kind);
/// Whether entries are stored as they are, so that the cache has a dtype.
bool has_dtype(CacheKind kind);
/// Whether the tokens per row can be limited.
bool has_capacity(CacheKind kind);

/// Settings of a cache. Those that a kind does not have must be left as they are (`validate` of the
/// experiment says so).
struct CacheSpec {
    CacheKind kind = CacheKind::none;
    DType dtype = DType::f32;  ///< of the entries: concat, static, paged, window
    int capacity = 0;          ///< tokens per row, all kinds but concat; 0 = prompt + new tokens - 1
    int block = 16;            ///< paged: tokens per block
    int blocks = 0;            ///< paged: blocks of the pool; 0 = enough for every row
    bool share_prefixes =
        false;          ///< paged: requests of one isolation group share the blocks of equal prefixes
    int bits = 4;       ///< kivi: 2 or 4
    int group = 32;     ///< kivi: tokens of a K group, channels of a V group
    int residual = 32;  ///< kivi: at least this many newest tokens stay in f32
};

}  // namespace decodescope
