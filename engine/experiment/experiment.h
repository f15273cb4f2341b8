// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "engine/core/result.h"
#include "engine/formats/model_source.h"

namespace decodescope {

/// How a lane computes the next token's logits.
enum class LaneMode { naive, cached };
/// How a cached lane stores K and V.
enum class CacheKind { none, concat, static_ };
/// What every lane is fed after the prompt: the reference lane's tokens, its own, or given ids.
enum class Drive { forced, free, fixed };
/// What alternates: one step of each lane, or one whole repetition of each lane.
enum class Interleave { step, repetition };
/// Buffers kept for the whole run, or allocated afresh for every step (what a tutorial's code does).
enum class AllocationPolicy { reused, fresh };
enum class SamplingKind { greedy, sample };

const char* to_string(LaneMode mode);
const char* to_string(CacheKind kind);
const char* to_string(Drive drive);
const char* to_string(Interleave interleave);
const char* to_string(AllocationPolicy policy);

/// How the next token is chosen. `sample`: softmax of logits / temperature over the top_k largest (0 = all),
/// one random stream per request, so equal logits give equal text in every lane.
struct Sampling {
    SamplingKind kind = SamplingKind::greedy;
    double temperature = 1.0;
    int top_k = 0;
    std::uint64_t seed = 0;
};

struct CacheSpec {
    CacheKind kind = CacheKind::none;
    int capacity = 0;  ///< tokens a static cache holds; 0 = prompt + new tokens - 1
};

/// One way of decoding inside an experiment.
struct LaneSpec {
    std::string name;
    LaneMode mode = LaneMode::cached;
    CacheSpec cache;
    int prefill_chunk = 0;  ///< tokens per prefill call; 0 = the whole prompt at once
    std::vector<int>
        prefill_partition;  ///< explicit chunk sizes (must sum to the prompt); overrides prefill_chunk
    AllocationPolicy allocation = AllocationPolicy::reused;
    std::vector<std::string> faults;  ///< ids of deliberate faults; none are known yet, so it must be empty
};

/// The prompt: text, token ids, or random ids.
struct PromptSpec {
    enum class Kind { text, ids, random } kind = Kind::text;
    std::string text;
    std::vector<std::int32_t> ids;
    int length = 0;          ///< random
    std::uint64_t seed = 0;  ///< random
};

/// What to run: `decodescope.experiment/1`.
struct Experiment {
    ModelRef model{.path = "demo", .preset = {}, .seed = 0};
    std::string device = "cpu";
    int threads = 0;  ///< 0 = all physical cores
    Drive drive = Drive::forced;
    std::vector<std::int32_t>
        fixed_ids;  ///< drive fixed: the tokens fed after the prompt, new_tokens - 1 of them
    PromptSpec prompt;
    int new_tokens = 64;
    Sampling sampling;
    bool stop_at_eos = false;  ///< a timed race feeds a fixed number of tokens unless asked otherwise
    std::vector<LaneSpec> lanes;
    std::string reference;  ///< name of the lane the others are compared with; empty = the first
    Interleave interleave = Interleave::step;
    int warmup = 1;  ///< untimed warm-up passes of each lane (prefill + up to 8 steps)
    int repetitions = 5;

    /// Index of the reference lane.
    std::size_t reference_index() const;
    /// Checks names, ranges and combinations; the sentence names the field.
    Result<void> validate() const;
};

/// The lane that the words "naive", "concat" and "static" (also "cached") stand for on the command line.
Result<LaneSpec> lane_from_name(std::string_view name);

/// Parses an experiment; unknown schema versions are refused, unknown fields end up in `warnings`.
Result<Experiment> parse_experiment(std::string_view json, std::vector<std::string>* warnings = nullptr);
Result<Experiment> load_experiment(const std::filesystem::path& path,
                                   std::vector<std::string>* warnings = nullptr);
/// The experiment as JSON text (schema `decodescope.experiment/1`), two-space indented.
std::string to_json(const Experiment& experiment);

}  // namespace decodescope
