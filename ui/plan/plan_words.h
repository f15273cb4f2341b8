// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

#include "engine/plan/plan_report.h"

namespace decodescope {

/// What a user would type to mean `ref`, as `parse_model_ref` reads it.
QString modelText(const ModelRef& ref);

/// "3.2 GiB", with a minus sign where a difference is negative.
QString signedBytes(std::int64_t bytes);
/// "1 request", "8 requests".
QString requestsText(std::int64_t n);

/// Whether the plan fits, in one sentence, and whether that is good news.
struct PlanVerdict {
    enum class Kind { fits, doesNotFit, unknown };
    Kind kind = Kind::unknown;
    QString sentence;
    QString more;  ///< what else would fit
};
PlanVerdict planVerdict(const PlanReport& report);

/// A cell of the map, in words.
QString cellSentence(const PlanReport& report, const PlanCell& cell);

}  // namespace decodescope
