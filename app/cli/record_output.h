// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>
#include <stop_token>
#include <string>

#include "app/cli/output.h"
#include "engine/experiment/record.h"
#include "engine/formats/model_source.h"

namespace decodescope::cli {

/// A record in one of the formats that `run` and `show` write.
std::string recordText(const Record& record, Format format);

/// The record as Chrome trace JSON. With the record's model every lane is served once more for what is inside
/// its steps; null = the timed passes alone. What was stopped is left out.
Result<std::string> traceEventsOf(const Record& record, const LoadedModel* model,
                                  const std::shared_ptr<MemoryLedger>& ledger, const std::stop_token& stop);

}  // namespace decodescope::cli
