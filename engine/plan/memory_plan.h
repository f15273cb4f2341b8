// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/core/memory.h"
#include "engine/core/result.h"
#include "engine/model/weight_type.h"
#include "engine/plan/kv_arithmetic.h"
#include "engine/plan/plan_shape.h"
#include "engine/plan/weight_arithmetic.h"

namespace decodescope {

/// What is to be planned: requests of one length side by side, decoded with a cache.
struct PlanRequest {
    CacheSpec cache{.kind = CacheKind::static_};
    Window window{};
    int batch = 1;
    std::int64_t context = 0;     ///< tokens of each request that are stored in the end
    std::int64_t new_tokens = 1;  ///< of these and the one after them: made by decoding; the rest is prompt
    std::int64_t prefill_chunk = 0;     ///< prompt tokens per call; 0 = all at once
    int threads = 1;                    ///< that compute
    std::optional<StoredType> weights;  ///< none: as this program holds them, f32 on cache lines
    /// Types that this program also prepares the matrices in, one copy each; only with its own weights.
    std::vector<WeightType> prepared;
    std::int64_t file_weights = 0;    ///< bytes of the weights as they were counted in a file; 0 = by type
    std::int64_t mapped_weights = 0;  ///< bytes of the weights that are used where they lie in a mapped file
    std::int64_t memory = 0;          ///< bytes there are for everything; 0 = not known
    std::int64_t reserve = 0;         ///< of these: not to be used
    bool huge_pages = true;  ///< the system gives huge pages to large tensors, see `huge_pages_offered`

    /// The last new token is never stored, so prompt + new tokens - 1 = context.
    std::int64_t prompt() const { return context - new_tokens + 1; }
    /// Prompt tokens in the largest call.
    std::int64_t largest_call() const {
        return prefill_chunk > 0 && prefill_chunk < prompt() ? prefill_chunk : prompt();
    }
};

/// One cell of the map: does a batch of requests of this length fit?
struct PlanCell {
    int batch = 0;
    std::int64_t context = 0;
    std::int64_t kv_reserved = 0;
    std::int64_t total = 0;  ///< weights, cache, work and the rest of huge pages
    bool fits = false;
};

/// What a model needs and what fits. Bytes unless said otherwise.
struct MemoryPlan {
    std::int64_t weights = 0;   ///< prepared ones included; 0: the number of parameters is not known
    std::int64_t prepared = 0;  ///< of these: matrices as prepared for the kernels
    KvArithmetic kv;
    std::int64_t activations = 0;  ///< of one call in this program
    std::int64_t logits = 0;
    std::int64_t workspace = 0;      ///< scratch of attention and of products
    std::int64_t page_rounding = 0;  ///< to whole huge pages, which large tensors lie on in this program
    std::int64_t heap_tensors = 0;   ///< tensors smaller than a huge page, which lie on the heap

    std::int64_t tensors() const { return weights + kv.reserved + activations + logits + workspace; }
    std::int64_t total() const { return tensors() + page_rounding; }
    std::int64_t work() const { return activations + logits + workspace; }

    std::int64_t kv_per_request = 0;  ///< reserved for one request of the planned context
    // What fits is only known with the memory and the weights.
    std::int64_t left_for_kv = 0;       ///< memory - reserve - weights - work; may be negative
    std::int64_t fitting_requests = 0;  ///< of the planned context (a count)
    std::int64_t fitting_context = 0;   ///< tokens of each request of the planned batch (a count)
    bool limited_by_positions = false;  ///< more would fit, but the model has no more positions
    std::vector<PlanCell> map;          ///< batch by batch, contexts ascending; empty without `memory`
};

/// Plans `request` for `shape`. Errors name what is out of range.
Result<MemoryPlan> plan_memory(const PlanShape& shape, const PlanRequest& request);

/// Whether this system gives huge pages to programs that ask for them.
bool huge_pages_offered();

/// Bytes of memory that this machine could give a program now (MemAvailable, or what is left of the control
/// group's limit where that is less); 0 = not known.
std::int64_t available_memory();

}  // namespace decodescope
