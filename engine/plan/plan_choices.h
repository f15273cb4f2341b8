// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "engine/core/result.h"
#include "engine/plan/memory_plan.h"

namespace decodescope {

/// What a person says about a plan, as typed; what is empty or 0 is left to the usual values.
struct PlanChoices {
    std::int64_t context = 0;  ///< 0 = the model's positions, at most 4096
    int batch = 1;
    std::int64_t tokens = 0;  ///< new ones; 0 = 16
    /// concat, static, f16, bf16, paged, window, int8, kivi4 or kivi2, and what the matrices are computed
    /// with as in the name of a lane: "static+weights-int8", "static+openblas".
    std::string cache = "static";
    std::string kv_type;       ///< f32, f16, bf16; empty = f32 for models that can be loaded here, else f16
    std::string weights_type;  ///< "engine" or a name of `stored_type`; empty = engine for models that can be
                               ///< loaded here, else the file's
    Window window{};           ///< size 0 = the model's own
    std::string memory;        ///< "16G"; empty = what is available here
    std::string reserve = "0";
    int block = 0;       ///< of paged caches; 0 = the usual
    int residual = -1;   ///< of kivi caches; negative = the usual
    int chunk = 0;       ///< prompt tokens per call; 0 = all at once
    int threads = 0;     ///< 0 = physical cores
    bool check = false;  ///< it is to be run: then the window of the model counts
    std::string prefix;  ///< before the name of a choice in errors: "--" on the command line
};

/// "16G", "16GiB" (1024-based), "16GB" (1000-based), "1.5T" or bytes. `name` begins the sentence of an error.
Result<std::int64_t> size_from_text(std::string_view name, std::string_view text);

/// The request that the choices stand for. Errors name the choice.
Result<PlanRequest> plan_request(const PlanShape& shape, const PlanChoices& choices);

/// Takes over how many parameters the model has, where its files do not tell; refuses another number than
/// they tell.
Result<void> state_parameters(PlanShape& shape, std::int64_t parameters, const std::string& prefix = {});

}  // namespace decodescope
