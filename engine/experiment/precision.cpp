// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/experiment/precision.h"

#include <fmt/format.h>

#include "engine/core/quote.h"

namespace decodescope {

AchievedPrecision achieved_precision(const Record& record) {
    AchievedPrecision achieved;
    std::size_t n = 0;
    for (const LaneRecord& lane : record.lanes) {
        const auto times = lane.time_per_token_ns();
        n = std::max(n, times.size());
        const Interval interval = bootstrap_median(times);
        if (!interval.known) continue;
        const double width = interval.relative_half_width(median_of(times));
        if (width <= achieved.interval) continue;
        achieved.interval = width;
        achieved.lane = lane.spec.name;
    }
    const Precision& asked = record.experiment.precision;
    if (!(asked.interval > 0)) return achieved;
    achieved.reached = achieved.interval >= 0 && achieved.interval <= asked.interval;
    if (achieved.reached) return achieved;
    const std::string wanted = fmt::format("95 % intervals of at most +-{:.2g} %", 100 * asked.interval);
    if (achieved.interval < 0) {
        achieved.sentence = fmt::format("Not enough was measured for {}.", wanted);
    } else {
        achieved.sentence = fmt::format(
            "After {} repetitions the median of lane {} is known to +-{:.2g} %; {} were asked for.", n,
            quote(achieved.lane), 100 * achieved.interval, wanted);
    }
    return achieved;
}

OrderedJson precision_json(const AchievedPrecision& precision) {
    return {{"interval", number_or_null(precision.interval, -1.0)},
            {"lane", text_or_null(precision.lane)},
            {"reached", precision.reached},
            {"note", text_or_null(precision.sentence)}};
}

}  // namespace decodescope
