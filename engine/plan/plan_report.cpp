// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/plan/plan_report.h"

#include <fmt/format.h>

#include <utility>

namespace decodescope {

std::string cache_name(const PlanRequest& request) {
    const CacheSpec& cache = request.cache;
    std::string name =
        cache.kind == CacheKind::kivi ? fmt::format("kivi{}", cache.bits) : to_string(cache.kind);
    if (cache.kind == CacheKind::paged) name += fmt::format(", blocks of {}", cache.block);
    return has_dtype(cache.kind) ? fmt::format("{} {}", name, to_string(cache.dtype)) : name;
}

std::string weights_name(const PlanRequest& request) {
    if (request.file_weights > 0) return "as in the file";
    if (request.weights) return request.weights->name;
    std::string name = "F32, as this program holds them";
    for (const WeightType type : request.prepared)
        name += fmt::format(", and matrices as {}", to_string(type));
    return name;
}

std::vector<PlanPart> plan_parts(const PlanReport& report) {
    const MemoryPlan& plan = report.plan;
    const PlanRequest& request = report.request;
    std::vector<PlanPart> parts;
    const std::int64_t parameters = report.shape.n_parameter();
    const bool unknown = plan.weights == 0;
    parts.push_back({"weights", "weights", plan.weights,
                     unknown ? "not known: the file does not tell the tensors"
                             : fmt::format("{} parameters, {}", parameters, weights_name(report.request)),
                     !unknown});
    parts.push_back({"kv_bytes_per_token", "KV of one token", plan.kv.per_token,
                     fmt::format("all {} layers, {}", report.shape.n_layer, cache_name(report.request))});
    parts.push_back({"kv_bytes_live", "KV live", plan.kv.live,
                     fmt::format("{} x {} tokens stored", request.batch, request.context)});
    parts.push_back({"kv_bytes_reserved", "KV reserved", plan.kv.reserved,
                     plan.kv.blocks > 0
                         ? fmt::format("{} blocks of {} tokens", plan.kv.blocks, request.cache.block)
                     : request.cache.kind == CacheKind::kivi
                         ? "codes, scales, and entries in f32 for as many tokens as a call has"
                         : "allocated for entries"});
    parts.push_back({"kv_bytes_meta", "KV tables and positions", plan.kv.meta,
                     plan.kv.block_tables > 0
                         ? fmt::format("of these {} B are block tables", plan.kv.block_tables)
                         : "positions of the slots"});
    if (request.cache.kind == CacheKind::concat) {
        const std::int64_t tokens =
            concat_copied_tokens(request.prompt(), request.new_tokens - 1, request.prefill_chunk);
        parts.push_back({"kv_bytes_copied", "KV copied by growing",
                         tokens * request.batch * plan.kv.per_token,
                         fmt::format("{} tokens of old entries, {} prompt and {} new tokens", tokens,
                                     request.prompt(), request.new_tokens)});
        parts.push_back({"kv_bytes_peak", "KV peak during an append", plan.kv.peak,
                         "a layer's old and new tensors exist together"});
        parts.push_back({"kv_bytes_peak_one_tensor", "the same, all layers in one tensor",
                         plan.kv.peak_of_one_tensor, "old and new cache exist together"});
    }
    const std::string call =
        fmt::format("of calls of {} x {} tokens in this program, f32", request.batch, request.largest_call());
    parts.push_back({"activations", "activations", plan.activations, call});
    parts.push_back({"logits", "logits", plan.logits, "one row for each request, f32"});
    parts.push_back({"workspace", "workspace", plan.workspace,
                     fmt::format("scratch of attention and products, {} threads", request.threads)});
    if (plan.page_rounding > 0) {
        parts.push_back({"page_rounding", "rest of huge pages", plan.page_rounding,
                         "tensors of 2 MiB and more end inside a huge page"});
    }
    parts.push_back({"total", "total", unknown ? 0 : plan.total(),
                     unknown                  ? "not known without the weights"
                     : plan.page_rounding > 0 ? "weights + KV reserved + work + rest of huge pages"
                                              : "weights + KV reserved + work",
                     !unknown});
    return parts;
}

std::vector<PlanPart> plan_capacity(const PlanReport& report) {
    const MemoryPlan& plan = report.plan;
    const PlanRequest& request = report.request;
    if (request.memory == 0 || plan.weights == 0) return {};
    return {
        {"memory", "memory", request.memory, "to plan with"},
        {"reserve", "reserve", request.reserve, "not to be used"},
        {"left_for_kv", "left for KV", plan.left_for_kv, "memory - reserve - weights - work"},
        {"kv_per_request", "KV of one request", plan.kv_per_request,
         fmt::format("{} tokens, {}", request.context, cache_name(report.request))},
    };
}

DType variant_type(const PlanReport& report) {
    return has_dtype(report.request.cache.kind) ? report.request.cache.dtype : DType::f16;
}

std::vector<AttentionVariant> attention_variants(const PlanReport& report) {
    const PlanShape& shape = report.shape;
    const AttentionKind own = shape.attention();
    constexpr int usual_groups = 8;
    const int groups = own == AttentionKind::gqa ? shape.n_kv_head : usual_groups;
    std::vector<AttentionVariant> variants;
    const auto width = static_cast<std::int64_t>(size_of(variant_type(report)));
    const std::int64_t tokens = report.request.batch * report.request.context;
    const std::int64_t most = shape.with_attention(AttentionKind::mha).kv_elements();
    const auto add = [&](std::string name, const PlanShape& one, bool is_own) {
        const std::int64_t elements = one.kv_elements();
        variants.push_back(
            {std::move(name), one.latent > 0 ? 0 : one.n_kv_head, elements * width, elements * width * tokens,
             100.0 * static_cast<double>(most - elements) / static_cast<double>(most), is_own});
    };
    add("MHA", shape.with_attention(AttentionKind::mha), own == AttentionKind::mha);
    if (own == AttentionKind::gqa || (shape.n_head > groups && shape.n_head % groups == 0))
        add(fmt::format("GQA, {} KV heads", groups), shape.with_attention(AttentionKind::gqa, groups),
            own == AttentionKind::gqa);
    if (shape.n_head > 1) add("MQA", shape.with_attention(AttentionKind::mqa), own == AttentionKind::mqa);
    const PlanShape latent = shape.with_attention(AttentionKind::mla);
    // The usual latent is wider than all keys and values of a small model.
    if (own == AttentionKind::mla || latent.kv_elements() < most)
        add(fmt::format("MLA, {} + {}", latent.latent, latent.rope_dim), latent, own == AttentionKind::mla);
    if (shape.n_window_layer > 0) {
        const std::int64_t kept = tokens_in_window(report.request.context, {shape.window, 0});
        const std::int64_t per_layer = shape.kv_elements() / shape.n_layer * width;
        const std::int64_t bytes =
            report.request.batch * per_layer *
            (shape.n_window_layer * kept + (shape.n_layer - shape.n_window_layer) * report.request.context);
        const double all = static_cast<double>(most * width * tokens);
        variants.push_back({fmt::format("{}, {} of {} layers forget beyond {} tokens", to_string(own),
                                        shape.n_window_layer, shape.n_layer, shape.window),
                            shape.n_kv_head, shape.kv_elements() * width, bytes,
                            100.0 * (all - static_cast<double>(bytes)) / all, false});
    }
    return variants;
}

const char* verdict_of(const CheckRow& row) {
    if (row.wanted == CheckAgreement::exact) return row.holds() ? "exact" : "DIFFERS";
    return row.holds() ? "within the limit" : "BEYOND THE LIMIT";
}

double relative_difference(const CheckRow& row) {
    return row.planned == 0
               ? 0
               : 100.0 * static_cast<double>(row.difference()) / static_cast<double>(row.planned);
}

std::string attention_name(const PlanShape& shape) {
    return shape.latent > 0 ? fmt::format("MLA, latent {} + rotary key {}", shape.latent, shape.rope_dim)
                            : fmt::format("{}, {} query / {} KV heads", to_string(shape.attention()),
                                          shape.n_head, shape.n_kv_head);
}

}  // namespace decodescope
