// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <vector>

#include "engine/attention/attention_plan.h"

namespace decodescope::test {

/// Takes slots away from what the queries of `plan` see, without any order in them: some see nothing, some
/// the future too.
inline void punch_holes(AttentionPlan& plan, int n_slot) {
    plan.amend(n_slot, [n_slot](int b, int q, std::vector<SlotRange>& visible) {
        if (q % 7 == 3) return visible.clear();
        if (q % 7 == 4) return visible.assign(1, {0, n_slot});  // the future too
        std::vector<SlotRange> kept;
        for (const SlotRange& range : visible) {
            for (std::int32_t s = range.begin; s < range.end; ++s) {
                if ((s / 5 + q + b) % 3 == 0 || (s > 60 && s < 170)) continue;
                if (!kept.empty() && kept.back().end == s)
                    ++kept.back().end;
                else
                    kept.push_back({s, s + 1});
            }
        }
        visible = kept;
    });
}

}  // namespace decodescope::test
