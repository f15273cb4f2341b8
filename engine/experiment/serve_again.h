// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <memory>
#include <stop_token>

#include "engine/core/memory.h"
#include "engine/core/result.h"
#include "engine/decode/lane.h"
#include "engine/experiment/record.h"
#include "engine/formats/model_source.h"

namespace decodescope {

/// What a lane of a finished run needs to serve its requests once more, fed the same tokens.
struct ServeAgain {
    LaneSpec spec;
    std::unique_ptr<Backend> backend;
    LaneContext context;  ///< its backend is the one above
    Workload workload;
    std::unique_ptr<TokenFeed> feed;  ///< refers to the record
};

/// Whether a lane of `experiment` can be served once more and looked into: not where it computes on a GPU,
/// which nothing looks into so far. Fails with `unsupported`.
Result<void> can_serve_again(const Experiment& experiment, const LaneSpec& lane);

/// Makes it for one lane of `record`, which must live as long as the result is used. `model` is the record's;
/// one with other weights is an error, and so is a lane that the record does not have. Loads a draft model,
/// and prepares weights as the run did, so that the lane's own numbers come out.
Result<ServeAgain> serve_again(const Record& record, std::size_t lane, const LoadedModel& model,
                               std::shared_ptr<MemoryLedger> ledger, std::stop_token stop);

}  // namespace decodescope
