// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/core/dtype.h"
#include "engine/core/result.h"
#include "engine/model/forward.h"
#include "engine/model/model_config.h"
#include "engine/model/weight_type.h"
#include "engine/model/weights.h"

namespace decodescope::bench {

/// Prints what went wrong; the exit code of its kind.
int fail(const Error& error);

/// The model to measure with: random weights of a preset's shape or of "llama135" (a Llama model of 135
/// million parameters), else what `load_model` makes of the name.
Result<std::shared_ptr<const Weights>> load_weights(const std::string& name,
                                                    std::shared_ptr<MemoryLedger> ledger);

/// Who multiplies: our kernels on weights of this type, or without one the reference library on the f32
/// weights where they lie.
struct Product {
    std::optional<WeightType> packed;

    std::string name() const { return packed ? to_string(*packed) : "openblas"; }
    bool is_f32() const { return !packed || *packed == WeightType::f32; }
};

/// What is timed.
///  - `prefill`: one call of `tokens` tokens, logits of the last one
///  - `decode`: steps of `batch` rows, each behind `depth` cached entries
///  - `busy`: decode steps of one row while another process keeps a core (`tokens` is unused)
enum class Work { prefill, decode, busy };

/// One thing that every repetition measures once.
struct SpeedCase {
    Work work = Work::decode;
    std::size_t product = 0;  ///< index into the rig's products
    int threads = 1;
    int tokens = 0;
    int batch = 1;
    int depth = 0;
    DType kv = DType::f32;

    friend bool operator==(const SpeedCase&, const SpeedCase&) = default;
};

/// Which groups of cases are wanted.
struct SpeedChoice {
    bool decode = true;   ///< batch 1
    bool batch = true;    ///< batch 1 to 16
    bool depth = true;    ///< behind 0, 512 and 880 entries, f32 and f16 caches
    bool prefill = true;  ///< 128 and 512 tokens
    bool busy = true;
    std::vector<int> threads{1, 2};
    int max_positions = 0;  ///< what needs more is left out
};

/// The wanted cases for `n_product` products, those of one thread count together and each of them once.
std::vector<SpeedCase> speed_cases(const SpeedChoice& choice, std::size_t n_product, int n_step);

inline constexpr int prefill_lengths[] = {128, 512};
inline constexpr int batch_sizes[] = {1, 2, 4, 8, 16};
inline constexpr int depths[] = {0, 512, 880};
inline constexpr DType kv_types[] = {DType::f32, DType::f16};
inline constexpr int n_warm_up = 3;  ///< steps before those that are timed

/// The likeliest next token after row `row` of the logits, as a greedy lane finds it.
std::int32_t chosen_token(const ForwardOutput& output, std::size_t row, int n_vocab);

/// Additions and multiplications of one prefill call, the products with weights and the causal half of
/// attention; logits for the last token alone.
double prefill_flop(const ModelConfig& config, int tokens);

}  // namespace decodescope::bench
