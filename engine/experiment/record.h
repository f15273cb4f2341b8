// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/core/text_file.h"
#include "engine/experiment/events.h"
#include "engine/experiment/experiment.h"
#include "engine/measure/environment.h"
#include "engine/measure/statistics.h"
#include "engine/model/model_config.h"

namespace decodescope {

/// What became of one request in one repetition. Times are monotonic ns, 0 = did not happen.
struct RequestRecord {
    FinishReason finish = FinishReason::length;
    std::string reason;  ///< one sentence when it did not end with `length`
    std::int64_t arrived_ns = 0;
    std::int64_t started_ns = 0;      ///< start of the first forward call that had part of its prompt
    std::int64_t first_token_ns = 0;  ///< its first new token was chosen
    std::int64_t finished_ns = 0;
    std::int64_t n_adopted = 0;  ///< prompt tokens that a shared prefix held, so that they were not forwarded

    /// From its arrival to its first forward call; 0 if it was never served.
    std::int64_t queue_ns() const { return started_ns == 0 ? 0 : started_ns - arrived_ns; }
    /// From the start of its first forward call to its first token; 0 if there was none.
    std::int64_t ttft_ns() const { return first_token_ns == 0 ? 0 : first_token_ns - started_ns; }
};

/// One lane's steps of one repetition, complete, in order.
struct RepetitionRecord {
    std::vector<StepEvent> steps;
    std::vector<TokenEvent> chosen;       ///< the tokens of all requests, in the order they were chosen
    std::vector<RequestRecord> requests;  ///< [requests]; empty while the repetition runs
    FinishReason finish = FinishReason::length;
    std::string reason;  ///< one sentence when it did not end with `length`

    /// Of one request; while the repetition runs, from the lane's first step to the request's first token. 0
    /// if there is none.
    std::int64_t ttft_ns(int request = 0) const;
    /// Sum of the times of the steps that decode (those of a continuous batch that also prefill included).
    std::int64_t decode_ns() const;
    /// Sum of the times of all steps.
    std::int64_t e2e_ns() const;
    /// Steps that decode.
    std::int64_t n_decode() const;
    /// Tokens chosen in steps that decode.
    std::int64_t n_decode_token() const;
    /// Mean time that a request which decodes waits for one token: sum over decode steps of step_ns x
    /// requests served / tokens chosen; 0 if there were none.
    double tpot_ns() const;
    /// The new tokens of one request, in order.
    std::vector<std::int32_t> tokens(int request = 0) const;
};

/// How far an approximate lane is from the reference, over all compared tokens.
struct Quality {
    std::int64_t n = 0;                 ///< tokens compared; 0 = nothing was
    double mean_kl = 0;                 ///< mean KL(reference || lane), nats
    double top1_agreement = 0;          ///< share of tokens with the same largest logit
    double rms_probability_change = 0;  ///< RMS of (lane's - reference's probability of the right token)
};

/// Memory of the GPU that a lane computed on, in bytes, when its last timed repetition ended and its cache
/// was full. Lanes that run side by side on one GPU are in each other's numbers. -1 = not known.
struct GpuMemoryUse {
    std::int64_t allocated = -1;       ///< handed out to tensors
    std::int64_t reserved = -1;        ///< taken from the driver for them
    std::int64_t peak_allocated = -1;  ///< most since the repetition began
    std::int64_t peak_reserved = -1;
    std::int64_t device_used = -1;  ///< of the whole GPU, by all programs, as its driver says
    std::int64_t device_total = -1;
    std::int64_t baseline_used = -1;  ///< `device_used` before anything of the run was loaded
    OwnerBytes owners{};              ///< who the tensors belong to

    bool operator==(const GpuMemoryUse&) const = default;
};

/// One lane of a record.
struct LaneRecord {
    LaneSpec spec;
    std::vector<RepetitionRecord> repetitions;
    std::vector<std::string>
        texts;  ///< [requests], decoded, of the last repetition; empty without a tokenizer
    std::uint64_t weight_bytes = 0;  ///< of its matrices and the head as it computes with them; 0 = not known
    std::optional<GpuMemoryUse> gpu_memory{};  ///< none for lanes on the CPU
    bool on_gpu = false;                       ///< it computed on a GPU, its own or the experiment's

    /// The time that stands for a repetition where repetitions and lanes are compared: per token of its
    /// decode steps, or of all its steps where none decodes. [repetitions], those without a time left out.
    std::vector<double> time_per_token_ns() const;

