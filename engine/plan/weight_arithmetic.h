// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "engine/core/result.h"
#include "engine/model/weight_type.h"
#include "engine/plan/plan_shape.h"

namespace decodescope {

/// How the elements of matrices are stored: in blocks. Vectors of quantised files stay in F32.
struct StoredType {
    std::string name;  ///< "F32", "Q4_0", ...
    std::int64_t block_elements = 1;
    std::int64_t block_bytes = 4;
};

/// The type of that name: "f32", "f16", "bf16", a GGUF type in any case ("q8_0", "Q4_K"), or int8 and int4
/// for Q8_0 and Q4_0.
Result<StoredType> stored_type(std::string_view name);
/// Those names, for messages and help.
std::string stored_type_names();

/// Bytes of the weights of `shape` as `type`: rows of matrices in whole blocks, vectors in F32 where the type
/// has blocks, otherwise in the type. 0 when the number of parameters is not known.
std::int64_t weight_bytes(const PlanShape& shape, const StoredType& type);

/// Bytes of the weights as this program holds them: f32, every tensor on a cache line of its own.
std::int64_t engine_weight_bytes(const PlanShape& shape);

/// Bytes of the matrices and the head as `Backend::prepare` makes them in this type; 0 when the tensors are
/// not known.
std::int64_t prepared_weight_bytes(const PlanShape& shape, WeightType type);

}  // namespace decodescope
