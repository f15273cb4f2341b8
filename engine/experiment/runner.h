// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>
#include <stop_token>

#include "engine/core/memory.h"
#include "engine/core/thread_pool.h"
#include "engine/experiment/events.h"
#include "engine/experiment/experiment.h"
#include "engine/experiment/record.h"
#include "engine/experiment/run_control.h"
#include "engine/formats/model_source.h"
#include "engine/measure/machine_limits.h"

namespace decodescope {

/// Token ids of the experiment's prompts, one per request. Text needs the model's tokenizer; ids are checked
/// against the vocabulary.
Result<std::vector<std::vector<std::int32_t>>> prompt_ids(const Experiment& experiment,
                                                          const LoadedModel& model);

/// Runs `experiment` on `model`, on the calling thread (plus its compute threads), telling `sink` what
/// happens. A run that was cancelled, hit a capacity or met a non-finite number still returns its record with
/// that status and everything measured so far; an `Error` means that nothing could be run at all. All caches
/// and work buffers are freed before `sink.run_finished` is called; the ledger then holds the weights alone.
/// `limits`: what the machine can do with the run's threads, if it was measured before; what is 0 is measured
/// before the run starts. `control`: holds or slows the run between its steps; what comes out is the same but
/// for times. Null = nobody does.
Result<Record> run_experiment(const Experiment& experiment, const LoadedModel& model,
                              std::shared_ptr<MemoryLedger> ledger, EventSink& sink,
                              std::stop_token stop = {}, MachineLimits limits = {},
                              RunControl* control = nullptr);

}  // namespace decodescope
