// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>
#include <stop_token>

#include "engine/backend/backend.h"
#include "engine/core/memory.h"
#include "engine/core/result.h"
#include "engine/model/weights.h"
#include "engine/verify/trace.h"
#include "engine/verify/verdict.h"

namespace decodescope {

/// Judges a run: recomputes with `weights` what every token's logits should be, from the texts that the trace
/// names and else from the tokens that were fed, compares what the trace states and the logits it has, and
/// where they differ recomputes the run with what may have gone wrong until its own numbers come out.
///
///  - `equal`: the largest error is at most `f32_error_limit` of the logits' standard deviation, or
///    `error_limit` of the type of `weights`
///  - `precision`: above that, at most 0.05, and explained by a narrower type: flat over the steps
///  - a kind of fault is `certain` when a replay with that and nothing else gives the run's own numbers, or
///    when the trace states it
///  - size alone never decides; what is not explained is `cannot_tell`, with what would settle it
///
/// An error means that the trace cannot be one of this model, or that recomputing failed or was stopped.
Result<Verdict> diagnose(const Trace& trace, std::shared_ptr<const Weights> weights, Backend& backend,
                         std::shared_ptr<MemoryLedger> ledger, std::stop_token stop = {});

/// Judges two runs of the same requests against each other and each against the truth: which of them departs
/// from it, whichever has a cache. That both agree says nothing when both are wrong. The verdict's evidence
/// names the sides by their labels; `first` is where the wrong one goes wrong.
Result<Verdict> compare(const Trace& a, const Trace& b, std::shared_ptr<const Weights> weights,
                        Backend& backend, std::shared_ptr<MemoryLedger> ledger, std::stop_token stop = {});

}  // namespace decodescope
