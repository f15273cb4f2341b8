// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/cache/cache_spec.h"

namespace decodescope {

const char* to_string(CacheKind kind) {
    switch (kind) {
        case CacheKind::none: return "none";
        case CacheKind::concat: return "concat";
        case CacheKind::static_: return "static";
        case CacheKind::paged: return "paged";
        case CacheKind::window: return "window";
        case CacheKind::int8: return "int8";
        case CacheKind::kivi: return "kivi";
    }
    return "none";
}

bool has_dtype(CacheKind kind) {
    using enum CacheKind;
    return kind == concat || kind == static_ || kind == paged || kind == window;
}

bool has_capacity(CacheKind kind) {
    return kind != CacheKind::none && kind != CacheKind::concat;
}

}  // namespace decodescope
