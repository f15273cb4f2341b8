// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <string_view>

#include "engine/experiment/json_fields.h"
#include "engine/sweep/cell.h"

namespace decodescope {

/// A cell as one JSON object, schema `decodescope.cell/1`. Fields that mean the same as in llama-bench have
/// its names (`n_prompt`, `n_gen`, `n_depth`, `n_batch`, `n_threads`, `type_k`, `type_v`, `samples_ns`,
/// `avg_ts`, `test_time`, ...); means stand beside the medians and percentiles that are ours. Null = not
/// measured.
OrderedJson cell_json(const Cell& cell);
/// Reads one back; derived numbers are not read but made again. The sentence names the field.
Result<Cell> parse_cell(std::string_view json);
Result<Cell> cell_from_json(const Json& document);

}  // namespace decodescope
