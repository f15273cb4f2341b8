// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/plan/plan_choices.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <optional>

#include "engine/core/quote.h"
#include "engine/experiment/experiment.h"
#include "engine/measure/environment.h"

namespace decodescope {

namespace {

constexpr std::int64_t usual_context = 4096;
constexpr std::int64_t usual_new_tokens = 16;

Error choice_error(const PlanChoices& choices, const char* name, const std::string& what) {
    return {ErrorKind::bad_input, fmt::format("{}{}: {}.", choices.prefix, name, what)};
}

Result<CacheSpec> cache_of(const PlanChoices& choices, bool loadable) {
    const auto lane = lane_from_name(choices.cache);
    const bool cached = lane && lane->mode == LaneMode::cached && lane->batching == Batching::single &&
                        lane->faults.empty() && lane->cache.kind != CacheKind::none;
    if (!cached) {
        return choice_error(choices, "cache",
                            fmt::format("{} is not one of concat, static, f16, bf16, paged, window, "
                                        "int8, kivi4, kivi2",
                                        quote(choices.cache)));
    }
    CacheSpec cache = lane->cache;
    if (!choices.kv_type.empty()) {
        if (!has_dtype(cache.kind)) {
            return choice_error(choices, "kv-type",
                                fmt::format("a cache of kind {} has a type of its own", choices.cache));
        }
        cache.dtype = choices.kv_type == "f32"   ? DType::f32
                      : choices.kv_type == "f16" ? DType::f16
                                                 : DType::bf16;
    } else if (!loadable && has_dtype(cache.kind) && cache.dtype == DType::f32) {
        cache.dtype = DType::f16;
    }
    if (choices.block > 0) {
        if (cache.kind != CacheKind::paged)
            return choice_error(choices, "block", "only paged caches have blocks");
        cache.block = choices.block;
    }
    if (choices.residual >= 0) {
        if (cache.kind != CacheKind::kivi)
            return choice_error(choices, "residual", "only kivi caches have a residual");
        cache.residual = choices.residual;
    }
    return cache;
}

/// The type of the planned weights; none = as this program holds them.
Result<std::optional<StoredType>> weights_of(const PlanChoices& choices, const PlanShape& shape) {
    if (choices.weights_type == "engine" || (choices.weights_type.empty() && shape.loadable))
        return std::optional<StoredType>();
    std::string name = choices.weights_type;
    if (name.empty())
        name = shape.stored_as == "float32" ? "f32" : shape.stored_as == "float16" ? "f16" : "bf16";
    auto type = stored_type(name);
    if (!type) return choice_error(choices, "weights-type", type.error().message);
    return std::optional(*std::move(type));
}

}  // namespace

Result<std::int64_t> size_from_text(std::string_view name, std::string_view text) {
    double number = 0;
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
    std::string unit(static_cast<const char*>(end), text.data() + text.size());
    for (char& c : unit) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    const auto fail = [&] {
        return Error{ErrorKind::bad_input,
                     fmt::format("{}: {} is not a size such as 16G, 24GB or 800M.", name, quote(text))};
    };
    if (code != std::errc() || !(number >= 0)) return fail();
    double factor = 1;
    if (!unit.empty() && unit != "B") {
        const auto power = std::string_view("KMGT").find(unit.front());
        const std::string_view rest = std::string_view(unit).substr(1);
        if (power == std::string_view::npos || (!rest.empty() && rest != "B" && rest != "IB")) return fail();
        factor = std::pow(rest == "B" ? 1000.0 : 1024.0, static_cast<double>(power + 1));
    }
    const double bytes = number * factor;
    if (!(bytes < 9e18)) return fail();
    return static_cast<std::int64_t>(bytes);
}

Result<PlanRequest> plan_request(const PlanShape& shape, const PlanChoices& choices) {
    PlanRequest request;
    auto cache = cache_of(choices, shape.loadable);
    if (!cache) return cache.error();
    request.cache = *cache;
    auto weights = weights_of(choices, shape);
    if (!weights) return weights.error();
    request.weights = *std::move(weights);
    const auto lane = lane_from_name(choices.cache);
    const bool asked = lane && (lane->weights != WeightType::f32 || lane->kernels != Kernels::packed);
    if (asked && request.weights) {
        return choice_error(
            choices, "cache",
            fmt::format("{} says what this program computes with, but the weights are planned "
                        "as {}, expected \"engine\" as their type",
                        quote(choices.cache), request.weights->name));
    }
    if (lane && lane->kernels == Kernels::packed) request.prepared = {lane->weights};
    if (choices.weights_type.empty() && !shape.loadable)
        request.file_weights = static_cast<std::int64_t>(shape.file_tensor_bytes);
    request.window = choices.window;
    if (choices.check && choices.window.size == 0 && shape.window > 0) request.window = {shape.window, 0};
    request.batch = choices.batch;
    const std::int64_t most = shape.n_positions > 0 ? shape.n_positions : usual_context;
    request.context = choices.context > 0 ? choices.context : std::min(most, usual_context);
    request.new_tokens = choices.tokens > 0 ? choices.tokens : std::min(usual_new_tokens, request.context);
    request.prefill_chunk = choices.chunk;
    request.threads = choices.threads > 0 ? choices.threads : physical_core_count();
    request.huge_pages = shape.loadable && huge_pages_offered();  // other programs have their own ways
    if (choices.memory.empty()) {
        request.memory = available_memory();
    } else {
        auto memory = size_from_text(choices.prefix + "memory", choices.memory);
        if (!memory) return memory.error();
        if (*memory == 0) return choice_error(choices, "memory", "0 bytes are nothing to plan with");
        request.memory = *memory;
    }
    auto reserve = size_from_text(choices.prefix + "reserve", choices.reserve);
    if (!reserve) return reserve.error();
    request.reserve = *reserve;
    return request;
}

Result<void> state_parameters(PlanShape& shape, std::int64_t parameters, const std::string& prefix) {
    if (shape.tensors_known && shape.n_parameter() != parameters) {
        return Error{ErrorKind::bad_input, fmt::format("{}parameters: {} has {} parameters.", prefix,
                                                       shape.name, shape.n_parameter())};
    }
    shape.stated_parameters = parameters;
    return {};
}

}  // namespace decodescope
