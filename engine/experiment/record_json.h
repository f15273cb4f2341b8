// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/experiment/json_fields.h"
#include "engine/experiment/record.h"

namespace decodescope {

/// Order statistics; null for an empty sample.
OrderedJson spread_json(const Summary& summary);
/// [low, high]; null where nothing can be said.
OrderedJson interval_json(const Interval& interval);
/// Null when nothing was compared.
OrderedJson quality_json(const Quality& quality);
/// The derived numbers of one lane, as in the record's `summary`: null where nothing was measured.
OrderedJson summary_json(const Record& record, std::size_t lane);
/// The record's `memory`, see `MemoryUse`: peaks, and what is unaccounted after the last step, in bytes. Null
/// without a step.
OrderedJson memory_json(const Record& record);
/// `memory` of a lane's summary, see `CacheUse`: bytes by formula and as measured, medians per decode step.
/// Null without a step.
OrderedJson cache_json(const Record& record, std::size_t lane);

/// `gpu_memory` of a lane's summary; null where the driver did not tell.
OrderedJson gpu_memory_json(const GpuMemoryUse& use);
void read_gpu_memory(JsonFields& fields, GpuMemoryUse& use);
/// Bytes by owner, each under its own name.
OrderedJson owner_bytes_json(const OwnerBytes& bytes);
void read_owner_bytes(JsonFields& fields, OwnerBytes& bytes);

}  // namespace decodescope
