// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/core/result.h"
#include "engine/decode/lane_spec.h"
#include "engine/fault/fault.h"
#include "engine/model/model_config.h"
#include "engine/verify/verdict.h"

namespace decodescope {

/// What there is to say about a fault. Plain sentences, for a person.
struct FaultInfo {
    Fault fault{};
    const char* id;           ///< as in `LaneSpec::faults`
    const char* title;        ///< a few words
    FaultKind kind;           ///< what a diagnosis should find
    const char* description;  ///< what the code does wrong
    const char* applies;      ///< to which lanes and models
    const char* place;        ///< where it bites in this program
    const char* fingerprint;  ///< what goes wrong first, and what stays right
    const char* fix;          ///< in one line
    const char* examples;     ///< public reports of it; may be empty
    bool shows;               ///< whether any logit can show it
};

/// All faults, in the order of the enumeration; those of a kind need not be neighbours.
std::span<const FaultInfo> fault_catalogue();
const FaultInfo& fault_info(Fault fault);

/// The fault that `id` names; the sentence about an unknown one suggests those that look like it.
Result<Fault> fault_from_id(std::string_view id);
/// The faults of a lane: known ids, none twice, each of which the lane can have (`fault_fits_lane`). Errors
/// name the entry: "[0] is ...".
Result<FaultSet> fault_set(const LaneSpec& lane);
/// Whether `lane` can make this mistake; the error's message is what is missing, without a subject: "needs a
/// cache".
Result<void> fault_fits_lane(Fault fault, const LaneSpec& lane);
/// The same for what the model decides.
Result<void> fault_fits_model(Fault fault, const LaneSpec& lane, const ModelConfig& model);

}  // namespace decodescope
