// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <filesystem>
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

/// One lane's steps of one repetition, complete, in order.
struct RepetitionRecord {
    std::vector<StepEvent> steps;
    FinishReason finish = FinishReason::length;
    std::string reason;  ///< one sentence when it did not end with `length`

    /// Start of the first forward call to its token (all prefill chunks); 0 if there was none.
    std::int64_t ttft_ns() const;
    /// Sum of the decode steps' times.
    std::int64_t decode_ns() const;
    std::int64_t e2e_ns() const { return ttft_ns() + decode_ns(); }
    std::int64_t n_decode() const;
    /// The chosen tokens, one per step.
    std::vector<std::int32_t> tokens() const;
};

/// One lane of a record.
struct LaneRecord {
    LaneSpec spec;
    std::vector<RepetitionRecord> repetitions;
    std::string text;  ///< decoded tokens of the last repetition; empty without a tokenizer

    Summary ttft_ns() const;  ///< over repetitions
    Summary step_ns() const;  ///< over all decode steps of all repetitions
    Summary tpot_ns() const;  ///< over repetitions
    /// decode steps / sum of their times, over all repetitions; 0 if there were none.
    double decode_tok_s() const;
    /// Largest relative logit error against the reference over all steps; negative when nothing was compared.
    double max_relative_error() const;
    /// First step whose token differs from the reference lane's, in any repetition, over the steps both have;
    /// -1 if none.
    int first_different_token(const LaneRecord& reference) const;
    /// True when there was something to compare, no token differs, and no compared logit is further away than
    /// `f32_error_limit`.
    bool agrees_with(const LaneRecord& reference) const;
    /// Reason of the last repetition.
    FinishReason finish() const;
    /// Bytes a decode step must read / its time, GB/s (1e9), median over decode steps; 0 if there were none.
    double read_gb_s() const;
};

/// What came out of an experiment: `decodescope.record/1`. Immutable once the run has ended.
struct Record {
    Experiment experiment;
    Environment environment;
    ModelConfig model;
    std::string model_source;
    std::string model_hash;
    std::uint64_t weight_bytes = 0;
    std::string started_at;  ///< RFC 3339, UTC
    std::vector<std::int32_t> prompt_ids;
    std::string prompt_text;  ///< as decoded; empty without a tokenizer
    FinishReason status = FinishReason::length;
    std::string reason;  ///< one sentence unless status is `length`
    std::vector<LaneRecord> lanes;
    OwnerBytes tensor_bytes_after{};  ///< live tensor bytes when the run had ended and freed its caches

    std::size_t reference_index() const { return experiment.reference_index(); }
    const LaneRecord& reference() const { return lanes.at(reference_index()); }
};

/// How many times faster than the reference lane `lane` decodes (ratio of the median `tpot_ns`), or why that
/// is not shown: it is the reference, its output differs, it did other work, or there is nothing to divide.
struct SpeedUp {
    double factor = 0;  ///< 0 when `why_not` says something
    std::string why_not;
};
SpeedUp speed_up(const Record& record, std::size_t lane);

/// Record as JSON text, two-space indented; times in ns, sizes in bytes, unknown values null.
std::string to_json(const Record& record);
/// Reads a record back; unknown schema versions are refused, unknown fields end up in `warnings`.
Result<Record> parse_record(std::string_view json, std::vector<std::string>* warnings = nullptr);
Result<Record> load_record(const std::filesystem::path& path, std::vector<std::string>* warnings = nullptr);
/// Writes a record (JSON) to a temporary file beside `path` and renames it.
Result<void> save_record(const Record& record, const std::filesystem::path& path);

}  // namespace decodescope
