// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "engine/core/result.h"
#include "engine/formats/model_ref.h"
#include "engine/plan/memory_plan.h"

namespace decodescope {

/// How close a measured number must be to the planned one.
enum class CheckAgreement { exact, within_limit };

/// One planned number beside the measured one, in bytes.
struct CheckRow {
    std::string part;
    std::int64_t planned = 0;
    std::int64_t measured = 0;
    CheckAgreement wanted = CheckAgreement::exact;

    std::int64_t difference() const { return measured - planned; }
    bool holds() const;
};

/// One part of the resident memory.
struct MemoryLine {
    std::string part;
    std::int64_t bytes = 0;
    std::string meaning;
};

/// What a run of a model really took.
struct PlanCheck {
    MemoryPlan plan;
    std::vector<CheckRow> rows;
    std::int64_t page_rounding = 0;  ///< as planned, as far as the system really gave huge pages
    /// Tensors by owner, allocator, mapped files, program: their sum and `remainder` are `rss`.
    std::vector<MemoryLine> memory;
    std::int64_t rss = 0;
    std::int64_t remainder = 0;   ///< rss that no line names; negative when lines name more than is resident
    std::int64_t rss_before = 0;  ///< before the model was loaded
    std::int64_t rss_peak = -1;   ///< most that was resident since the model was loaded; -1 = not measured

    bool holds() const;
    /// Whether the lines name the resident memory but for the limit; true where the allocator gives no
    /// figures.
    bool memory_is_explained() const;
};

/// Largest difference of private memory from the plan, and of the named parts from the resident memory: this
/// share of what was planned or is resident, or for small models this many bytes.
inline constexpr double memory_share_limit = 0.05;
inline constexpr std::int64_t memory_bytes_limit = std::int64_t{1} << 19;

/// What a check is doing.
enum class CheckStage { preparing, loading, running };

/// Loads the model, fills the cache as planned (one prefill, then `new_tokens` - 1 decode steps) and
/// compares. `request.weights` must be empty: this program holds f32, and
/// prepares the matrices in at most one type. The baseline is taken before loading,
/// after the libraries have made their own work memory with products of the model's shapes. `model_shape`:
/// what the plan was made from. `stage` is told on the calling thread what begins.
Result<PlanCheck> check_plan(const ModelRef& ref, const PlanShape& model_shape, const PlanRequest& request,
                             std::stop_token stop = {}, const std::function<void(CheckStage)>& stage = {});

}  // namespace decodescope