    Summary ttft_ns() const;   ///< over requests and repetitions
    Summary queue_ns() const;  ///< over requests and repetitions
    Summary step_ns() const;   ///< over all decode steps of all repetitions
    Summary tpot_ns() const;   ///< over repetitions
    /// How long its device worked in a decode step, over those that were measured.
    Summary device_ns() const;
    /// Tokens chosen in decode steps / sum of these steps' times, over all repetitions; 0 if there were none.
    double decode_tok_s() const;
    /// The same with all steps and all tokens: what the lane delivers from the first prompt to the last
    /// token.
    double total_tok_s() const;
    /// Tokens chosen per decode step: more than one where requests share steps or drafts are kept; 0 if there
    /// were none.
    double tokens_per_step() const;
    /// Largest relative logit error against the reference over all steps; negative when nothing was compared.
    double max_relative_error() const;
    Quality quality() const;
    /// First new token of any request that differs from the reference lane's, in any repetition, over the
    /// tokens both have; -1 if none.
    int first_different_token(const LaneRecord& reference) const;
    ProductRounding rounding() const { return {spec.weights, on_gpu, spec.tf32}; }
    /// How far its logits may be from the reference's and still count as equal: the larger `error_limit` of
    /// both, and where their weights are of different types that of f32.
    double error_limit_against(const LaneRecord& reference) const;
    /// The first token, in the order they were chosen, whose logits are further from the reference's than
    /// `error_limit_against`; none if there is none.
    std::optional<TokenEvent> first_divergence(const LaneRecord& reference) const;
    /// True when there was something to compare, no compared logit is further away than
    /// `error_limit_against`, and no token differs but where the reference's two largest logits are as near
    /// to each other as that may move them.
    bool agrees_with(const LaneRecord& reference) const;
    /// Reason of the last repetition.
    FinishReason finish() const;
    /// Bytes a decode step must read / its time, GB/s (1e9), median over decode steps; 0 if there were none.
    double read_gb_s() const;
    /// Drafts verified and kept at each position of a draft (first, second, ...), over all repetitions.
    struct DraftCount {
        std::int64_t drafted = 0;
        std::int64_t accepted = 0;
    };
    std::vector<DraftCount> acceptance() const;
};

/// One request's prompt.
struct PromptRecord {
    std::vector<std::int32_t> ids;
    std::string text;  ///< as decoded; empty without a tokenizer
};

/// What people have written about a run; none of it was measured.
struct RecordNotes {
    std::string title;
    std::string text;  ///< Markdown

    bool operator==(const RecordNotes&) const = default;
};

/// What came out of an experiment: `decodescope.record/1`. Immutable once the run has ended.
struct Record {
    Experiment experiment;
    Environment environment;
    ModelConfig model;
    std::string model_source;
    std::string model_hash;
    std::uint64_t weight_bytes = 0;
    std::uint64_t weight_bytes_mapped = 0;  ///< of them: used in the mapped model file
    std::string started_at;                 ///< RFC 3339, UTC
    std::vector<PromptRecord> prompts;      ///< [requests]
    FinishReason status = FinishReason::length;
    std::string reason;  ///< one sentence unless status is `length`
    std::vector<LaneRecord> lanes;
    std::int64_t waited_turns = 0;    ///< that somebody held or slowed (see `RunControl`); 0 = none
    OwnerBytes tensor_bytes_after{};  ///< live tensor bytes when the run had ended and freed its caches
    RecordNotes notes;

    std::size_t reference_index() const { return experiment.reference_index(); }
    const LaneRecord& reference() const { return lanes.at(reference_index()); }
};

/// What speaks against the times of a record, one sentence each: what the environment tells, and a run that
/// was held or slowed.
std::vector<std::string> doubts(const Record& record);

/// Why `lane` is not meant to compute what `reference` does: weights of another type, lower precision of its
/// entries, another window, or sampling that only keeps the distribution. Empty when the two should agree.
/// `model_window`: the one the model was trained with, which a lane has that names none.
std::string approximation(const LaneSpec& lane, const LaneSpec& reference, int model_window);
/// The same of a lane of a record against the record's reference. Where weights are rounded and tokens
/// sampled, draws may differ too.
std::string approximation(const Record& record, std::size_t lane);
/// Whether any lane of a record is not meant to compute what its reference does.
bool any_approximation(const Record& record);

/// What `why_not_comparable` answers for a lane that is wrong, or that made other tokens.
inline constexpr const char* output_differs = "not shown: output differs";
inline constexpr const char* other_tokens = "not shown: not the same tokens";

/// Why the times of `lane` are not held against those of the reference lane: it is the reference, its output
/// differs where it should not, or it made other tokens. Empty when they can be.
std::string why_not_comparable(const Record& record, std::size_t lane);

/// How many times faster than the reference lane `lane` makes tokens (ratio of decode time per token, median
/// over repetitions), or why that is not shown: it is the reference, its output differs, it did other work,
/// or there is nothing to divide.
struct SpeedUp {
    double factor = 0;  ///< 0 when `why_not` says something
    Interval interval;  ///< 95 %, of the factor; repetitions of the two lanes are pairs
    std::string why_not;
    std::string approximation;  ///< the lane is not meant to be equal: why, see `approximation`
};
SpeedUp speed_up(const Record& record, std::size_t lane);

/// Record as JSON text, two-space indented; times in ns, sizes in bytes, unknown values null. `notes` stand
/// in for the record's own, which is not copied for them.
std::string to_json(const Record& record, const RecordNotes& notes);
inline std::string to_json(const Record& record) {
    return to_json(record, record.notes);
}
/// Reads a record back; unknown schema versions are refused, unknown fields end up in `warnings`.
Result<Record> parse_record(std::string_view json, std::vector<std::string>* warnings = nullptr);
Result<Record> load_record(const std::filesystem::path& path, std::vector<std::string>* warnings = nullptr);
/// Writes a record (JSON) to a temporary file beside `path` and renames it.
Result<void> save_record(const Record& record, const RecordNotes& notes, const std::filesystem::path& path);
inline Result<void> save_record(const Record& record, const std::filesystem::path& path) {
    return save_record(record, record.notes, path);
}

}  // namespace decodescope
