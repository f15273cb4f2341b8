// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>
#include <stop_token>

#include "engine/core/memory.h"
#include "engine/core/result.h"
#include "engine/experiment/record.h"
#include "engine/formats/model_source.h"
#include "engine/verify/judgement.h"

namespace decodescope {

/// Judges a lane of a finished run: lets it serve the record's requests once more, fed the same tokens,
/// writes down every call, and diagnoses that as it would a foreign program's. Nothing is timed, and nothing
/// of the record is used but the tokens. The truth is recomputed with the weights that the lane computes
/// with, in its type: what rounding them costs is a matter of quality, and no fault. `model` is the record's;
/// another one is an error. Memory is bounded: of lanes with very many rows of logits only those are kept
/// that tokens were chosen from.
Result<Judgement> judge_lane(const Record& record, std::size_t lane, const LoadedModel& model,
                             std::shared_ptr<MemoryLedger> ledger, std::stop_token stop = {});

}  // namespace decodescope
