// SPDX-License-Identifier: GPL-3.0-or-later
#include <fmt/format.h>

#include <algorithm>

#include "engine/cache/concat_cache.h"
#include "engine/cache/entry_codec.h"
#include "engine/cache/int8_cache.h"
#include "engine/cache/kivi_cache.h"
#include "engine/cache/kv_cache.h"
#include "engine/cache/paged_cache.h"
#include "engine/cache/static_cache.h"
#include "engine/cache/window_cache.h"

namespace decodescope {

Result<std::unique_ptr<KvCache>> make_cache(const CacheSpec& spec, const KvShape& shape, const KvRoom& room,
                                            std::shared_ptr<MemoryLedger> ledger,
                                            std::uint64_t model_identity) {
    switch (spec.kind) {
        case CacheKind::concat: return ConcatCache::make(spec, shape, std::move(ledger));
        case CacheKind::static_: return StaticCache::make(spec, shape, room, std::move(ledger));
        case CacheKind::paged: return PagedCache::make(spec, shape, room, std::move(ledger), model_identity);
        case CacheKind::window: return WindowCache::make(spec, shape, room, std::move(ledger));
        case CacheKind::int8: return Int8Cache::make(shape, room, std::move(ledger));
        case CacheKind::kivi:
            if (ledger->device() != nullptr) {
                return Error{ErrorKind::unsupported,
                             fmt::format("A kivi cache lies in the memory of the CPU, not in that of {}.",
                                         ledger->device()->name())};
            }
            return KiviCache::make(spec, shape, room, std::move(ledger));
        case CacheKind::none: break;
    }
    return Error{ErrorKind::internal, "A cache of kind none was asked for."};
}

int kivi_quantised_tokens(const CacheSpec& spec, int length) {
    return std::max(0, length - spec.residual) / spec.group * spec.group;
}

std::uint64_t kv_live_formula(const CacheSpec& spec, const KvShape& shape, std::span<const int> lengths) {
    const std::uint64_t elements = shape.elements_per_token();
    const auto head_dim = static_cast<std::uint64_t>(shape.head_dim);
    const std::uint64_t vectors = elements / head_dim;  // K and V vectors of one token
    std::uint64_t bytes = 0;
    for (const int length : lengths) {
        const auto n = static_cast<std::uint64_t>(length);
        switch (spec.kind) {
            case CacheKind::none: break;
            case CacheKind::concat:
            case CacheKind::static_:
            case CacheKind::paged:
            case CacheKind::window: bytes += elements * n * size_of(spec.dtype); break;
            case CacheKind::int8: bytes += elements * n + vectors * n * sizeof(float); break;
            case CacheKind::kivi: {
                const auto quantised = static_cast<std::uint64_t>(kivi_quantised_tokens(spec, length));
                const auto group = static_cast<std::uint64_t>(spec.group);
                const std::uint64_t v_groups = head_dim / std::min(group, head_dim);
                bytes += elements * quantised * static_cast<std::uint64_t>(spec.bits) / 8;
                bytes += vectors / 2 * (quantised / group * head_dim + quantised * v_groups) * 8;
                bytes += elements * (n - quantised) * sizeof(float);
                break;
            }
        }
    }
    return bytes;
}

}  // namespace decodescope
