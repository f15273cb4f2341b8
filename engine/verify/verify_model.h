// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "engine/backend/device.h"
#include "engine/core/memory.h"
#include "engine/core/result.h"
#include "engine/experiment/events.h"
#include "engine/formats/model_source.h"

namespace decodescope {

/// One thing that must hold for a model that decodes correctly.
struct VerifyCheck {
    std::string name;  ///< short, stable: "static cache = naive"
    std::string expected;
    std::string found;  ///< what was measured, or why it could not be
    bool held = false;
};

struct VerifyOptions {
    int prompt_length = 24;  ///< random distinct-ish token ids; shortened when the model has fewer positions
    int steps = 12;          ///< decode steps after the prompt
    std::uint64_t seed = 1;  ///< of the token ids and of the chunk partitions
    int threads = 0;         ///< 0 = all physical cores
    Device device{};         ///< where it is decoded
    std::function<void(const VerifyCheck&)> on_check;  ///< told every check as it is made; on the same thread
};

struct VerifyReport {
    std::vector<VerifyCheck> checks;
    bool all_held() const;
};

/// Checks that this engine decodes `model` right, against decoding without a cache: every cache kind at every
/// step (equal for those that compute in f32, within a limit for the others), a committed list of ways to cut
/// 17 tokens into calls, rollback after drafts, request isolation (A, B, A), reordered rows, shared prefixes
/// with one writer, capacity refused before anything is written, windows that mask and that forget, ragged
/// batches with pads in front, behind and without, rows that join, leave and are cancelled, speculation, one
/// seed giving one text everywhere; KV bytes = formula = tensors after every append; causality and finite
/// logits. An `Error` means that it could not be run.
Result<VerifyReport> verify_model(const LoadedModel& model, const VerifyOptions& options,
                                  std::shared_ptr<MemoryLedger> ledger, std::stop_token stop = {});

}  // namespace decodescope
