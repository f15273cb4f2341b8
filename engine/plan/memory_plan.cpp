// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/plan/memory_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <string>

#include "engine/backend/cpu/attend.h"
#include "engine/backend/cpu/packed_call.h"
#include "engine/core/dtype.h"

namespace decodescope {

namespace {

constexpr std::int64_t huge_page = std::int64_t{2} << 20;
constexpr int map_batches[] = {1, 2, 4, 8, 16, 32, 64};
constexpr std::size_t map_columns = 8;
constexpr std::int64_t most_context = 1 << 24;
constexpr std::int64_t usual_positions = 131'072;  // of a model that does not state how many it has

/// What one forward call needs, in floats: as Workspace::reserve takes it for the lane that is planned.
struct WorkFloats {
    std::vector<std::int64_t> activations;
    std::int64_t logits = 0;
    std::int64_t scores = 0;
    std::int64_t products = 0;
};

/// Scratch of the largest product of a call, as `Backend::product_floats` has it.
std::int64_t product_floats(const PlanShape& s, const PlanRequest& r, std::int64_t wide) {
    const std::int64_t rows = r.batch * r.largest_call();
    const auto floats = [&](std::int64_t n_row, std::int64_t n_in, std::int64_t gate) {
        // A kernel of the library computes what stands beside a gate apart.
        return r.prepared.empty() ? n_row * (n_in + gate) : PackedCall::floats(n_row, n_in, r.threads);
    };
    return std::max({floats(rows, s.d_model, 0), floats(rows, std::int64_t{s.n_head} * s.value_dim, 0),
                     floats(rows, s.d_model, s.gated ? wide : 0), floats(rows, wide, 0),
                     floats(r.batch, s.d_model, 0)});
}

WorkFloats work_floats(const PlanShape& s, const PlanRequest& r) {
    const std::int64_t rows = r.batch * r.largest_call();
    const std::int64_t query = std::int64_t{s.n_head} * s.key_dim;
    const std::int64_t kept =
        s.latent > 0 ? s.latent + s.rope_dim : std::int64_t{s.n_kv_head} * (s.key_dim + s.value_dim);
    const std::int64_t wide = std::max({std::int64_t{s.d_ff}, std::int64_t{s.d_expert}});
    WorkFloats work;
    work.activations = {rows * s.d_model, std::int64_t{r.batch} * s.d_model, rows * (query + kept),
                        rows * s.n_head * s.value_dim, rows * wide};
    if (!s.learned_positions) work.activations.push_back(rows * (s.latent > 0 ? s.rope_dim : s.key_dim));
    work.logits = std::int64_t{r.batch} * s.vocab;
    work.scores = attend_floats(s.key_dim) * r.threads;
    work.products = product_floats(s, r, wide);
    return work;
}

/// Sizes of the tensors that a cache is made of.
std::vector<std::int64_t> cache_tensors(const PlanShape& shape, const PlanRequest& request,
                                        const KvArithmetic& kv) {
    const auto same = [&](std::int64_t n) {
        return std::vector<std::int64_t>(static_cast<std::size_t>(n), n == 0 ? 0 : kv.reserved / n);
    };
    switch (request.cache.kind) {
        case CacheKind::none: return {};
        case CacheKind::concat: return same(std::int64_t{2} * shape.n_layer);
        case CacheKind::static_:
        case CacheKind::window: return same(2);
        case CacheKind::paged: return same(1);
        case CacheKind::int8: {
            const std::int64_t width = shape.key_dim;
            const std::int64_t slots = kv.reserved / (2 * (width + float_bytes));
            return {slots * width, slots * width, slots * float_bytes, slots * float_bytes};
        }
        case CacheKind::kivi: return same(6);
    }
    return {};
}

void fill_parts(const PlanShape& shape, const PlanRequest& request, MemoryPlan& plan) {
    plan.weights = request.file_weights > 0 ? request.file_weights
                   : request.weights        ? weight_bytes(shape, *request.weights)
                                            : engine_weight_bytes(shape);
    const bool own = request.file_weights == 0 && !request.weights;
    for (const WeightType type : request.prepared) {
        if (own && plan.weights > 0) plan.prepared += prepared_weight_bytes(shape, type);
    }
    const WorkFloats work = work_floats(shape, request);
    std::vector<std::int64_t> tensors = cache_tensors(shape, request, plan.kv);
    tensors.push_back(std::max<std::int64_t>(0, plan.weights - request.mapped_weights));
    for (const WeightType type : request.prepared) {
        if (plan.prepared > 0) tensors.push_back(prepared_weight_bytes(shape, type));
    }
    plan.weights += plan.prepared;
    for (const std::int64_t floats : work.activations) {
        plan.activations += floats * float_bytes;
        tensors.push_back(floats * float_bytes);
    }
    plan.logits = work.logits * float_bytes;
    plan.workspace = (work.scores + work.products) * float_bytes;
    tensors.push_back(plan.logits);
    tensors.push_back(work.scores * float_bytes);
    tensors.push_back(work.products * float_bytes);
    for (const std::int64_t bytes : tensors) {
        if (bytes < huge_page)
            plan.heap_tensors += bytes;
        else if (request.huge_pages)
            plan.page_rounding += (bytes + huge_page - 1) / huge_page * huge_page - bytes;
    }
}

Result<void> check(const PlanShape& shape, const PlanRequest& request) {
    if (request.context < 1 || request.new_tokens < 1 || request.prompt() < 1) {
        return Error{ErrorKind::bad_input,
                     fmt::format("Plan: {} new tokens leave no prompt in a context of {} tokens.",
                                 request.new_tokens, request.context)};
    }
    if (request.context > most_context) {
        return Error{ErrorKind::bad_input, fmt::format("Plan: a context of {} tokens is longer than {}.",
                                                       request.context, most_context)};
    }
    const double rows = static_cast<double>(request.batch) * static_cast<double>(request.largest_call());
    const double widths =
        4.0 * (static_cast<double>(shape.n_head) * (shape.key_dim + shape.value_dim) + shape.latent +
               2.0 * shape.d_model + 2.0 * std::max(shape.d_ff, shape.d_expert) + shape.vocab);
    if (rows * widths * static_cast<double>(sizeof(float)) > 1e18)
        return Error{ErrorKind::bad_input,
                     "Plan: a call of that many tokens would need more than 10^18 bytes."};
    if (shape.n_positions > 0 && request.context > shape.n_positions) {
        return Error{ErrorKind::bad_input, fmt::format("Plan: a context of {} tokens is beyond the {} "
                                                       "positions of {}.",
                                                       request.context, shape.n_positions, shape.name)};
    }
    return {};
}

/// Parts of the plan for other numbers of requests and tokens.
Result<MemoryPlan> parts_of(const PlanShape& shape, PlanRequest request, int batch, std::int64_t context) {
    // The prompt grows with the context; as many tokens are decoded as were planned, as far as there are any.
    request.batch = batch;
    request.context = context;
    request.new_tokens = std::min(request.new_tokens, context);
    const KvLoad load{request.cache, request.window, batch, context, 0, request.largest_call()};
    auto kv = kv_arithmetic(shape, load);
    if (!kv) return kv.error();
    MemoryPlan plan;
    plan.kv = *kv;
    fill_parts(shape, request, plan);
    return plan;
}

std::vector<std::int64_t> map_contexts(std::int64_t most) {
    std::vector<std::int64_t> contexts;
    // Of a model with few positions the shorter contexts too, so that there is something to choose from.
    const std::int64_t first = std::clamp<std::int64_t>(most / 16, 1, 1024);
    for (std::int64_t n = first; n < most; n *= 2) contexts.push_back(n);
    contexts.push_back(most);
    if (contexts.size() > map_columns)
        contexts.erase(contexts.begin(), contexts.end() - static_cast<std::ptrdiff_t>(map_columns));
    return contexts;
}

Result<void> fill_capacity(const PlanShape& shape, const PlanRequest& request, MemoryPlan& plan) {
    plan.left_for_kv = request.memory - request.reserve - plan.weights - plan.work();
    const std::int64_t most = shape.n_positions > 0 ? shape.n_positions : usual_positions;
    const auto fits = [&](int batch, std::int64_t context) {
        const auto parts = parts_of(shape, request, batch, context);
        return parts && parts->kv.reserved <= plan.left_for_kv;
    };
    plan.fitting_requests = plan.left_for_kv <= 0 ? 0 : plan.left_for_kv / plan.kv_per_request;
    // The longest context that fits: more tokens never need less.
    std::int64_t fitting = 0;
    for (std::int64_t low = 1, high = most; low <= high;) {
        const std::int64_t middle = low + (high - low) / 2;
        if (fits(request.batch, middle)) {
            fitting = middle;
            low = middle + 1;
        } else {
            high = middle - 1;
        }
    }
    plan.fitting_context = fitting;
    plan.limited_by_positions = shape.n_positions > 0 && fitting == most;
    for (const int batch : map_batches) {
        for (const std::int64_t context : map_contexts(most)) {
            const auto parts = parts_of(shape, request, batch, context);
            if (!parts) return parts.error();
            const std::int64_t total = parts->total();
            plan.map.push_back(
                {batch, context, parts->kv.reserved, total, total <= request.memory - request.reserve});
        }
    }
    return {};
}

/// The number after `key` in a file of lines "key number ..."; the whole file when `key` is empty.
std::int64_t number_in(const char* path, const std::string& key) {
    std::ifstream file(path);
    std::string word;
    std::int64_t number = 0;
    while (file >> word) {
        if (key.empty()) {
            const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
            return error == std::errc() && end == word.data() + word.size() ? number : 0;
        }
        if (word == key) return file >> number ? number : 0;
    }
    return 0;
}

}  // namespace

Result<MemoryPlan> plan_memory(const PlanShape& shape, const PlanRequest& request) {
    DS_TRY(check(shape, request));
    const KvLoad load{request.cache,         request.window, request.batch, request.context, 0,
                      request.largest_call()};
    auto kv = kv_arithmetic(shape, load);
    if (!kv) return kv.error();
    MemoryPlan plan;
    plan.kv = *kv;
    fill_parts(shape, request, plan);
    const auto one = parts_of(shape, request, 1, request.context);
    if (!one) return one.error();
    plan.kv_per_request = one->kv.reserved;
    if (request.memory > 0 && plan.weights > 0) DS_TRY(fill_capacity(shape, request, plan));
    return plan;
}

bool huge_pages_offered() {
    std::ifstream file("/sys/kernel/mm/transparent_hugepage/enabled");
    std::string word;
    while (file >> word) {
        if (word == "[always]" || word == "[madvise]") return true;
    }
    return false;
}

std::int64_t available_memory() {
    std::int64_t available = number_in("/proc/meminfo", "MemAvailable:") * 1024;
    const std::int64_t limit = number_in("/sys/fs/cgroup/memory.max", "");
    const std::int64_t used = number_in("/sys/fs/cgroup/memory.current", "");
    if (limit > used && used > 0) available = std::min(available, limit - used);
    return available;
}

}  // namespace decodescope
