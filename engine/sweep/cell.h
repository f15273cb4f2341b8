// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "engine/core/memory.h"
#include "engine/experiment/events.h"
#include "engine/experiment/experiment.h"
#include "engine/experiment/record.h"
#include "engine/formats/model_source.h"
#include "engine/measure/environment.h"
#include "engine/sweep/test_shape.h"

namespace decodescope {

/// What became of a lane in one test. Everything but `ok` keeps its place in tables and files.
enum class CellStatus {
    ok,
    capacity,     ///< it ran out of room: positions of the model, or the cache's capacity
    memory,       ///< it would not fit into the memory there is, and was not tried
    unsupported,  ///< the lane cannot do what the test asks for
    failed,       ///< a number was not finite, or an allocation was refused
    cancelled,
};
const char* to_string(CellStatus status);

/// What one lane did in one test: the row of `bench` and `sweep`. Numbers are 0 and lists empty where nothing
/// was measured.
struct Cell {
    std::size_t point = 0;  ///< number of the test among those that belong together
    bool repeat = false;    ///< the first test once more, at the end, to see whether the machine has drifted
    TestShape shape;
    LaneSpec lane;  ///< one that names no device computes on the CPU
    CellStatus status = CellStatus::ok;
    std::string reason;  ///< one sentence unless status is `ok`

    std::string test_time;  ///< RFC 3339, UTC: when its test began
    std::string model;
    std::string model_source;
    std::string model_hash;
    std::string model_type;  ///< how its weights are stored
    std::uint64_t model_bytes = 0;
    std::int64_t model_parameters = 0;
    std::uint64_t weight_bytes = 0;  ///< of the matrices as the lane computes with them; 0 = not known
    Environment environment;
    int warmup = 0;

    std::vector<double> samples_ns;  ///< [repetitions] time of what the test measures
    std::vector<double> ttft_ns;     ///< [repetitions] prefill of the test's prompts, depth left out
    std::vector<std::vector<double>> step_ns;  ///< [repetitions][decode steps] in their order
    double step_tokens = 0;                    ///< tokens chosen per decode step
    /// Of one repetition, over what is measured: weights and entries that must be read once per step or call,
    /// and the arithmetic of its tokens (pads and invisible cells not counted).
    double bytes_moved = 0;
    double flop = 0;

    std::int64_t kv_bytes_live = 0;  ///< after the last step, all rows
    std::int64_t kv_bytes_reserved = 0;
    std::int64_t kv_bytes_copied = 0;
    std::int64_t kv_bytes_per_token = 0;  ///< live bytes / valid entries, after the last step
    std::int64_t rss_bytes = ProcessMemory::not_measured;

    double max_relative_error = -1;  ///< of logits, against the reference lane; negative: not compared
    Quality quality;
    std::string reference;       ///< lane that was compared with
    SpeedUp speed_up;            ///< against the reference lane, in the time this test measures
    std::string approximation;   ///< why the lane is not meant to be equal; empty when it is
    std::string precision_note;  ///< the precision that was asked for and not reached

    /// Tokens per second of every repetition.
    std::vector<double> samples_ts() const;
    /// Every decode step of every repetition.
    std::vector<double> all_steps_ns() const;
    /// Mean time of a decode step in every repetition (`tpot`); empty without decode steps.
    std::vector<double> tpot_ns() const;
    /// What must be read / the median time, GB/s (1e9), and the share of what its device reads at most; 0
    /// where it is not known.
    double read_gb_s() const;
    double read_share() const;
    /// Where the lane computed.
    Device device() const { return lane.device.value_or(Device{}); }
    /// What the lane's device reads at most, GB/s, and its peak, GFLOP/s; 0 where they are not known.
    double read_limit_gb_s() const;
    double peak_gflop_s() const;
    /// Arithmetic of the tokens / the median time, and the share of the device's peak.
    double gflop_s() const;
    double peak_share() const;
};

/// How tests are run.
struct CellSettings {
    ModelRef model;
    std::vector<LaneSpec> lanes;  ///< those that name no device compute on the CPU
    std::string reference;        ///< name of a lane; empty = the first
    std::uint64_t seed = 0;       ///< of the random prompts
    int warmup = 1;
    int repetitions = 5;
    Precision precision;
    /// Most bytes that tensors of a test may take in the processor's memory, weights included; 0 = no limit.
    /// A lane on the CPU whose cache and buffers would not fit is not begun; what cannot be foreseen is
    /// refused when it is asked for.
    std::uint64_t memory = 0;
};

/// The experiment that is run for a test, with the lanes that can do it. Lanes that cannot are in `refused`
/// with their status and reason.
Experiment experiment_of(const TestShape& shape, const CellSettings& settings, const ModelConfig& model,
                         std::vector<Cell>* refused = nullptr);

/// Runs one test: all lanes take turns. One cell per lane, in the order of the lanes; a test that cannot be
/// run at all gives cells that say why. What the machine can do at most is measured before every test, with
/// its threads: on shared machines it changes.
std::vector<Cell> measure_cells(const TestShape& shape, const CellSettings& settings,
                                const LoadedModel& model, const std::shared_ptr<MemoryLedger>& ledger,
                                EventSink& sink, std::stop_token stop = {});

/// The cells of a record that `experiment_of` was run for.
std::vector<Cell> cells_of(const Record& record, const TestShape& shape);

}  // namespace decodescope
