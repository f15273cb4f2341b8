// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "engine/core/result.h"
#include "engine/decode/lane_spec.h"
#include "engine/decode/sampling.h"
#include "engine/formats/model_ref.h"
#include "engine/model/model_config.h"

namespace decodescope {

/// What every lane is fed after the prompt: the reference lane's tokens, its own, or given ids.
enum class Drive { forced, free, fixed };
/// What alternates: one step of each lane, or one whole repetition of each lane. `automatic`: steps where
/// every lane makes one token of the same request per step, else repetitions.
enum class Interleave { automatic, step, repetition };

const char* to_string(Drive drive);
const char* to_string(Interleave interleave);

/// One request: a prompt as text, token ids, or random ids, and when it comes and goes.
struct PromptSpec {
    enum class Kind { text, ids, random } kind = Kind::text;
    std::string text{};
    bool control = false;  ///< text: control tokens such as <|im_start|> in it are taken as such
    std::vector<std::int32_t> ids{};
    int length = 0;           ///< random
    std::uint64_t seed = 0;   ///< random
    std::string isolation{};  ///< requests share cached prefixes only with those of the same group
    int arrival_step = 0;     ///< continuous batch: the step of the lane before which the request comes
    int cancel_after = 0;     ///< cancelled once it has this many new tokens; 0 = never
};

/// When a run has been repeated often enough, beyond the least number of repetitions: when every lane's time
/// is known well enough, or when the time is up. With neither, the least number is the number.
struct Precision {
    double interval = 0;  ///< half the 95 % interval of a lane's median time, as a share of it; 0 = no goal
    double seconds = 0;   ///< no repetition begins later than this after the first; 0 = no limit

    bool asked() const { return interval > 0 || seconds > 0; }
};

/// Most decode steps of a warm-up pass.
inline constexpr int warmup_steps = 8;

/// What to run: `decodescope.experiment/1`.
struct Experiment {
    ModelRef model{.path = "demo", .preset = {}, .seed = 0};
    Device device{};  ///< of the lanes that name none
    int threads = 0;  ///< 0 = all physical cores
    Drive drive = Drive::forced;
    std::vector<std::int32_t>
        fixed_ids;  ///< drive fixed: the tokens fed after the prompt, new_tokens - 1 of them
    std::vector<PromptSpec> prompts{PromptSpec{}};  ///< the requests, at least one
    int new_tokens = 64;                            ///< of each request
    Sampling sampling;
    bool stop_at_eos = false;  ///< a timed race feeds a fixed number of tokens unless asked otherwise
    std::vector<std::int32_t> stop_ids;  ///< a request that chooses one of them ends
    std::vector<LaneSpec> lanes;
    std::string reference;  ///< name of the lane the others are compared with; empty = the first
    Interleave interleave = Interleave::automatic;
    int warmup = 1;       ///< untimed warm-up passes of each lane (prefill + up to `warmup_steps`)
    int repetitions = 5;  ///< at least
    Precision precision;

    /// Index of the reference lane.
    std::size_t reference_index() const;
    /// The device that `lane` computes on: its own, or the experiment's.
    Device device_of(const LaneSpec& lane) const { return lane.device.value_or(device); }
    /// The devices that the lanes compute on, each once, in the order of the lanes.
    std::vector<Device> devices() const;
    /// Whether one of them is a GPU.
    bool uses_gpu() const;
    /// The lanes, each naming its device where that is a GPU, for those who have no experiment with them.
    std::vector<LaneSpec> placed_lanes() const;
    /// `interleave`, or what it stands for when it is automatic.
    Interleave effective_interleave() const;
    /// Checks names, ranges and combinations; the sentence names the field.
    Result<void> validate() const;
};

/// Checks what only the model can tell: token ids, top_k, the layers of drafts, the groups of kivi caches.
Result<void> check_against_model(const Experiment& experiment, const ModelConfig& model);

/// The lane that a word stands for on the command line ("naive", "static", "paged", "kivi", ...), with what
/// follows it: the type of its weights, the reference kernels, its device, a CUDA graph, TF32, and deliberate
/// faults, as in "static+weights-int8+position-restart", "naive+openblas" and "static+cuda:0+graph+tf32".
Result<LaneSpec> lane_from_name(std::string_view name);
/// What a lane's name says of what it computes with: "+weights-int8", "+openblas", "+cuda:0", "+graph",
/// "+tf32"; empty for f32, packed kernels, and the experiment's device.
std::string lane_modifiers(const LaneSpec& lane);
/// Those words: "naive, concat, ...".
std::string lane_words();
/// How a lane stores keys and values: "f32", "f16", "bf16", "int8", "kivi4", "kivi2"; empty without a cache.
std::string entry_type(const LaneSpec& lane);
/// What a lane multiplies by, and who does: "f32", "int8", "f32, OpenBLAS", "bf16, cuda:0, graph". The CPU is
/// named where the lane names it.
std::string weights_words(const Experiment& experiment, const LaneSpec& lane);
/// Why the decode steps of `lane` cannot be captured into a CUDA graph on `device`: a part of a sentence.
/// Empty when they can.
std::string why_no_graph(const LaneSpec& lane, const Device& device);
/// Why `lane` cannot have its products in TF32 on `device`, likewise.
std::string why_no_tf32(const LaneSpec& lane, const Device& device);

/// Parses an experiment; unknown schema versions are refused, unknown fields end up in `warnings`.
Result<Experiment> parse_experiment(std::string_view json, std::vector<std::string>* warnings = nullptr);
Result<Experiment> load_experiment(const std::filesystem::path& path,
                                   std::vector<std::string>* warnings = nullptr);
/// The experiment as JSON text (schema `decodescope.experiment/1`), two-space indented.
std::string to_json(const Experiment& experiment);

}  // namespace decodescope
