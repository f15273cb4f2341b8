// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/experiment/record_json.h"

#include <cmath>

#include "engine/core/quote.h"
#include "engine/core/text_file.h"
#include "engine/experiment/environment_json.h"
#include "engine/experiment/experiment_json.h"
#include "engine/experiment/precision.h"
#include "engine/experiment/token_times.h"

namespace decodescope {

namespace {

constexpr const char* record_schema = "decodescope.record/1";
constexpr std::uint64_t max_record_bytes = std::uint64_t{4} << 30;

OrderedJson comparison_json(const LogitComparison& comparison) {
    if (!comparison.compared) return nullptr;
    return {{"relative_error", comparison.relative_error},
            {"max_abs_error", comparison.max_abs_error},
            {"same_argmax", comparison.same_argmax},
            {"top2_margin", comparison.top2_margin},
            {"kl_divergence", comparison.kl_divergence},
            {"reference_probability", comparison.reference_probability},
            {"lane_probability", comparison.lane_probability}};
}

void read_comparison(JsonFields& fields, LogitComparison& out) {
    fields.object("comparison", [&](JsonFields& comparison) {
        out.compared = true;
        // Null: the error was not a finite number.
        out.relative_error = out.max_abs_error = out.kl_divergence = NAN;
        comparison.real("relative_error", out.relative_error);
        comparison.real("max_abs_error", out.max_abs_error);
        comparison.boolean("same_argmax", out.same_argmax);
        comparison.real("top2_margin", out.top2_margin);
        comparison.real("kl_divergence", out.kl_divergence);
        comparison.real("reference_probability", out.reference_probability);
        comparison.real("lane_probability", out.lane_probability);
    });
}

/// The integers of a step, each under its own name; what a lane does not do is left out when it is 0.
struct StepInteger {
    const char* name;
    std::int64_t StepEvent::*member;
    bool always;
};
constexpr StepInteger step_integers[] = {
    {"positions_forwarded", &StepEvent::positions_forwarded, true},
    {"padding_forwarded", &StepEvent::padding_forwarded, false},
    {"draft_positions_forwarded", &StepEvent::draft_positions_forwarded, false},
    {"cache_length", &StepEvent::cache_length, true},
    {"cache_forgotten", &StepEvent::cache_forgotten, false},
    {"kv_bytes_live", &StepEvent::kv_bytes_live, true},
    {"kv_bytes_scales", &StepEvent::kv_bytes_scales, false},
    {"kv_bytes_residual", &StepEvent::kv_bytes_residual, false},
    {"kv_bytes_padding", &StepEvent::kv_bytes_padding, false},
    {"kv_bytes_slack", &StepEvent::kv_bytes_slack, false},
    {"kv_bytes_kept", &StepEvent::kv_bytes_kept, false},
    {"kv_bytes_shared", &StepEvent::kv_bytes_shared, false},
    {"kv_bytes_reserved", &StepEvent::kv_bytes_reserved, true},
    {"kv_bytes_meta", &StepEvent::kv_bytes_meta, true},
    {"kv_bytes_copied", &StepEvent::kv_bytes_copied, true},
    {"kv_bytes_draft", &StepEvent::kv_bytes_draft, false},
    {"bytes_moved", &StepEvent::bytes_moved, true},
    {"tensor_allocations", &StepEvent::tensor_allocations, true},
};
struct StepCount {
    const char* name;
    std::int32_t StepEvent::*member;
    std::int32_t usual;
};
constexpr StepCount step_counts[] = {
    {"request", &StepEvent::request, 0},     {"n_token", &StepEvent::n_token, 1},
    {"n_row", &StepEvent::n_row, 1},         {"n_waiting", &StepEvent::n_waiting, 0},
    {"n_drafted", &StepEvent::n_drafted, 0}, {"n_accepted", &StepEvent::n_accepted, 0},
    {"n_adopted", &StepEvent::n_adopted, 0},
};

OrderedJson step_json(const StepEvent& step) {
    OrderedJson json;
    json["step"] = step.step;
    json["phase"] = to_string(step.phase);
    json["token"] = number_or_null(step.token, -1);
    json["fed_first"] = number_or_null(step.fed_first, -1);
    for (const StepCount& count : step_counts) {
        if (step.*count.member != count.usual) json[count.name] = step.*count.member;
    }
    json["step_ns"] = step.end_ns - step.start_ns;
    json["start_ns"] = step.start_ns;
    json["first_call_ns"] =
        number_or_null(step.first_call_end_ns == 0 ? std::int64_t{0} : step.first_call_end_ns - step.start_ns,
                       std::int64_t{0});
    if (step.device_ns >= 0) json["device_ns"] = step.device_ns;
    json["score_cells"] = {{"allowed", step.score_cells_allowed}, {"computed", step.score_cells_computed}};
    for (const StepInteger& integer : step_integers) {
        if (integer.always || step.*integer.member != 0) json[integer.name] = step.*integer.member;
    }
    json["heap_allocations"] = number_or_null(step.heap_allocations, ProcessMemory::not_measured);
    json["tensor_bytes"] = owner_bytes_json(step.tensor_bytes);
    json["rss"] = number_or_null(step.memory.rss, ProcessMemory::not_measured);
    json["heap_in_use"] = number_or_null(step.memory.heap_in_use, ProcessMemory::not_measured);
    json["heap_free"] = number_or_null(step.memory.heap_free, ProcessMemory::not_measured);
    json["heap_mapped"] = number_or_null(step.memory.heap_mapped, ProcessMemory::not_measured);
    json["minor_faults"] = number_or_null(step.minor_faults_step, ProcessMemory::not_measured);
    json["minor_faults_total"] = number_or_null(step.memory.minor_faults, ProcessMemory::not_measured);
    json["comparison"] = comparison_json(step.comparison);
    return json;
}

void read_step(JsonFields& fields, StepEvent& step) {
    fields.integer("step", step.step);
    fields.choice("phase", step.phase,
                  {{"prefill", Phase::prefill}, {"decode", Phase::decode}, {"mixed", Phase::mixed}});
    fields.integer("token", step.token);
    fields.integer("fed_first", step.fed_first);
    for (const StepCount& count : step_counts) {
        step.*count.member = count.usual;
        fields.integer(count.name, step.*count.member);
    }
    constexpr std::int32_t most_drafts = 1024;
    if (step.n_drafted < 0 || step.n_drafted > most_drafts) fields.fail("n_drafted", "is out of range");
    std::int64_t step_ns = 0;
    fields.require("step_ns");
    fields.require("start_ns");
    fields.integer("step_ns", step_ns);
    fields.integer("start_ns", step.start_ns);
    constexpr std::int64_t longest = std::int64_t{1} << 62;
    if (step_ns < 0 || step_ns > longest) fields.fail("step_ns", "is out of range");
    if (step.start_ns < 0 || step.start_ns > longest) fields.fail("start_ns", "is out of range");
    std::int64_t first_call_ns = 0;
    fields.integer("first_call_ns", first_call_ns);
    if (first_call_ns < 0 || first_call_ns > step_ns) fields.fail("first_call_ns", "is out of range");
    fields.integer("device_ns", step.device_ns);
    if (step.device_ns < ProcessMemory::not_measured || step.device_ns > longest)
        fields.fail("device_ns", "is out of range");
    if (!fields.failed()) {
        step.end_ns = step.start_ns + step_ns;
        if (first_call_ns > 0) step.first_call_end_ns = step.start_ns + first_call_ns;
    }
    fields.object("score_cells", [&](JsonFields& cells) {
        cells.integer("allowed", step.score_cells_allowed);
        cells.integer("computed", step.score_cells_computed);
    });
    for (const StepInteger& integer : step_integers) fields.integer(integer.name, step.*integer.member);
    fields.integer("heap_allocations", step.heap_allocations);
    fields.object("tensor_bytes", [&](JsonFields& bytes) { read_owner_bytes(bytes, step.tensor_bytes); });
    fields.integer("rss", step.memory.rss);
    fields.integer("heap_in_use", step.memory.heap_in_use);
    fields.integer("heap_free", step.memory.heap_free);
    fields.integer("heap_mapped", step.memory.heap_mapped);
    fields.integer("minor_faults", step.minor_faults_step);
    fields.integer("minor_faults_total", step.memory.minor_faults);
    read_comparison(fields, step.comparison);
}

OrderedJson token_json(const TokenEvent& token) {
    OrderedJson json = {
        {"request", token.request}, {"index", token.index}, {"step", token.step}, {"token", token.token}};
    if (token.drafted) json["drafted"] = true;
    json["comparison"] = comparison_json(token.comparison);
    return json;
}

void read_token(JsonFields& fields, TokenEvent& token) {
    fields.require("token");
    fields.integer("request", token.request);
    fields.integer("index", token.index);
    fields.integer("step", token.step);
    fields.integer("token", token.token);
    fields.boolean("drafted", token.drafted);
    read_comparison(fields, token.comparison);
    if (token.request < 0) fields.fail("request", "is negative");
    if (token.step < 0) fields.fail("step", "is negative");
}

OrderedJson rotary_json(const Rotary& rotary) {
    OrderedJson json;
    json["theta"] = rotary.theta;
    json["pairs"] = to_string(rotary.pairs);
    json["scaling"] = to_string(rotary.scaling);
    if (rotary.scaling != RotaryScaling::none) json["factor"] = rotary.factor;
    if (rotary.scaling == RotaryScaling::llama3) {
        json["original_positions"] = rotary.original_positions;
        json["low_freq_factor"] = rotary.low_freq_factor;
        json["high_freq_factor"] = rotary.high_freq_factor;
    }
    if (rotary.scaling == RotaryScaling::yarn) {
        json["original_positions"] = rotary.original_positions;
        json["beta_fast"] = rotary.beta_fast;
        json["beta_slow"] = rotary.beta_slow;
        json["truncate"] = rotary.truncate;
        json["amplitude"] = rotary.amplitude;
    }
    if (!rotary.divisors.empty()) json["divisors"] = rotary.divisors;
    return json;
}

void read_rotary(JsonFields& fields, Rotary& rotary) {
    fields.real("theta", rotary.theta);
    fields.choice("pairs", rotary.pairs,
                  {{"halves", RotaryPairs::halves}, {"neighbours", RotaryPairs::neighbours}});
    fields.choice("scaling", rotary.scaling,
                  {{"none", RotaryScaling::none},
                   {"linear", RotaryScaling::linear},
                   {"llama3", RotaryScaling::llama3},
                   {"yarn", RotaryScaling::yarn}});
    fields.real("factor", rotary.factor);
    fields.real("original_positions", rotary.original_positions);
    fields.real("low_freq_factor", rotary.low_freq_factor);
    fields.real("high_freq_factor", rotary.high_freq_factor);
    fields.real("beta_fast", rotary.beta_fast);
    fields.real("beta_slow", rotary.beta_slow);
    fields.boolean("truncate", rotary.truncate);
    fields.real("amplitude", rotary.amplitude);
    fields.reals("divisors", rotary.divisors);
}

OrderedJson model_json(const Record& record) {
    const ModelConfig& config = record.model;
    OrderedJson json;
    json["name"] = config.name;
    json["source"] = text_or_null(record.model_source);
    json["hash"] = text_or_null(record.model_hash);
    json["weight_bytes"] = record.weight_bytes;
    json["weight_bytes_mapped"] = record.weight_bytes_mapped;
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
    json["norm"] = to_string(config.norm);
    json["gated_ff"] = config.gated_ff;
    json["qkv_bias"] = config.qkv_bias;
    json["attn_out_bias"] = config.attn_out_bias;
    json["ff_bias"] = config.ff_bias;
    if (config.rotary) json["rotary"] = rotary_json(*config.rotary);
    json["scale_attention"] = config.scale_attention;
    json["scale_attention_by_layer"] = config.scale_attention_by_layer;
    if (config.window != 0) json["window"] = config.window;
    json["tied_head"] = config.tied_head;
    json["stored_dtype"] = config.stored_as;
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
    fields.integer("weight_bytes_mapped", record.weight_bytes_mapped);
    fields.choice("family", config.family, {{"gpt2", Family::gpt2}, {"llama", Family::llama}});
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
                   {to_string(Activation::relu), Activation::relu},
                   {to_string(Activation::silu), Activation::silu}});
    fields.choice("norm", config.norm,
                  {{"layer_norm", NormKind::layer_norm}, {"rms_norm", NormKind::rms_norm}});
    fields.boolean("gated_ff", config.gated_ff);
    fields.boolean("qkv_bias", config.qkv_bias);
    fields.boolean("attn_out_bias", config.attn_out_bias);
    fields.boolean("ff_bias", config.ff_bias);
    fields.object("rotary", [&](JsonFields& inner) { read_rotary(inner, config.rotary.emplace()); });
    fields.boolean("scale_attention", config.scale_attention);
    fields.boolean("scale_attention_by_layer", config.scale_attention_by_layer);
    fields.integer("window", config.window);
    fields.boolean("tied_head", config.tied_head);
    fields.text("stored_dtype", config.stored_as);
    fields.integers("eos_ids", config.eos_ids);
    fields.ignore({"n_parameter", "kv_bytes_per_token"});
}

