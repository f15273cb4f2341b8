// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/plan/measured_run.h"

#include <span>

#include "engine/cache/kv_cache.h"
#include "engine/core/random.h"
#include "engine/decode/lane_weights.h"
#include "engine/plan/counting_backend.h"

namespace decodescope {

namespace {

Workload workload_of(const MeasuredLoad& load, int vocab) {
    Workload workload;
    for (int b = 0; b < load.batch; ++b) {
        Request request;
        request.new_tokens = load.new_tokens;
        for (int i = 0; i < load.prompt; ++i) {
            const std::uint64_t bits =
                random_bits(load.seed, static_cast<std::uint64_t>(b), static_cast<std::uint64_t>(i));
            request.prompt.push_back(static_cast<std::int32_t>(bits % static_cast<std::uint64_t>(vocab)));
        }
        workload.requests.push_back(std::move(request));
    }
    return workload;
}

}  // namespace

Result<WorkCount> run_counted(const LaneSpec& spec, LaneContext context, const MeasuredLoad& load,
                              std::stop_token stop, const std::function<Result<void>(const Lane&)>& at_end) {
    const ModelConfig config = context.weights->config;
    CountingBackend counting(*context.backend);
    context.backend = &counting;
    auto prepared = prepared_context(spec, std::move(context), stop);
    if (!prepared) return prepared.error();
    auto lane = make_lane(spec, *std::move(prepared));
    if (!lane) return lane.error();
    DS_TRY((*lane)->start(workload_of(load, config.vocab)));
    WorkCount work;
    // The last token is never fed, so the lane still holds everything when all are chosen.
    for (std::int64_t chosen = 0; chosen < std::int64_t{load.batch} * load.new_tokens;) {
        const auto ready = (*lane)->ready();
        if (!ready) return ready.error();
        if (!*ready) {
            const std::string& reason = (*lane)->requests().front().reason;
            return Error{ErrorKind::capacity, reason.empty() ? "The run ended early." : reason};
        }
        const auto step = (*lane)->step(stop);
        if (!step) return step.error();
        chosen += static_cast<std::int64_t>(step->chosen.size());
        work.calls += step->n_call;
        work.positions += step->positions_forwarded;
        work.allowed_cells += step->score_cells_allowed;
        work.computed_cells += step->score_cells_computed;
    }
    const BackendCounts& counts = counting.counts();
    // Every layer attends to the same cells.
    work.rectangle_cells = counts.rectangle_cells / config.n_layer;
    work.product_flops = counts.product_flops;
    work.attention_flops = counts.attention_flops;
    work.weight_bytes = counts.weight_bytes;
    const KvShape one_row{config.n_layer, 1, config.n_kv_head, config.head_dim};
    for (const int slots : counts.cached_slots) {
        const auto bytes = kv_live_formula(spec.cache, one_row, std::span(&slots, 1));
        work.kv_bytes += static_cast<std::int64_t>(bytes) / config.n_layer;
    }
    if (const KvCache* cache = (*lane)->cache())
        work.copied_bytes = static_cast<std::int64_t>(cache->copied_bytes());
    if (at_end) DS_TRY(at_end(**lane));
    (*lane)->finish();
    return work;
}

}  // namespace decodescope
