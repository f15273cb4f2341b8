// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/decode/lane_weights.h"

#include <fmt/format.h>

#include <utility>

#include "engine/backend/backend.h"
#include "engine/core/quote.h"

namespace decodescope {

Result<std::shared_ptr<const Weights>> lane_weights(const LaneSpec& spec,
                                                    std::shared_ptr<const Weights> weights, Backend& backend,
                                                    const std::shared_ptr<MemoryLedger>& ledger,
                                                    std::stop_token stop) {
    if (weights == nullptr || spec.kernels == Kernels::openblas) return weights;
    auto prepared = backend.prepare(std::move(weights), spec.weights, ledger, std::move(stop));
    if (!prepared) {
        return Error{prepared.error().kind,
                     fmt::format("Lane {}: {}", quote(spec.name), prepared.error().message)};
    }
    return prepared;
}

Result<LaneContext> prepared_context(const LaneSpec& spec, LaneContext context, std::stop_token stop) {
    for (auto* weights : {&context.weights, &context.draft_weights}) {
        auto prepared = lane_weights(spec, std::move(*weights), *context.backend, context.ledger, stop);
        if (!prepared) return prepared.error();
        *weights = *std::move(prepared);
    }
    return context;
}

}  // namespace decodescope
