// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/cache/kivi_cache.h"

#include <fmt/format.h>

#include <algorithm>

namespace decodescope {

namespace {

constexpr int max_group = 1024;

}  // namespace

KiviCache::KiviCache(const CacheSpec& spec, const KvShape& shape, int capacity, int ring)
    : KvCache(shape),
      spec_(spec),
      capacity_(capacity),
      ring_(ring),
      n_group_(std::max(0, capacity - spec.residual) / spec.group),
      v_channel_(std::min(spec.group, shape.head_dim)),
      v_groups_(shape.head_dim / v_channel_),
      quantised_(index(shape.batch), 0) {}

Result<std::unique_ptr<KvCache>> KiviCache::make(const CacheSpec& spec, const KvShape& shape,
                                                 const KvRoom& room, std::shared_ptr<MemoryLedger> ledger) {
    const bool bits = spec.bits == 2 || spec.bits == 4;
    if (room.capacity < 1 || !bits || spec.group < 1 || spec.group > max_group || spec.residual < 0 ||
        room.max_call < 1) {
        return Error{
            ErrorKind::bad_input,
            fmt::format("Kivi cache: got capacity {}, {} bits, groups of {} and a residual of {}, expected "
                        "at least 1, 2 or 4, 1 to 1024 and at least 0.",
                        room.capacity, spec.bits, spec.group, spec.residual)};
    }
    const int v_channel = std::min(spec.group, shape.head_dim);
    if (shape.head_dim % v_channel != 0 || shape.head_dim * spec.bits % 8 != 0) {
        return Error{
            ErrorKind::bad_input,
            fmt::format("Kivi cache: groups of {} channels do not divide head_dim = {} into whole bytes.",
                        v_channel, shape.head_dim)};
    }
    const int ring = static_cast<int>(
        std::min<std::int64_t>(room.capacity, std::int64_t{spec.residual} + spec.group - 1 + room.max_call));
    std::unique_ptr<KiviCache> cache(new KiviCache(spec, shape, room.capacity, ring));
    const std::size_t heads = cache->head_index(shape.n_layer, 0, 0);
    const std::size_t groups = heads * index(cache->n_group_);
    const std::size_t quantised = groups * index(spec.group);
    const auto allocate = [&](Buffer& buffer, std::size_t bytes) -> Result<void> {
        auto made = Buffer::allocate(ledger, Owner::kv, bytes);
        if (!made) return made.error();
        buffer = *std::move(made);
        return {};
    };
    const std::size_t floats = heads * index(ring) * index(shape.head_dim) * sizeof(float);
    DS_TRY(allocate(cache->key_codes_, heads * cache->code_bytes(cache->n_group_ * spec.group)));
    DS_TRY(allocate(cache->value_codes_, heads * cache->code_bytes(cache->n_group_ * spec.group)));
    DS_TRY(allocate(cache->key_scales_, groups * index(shape.head_dim) * sizeof(GroupScale)));
    DS_TRY(allocate(cache->value_scales_, quantised * index(cache->v_groups_) * sizeof(GroupScale)));
    DS_TRY(allocate(cache->recent_keys_, floats));
    DS_TRY(allocate(cache->recent_values_, floats));
    cache->reserve_slots(room.capacity, room.max_call);
    return std::unique_ptr<KvCache>(std::move(cache));
}

std::size_t KiviCache::head_index(int layer, int row, int kv_head) const {
    return (index(layer) * index(shape().batch) + index(row)) * index(shape().n_kv_head) + index(kv_head);
}

/// Bytes of the codes of `n_slot` slots of one head.
std::size_t KiviCache::code_bytes(int n_slot) const {
    return index(n_slot) * index(shape().head_dim) * index(spec_.bits) / 8;
}

float* KiviCache::recent(const Buffer& buffer, std::size_t head, int slot) const {
    auto* floats = const_cast<float*>(buffer.f32());
    return floats + (head * index(ring_) + index(slot % ring_)) * index(shape().head_dim);
}

Result<void> KiviCache::reserve(const CallTokens& call) {
    // A pad would set the scale of its whole group.
    const auto positions = call.positions();
    if (std::find(positions.begin(), positions.end(), slot_padding) != positions.end())
        return Error{ErrorKind::unsupported, "A kivi cache cannot hold pads."};
    for (int b = 0; b < call.batch(); ++b) {
        const int n_new = call.end(b) - call.begin(b);
        const int recent = static_cast<int>(slot_positions(b).size()) - quantised_[index(b)];
        if (n_new <= ring_ - recent) continue;
        return Error{ErrorKind::capacity,
                     fmt::format("Kivi cache: {} entries are kept in f32 and {} more came in one call, but "
                                 "there is room for {}.",
                                 recent, n_new, ring_)};
    }
    return {};
}

void KiviCache::store(int layer, int row, int slot, const float* k, const float* v) {
    const int d = shape().head_dim;
    for (int h = 0; h < shape().n_kv_head; ++h) {
        const std::size_t head = head_index(layer, row, h);
        std::copy_n(k + std::int64_t{h} * d, d, recent(recent_keys_, head, slot));
        std::copy_n(v + std::int64_t{h} * d, d, recent(recent_values_, head, slot));
    }
}

void KiviCache::committed() {
    for (int b = 0; b < batch(); ++b) {
        const int target = kivi_quantised_tokens(spec_, static_cast<int>(slot_positions(b).size()));
        for (int& done = quantised_[index(b)]; done < target; done += spec_.group) {
            for (int layer = 0; layer < shape().n_layer; ++layer) {
                for (int h = 0; h < shape().n_kv_head; ++h) {
                    quantise_group(head_index(layer, b, h), done / spec_.group);
                }
            }
        }
    }
}

void KiviCache::quantise_group(std::size_t head, int group) {
    const int d = shape().head_dim;
    const int bits = spec_.bits;
    const int per_byte = 8 / bits;
    const std::size_t first = head * index(n_group_) + index(group);
    auto* key_scales = reinterpret_cast<GroupScale*>(key_scales_.data()) + first * index(d);
    auto* value_scales =
        reinterpret_cast<GroupScale*>(value_scales_.data()) + first * index(spec_.group) * index(v_groups_);
    const std::size_t code_start = first * code_bytes(spec_.group);
    auto* key_codes = reinterpret_cast<std::uint8_t*>(key_codes_.data()) + code_start;
    auto* value_codes = reinterpret_cast<std::uint8_t*>(value_codes_.data()) + code_start;
    std::fill_n(key_codes, code_bytes(spec_.group), std::uint8_t{0});
    std::fill_n(value_codes, code_bytes(spec_.group), std::uint8_t{0});
    const auto put = [&](std::uint8_t* codes, int token, int channel, std::uint8_t code) {
        const int at = token * d + channel;
        codes[at / per_byte] |= static_cast<std::uint8_t>(code << (at % per_byte * bits));
    };
    // The tokens of a group need not lie together in the ring.
    for (int c = 0; c < d; ++c) {
        float column[max_group];
        for (int t = 0; t < spec_.group; ++t) {
            column[t] = recent(recent_keys_, head, group * spec_.group + t)[c];
        }
        key_scales[c] = group_scale(column, spec_.group, 1, bits);
        for (int t = 0; t < spec_.group; ++t)
            put(key_codes, t, c, group_code(column[t], key_scales[c], bits));
    }
    for (int t = 0; t < spec_.group; ++t) {
        const float* value = recent(recent_values_, head, group * spec_.group + t);
        for (int g = 0; g < v_groups_; ++g) {
            const GroupScale scale = group_scale(value + g * v_channel_, v_channel_, 1, bits);
            value_scales[t * v_groups_ + g] = scale;
            for (int c = g * v_channel_; c < (g + 1) * v_channel_; ++c) {
                put(value_codes, t, c, group_code(value[c], scale, bits));
            }
        }
    }
}

void KiviCache::read(int layer, int row, int kv_head, SlotRange slots, float* k, float* v) const {
    const int d = shape().head_dim;
    const std::size_t head = head_index(layer, row, kv_head);
    const int quantised = quantised_[index(row)];
    const std::size_t first = head * index(n_group_) * index(spec_.group);  // slot 0 of this head
    for (int slot = slots.begin; slot < slots.end; ++slot) {
        const auto out = index(slot - slots.begin) * index(d);
        if (slot >= quantised) {
            if (k != nullptr) std::copy_n(recent(recent_keys_, head, slot), d, k + out);
            if (v != nullptr) std::copy_n(recent(recent_values_, head, slot), d, v + out);
            continue;
        }
        const std::size_t at = first + index(slot);
        const std::size_t code_start = at * code_bytes(1);
        if (k != nullptr) {
            const auto* codes = reinterpret_cast<const std::uint8_t*>(key_codes_.data()) + code_start;
            const auto* scales =
                reinterpret_cast<const GroupScale*>(key_scales_.data()) + at / index(spec_.group) * index(d);
            decode_groups(codes, spec_.bits, d, scales, k + out);
        }
        if (v != nullptr) {
            const auto* codes = reinterpret_cast<const std::uint8_t*>(value_codes_.data()) + code_start;
            const auto* scales =
                reinterpret_cast<const GroupScale*>(value_scales_.data()) + at * index(v_groups_);
            if (v_channel_ * spec_.bits % 8 != 0) {
                // Groups that do not end with a byte: one by one.
                for (int c = 0; c < d; ++c) {
                    const int code =
                        codes[c * spec_.bits / 8] >> (c * spec_.bits % 8) & ((1 << spec_.bits) - 1);
                    const GroupScale& scale = scales[c / v_channel_];
                    v[out + index(c)] = scale.zero + static_cast<float>(code) * scale.scale;
                }
                continue;
            }
            for (int g = 0; g < v_groups_; ++g) {
                decode_group(codes + g * v_channel_ * spec_.bits / 8, spec_.bits, v_channel_, scales[g],
                             v + out + index(g * v_channel_));
            }
        }
    }
}

Result<void> KiviCache::can_truncate(int row, int n_token) const {
    const int dropped = next_position(row) - n_token;
    const int slots = static_cast<int>(slot_positions(row).size());
    if (slots - dropped >= quantised_[index(row)]) return {};
    return Error{
        ErrorKind::capacity,
        fmt::format("Kivi cache: row {} cannot go back from {} to {} tokens, because the first {} are "
                    "quantised in groups.",
                    row, next_position(row), n_token, quantised_[index(row)])};
}

KvBytes KiviCache::bytes() const {
    KvBytes bytes;
    const std::uint64_t elements = shape().elements_per_token();
    const std::uint64_t heads = elements / 2 / index(shape().head_dim);
    for (int b = 0; b < batch(); ++b) {
        const auto quantised = index(quantised_[index(b)]);
        const auto recent = slot_positions(b).size() - quantised;
        bytes.payload += elements * quantised * index(spec_.bits) / 8;
        bytes.scales +=
            heads * sizeof(GroupScale) *
            (quantised / index(spec_.group) * index(shape().head_dim) + quantised * index(v_groups_));
        bytes.residual += elements * recent * sizeof(float);
    }
    bytes.live = bytes.payload + bytes.scales + bytes.residual;
    for (const Buffer* buffer :
         {&key_codes_, &value_codes_, &key_scales_, &value_scales_, &recent_keys_, &recent_values_}) {
        bytes.reserved += buffer->size_bytes();
    }
    bytes.slack = bytes.reserved - bytes.live;
    bytes.meta = slot_map_bytes() + quantised_.size() * sizeof(int);
    return bytes;
}

Result<void> KiviCache::reorder_storage(std::span<const int>) {
    return Error{ErrorKind::unsupported, "A kivi cache cannot reorder its rows."};
}

}  // namespace decodescope
