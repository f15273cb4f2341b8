// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/plan/weight_arithmetic.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "engine/core/dtype.h"
#include "engine/core/quote.h"
#include "engine/formats/ggml_types.h"
#include "engine/model/weight_size.h"

namespace decodescope {

namespace {

constexpr std::uint32_t last_type_id = 39;

/// Types that files keep weights in; the others hold intermediate results and counts.
bool is_stored_type(std::string_view name) {
    return name != "F64" && !name.starts_with("I8") && !name.starts_with("I16") && !name.starts_with("I32") &&
           !name.starts_with("I64") && name != "Q8_1" && name != "Q8_K";
}

std::string upper(std::string_view text) {
    std::string out(text);
    for (char& c : out) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    return out;
}

}  // namespace

Result<StoredType> stored_type(std::string_view name) {
    std::string wanted = upper(name);
    if (wanted == "INT8") wanted = "Q8_0";
    if (wanted == "INT4") wanted = "Q4_0";
    for (std::uint32_t id = 0; id <= last_type_id; ++id) {
        const GgmlTypeInfo* type = find_ggml_type(id);
        if (type == nullptr || type->name != wanted || !is_stored_type(type->name)) continue;
        return StoredType{std::string(type->name), type->block_elements, type->block_bytes};
    }
    return Error{ErrorKind::bad_input, fmt::format("{} is not a type of weights, expected one of {}",
                                                   quote(name), stored_type_names())};
}

std::string stored_type_names() {
    std::string names;
    for (std::uint32_t id = 0; id <= last_type_id; ++id) {
        const GgmlTypeInfo* type = find_ggml_type(id);
        if (type != nullptr && is_stored_type(type->name)) names += std::string(type->name) + ", ";
    }
    return names + "int8 (Q8_0), int4 (Q4_0)";
}

std::int64_t weight_bytes(const PlanShape& shape, const StoredType& type) {
    const auto row_bytes = [&](std::int64_t n) {
        return (n + type.block_elements - 1) / type.block_elements * type.block_bytes;
    };
    std::int64_t bytes = shape.tensors_known ? 0 : row_bytes(shape.stated_parameters);
    for (const TensorGroup& group : shape.tensors()) {
        const bool plain = group.rows == 1 && type.block_elements > 1;
        bytes += group.count * group.rows * (plain ? group.columns * float_bytes : row_bytes(group.columns));
    }
    return bytes;
}

std::int64_t engine_weight_bytes(const PlanShape& shape) {
    constexpr std::int64_t line = 16;  // floats
    std::int64_t floats = shape.tensors_known ? 0 : shape.stated_parameters;
    for (const TensorGroup& group : shape.tensors())
        floats += group.count * ((group.rows * group.columns + line - 1) / line * line);
    return floats * float_bytes;
}

std::int64_t prepared_weight_bytes(const PlanShape& shape, WeightType type) {
    if (shape.config) return static_cast<std::int64_t>(prepared_bytes(*shape.config, type));
    const auto bytes = [&](std::int64_t rows, std::int64_t columns) {
        return static_cast<std::int64_t>(prepared_matrix_bytes(type, columns, rows));
    };
    std::int64_t sum = 0;
    for (const TensorGroup& group : shape.tensors()) {
        if (group.rows > 1) sum += group.count * bytes(group.rows, group.columns);
    }
    if (sum == 0) return 0;
    // Embeddings are looked up, not multiplied by; a tied head is.
    if (!shape.tied) sum -= bytes(shape.vocab, shape.d_model);
    if (shape.learned_positions) sum -= bytes(shape.n_positions, shape.d_model);
    return sum;
}

}  // namespace decodescope
