// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/sweep/cell_json.h"

#include <algorithm>
#include <cmath>

#include "engine/experiment/environment_json.h"
#include "engine/experiment/experiment_json.h"
#include "engine/experiment/record_json.h"

namespace decodescope {

namespace {

constexpr const char* cell_schema = "decodescope.cell/1";

OrderedJson positive_or_null(double value) {
    return value > 0 ? OrderedJson(value) : OrderedJson(nullptr);
}

OrderedJson mean_or_null(const std::vector<double>& samples) {
    return samples.empty() ? OrderedJson(nullptr) : OrderedJson(moments(samples).mean);
}

OrderedJson deviation_or_null(const std::vector<double>& samples) {
    return samples.size() < 2 ? OrderedJson(nullptr) : OrderedJson(moments(samples).deviation);
}

/// Whole nanoseconds.
OrderedJson ns_json(const std::vector<double>& samples) {
    OrderedJson json = OrderedJson::array();
    for (const double ns : samples) json.push_back(std::llround(ns));
    return json;
}

}  // namespace

OrderedJson cell_json(const Cell& cell) {
    const TestShape& shape = cell.shape;
    const std::vector<double> samples_ts = cell.samples_ts();
    const std::string type = entry_type(cell.lane);
    OrderedJson json = {{"schema", cell_schema}};
    json["point"] = cell.point;
    json["repeat"] = cell.repeat;
    json["label"] = shape.label();
    json["lane"] = cell.lane.name;
    json["mode"] = to_string(cell.lane.mode);
    json["cache"] = to_string(cell.lane.cache.kind);
    json["status"] = to_string(cell.status);
    json["reason"] = text_or_null(cell.reason);
    json["build_commit"] = text_or_null(cell.environment.commit);
    json["cpu_info"] = text_or_null(cell.environment.cpu_model);
    json["backend"] = text_or_null(cell.environment.kernels);
    json["model"] = text_or_null(cell.model);
    json["model_filename"] = text_or_null(cell.model_source);
    json["model_hash"] = text_or_null(cell.model_hash);
    json["model_type"] = text_or_null(cell.model_type);
    json["model_size"] = cell.model_bytes;
    json["model_n_params"] = cell.model_parameters;
    json["n_prompt"] = shape.n_prompt;
    json["n_gen"] = shape.n_gen;
    json["n_depth"] = shape.n_depth;
    json["n_parallel"] = shape.n_parallel;
    json["n_threads"] = shape.n_threads;
    json["n_batch"] = cell.lane.prefill_chunk > 0 ? cell.lane.prefill_chunk : std::max(1, shape.n_prompt);
    json["type_k"] = text_or_null(type);
    json["type_v"] = text_or_null(type);
    json["type_w"] = to_string(cell.lane.weights);
    json["kernels"] = to_string(cell.lane.kernels);
    json["device"] = cell.device().name();
    json["weight_bytes"] = number_or_null(cell.weight_bytes, std::uint64_t{0});
    json["test_time"] = text_or_null(cell.test_time);
    json["warmup"] = cell.warmup;
    json["samples_ns"] = ns_json(cell.samples_ns);
    json["samples_ts"] = samples_ts;
    json["avg_ns"] = mean_or_null(cell.samples_ns);
    json["stddev_ns"] = deviation_or_null(cell.samples_ns);
    json["avg_ts"] = mean_or_null(samples_ts);
    json["stddev_ts"] = deviation_or_null(samples_ts);
    json["median_ns"] = positive_or_null(median_of(cell.samples_ns));
    json["median_ts"] = positive_or_null(median_of(samples_ts));
    json["interval_ns"] = interval_json(bootstrap_median(cell.samples_ns));
    json["spread_ns"] = spread_json(summarize(cell.samples_ns));
    json["spread_ts"] = spread_json(summarize(samples_ts));
    json["outliers"] = outliers(cell.samples_ns);
    json["ttft"] = spread_json(summarize(cell.ttft_ns));
    json["tpot_ns"] = spread_json(summarize(cell.tpot_ns()));
    json["step"] = spread_json(summarize(cell.all_steps_ns()));
    json["step_tokens"] = positive_or_null(cell.step_tokens);
    json["ttft_ns"] = ns_json(cell.ttft_ns);
    json["step_ns"] = OrderedJson::array();
    for (const auto& steps : cell.step_ns) json["step_ns"].push_back(ns_json(steps));
    json["bytes_moved"] = positive_or_null(cell.bytes_moved);
    json["read_gb_s"] = positive_or_null(cell.read_gb_s());
    json["read_limit_gb_s"] = positive_or_null(cell.read_limit_gb_s());
    json["read_share"] = positive_or_null(cell.read_share());
    json["flop"] = positive_or_null(cell.flop);
    json["gflop_s"] = positive_or_null(cell.gflop_s());
    json["peak_gflop_s"] = positive_or_null(cell.peak_gflop_s());
    json["peak_share"] = positive_or_null(cell.peak_share());
    json["kv_bytes"] = {{"live", cell.kv_bytes_live},
                        {"reserved", cell.kv_bytes_reserved},
                        {"copied", cell.kv_bytes_copied},
                        {"per_token", cell.kv_bytes_per_token}};
    json["rss_bytes"] = number_or_null(cell.rss_bytes, ProcessMemory::not_measured);
    json["reference"] = text_or_null(cell.reference);
    json["max_relative_error"] =
        cell.max_relative_error < 0 ? OrderedJson(nullptr) : OrderedJson(cell.max_relative_error);
    json["quality"] = quality_json(cell.quality);
    json["approximation"] = text_or_null(cell.approximation);
    json["speed_up"] = {{"factor", positive_or_null(cell.speed_up.factor)},
                        {"interval", interval_json(cell.speed_up.interval)},
                        {"why_not", text_or_null(cell.speed_up.why_not)}};
    json["precision_note"] = text_or_null(cell.precision_note);
    json["doubts"] = doubts(cell.environment);
    json["spec"] = lane_json(cell.lane);
    json["spec"]["weights"] = to_string(cell.lane.weights);
    json["spec"]["kernels"] = to_string(cell.lane.kernels);
    json["environment"] = environment_json(cell.environment);
    return json;
}

Result<Cell> parse_cell(std::string_view text) {
    const auto document = parse_json(text);
    if (!document) return document.error();
    return cell_from_json(*document);
}

Result<Cell> cell_from_json(const Json& document) {
    JsonReport report{.error = {}, .warnings = nullptr, .null_is_absent = true};
    Cell cell;
    JsonFields fields(document, "", report);
    read_schema(fields, cell_schema);
    fields.integer("point", cell.point);
    fields.boolean("repeat", cell.repeat);
    fields.require("status");
    fields.choice("status", cell.status,
                  {{"ok", CellStatus::ok},
                   {"capacity", CellStatus::capacity},
                   {"memory", CellStatus::memory},
                   {"unsupported", CellStatus::unsupported},
                   {"failed", CellStatus::failed},
                   {"cancelled", CellStatus::cancelled}});
    fields.text("reason", cell.reason);
    fields.text("model", cell.model);
    fields.text("model_filename", cell.model_source);
    fields.text("model_hash", cell.model_hash);
    fields.text("model_type", cell.model_type);
    fields.integer("model_size", cell.model_bytes);
    fields.integer("model_n_params", cell.model_parameters);
    fields.integer("weight_bytes", cell.weight_bytes);
    for (const char* name : {"n_prompt", "n_gen", "n_depth", "n_parallel", "n_threads"}) fields.require(name);
    fields.integer("n_prompt", cell.shape.n_prompt);
    fields.integer("n_gen", cell.shape.n_gen);
    fields.integer("n_depth", cell.shape.n_depth);
    fields.integer("n_parallel", cell.shape.n_parallel);
    fields.integer("n_threads", cell.shape.n_threads);
    fields.text("test_time", cell.test_time);
    fields.integer("warmup", cell.warmup);
    fields.reals("samples_ns", cell.samples_ns);
    fields.reals("ttft_ns", cell.ttft_ns);
    fields.real_rows("step_ns", cell.step_ns);
    fields.real("step_tokens", cell.step_tokens);
    fields.real("bytes_moved", cell.bytes_moved);
    fields.real("flop", cell.flop);
    fields.object("kv_bytes", [&](JsonFields& bytes) {
        bytes.integer("live", cell.kv_bytes_live);
        bytes.integer("reserved", cell.kv_bytes_reserved);
        bytes.integer("copied", cell.kv_bytes_copied);
        bytes.integer("per_token", cell.kv_bytes_per_token);
    });
    fields.integer("rss_bytes", cell.rss_bytes);
    fields.text("reference", cell.reference);
    fields.real("max_relative_error", cell.max_relative_error);
    fields.object("quality", [&](JsonFields& quality) {
        quality.integer("n", cell.quality.n);
        quality.real("mean_kl", cell.quality.mean_kl);
        quality.real("top1_agreement", cell.quality.top1_agreement);
        quality.real("rms_probability_change", cell.quality.rms_probability_change);
    });
    fields.text("approximation", cell.approximation);
    fields.object("speed_up", [&](JsonFields& speed_up) {
        speed_up.real("factor", cell.speed_up.factor);
        std::vector<double> interval;
        speed_up.reals("interval", interval);
        if (interval.size() == 2) cell.speed_up.interval = {interval[0], interval[1], true};
        speed_up.text("why_not", cell.speed_up.why_not);
    });
    cell.speed_up.approximation = cell.approximation;
    fields.text("precision_note", cell.precision_note);
    fields.require("spec");
    fields.object("spec", [&](JsonFields& spec) {
        cell.lane.kernels = Kernels::openblas;  // of rows from before there was a choice
        read_lane(spec, cell.lane);
    });
    fields.object("environment",
                  [&](JsonFields& environment) { read_environment(environment, cell.environment); });
    if (report.error) return *report.error;
    return cell;
}

}  // namespace decodescope
