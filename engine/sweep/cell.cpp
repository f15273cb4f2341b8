// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/sweep/cell.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/core/timestamp.h"
#include "engine/experiment/precision.h"
#include "engine/experiment/runner.h"
#include "engine/experiment/text_table.h"
#include "engine/plan/accounting.h"
#include "engine/plan/memory_plan.h"

namespace decodescope {

namespace {

double duration(const StepEvent& step) {
    return static_cast<double>(step.end_ns - step.start_ns);
}

bool is_prefill(const StepEvent& step) {
    return step.phase == Phase::prefill;
}

/// Time of the test's own prompt in a prefill step: without the call that brought the depth.
double prefill_ns(const StepEvent& step, const TestShape& shape, const LaneSpec& lane) {
    // Without a cache the depth is forwarded again with the prompt, which is what it costs.
    if (shape.n_depth == 0 || lane.mode == LaneMode::naive) return duration(step);
    return static_cast<double>(step.end_ns - step.first_call_end_ns);
}

/// What is measured of a repetition; 0 if it is not whole.
struct Measured {
    double ns = 0;
    double ttft_ns = 0;
    double bytes = 0;
    double flop = 0;
};

Measured measure(const RepetitionRecord& repetition, const TestShape& shape, const LaneSpec& lane,
                 const ModelConfig& model) {
    Measured sum;
    for (const StepEvent& step : repetition.steps) {
        std::int64_t rows = step.positions_forwarded - step.padding_forwarded;
        std::int64_t cells = step.score_cells_allowed;
        double ns = duration(step);
        auto bytes = static_cast<double>(step.bytes_moved);
        if (is_prefill(step)) {
            ns = prefill_ns(step, shape, lane);
            sum.ttft_ns += ns;
            if (shape.n_prompt == 0) continue;
            if (lane.mode != LaneMode::naive) {
                const std::int64_t n = step.n_row;
                rows -= n * shape.n_depth;
                cells -= n * causal_cells(shape.n_depth, effective_window(lane.window, model.window).size);
                // The weights were read in every call, and the first of them is not measured.
                if (const auto n_call = static_cast<double>(lane.prefill_partition.size()); n_call > 1)
                    bytes -= (bytes - static_cast<double>(step.kv_bytes_live)) / n_call;
            }
        } else if (shape.n_gen == 0) {
            continue;
        }
        sum.ns += ns;
        sum.bytes += bytes;
        // Pads and cells that nobody may see are no useful work.
        sum.flop += static_cast<double>(product_flops(model, rows, step.n_token) +
                                        attention_flops(model, std::max(std::int64_t{0}, cells)));
    }
    return sum;
}

CellStatus status_of(ErrorKind kind) {
    switch (kind) {
        case ErrorKind::capacity: return CellStatus::capacity;
        case ErrorKind::out_of_memory: return CellStatus::memory;
        case ErrorKind::bad_input:
        case ErrorKind::unsupported: return CellStatus::unsupported;
        case ErrorKind::cancelled: return CellStatus::cancelled;
        case ErrorKind::io:
        case ErrorKind::non_finite:
        case ErrorKind::device:
        case ErrorKind::internal: break;
    }
    return CellStatus::failed;
}

CellStatus status_of(FinishReason reason) {
    switch (reason) {
        case FinishReason::length:
        case FinishReason::stop_token: return CellStatus::ok;
        case FinishReason::capacity: return CellStatus::capacity;
        case FinishReason::cancelled: return CellStatus::cancelled;
        case FinishReason::failed: break;
    }
    return CellStatus::failed;
}

bool is_whole(const RepetitionRecord& repetition, const TestShape& shape) {
    return status_of(repetition.finish) == CellStatus::ok &&
           repetition.chosen.size() ==
               static_cast<std::size_t>(shape.new_tokens()) * static_cast<std::size_t>(shape.n_parallel);
}

double per_ns(double amount, const std::vector<double>& samples_ns) {
    const double median = median_of(samples_ns);
    return median > 0 ? amount / median : 0;
}

Cell empty_cell(const TestShape& shape, const LaneSpec& lane, CellStatus status, std::string reason) {
    Cell cell;
    cell.shape = shape;
    cell.lane = lane;
    cell.status = status;
    cell.reason = std::move(reason);
    return cell;
}

void describe_model(Cell& cell, const LoadedModel& model) {
    const Weights& weights = *model.weights;
    cell.model = weights.config.name;
    cell.model_source = weights.source;
    cell.model_hash = weights_hash(weights);
    cell.model_type = weights.config.stored_as;
    cell.model_bytes = weights.bytes();
    cell.model_parameters = weights.config.n_parameter();
}

/// Keeps tensors within a limit while it lives.
class MemoryGuard {
public:
    MemoryGuard(MemoryLedger& ledger, std::uint64_t bytes) : ledger_(ledger), before_(ledger.limit()) {
        if (bytes > 0 && (before_ == 0 || bytes < before_)) ledger_.set_limit(bytes);
    }
    ~MemoryGuard() { ledger_.set_limit(before_); }
    MemoryGuard(const MemoryGuard&) = delete;
    MemoryGuard& operator=(const MemoryGuard&) = delete;

private:
    MemoryLedger& ledger_;
    std::uint64_t before_;
};

/// The lane as it prefills `shape`: the depth in a call of its own.
Result<LaneSpec> lane_for(const LaneSpec& lane, const TestShape& shape) {
    LaneSpec adapted = lane;
    if (shape.n_depth == 0 || shape.n_prompt == 0 || lane.mode == LaneMode::naive) return adapted;
    if (lane.batching == Batching::continuous) {
        return Error{
            ErrorKind::unsupported,
            "A continuous batch decides itself which prompt tokens go together, so that prompts on top "
            "of a depth cannot be timed."};
    }
    const int chunk = lane.prefill_chunk > 0 ? lane.prefill_chunk : shape.n_prompt;
    adapted.prefill_chunk = 0;
    adapted.prefill_partition = {shape.n_depth};
    for (int left = shape.n_prompt; left > 0; left -= chunk)
        adapted.prefill_partition.push_back(std::min(left, chunk));
    return adapted;
}

/// Refuses a test that would run out of the model's positions, and only say so at the end.
Result<void> check_positions(const TestShape& shape, const ModelConfig& model) {
    const std::int64_t needed = std::int64_t{shape.prompt_length()} + shape.n_gen;
    if (needed <= model.n_positions) return {};
    return Error{ErrorKind::capacity,
                 fmt::format("It needs {} positions, the model has {}.", needed, model.n_positions)};
}

/// Refuses a lane whose cache, buffers and the weights would not fit into `settings.memory`; `prepared`: the
/// types that its test prepares the matrices in for it and for the lanes before it. What a lane without a
/// cache needs beside the weights is little, and left to the guard that watches allocations. What a GPU holds
/// is left to the GPU, which refuses it without harm.
Result<void> check_memory(const LaneSpec& lane, const TestShape& shape, const CellSettings& settings,
                          const ModelConfig& model, const std::vector<WeightType>& prepared) {
    if (settings.memory == 0 || lane.device.value_or(Device{}).is_gpu()) return {};
    PlanRequest request;
    request.prepared = prepared;
    request.cache = lane.cache;
    request.window = effective_window(lane.window, model.window);
    request.batch = lane.batching == Batching::single ? 1 : shape.n_parallel;
    request.new_tokens = shape.new_tokens();
    request.context = shape.prompt_length() + shape.n_gen;
    request.prefill_chunk = lane.prefill_chunk;
    request.threads = shape.n_threads;
    const auto plan = plan_memory(plan_shape(model, model.name), request);
    if (!plan) return {};
    const bool naive = lane.mode == LaneMode::naive;
    const auto needed = static_cast<std::uint64_t>(naive ? plan->weights : plan->tensors());
    if (needed <= settings.memory) return {};
    const auto text = [](auto bytes) { return human_bytes(static_cast<double>(bytes)); };
    if (naive) {
        return Error{ErrorKind::out_of_memory,
                     fmt::format("It would need {} of weights, more than the {} there are.", text(needed),
                                 text(settings.memory))};
    }
    return Error{
        ErrorKind::out_of_memory,
        fmt::format("It would need {} ({} of weights, {} of KV cache, {} of buffers), more than the {} there "
                    "are.",
                    text(needed), text(plan->weights), text(plan->kv.reserved), text(plan->work()),
                    text(settings.memory))};
}

}  // namespace

const char* to_string(CellStatus status) {
    switch (status) {
        case CellStatus::ok: return "ok";
        case CellStatus::capacity: return "capacity";
        case CellStatus::memory: return "memory";
        case CellStatus::unsupported: return "unsupported";
        case CellStatus::failed: return "failed";
        case CellStatus::cancelled: return "cancelled";
    }
    return "?";
}

std::vector<double> Cell::samples_ts() const {
    std::vector<double> rates;
    for (const double ns : samples_ns)
        rates.push_back(static_cast<double>(shape.measured_tokens()) * 1e9 / ns);
    return rates;
}

std::vector<double> Cell::all_steps_ns() const {
    std::vector<double> all;
    for (const auto& steps : step_ns) all.insert(all.end(), steps.begin(), steps.end());
    return all;
}

std::vector<double> Cell::tpot_ns() const {
    std::vector<double> means;
    for (const auto& steps : step_ns) {
        if (!steps.empty()) means.push_back(moments(steps).mean);
    }
    return means;
}

double Cell::read_gb_s() const {
    return per_ns(bytes_moved, samples_ns);
}

double Cell::read_share() const {
    return read_limit_gb_s() > 0 ? read_gb_s() / read_limit_gb_s() : 0;
}

double Cell::read_limit_gb_s() const {
    return decodescope::read_limit_gb_s(environment, device().name());
}

double Cell::peak_gflop_s() const {
    return decodescope::peak_limit_gflop_s(environment, device().name());
}

double Cell::gflop_s() const {
    return per_ns(flop, samples_ns);
}

double Cell::peak_share() const {
    return peak_gflop_s() > 0 ? gflop_s() / peak_gflop_s() : 0;
}

Experiment experiment_of(const TestShape& shape, const CellSettings& settings, const ModelConfig& model,
                         std::vector<Cell>* refused) {
    Experiment experiment;
    experiment.model = settings.model;
    experiment.threads = shape.n_threads;
    experiment.new_tokens = shape.new_tokens();
    experiment.warmup = settings.warmup;
    experiment.repetitions = settings.repetitions;
    experiment.precision = settings.precision;
    experiment.prompts.clear();
    for (int i = 0; i < shape.n_parallel; ++i) {
        PromptSpec prompt;
        prompt.kind = PromptSpec::Kind::random;
        prompt.length = shape.prompt_length();
        prompt.seed = settings.seed + static_cast<std::uint64_t>(i);
        experiment.prompts.push_back(std::move(prompt));
    }
    const auto refuse = [&](const LaneSpec& lane, const Error& error) {
        if (refused != nullptr)
            refused->push_back(empty_cell(shape, lane, status_of(error.kind), error.message));
    };
    std::vector<WeightType> prepared;  // for the lanes that are let in
    for (const LaneSpec& lane : settings.lanes) {
        auto adapted = lane_for(lane, shape);
        if (!adapted) {
            refuse(lane, adapted.error());
            continue;
        }
        // Each by itself, so that what one lane cannot do takes nothing from the others.
        Experiment alone = experiment;
        alone.lanes = {*adapted};
        const auto valid = alone.validate();
        auto fits = valid ? check_against_model(alone, model) : valid;
        if (fits) fits = check_positions(shape, model);
        std::vector<WeightType> with = prepared;
        if (lane.kernels == Kernels::packed &&
            std::find(with.begin(), with.end(), lane.weights) == with.end())
            with.push_back(lane.weights);
        if (fits) fits = check_memory(*adapted, shape, settings, model, with);
        if (!fits) {
            refuse(lane, fits.error());
            continue;
        }
        prepared = std::move(with);
        experiment.lanes.push_back(*std::move(adapted));
    }
    const auto named = [&](const LaneSpec& lane) { return lane.name == settings.reference; };
    if (std::any_of(experiment.lanes.begin(), experiment.lanes.end(), named))
        experiment.reference = settings.reference;
    return experiment;
}

std::vector<Cell> cells_of(const Record& record, const TestShape& shape) {
    std::vector<Cell> cells;
    for (std::size_t i = 0; i < record.lanes.size(); ++i) {
        const LaneRecord& lane = record.lanes[i];
        Cell cell = empty_cell(shape, lane.spec, status_of(lane.finish()), "");
        if (cell.status != CellStatus::ok)
            cell.reason = lane.repetitions.empty() ? record.reason : lane.repetitions.back().reason;
        std::int64_t steps = 0;
        std::int64_t tokens = 0;
        for (const RepetitionRecord& repetition : lane.repetitions) {
            if (!is_whole(repetition, shape)) continue;
            const Measured measured = measure(repetition, shape, lane.spec, record.model);
            cell.samples_ns.push_back(measured.ns);
            cell.ttft_ns.push_back(measured.ttft_ns);
            cell.bytes_moved = measured.bytes;
            cell.flop = measured.flop;
            auto& series = cell.step_ns.emplace_back();
            for (const StepEvent& step : repetition.steps) {
                if (!is_prefill(step)) series.push_back(duration(step));
            }
            steps += repetition.n_decode();
            tokens += repetition.n_decode_token();
        }
        if (shape.n_gen == 0) cell.step_ns.clear();
        if (steps > 0) cell.step_tokens = static_cast<double>(tokens) / static_cast<double>(steps);
        if (!lane.repetitions.empty() && !lane.repetitions.back().steps.empty()) {
            const StepEvent& last = lane.repetitions.back().steps.back();
            cell.kv_bytes_live = last.kv_bytes_live;
            cell.kv_bytes_reserved = last.kv_bytes_reserved;
            cell.kv_bytes_copied = last.kv_bytes_copied;
            if (last.cache_length > 0) cell.kv_bytes_per_token = last.kv_bytes_live / last.cache_length;
            cell.rss_bytes = last.memory.rss;
        }
        cell.weight_bytes = lane.weight_bytes;
        cell.max_relative_error = lane.max_relative_error();
        cell.quality = lane.quality();
        cell.reference = record.reference().spec.name;
        cell.approximation = approximation(record, i);
        cell.test_time = record.started_at;
        cell.environment = record.environment;
        cell.warmup = record.experiment.warmup;
        cells.push_back(std::move(cell));
    }
    const Cell& reference = cells.at(record.reference_index());
    const AchievedPrecision achieved = achieved_precision(record);
    for (std::size_t i = 0; i < cells.size(); ++i) {
        Cell& cell = cells[i];
        cell.precision_note = achieved.sentence;
        std::string why = why_not_comparable(record, i);
        if (why.empty() && (cell.samples_ns.empty() || reference.samples_ns.empty())) why = "not measured";
        if (why.empty()) {
            cell.speed_up = {median_of(reference.samples_ns) / median_of(cell.samples_ns),
                             bootstrap_paired_ratio(reference.samples_ns, cell.samples_ns), "",
                             cell.approximation};
        } else {
            cell.speed_up = {0, {}, std::move(why), cell.approximation};
        }
    }
    return cells;
}

std::vector<Cell> measure_cells(const TestShape& shape, const CellSettings& settings,
                                const LoadedModel& model, const std::shared_ptr<MemoryLedger>& ledger,
                                EventSink& sink, std::stop_token stop) {
    std::vector<Cell> cells;
    const Experiment experiment = experiment_of(shape, settings, model.weights->config, &cells);
    if (!experiment.lanes.empty()) {
        const MemoryGuard guard(*ledger, settings.memory);
        const auto record = run_experiment(experiment, model, ledger, sink, std::move(stop));
        if (record) {
            for (Cell& cell : cells_of(*record, shape)) cells.push_back(std::move(cell));
        } else {
            for (const LaneSpec& lane : experiment.lanes) {
                cells.push_back(
                    empty_cell(shape, lane, status_of(record.error().kind), record.error().message));
            }
        }
    }
    for (Cell& cell : cells) {
        describe_model(cell, model);
        if (!cell.test_time.empty()) continue;
        cell.test_time = utc_now();
        cell.environment = read_environment();
        cell.environment.threads = shape.n_threads;
    }
    // As they were asked for, the refused ones in their places and without what depth made of them.
    std::vector<Cell> ordered;
    for (const LaneSpec& lane : settings.lanes) {
        const auto mine = std::find_if(cells.begin(), cells.end(),
                                       [&](const Cell& cell) { return cell.lane.name == lane.name; });
        if (mine == cells.end()) continue;
        mine->lane = lane;
        ordered.push_back(std::move(*mine));
    }
    return ordered;
}

}  // namespace decodescope
