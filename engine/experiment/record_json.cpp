// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/experiment/record_json.h"

#include <array>
#include <cmath>

#include "engine/core/quote.h"
#include "engine/core/text_file.h"
#include "engine/experiment/experiment_json.h"

namespace decodescope {

namespace {

constexpr const char* schema = "decodescope.record/1";
constexpr std::uint64_t max_file_bytes = std::uint64_t{4} << 30;

constexpr std::array<Owner, n_owner> owners = {Owner::weights, Owner::kv, Owner::activations, Owner::logits,
                                               Owner::workspace};

OrderedJson text_or_null(const std::string& text) {
    return text.empty() ? OrderedJson(nullptr) : OrderedJson(text);
}

/// Null for the number that stands for "not known".
template <class Number>
OrderedJson number_or_null(Number value, Number unknown) {
    return value == unknown ? OrderedJson(nullptr) : OrderedJson(value);
}

OrderedJson owner_bytes_json(const OwnerBytes& bytes) {
    OrderedJson json = OrderedJson::object();
    for (const Owner owner : owners) json[to_string(owner)] = bytes[static_cast<std::size_t>(owner)];
    return json;
}

void read_owner_bytes(JsonFields& fields, OwnerBytes& bytes) {
    for (const Owner owner : owners) fields.integer(to_string(owner), bytes[static_cast<std::size_t>(owner)]);
}

OrderedJson spread_json(const Summary& summary) {
    if (summary.n == 0) return nullptr;
    return {{"median", summary.median}, {"min", summary.min}, {"max", summary.max},
            {"q1", summary.q1},         {"q3", summary.q3},   {"n", summary.n}};
}

OrderedJson step_json(const StepEvent& step) {
    OrderedJson json;
    json["step"] = step.step;
    json["phase"] = to_string(step.phase);
    json["token"] = number_or_null(step.token, -1);
    json["fed_first"] = number_or_null(step.fed_first, -1);
    json["step_ns"] = step.end_ns - step.start_ns;
    json["start_ns"] = step.start_ns;
    json["positions_forwarded"] = step.positions_forwarded;
    json["score_cells"] = {{"allowed", step.score_cells_allowed}, {"computed", step.score_cells_computed}};
    json["cache_length"] = step.cache_length;
    json["kv_bytes_live"] = step.kv_bytes_live;
    json["kv_bytes_reserved"] = step.kv_bytes_reserved;
    json["kv_bytes_meta"] = step.kv_bytes_meta;
    json["kv_bytes_copied"] = step.kv_bytes_copied;
    json["bytes_moved"] = step.bytes_moved;
    json["tensor_bytes"] = owner_bytes_json(step.tensor_bytes);
    json["rss"] = number_or_null(step.memory.rss, ProcessMemory::not_measured);
    json["heap_in_use"] = number_or_null(step.memory.heap_in_use, ProcessMemory::not_measured);
    json["heap_free"] = number_or_null(step.memory.heap_free, ProcessMemory::not_measured);
    json["heap_mapped"] = number_or_null(step.memory.heap_mapped, ProcessMemory::not_measured);
    json["minor_faults"] = number_or_null(step.minor_faults_step, ProcessMemory::not_measured);
    json["minor_faults_total"] = number_or_null(step.memory.minor_faults, ProcessMemory::not_measured);
    json["comparison"] = nullptr;
    if (step.comparison.compared) {
        json["comparison"] = {{"relative_error", step.comparison.relative_error},
                              {"max_abs_error", step.comparison.max_abs_error},
                              {"same_argmax", step.comparison.same_argmax},
                              {"top2_margin", step.comparison.top2_margin}};
    }
    return json;
}

void read_step(JsonFields& fields, StepEvent& step) {
    fields.integer("step", step.step);
    fields.choice("phase", step.phase, {{"prefill", Phase::prefill}, {"decode", Phase::decode}});
    fields.integer("token", step.token);
    fields.integer("fed_first", step.fed_first);
    std::int64_t step_ns = 0;
    fields.require("step_ns");
    fields.require("start_ns");
    fields.integer("step_ns", step_ns);
    fields.integer("start_ns", step.start_ns);
    constexpr std::int64_t longest = std::int64_t{1} << 62;
    if (step_ns < 0 || step_ns > longest) fields.fail("step_ns", "is out of range");
    if (step.start_ns < 0 || step.start_ns > longest) fields.fail("start_ns", "is out of range");
    if (!fields.failed()) step.end_ns = step.start_ns + step_ns;
    fields.integer("positions_forwarded", step.positions_forwarded);
    fields.object("score_cells", [&](JsonFields& cells) {
        cells.integer("allowed", step.score_cells_allowed);
        cells.integer("computed", step.score_cells_computed);
    });
    fields.integer("cache_length", step.cache_length);
    fields.integer("kv_bytes_live", step.kv_bytes_live);
    fields.integer("kv_bytes_reserved", step.kv_bytes_reserved);
    fields.integer("kv_bytes_meta", step.kv_bytes_meta);
    fields.integer("kv_bytes_copied", step.kv_bytes_copied);
    fields.integer("bytes_moved", step.bytes_moved);
    fields.object("tensor_bytes", [&](JsonFields& bytes) { read_owner_bytes(bytes, step.tensor_bytes); });
    fields.integer("rss", step.memory.rss);
    fields.integer("heap_in_use", step.memory.heap_in_use);
    fields.integer("heap_free", step.memory.heap_free);
    fields.integer("heap_mapped", step.memory.heap_mapped);
    fields.integer("minor_faults", step.minor_faults_step);
    fields.integer("minor_faults_total", step.memory.minor_faults);
    fields.object("comparison", [&](JsonFields& comparison) {
        step.comparison.compared = true;
        // Null: the error was not a finite number.
        step.comparison.relative_error = step.comparison.max_abs_error = NAN;
        comparison.real("relative_error", step.comparison.relative_error);
        comparison.real("max_abs_error", step.comparison.max_abs_error);
        comparison.boolean("same_argmax", step.comparison.same_argmax);
        comparison.real("top2_margin", step.comparison.top2_margin);
    });
}

OrderedJson environment_json(const Environment& environment) {
    OrderedJson json;
    json["program_version"] = text_or_null(environment.program_version);
    json["commit"] = text_or_null(environment.commit);
    json["compiler"] = text_or_null(environment.compiler);
    json["compiler_flags"] = text_or_null(environment.compiler_flags);
    json["cpu_model"] = text_or_null(environment.cpu_model);
    json["instruction_sets"] = environment.instruction_sets;
    json["physical_cores"] = number_or_null(environment.physical_cores, 0);
    json["logical_cores"] = number_or_null(environment.logical_cores, 0);
    json["governor"] = text_or_null(environment.governor);
    json["blas"] = text_or_null(environment.blas);
    json["kernels"] = text_or_null(environment.kernels);
    json["os"] = text_or_null(environment.os);
    json["memory_bytes"] = number_or_null(environment.memory_bytes, std::uint64_t{0});
    json["threads"] = number_or_null(environment.threads, 0);
    json["thread_reductions"] = number_or_null(environment.thread_reductions, std::int64_t{-1});
    json["thread_reductions"] = number_or_null(environment.thread_reductions, std::int64_t{-1});
    json["read_bandwidth_gb_s"] = number_or_null(environment.read_bandwidth_gb_s, 0.0);
    json["load_average"] = number_or_null(environment.load_average, -1.0);
    return json;
}

void read_environment(JsonFields& fields, Environment& environment) {
    fields.text("program_version", environment.program_version);
    fields.text("commit", environment.commit);
    fields.text("compiler", environment.compiler);
    fields.text("compiler_flags", environment.compiler_flags);
    fields.text("cpu_model", environment.cpu_model);
    fields.texts("instruction_sets", environment.instruction_sets);
    fields.integer("physical_cores", environment.physical_cores);
    fields.integer("logical_cores", environment.logical_cores);
    fields.text("governor", environment.governor);
    fields.text("blas", environment.blas);
    fields.text("kernels", environment.kernels);
    fields.text("os", environment.os);
    fields.integer("memory_bytes", environment.memory_bytes);
    fields.integer("threads", environment.threads);
    fields.integer("thread_reductions", environment.thread_reductions);
    fields.integer("thread_reductions", environment.thread_reductions);
    fields.real("read_bandwidth_gb_s", environment.read_bandwidth_gb_s);
    fields.real("load_average", environment.load_average);
}

OrderedJson model_json(const Record& record) {
    const ModelConfig& config = record.model;
    OrderedJson json;
    json["name"] = config.name;
    json["source"] = text_or_null(record.model_source);
    json["hash"] = text_or_null(record.model_hash);
    json["weight_bytes"] = record.weight_bytes;
    json["family"] = to_string(config.family);
    json["vocab"] = config.vocab;
    json["n_positions"] = config.n_positions;
    json["d_model"] = config.d_model;
    json["n_layer"] = config.n_layer;
    json["n_head"] = config.n_head;
    json["n_kv_head"] = config.n_kv_head;
    json["head_dim"] = config.head_dim;
    json["d_ff"] = config.d_ff;
    json["norm_eps"] = config.norm_eps;
    json["activation"] = to_string(config.activation);
    json["scale_attention"] = config.scale_attention;
    json["scale_attention_by_layer"] = config.scale_attention_by_layer;
    json["tied_head"] = config.tied_head;
    json["stored_dtype"] = to_string(config.stored_dtype);
    json["eos_ids"] = config.eos_ids;
    json["n_parameter"] = config.n_parameter();
    json["kv_bytes_per_token"] = config.kv_bytes_per_token(DType::f32);
    return json;
}

void read_model(JsonFields& fields, Record& record) {
    ModelConfig& config = record.model;
    fields.text("name", config.name);
    fields.text("source", record.model_source);
    fields.text("hash", record.model_hash);
    fields.integer("weight_bytes", record.weight_bytes);
    fields.choice("family", config.family, {{"gpt2", Family::gpt2}});
    fields.integer("vocab", config.vocab);
    fields.integer("n_positions", config.n_positions);
    fields.integer("d_model", config.d_model);
    fields.integer("n_layer", config.n_layer);
    fields.integer("n_head", config.n_head);
    fields.integer("n_kv_head", config.n_kv_head);
    fields.integer("head_dim", config.head_dim);
    fields.integer("d_ff", config.d_ff);
    double norm_eps = static_cast<double>(config.norm_eps);
    fields.real("norm_eps", norm_eps);
    config.norm_eps = static_cast<float>(norm_eps);
    fields.choice("activation", config.activation,
                  {{to_string(Activation::gelu_tanh), Activation::gelu_tanh},
                   {to_string(Activation::gelu_erf), Activation::gelu_erf},
                   {to_string(Activation::relu), Activation::relu}});
    fields.boolean("scale_attention", config.scale_attention);
    fields.boolean("scale_attention_by_layer", config.scale_attention_by_layer);
    fields.boolean("tied_head", config.tied_head);
    fields.choice("stored_dtype", config.stored_dtype,
                  {{"f32", DType::f32}, {"f16", DType::f16}, {"bf16", DType::bf16}});
    fields.integers("eos_ids", config.eos_ids);
    fields.ignore({"n_parameter", "kv_bytes_per_token"});
}

OrderedJson repetition_json(const RepetitionRecord& repetition) {
    OrderedJson json;
    json["finish"] = to_string(repetition.finish);
    json["reason"] = text_or_null(repetition.reason);
    json["ttft_ns"] = number_or_null(repetition.ttft_ns(), std::int64_t{0});
    json["decode_ns"] = number_or_null(repetition.decode_ns(), std::int64_t{0});
    json["e2e_ns"] = number_or_null(repetition.e2e_ns(), std::int64_t{0});
    json["steps"] = OrderedJson::array();
    for (const StepEvent& step : repetition.steps) json["steps"].push_back(step_json(step));
    return json;
}

void read_finish(JsonFields& fields, const char* name, FinishReason& finish) {
    fields.choice(name, finish,
                  {{"length", FinishReason::length},
                   {"stop_token", FinishReason::stop_token},
                   {"capacity", FinishReason::capacity},
                   {"cancelled", FinishReason::cancelled},
                   {"failed", FinishReason::failed}});
}

void read_repetition(JsonFields& fields, RepetitionRecord& repetition) {
    read_finish(fields, "finish", repetition.finish);
    fields.text("reason", repetition.reason);
    fields.objects("steps", [&](JsonFields& step) { read_step(step, repetition.steps.emplace_back()); });
    fields.ignore({"ttft_ns", "decode_ns", "e2e_ns"});
}

OrderedJson lane_record_json(const Record& record, std::size_t index) {
    const LaneRecord& lane = record.lanes[index];
    OrderedJson json;
    json["name"] = lane.spec.name;
    json["summary"] = summary_json(record, index);
    json["spec"] = lane_json(lane.spec);
    json["repetitions"] = OrderedJson::array();
    for (const RepetitionRecord& repetition : lane.repetitions) {
        json["repetitions"].push_back(repetition_json(repetition));
    }
    return json;
}

void read_lane_record(JsonFields& fields, LaneRecord& lane) {
    fields.require("spec");
    fields.object("spec", [&](JsonFields& spec) { read_lane(spec, lane.spec); });
    fields.object("summary", [&](JsonFields& summary) {
        summary.text("text", lane.text);
        summary.ignore({"ttft_ns", "tpot_ns", "step_ns", "decode_tok_s", "read_gb_s", "max_relative_error",
                        "first_different_token", "tokens", "finish", "reason"});
    });
    fields.objects("repetitions", [&](JsonFields& repetition) {
        read_repetition(repetition, lane.repetitions.emplace_back());
    });
    fields.ignore({"name"});
    for (std::size_t r = 0; r < lane.repetitions.size(); ++r) {
        for (StepEvent& step : lane.repetitions[r].steps) step.repetition = static_cast<std::int32_t>(r);
    }
}

/// What the members alone do not guarantee, so that nobody has to check it again.
Result<void> check(const Record& record) {
    if (const auto valid = record.experiment.validate(); !valid) {
        return Error{valid.error().kind, "experiment." + valid.error().message};
    }
    DS_TRY(record.model.validate());
    if (record.lanes.size() != record.experiment.lanes.size()) {
        return Error{ErrorKind::bad_input, fmt::format("lanes holds {}, expected the {} of the experiment.",
                                                       record.lanes.size(), record.experiment.lanes.size())};
    }
    for (std::size_t i = 0; i < record.lanes.size(); ++i) {
        if (record.lanes[i].spec.name == record.experiment.lanes[i].name) continue;
        return Error{ErrorKind::bad_input,
                     fmt::format("lanes[{}].spec.name is {}, expected {} as in the experiment.", i,
                                 quote(record.lanes[i].spec.name), quote(record.experiment.lanes[i].name))};
    }
    return {};
}

}  // namespace

OrderedJson summary_json(const Record& record, std::size_t index) {
    const LaneRecord& lane = record.lanes.at(index);
    const bool any = !lane.repetitions.empty();
    const double error = lane.max_relative_error();
    OrderedJson json;
    json["ttft_ns"] = spread_json(lane.ttft_ns());
    json["tpot_ns"] = spread_json(lane.tpot_ns());
    json["step_ns"] = spread_json(lane.step_ns());
    json["decode_tok_s"] = number_or_null(lane.decode_tok_s(), 0.0);
    json["read_gb_s"] = number_or_null(lane.read_gb_s(), 0.0);
    json["max_relative_error"] = error < 0 ? OrderedJson(nullptr) : OrderedJson(error);
    json["first_different_token"] = number_or_null(lane.first_different_token(record.reference()), -1);
    json["tokens"] = any ? lane.repetitions.back().tokens() : std::vector<std::int32_t>{};
    json["text"] = text_or_null(lane.text);
    json["finish"] = any ? OrderedJson(to_string(lane.finish())) : OrderedJson(nullptr);
    json["reason"] = text_or_null(any ? lane.repetitions.back().reason : "");
    return json;
}

std::string to_json(const Record& record) {
    OrderedJson json;
    json["schema"] = schema;
    json["started_at"] = text_or_null(record.started_at);
    json["status"] = to_string(record.status);
    json["reason"] = text_or_null(record.reason);
    json["experiment"] = experiment_json(record.experiment);
    json["model"] = model_json(record);
    json["environment"] = environment_json(record.environment);
    json["prompt"] = {{"ids", record.prompt_ids}, {"text", text_or_null(record.prompt_text)}};
    json["lanes"] = OrderedJson::array();
    for (std::size_t i = 0; i < record.lanes.size(); ++i)
        json["lanes"].push_back(lane_record_json(record, i));
    json["tensor_bytes_after"] = owner_bytes_json(record.tensor_bytes_after);
    return dump_json(json);
}

Result<Record> parse_record(std::string_view json, std::vector<std::string>* warnings) {
    const auto document = parse_json(json);
    if (!document) return document.error();
    JsonReport report{.error = {}, .warnings = warnings, .null_is_absent = true};
    Record record;
    JsonFields fields(*document, "", report);
    read_schema(fields, schema);
    fields.text("started_at", record.started_at);
    read_finish(fields, "status", record.status);
    fields.text("reason", record.reason);
    fields.require("experiment");
    fields.object("experiment",
                  [&](JsonFields& experiment) { read_experiment(experiment, record.experiment); });
    fields.require("model");
    fields.object("model", [&](JsonFields& model) { read_model(model, record); });
    fields.object("environment",
                  [&](JsonFields& environment) { read_environment(environment, record.environment); });
    fields.object("prompt", [&](JsonFields& prompt) {
        prompt.integers("ids", record.prompt_ids);
        prompt.text("text", record.prompt_text);
    });
    fields.require("lanes");
    fields.objects("lanes", [&](JsonFields& lane) { read_lane_record(lane, record.lanes.emplace_back()); });
    fields.object("tensor_bytes_after",
                  [&](JsonFields& bytes) { read_owner_bytes(bytes, record.tensor_bytes_after); });
    fields.finish();
    if (report.error) return *report.error;
    DS_TRY(check(record));
    for (std::size_t i = 0; i < record.lanes.size(); ++i) {
        for (RepetitionRecord& repetition : record.lanes[i].repetitions) {
            for (StepEvent& step : repetition.steps) step.lane = static_cast<std::int32_t>(i);
        }
    }
    return record;
}

Result<Record> load_record(const std::filesystem::path& path, std::vector<std::string>* warnings) {
    const auto text = read_text_file(path, max_file_bytes);
    if (!text) return text.error();
    auto record = parse_record(*text, warnings);
    if (!record) return Error{record.error().kind, path.string() + ": " + record.error().message};
    return record;
}

Result<void> save_record(const Record& record, const std::filesystem::path& path) {
    return write_file_atomically(path, to_json(record));
}

}  // namespace decodescope