OrderedJson request_json(const RequestRecord& request) {
    constexpr std::int64_t never = 0;
    return {{"finish", to_string(request.finish)},
            {"reason", text_or_null(request.reason)},
            {"queue_ns", request.started_ns == 0 ? OrderedJson(nullptr) : OrderedJson(request.queue_ns())},
            {"ttft_ns", number_or_null(request.ttft_ns(), never)},
            {"n_adopted", request.n_adopted},
            {"arrived_ns", number_or_null(request.arrived_ns, never)},
            {"started_ns", number_or_null(request.started_ns, never)},
            {"first_token_ns", number_or_null(request.first_token_ns, never)},
            {"finished_ns", number_or_null(request.finished_ns, never)}};
}

OrderedJson repetition_json(const RepetitionRecord& repetition) {
    OrderedJson json;
    json["finish"] = to_string(repetition.finish);
    json["reason"] = text_or_null(repetition.reason);
    json["ttft_ns"] = number_or_null(repetition.ttft_ns(), std::int64_t{0});
    json["decode_ns"] = number_or_null(repetition.decode_ns(), std::int64_t{0});
    json["e2e_ns"] = number_or_null(repetition.e2e_ns(), std::int64_t{0});
    json["requests"] = OrderedJson::array();
    for (const RequestRecord& request : repetition.requests)
        json["requests"].push_back(request_json(request));
    json["steps"] = OrderedJson::array();
    for (const StepEvent& step : repetition.steps) json["steps"].push_back(step_json(step));
    json["tokens"] = OrderedJson::array();
    for (const TokenEvent& token : repetition.chosen) json["tokens"].push_back(token_json(token));
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

void read_request(JsonFields& fields, RequestRecord& request) {
    read_finish(fields, "finish", request.finish);
    fields.text("reason", request.reason);
    fields.integer("n_adopted", request.n_adopted);
    fields.integer("arrived_ns", request.arrived_ns);
    fields.integer("started_ns", request.started_ns);
    fields.integer("first_token_ns", request.first_token_ns);
    fields.integer("finished_ns", request.finished_ns);
    fields.ignore({"queue_ns", "ttft_ns"});
}

void read_repetition(JsonFields& fields, RepetitionRecord& repetition) {
    read_finish(fields, "finish", repetition.finish);
    fields.text("reason", repetition.reason);
    fields.objects("requests",
                   [&](JsonFields& request) { read_request(request, repetition.requests.emplace_back()); });
    fields.objects("tokens", [&](JsonFields& token) { read_token(token, repetition.chosen.emplace_back()); });
    fields.objects("steps", [&](JsonFields& step) { read_step(step, repetition.steps.emplace_back()); });
    fields.ignore({"ttft_ns", "decode_ns", "e2e_ns"});
}

OrderedJson lane_record_json(const Record& record, std::size_t index) {
    const LaneRecord& lane = record.lanes[index];
    OrderedJson json;
    json["name"] = lane.spec.name;
    json["summary"] = summary_json(record, index);
    json["spec"] = lane_json(lane.spec);
    // Always named: in records from before there was a choice, where it is missing, products were OpenBLAS's.
    json["spec"]["weights"] = to_string(lane.spec.weights);
    json["spec"]["kernels"] = to_string(lane.spec.kernels);
    json["repetitions"] = OrderedJson::array();
    for (const RepetitionRecord& repetition : lane.repetitions) {
        json["repetitions"].push_back(repetition_json(repetition));
    }
    return json;
}

void read_lane_record(JsonFields& fields, LaneRecord& lane) {
    fields.require("spec");
    fields.object("spec", [&](JsonFields& spec) {
        lane.spec.kernels = Kernels::openblas;
        read_lane(spec, lane.spec);
    });
    fields.object("summary", [&](JsonFields& summary) {
        summary.integer("weight_bytes", lane.weight_bytes);
        summary.texts("texts", lane.texts);
        summary.object("gpu_memory",
                       [&](JsonFields& use) { read_gpu_memory(use, lane.gpu_memory.emplace()); });
        summary.ignore({"ttft_ns", "queue_ns", "tpot_ns", "step_ns", "device_ns", "token_ns", "compute_bound",
                        "decode_tok_s", "total_tok_s", "read_gb_s", "max_relative_error", "quality",
                        "approximation", "first_different_token", "acceptance", "memory", "tokens", "finish",
                        "reason"});
    });
    fields.objects("repetitions", [&](JsonFields& repetition) {
        read_repetition(repetition, lane.repetitions.emplace_back());
    });
    fields.ignore({"name"});
    for (std::size_t r = 0; r < lane.repetitions.size(); ++r) {
        for (StepEvent& step : lane.repetitions[r].steps) step.repetition = static_cast<std::int32_t>(r);
        for (TokenEvent& token : lane.repetitions[r].chosen) token.repetition = static_cast<std::int32_t>(r);
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

OrderedJson spread_json(const Summary& summary) {
    if (summary.n == 0) return nullptr;
    return {{"median", summary.median}, {"min", summary.min}, {"max", summary.max},
            {"q1", summary.q1},         {"q3", summary.q3},   {"p90", summary.p90},
            {"p95", summary.p95},       {"p99", summary.p99}, {"n", summary.n}};
}

OrderedJson interval_json(const Interval& interval) {
    if (!interval.known) return nullptr;
    return {interval.low, interval.high};
}

OrderedJson quality_json(const Quality& quality) {
    if (quality.n == 0) return nullptr;
    return {{"n", quality.n},
            {"mean_kl", quality.mean_kl},
            {"top1_agreement", quality.top1_agreement},
            {"rms_probability_change", quality.rms_probability_change}};
}

OrderedJson summary_json(const Record& record, std::size_t index) {
    const LaneRecord& lane = record.lanes.at(index);
    const bool any = !lane.repetitions.empty();
    const double error = lane.max_relative_error();
    OrderedJson json;
    json["weight_bytes"] = number_or_null(lane.weight_bytes, std::uint64_t{0});
    json["ttft_ns"] = spread_json(lane.ttft_ns());
    json["queue_ns"] = spread_json(lane.queue_ns());
    json["tpot_ns"] = spread_json(lane.tpot_ns());
    json["step_ns"] = spread_json(lane.step_ns());
    if (const Summary device = lane.device_ns(); device.n > 0) json["device_ns"] = spread_json(device);
    json["token_ns"] = spread_json(token_ns(lane));
    json["compute_bound"] = compute_bound(lane);
    json["decode_tok_s"] = number_or_null(lane.decode_tok_s(), 0.0);
    json["total_tok_s"] = number_or_null(lane.total_tok_s(), 0.0);
    json["read_gb_s"] = number_or_null(lane.read_gb_s(), 0.0);
    json["max_relative_error"] = error < 0 ? OrderedJson(nullptr) : OrderedJson(error);
    json["quality"] = quality_json(lane.quality());
    json["approximation"] = text_or_null(approximation(record, index));
    json["first_different_token"] = number_or_null(lane.first_different_token(record.reference()), -1);
    const auto acceptance = lane.acceptance();
    if (!acceptance.empty()) {
        json["acceptance"] = OrderedJson::array();
        for (const auto& count : acceptance) {
            json["acceptance"].push_back({{"drafted", count.drafted}, {"accepted", count.accepted}});
        }
    }
    json["memory"] = cache_json(record, index);
    if (lane.gpu_memory) json["gpu_memory"] = gpu_memory_json(*lane.gpu_memory);
    json["tokens"] = OrderedJson::array();
    for (std::size_t i = 0; any && i < record.prompts.size(); ++i) {
        json["tokens"].push_back(lane.repetitions.back().tokens(static_cast<int>(i)));
    }
    json["texts"] = lane.texts;
    json["finish"] = any ? OrderedJson(to_string(lane.finish())) : OrderedJson(nullptr);
    json["reason"] = text_or_null(any ? lane.repetitions.back().reason : "");
    return json;
}

std::string to_json(const Record& record, const RecordNotes& notes) {
    OrderedJson json;
    json["schema"] = record_schema;
    // Left out where there are none: a record that nobody wrote about is the same as before they existed.
    if (!notes.title.empty()) json["title"] = notes.title;
    if (!notes.text.empty()) json["notes"] = notes.text;
    json["started_at"] = text_or_null(record.started_at);
    json["status"] = to_string(record.status);
    json["reason"] = text_or_null(record.reason);
    json["experiment"] = experiment_json(record.experiment);
    json["model"] = model_json(record);
    json["environment"] = environment_json(record.environment);
    json["prompts"] = OrderedJson::array();
    for (const PromptRecord& prompt : record.prompts) {
        json["prompts"].push_back({{"ids", prompt.ids}, {"text", text_or_null(prompt.text)}});
    }
    json["precision"] = precision_json(achieved_precision(record));
    json["lanes"] = OrderedJson::array();
    for (std::size_t i = 0; i < record.lanes.size(); ++i)
        json["lanes"].push_back(lane_record_json(record, i));
    if (record.waited_turns > 0) json["waited_turns"] = record.waited_turns;
    json["memory"] = memory_json(record);
    json["tensor_bytes_after"] = owner_bytes_json(record.tensor_bytes_after);
    return dump_json(json);
}

Result<Record> parse_record(std::string_view json, std::vector<std::string>* warnings) {
    const auto document = parse_json(json);
    if (!document) return document.error();
    JsonReport report{.error = {}, .warnings = warnings, .null_is_absent = true};
    Record record;
    JsonFields fields(*document, "", report);
    read_schema(fields, record_schema);
    fields.text("title", record.notes.title);
    fields.text("notes", record.notes.text);
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
    fields.ignore({"precision", "memory"});
    fields.objects("prompts", [&](JsonFields& prompt) {
        PromptRecord& one = record.prompts.emplace_back();
        prompt.integers("ids", one.ids);
        prompt.text("text", one.text);
    });
    fields.require("lanes");
    fields.objects("lanes", [&](JsonFields& lane) { read_lane_record(lane, record.lanes.emplace_back()); });
    fields.integer("waited_turns", record.waited_turns);
    fields.object("tensor_bytes_after",
                  [&](JsonFields& bytes) { read_owner_bytes(bytes, record.tensor_bytes_after); });
    fields.ignore({"verdicts"});  // `run --verdict` adds them; they follow from the run
    fields.finish();
    if (report.error) return *report.error;
    DS_TRY(check(record));
    for (std::size_t i = 0; i < record.lanes.size(); ++i) {
        record.lanes[i].on_gpu = record.experiment.device_of(record.lanes[i].spec).is_gpu();
        for (RepetitionRecord& repetition : record.lanes[i].repetitions) {
            for (StepEvent& step : repetition.steps) step.lane = static_cast<std::int32_t>(i);
            for (TokenEvent& token : repetition.chosen) token.lane = static_cast<std::int32_t>(i);
        }
    }
    return record;
}

Result<Record> load_record(const std::filesystem::path& path, std::vector<std::string>* warnings) {
    const auto text = read_text_file(path, max_record_bytes);
    if (!text) return text.error();
    auto record = parse_record(*text, warnings);
    if (!record) return Error{record.error().kind, path.string() + ": " + record.error().message};
    return record;
}

Result<void> save_record(const Record& record, const RecordNotes& notes, const std::filesystem::path& path) {
    return write_file_atomically(path, to_json(record, notes));
}

}  // namespace decodescope
