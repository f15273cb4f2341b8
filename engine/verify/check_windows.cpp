// SPDX-License-Identifier: GPL-3.0-or-later
#include <fmt/format.h>

#include <algorithm>

#include "engine/verify/verify_context.h"

namespace decodescope {

/// A sliding window: masked without a cache, masked over a cache that keeps all, and in a cache that forgets.
Result<void> check_windows(VerifyContext& context) {
    const int length = std::min(context.config().n_positions, context.prompt_length() + context.steps());
    const Ids ids = context.random_ids(1, length);
    for (const Window window : {Window{6, 0}, Window{3, 2}, Window{1, 0}}) {
        const std::string name =
            fmt::format("window of {}{}", window.size,
                        window.sinks > 0 ? fmt::format(" and {} sinks", window.sinks) : "");
        const auto reference = context.naive_rows(ids, window);
        if (!reference) return reference.error();
        CacheSpec keeps;
        keeps.kind = CacheKind::static_;
        CacheSpec forgets;
        forgets.kind = CacheKind::window;
        double worst = 0;
        for (const std::vector<int>& first :
             {std::vector<int>{1}, std::vector<int>{4}, std::vector<int>{length}}) {
            std::vector<int> sizes = {std::min(first.front(), length)};
            // Single steps, then calls of four tokens.
            for (int left = length - sizes.front(); left > 0; left -= sizes.back())
                sizes.push_back(left > length / 2 ? 1 : std::min(4, left));
            for (const CacheSpec& spec : {keeps, forgets}) {
                const auto rows = context.chunked_rows(spec, ids, sizes, window);
                if (!rows) return rows.error();
                worst = std::max(worst, worst_error(*rows, *reference));
            }
        }
        context.add_equal(name + ": masked, kept and forgotten agree", worst);

        const int most_call = std::min(4, length);
        auto cache = context.new_cache(forgets, 1, {0, most_call, 0, window});
        if (!cache) return cache.error();
        int most = 0;
        for (int at = 0; at < length;) {
            const int n = at < length / 2 ? 1 : std::min(most_call, length - at);
            const auto rows = context.feed(**cache, 0, Ids(ids.begin() + at, ids.begin() + at + n), window);
            if (!rows) return rows.error();
            at += n;
            most = std::max(most, (*cache)->length());
        }
        const int allowed = std::min(length, window.size + window.sinks);
        context.add(name + ": entries stored", fmt::format("at most {}", allowed), fmt::format("{}", most),
                    most <= allowed);
    }
    return {};
}

}  // namespace decodescope
