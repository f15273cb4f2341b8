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

}  // namespace decodescope
