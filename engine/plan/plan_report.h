// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/plan/memory_plan.h"
#include "engine/plan/plan_check.h"

namespace decodescope {

/// A plan with what it was made from.
struct PlanReport {
    PlanShape shape;
    PlanRequest request;
    MemoryPlan plan;
    std::optional<PlanCheck> check;
};

/// One number of a plan.
struct PlanPart {
    const char* key;  ///< as in files
    std::string name;
    std::int64_t bytes = 0;
    std::string how;  ///< where it comes from
    bool known = true;
};
/// What the model and its cache need: weights, cache, work and their sum, in the order in which they are
/// shown.
std::vector<PlanPart> plan_parts(const PlanReport& report);
/// Memory, reserve and what they leave; empty when what fits is not known.
std::vector<PlanPart> plan_capacity(const PlanReport& report);

/// One kind of attention beside the others, for the same model otherwise.
struct AttentionVariant {
    std::string name;
    int n_kv_head = 0;           ///< 0: of a latent
    std::int64_t per_token = 0;  ///< bytes of one token
    std::int64_t bytes = 0;      ///< of all planned requests
    double saving = 0;           ///< of MHA, percent
    bool own = false;            ///< the model's own kind
};
/// MHA, GQA, MQA, MLA and, where the model has one, its window.
std::vector<AttentionVariant> attention_variants(const PlanReport& report);
/// The type they are compared with: entries as they are, f16 for caches with a type of their own.
DType variant_type(const PlanReport& report);

/// What the planned cache is called: "static f16", "kivi4", "paged, blocks of 16 f32".
std::string cache_name(const PlanRequest& request);
/// "Q4_K", "as in the file", "F32, as this program holds them, and matrices as int8".
std::string weights_name(const PlanRequest& request);
/// "GQA, 32 query / 8 KV heads", "MLA, latent 512 + rotary key 64".
std::string attention_name(const PlanShape& shape);

/// "exact", "DIFFERS", "within the limit", "BEYOND THE LIMIT".
const char* verdict_of(const CheckRow& row);
/// The difference as a percentage of the plan; 0 when nothing was planned.
double relative_difference(const CheckRow& row);

}  // namespace decodescope
