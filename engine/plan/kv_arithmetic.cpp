// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/plan/kv_arithmetic.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "engine/cache/entry_codec.h"
#include "engine/cache/prefix_tree.h"

namespace decodescope {

namespace {

constexpr std::int64_t scale_bytes = sizeof(float);
constexpr std::int64_t group_scale_bytes = sizeof(GroupScale);
constexpr std::int64_t position_bytes = sizeof(std::int32_t);
constexpr std::int64_t block_number_bytes = sizeof(int);
constexpr std::int64_t block_state_bytes = 16;  // of a block of the pool: references and last use
constexpr std::int64_t most_tokens = std::int64_t{1} << 32;
constexpr int most_rows = 1 << 20;

std::int64_t divide_up(std::int64_t a, std::int64_t b) {
    return (a + b - 1) / b;
}

/// Layers that keep every token, and those that forget what is outside the window.
struct LayerSplit {
    std::int64_t whole = 0;
    std::int64_t windowed = 0;
    Window window;
};

LayerSplit split_layers(const PlanShape& shape, const KvLoad& load) {
    if (load.cache.kind != CacheKind::window) return {shape.n_layer, 0, {}};
    // A window that the user asks for is one of all layers; the model's own is where the model has it.
    if (load.window.size > 0) return {0, shape.n_layer, load.window};
    return {shape.n_layer - shape.n_window_layer, shape.n_window_layer, {shape.window, load.window.sinks}};
}

Result<void> check(const PlanShape& shape, const KvLoad& load) {
    if (load.batch < 1 || load.batch > most_rows || load.length < 1 || load.length > most_tokens ||
        load.max_call < 1) {
        return Error{ErrorKind::bad_input,
                     fmt::format("Plan: got a batch of {} with {} tokens each, expected 1 to {} and 1 to {}.",
                                 load.batch, load.length, most_rows, most_tokens)};
    }
    const CacheSpec& cache = load.cache;
    if (cache.kind == CacheKind::window && load.window.size == 0 && shape.n_window_layer == 0) {
        return Error{ErrorKind::bad_input,
                     "Plan: a window cache was asked for, but the model has no window; give one."};
    }
    if (cache.kind == CacheKind::paged && (cache.block < 1 || cache.blocks < 0)) {
        return Error{ErrorKind::bad_input, fmt::format("Plan: got {} blocks of {} tokens, expected at least "
                                                       "1 token.",
                                                       cache.blocks, cache.block)};
    }
    if (cache.kind != CacheKind::kivi) return {};
    if (shape.latent > 0) {
        return Error{ErrorKind::unsupported,
                     "Plan: a kivi cache quantises keys and values apart, but MLA keeps a latent of both."};
    }
    const bool bits = cache.bits == 2 || cache.bits == 4;
    if (!bits || cache.group < 1 || cache.residual < 0) {
        return Error{ErrorKind::bad_input,
                     fmt::format("Plan: got {} bits, groups of {} and a residual of {}, expected 2 or 4, at "
                                 "least 1 and at least 0.",
                                 cache.bits, cache.group, cache.residual)};
    }
    for (const int width : {shape.key_dim, shape.value_dim}) {
        const int group = std::min(cache.group, width);
        if (width % group == 0 && width * cache.bits % 8 == 0) continue;
        return Error{ErrorKind::bad_input,
                     fmt::format("Plan: groups of {} channels do not divide head_dim = {} into whole bytes.",
                                 group, width)};
    }
    return {};
}

/// Bytes of the slots of one token of all layers of a kind that stores entries one by one.
std::int64_t slot_bytes(const PlanShape& shape, const CacheSpec& cache, std::int64_t n_layer) {
    std::int64_t bytes = 0;
    for (const KvVectors& vectors : shape.kv_vectors()) {
        bytes += vectors.count * (cache.kind == CacheKind::int8
                                      ? vectors.width + scale_bytes
                                      : vectors.width * static_cast<std::int64_t>(size_of(cache.dtype)));
    }
    return bytes * n_layer;
}

/// Bytes of `n` quantised tokens (whole groups) of one row.
std::int64_t kivi_quantised_bytes(const PlanShape& shape, const CacheSpec& cache, std::int64_t n) {
    const std::int64_t heads = std::int64_t{shape.n_layer} * shape.n_kv_head;
    const std::int64_t codes = n * (shape.key_dim + shape.value_dim) * cache.bits / 8;
    const std::int64_t v_groups = shape.value_dim / std::min(cache.group, shape.value_dim);
    return heads * (codes + (n / cache.group * shape.key_dim + n * v_groups) * group_scale_bytes);
}

void fill_kivi(const PlanShape& shape, const KvLoad& load, std::int64_t capacity, KvArithmetic& bytes) {
    const CacheSpec& cache = load.cache;
    const auto quantised_of = [&](std::int64_t n) {
        return std::max<std::int64_t>(0, n - cache.residual) / cache.group * cache.group;
    };
    const std::int64_t quantised = quantised_of(load.length);
    const std::int64_t exact = shape.kv_elements() * static_cast<std::int64_t>(sizeof(float));
    // The ring of exact entries also takes what one call brings, before whole groups of it are quantised.
    const std::int64_t ring =
        std::min(capacity, std::int64_t{cache.residual} + cache.group - 1 + load.max_call);
    bytes.per_token = kivi_quantised_bytes(shape, cache, cache.group) / cache.group;
    bytes.live =
        load.batch * (kivi_quantised_bytes(shape, cache, quantised) + exact * (load.length - quantised));
    bytes.reserved = load.batch * (kivi_quantised_bytes(shape, cache, quantised_of(capacity)) + exact * ring);
    bytes.meta = load.batch * (capacity * position_bytes + static_cast<std::int64_t>(sizeof(int)));
}

void fill_paged(const KvLoad& load, std::int64_t capacity, KvArithmetic& bytes) {
    const CacheSpec& cache = load.cache;
    const std::int64_t per_row = divide_up(capacity, cache.block);
    bytes.blocks = cache.blocks > 0 ? cache.blocks : per_row * load.batch;
    bytes.block_tables = load.batch * per_row * block_number_bytes;
    bytes.reserved = bytes.blocks * cache.block * bytes.per_token;
    const auto known_prefixes = static_cast<std::int64_t>(PrefixTree(1).bytes());
    // Positions of the slots and, for sharing, the tokens in them.
    bytes.meta = load.batch * capacity * 2 * position_bytes +
                 bytes.blocks * (block_state_bytes + block_number_bytes + known_prefixes) +
                 bytes.block_tables;
}

}  // namespace

std::int64_t tokens_in_window(std::int64_t length, const Window& window) {
    if (window.size == 0) return length;
    return std::min<std::int64_t>(length, std::int64_t{window.size} + window.sinks);
}

std::int64_t concat_copied_tokens(std::int64_t prompt, std::int64_t steps, std::int64_t chunk) {
    const std::int64_t call = chunk > 0 ? chunk : std::max<std::int64_t>(1, prompt);
    const std::int64_t calls = divide_up(prompt, call);
    return call * (calls * (calls - 1) / 2) + steps * prompt + steps * (steps - 1) / 2;
}

Result<KvArithmetic> kv_arithmetic(const PlanShape& shape, const KvLoad& load) {
    DS_TRY(check(shape, load));
    const CacheSpec& cache = load.cache;
    KvArithmetic bytes;
    if (cache.kind == CacheKind::none) return bytes;
    std::int64_t capacity = cache.capacity > 0  ? cache.capacity
                            : load.capacity > 0 ? load.capacity
                                                : load.length;
    if (cache.kind == CacheKind::concat) capacity = load.length;
    if (load.length > capacity && cache.kind != CacheKind::window) {
        return Error{ErrorKind::capacity,
                     fmt::format("Plan: {} tokens do not fit a cache of {}.", load.length, capacity)};
    }
    if (static_cast<double>(shape.kv_elements()) * 8.0 * load.batch * static_cast<double>(capacity) > 1e18)
        return Error{ErrorKind::bad_input, "Plan: the cache would need more than 10^18 bytes."};
    bytes.per_token = slot_bytes(shape, cache, shape.n_layer);
    bytes.live = bytes.reserved = 0;
    switch (cache.kind) {
        case CacheKind::none: break;
        case CacheKind::concat: {
            bytes.live = bytes.reserved = load.batch * load.length * bytes.per_token;
            bytes.meta = load.batch * position_bytes *
                         static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(load.length)));
            const std::int64_t before = load.batch * (load.length - 1) * bytes.per_token;
            bytes.peak = bytes.reserved + before / shape.n_layer;
            bytes.peak_of_one_tensor = bytes.reserved + before;
            return bytes;
        }
        case CacheKind::static_:
        case CacheKind::int8:
            bytes.live = load.batch * load.length * bytes.per_token;
            bytes.reserved = load.batch * capacity * bytes.per_token;
            bytes.meta = load.batch * capacity * position_bytes;
            break;
        case CacheKind::paged:
            bytes.live = load.batch * load.length * bytes.per_token;
            fill_paged(load, capacity, bytes);
            break;
        case CacheKind::window: {
            const LayerSplit layers = split_layers(shape, load);
            const std::int64_t slots = std::min(
                capacity, std::int64_t{layers.window.sinks} + layers.window.size - 1 + load.max_call);
            const std::int64_t whole = slot_bytes(shape, cache, layers.whole);
            const std::int64_t windowed = slot_bytes(shape, cache, layers.windowed);
            const std::int64_t kept = tokens_in_window(load.length, layers.window);
            bytes.live = load.batch * (whole * load.length + windowed * kept);
            bytes.reserved = load.batch * (whole * capacity + windowed * slots);
            bytes.meta = load.batch * slots * position_bytes;
            break;
        }
        case CacheKind::kivi: fill_kivi(shape, load, capacity, bytes); break;
    }
    bytes.peak = bytes.peak_of_one_tensor = bytes.reserved;
    return bytes;
}

}  // namespace decodescope
