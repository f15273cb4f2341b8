// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/record_output.h"

#include <fmt/format.h>

#include <vector>

#include "app/cli/progress.h"
#include "engine/experiment/chrome_trace.h"
#include "engine/experiment/report_text.h"

namespace decodescope::cli {

namespace {

/// Of one lane: some 50 MB in the file.
constexpr std::int64_t mostSpans = 300'000;

}  // namespace

std::string recordText(const Record& record, Format format) {
    switch (format) {
        case Format::table: return to_plain_text(record);
        case Format::json: return to_json(record);
        case Format::jsonl: return to_jsonl(record);
        case Format::csv: return to_csv(record);
        case Format::md: return to_markdown(record);
    }
    return to_plain_text(record);
}

Result<std::string> traceEventsOf(const Record& record, const LoadedModel* model,
                                  const std::shared_ptr<MemoryLedger>& ledger, const std::stop_token& stop) {
    std::vector<LaneProfile> profiles;
    ProgressLine line;
    for (std::size_t i = 0; model != nullptr && i < record.lanes.size(); ++i) {
        line.show(fmt::format("Looking inside lane {} ...", record.lanes[i].spec.name));
        auto profile = profile_lane(record, i, *model, ledger, {.max_spans = mostSpans}, stop);
        if (!profile && profile.error().kind == ErrorKind::cancelled) break;
        if (!profile) return profile.error();
        profiles.push_back(*std::move(profile));
    }
    return to_chrome_trace(record, profiles);
}

}  // namespace decodescope::cli
