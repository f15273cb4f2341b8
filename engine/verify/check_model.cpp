// SPDX-License-Identifier: GPL-3.0-or-later
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "engine/verify/verify_context.h"

namespace decodescope {

/// The model alone, without a cache: finite logits, and no token moves an earlier one.
Result<void> check_model(VerifyContext& context) {
    Ids ids = context.random_ids(1, context.prompt_length());
    const auto rows = context.naive_rows(ids);
    if (!rows) return rows.error();
    std::int64_t bad = 0;
    for (const auto& row : *rows) {
        bad += std::count_if(row.begin(), row.end(), [](float x) { return !std::isfinite(x); });
    }
    context.add("finite logits", "no NaN, no infinity",
                fmt::format("{} of {} not finite", bad, rows->size() * rows->front().size()), bad == 0);
    if (context.device().is_gpu()) {
        const auto on_cpu = context.cpu_rows(ids);
        if (!on_cpu) return on_cpu.error();
        context.add_equal(fmt::format("{} = CPU", context.device().name()), worst_error(*rows, *on_cpu));
    }
    if (ids.size() < 2) return {};
    ids.back() = (ids.back() + 1) % context.config().vocab;
    auto changed = context.naive_rows(ids);
    if (!changed) return changed.error();
    const bool last_differs = context.config().vocab == 1 || changed->back() != rows->back();
    changed->pop_back();
    const double error = worst_error(*changed, Rows(rows->begin(), rows->end() - 1));
    context.add("causality", "another last token changes the last row alone",
                fmt::format("earlier rows moved by {:.2e}, last row {}", error,
                            last_differs ? "changed" : "did not change"),
                error <= f32_error_limit && last_differs);
    return {};
}

}  // namespace decodescope
