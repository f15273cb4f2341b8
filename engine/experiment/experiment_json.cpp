// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/experiment/experiment_json.h"

#include "engine/core/text_file.h"

namespace decodescope {

namespace {

constexpr const char* experiment_schema = "decodescope.experiment/1";
constexpr std::uint64_t max_experiment_bytes = std::uint64_t{64} << 20;

void read_model(JsonFields& fields, ModelRef& model) {
    model = {};
    fields.text("path", model.path);
    fields.text("preset", model.preset);
    fields.integer("seed", model.seed);
    if (fields.has("seed") && !fields.has("preset")) fields.fail("seed", "is set, but only a preset has one");
}

void read_device(JsonFields& fields, Device& device) {
    if (!fields.has("device")) return;
    std::string name;
    fields.text("device", name);
    if (fields.failed()) return;
    if (const auto known = parse_device(name))
        device = *known;
    else
        fields.fail("device", fmt::format("is {}, expected {}", brief(name), device_words));
}

void read_prompt(JsonFields& fields, PromptSpec& prompt) {
    const int n_kind = int{fields.has("text")} + int{fields.has("ids")} + int{fields.has("random")};
    if (n_kind != 1 && !fields.failed()) {
        fields.fail("text", fmt::format("or ids or random: {} of them are set, expected one", n_kind));
    }
    fields.text("text", prompt.text);
    fields.boolean("control", prompt.control);
    if (fields.has("control") && !fields.has("text"))
        fields.fail("control", "is set, but only a text has control tokens");
    fields.integers("ids", prompt.ids);
    fields.object("random", [&](JsonFields& random) {
        random.require("length");
        random.integer("length", prompt.length);
        random.integer("seed", prompt.seed);
    });
    prompt.kind = fields.has("ids")      ? PromptSpec::Kind::ids
                  : fields.has("random") ? PromptSpec::Kind::random
                                         : PromptSpec::Kind::text;
    fields.text("isolation", prompt.isolation);
    fields.integer("arrival_step", prompt.arrival_step);
    fields.integer("cancel_after", prompt.cancel_after);
}

void read_sampling(JsonFields& fields, Sampling& sampling) {
    fields.require("kind");
    fields.choice("kind", sampling.kind,
                  {{"greedy", SamplingKind::greedy}, {"sample", SamplingKind::sample}});
    fields.real("temperature", sampling.temperature);
    fields.integer("top_k", sampling.top_k);
    fields.real("top_p", sampling.top_p);
    fields.real("min_p", sampling.min_p);
    fields.real("repetition_penalty", sampling.repetition_penalty);
    fields.integer("seed", sampling.seed);
}

void read_cache(JsonFields& fields, CacheSpec& cache) {
    fields.require("kind");
    fields.choice("kind", cache.kind,
                  {{"none", CacheKind::none},
                   {"concat", CacheKind::concat},
                   {"static", CacheKind::static_},
                   {"paged", CacheKind::paged},
                   {"window", CacheKind::window},
                   {"int8", CacheKind::int8},
                   {"kivi", CacheKind::kivi}});
    fields.choice("dtype", cache.dtype, {{"f32", DType::f32}, {"f16", DType::f16}, {"bf16", DType::bf16}});
    fields.integer("capacity", cache.capacity);
    fields.integer("block", cache.block);
    fields.integer("blocks", cache.blocks);
    fields.boolean("share_prefixes", cache.share_prefixes);
    fields.integer("bits", cache.bits);
    fields.integer("group", cache.group);
    fields.integer("residual", cache.residual);
}

void read_window(JsonFields& fields, Window& window) {
    fields.require("size");
    fields.integer("size", window.size);
    fields.integer("sinks", window.sinks);
    // In a LaneSpec 0 means that there is none, which is not what was asked for here.
    if (window.size == 0) fields.fail("size", "is 0, expected at least 1");
}

void read_batch(JsonFields& fields, LaneSpec& lane) {
    fields.require("kind");
    fields.choice(
        "kind", lane.batching,
        {{"single", Batching::single}, {"static", Batching::static_}, {"continuous", Batching::continuous}});
    fields.choice("padding", lane.padding,
                  {{"left", Padding::left}, {"right", Padding::right}, {"none", Padding::none}});
    fields.integer("max_rows", lane.max_rows);
    fields.integer("budget", lane.budget);
}

void read_draft(JsonFields& fields, DraftSpec& draft) {
    fields.require("kind");
    fields.choice("kind", draft.kind,
                  {{"layers", DraftKind::layers}, {"ngram", DraftKind::ngram}, {"model", DraftKind::model}});
    fields.integer("tokens", draft.tokens);
    fields.integer("layers", draft.layers);
    fields.integer("ngram", draft.ngram);
    fields.object("model", [&](JsonFields& model) { read_model(model, draft.model); });
    fields.choice("acceptance", draft.acceptance,
                  {{"match", Acceptance::match}, {"rejection", Acceptance::rejection}});
}

OrderedJson model_json(const ModelRef& model) {
    if (model.preset.empty()) return {{"path", model.path}};
    return {{"preset", model.preset}, {"seed", model.seed}};
}

OrderedJson prompt_json(const PromptSpec& prompt) {
    OrderedJson json;
    switch (prompt.kind) {
        case PromptSpec::Kind::text:
            json["text"] = prompt.text;
            if (prompt.control) json["control"] = true;
            break;
        case PromptSpec::Kind::ids: json["ids"] = prompt.ids; break;
        case PromptSpec::Kind::random:
            json["random"] = {{"length", prompt.length}, {"seed", prompt.seed}};
            break;
    }
    if (!prompt.isolation.empty()) json["isolation"] = prompt.isolation;
    if (prompt.arrival_step != 0) json["arrival_step"] = prompt.arrival_step;
    if (prompt.cancel_after != 0) json["cancel_after"] = prompt.cancel_after;
    return json;
}

OrderedJson sampling_json(const Sampling& sampling) {
    OrderedJson json = {{"kind", "greedy"}};
    if (sampling.kind == SamplingKind::sample) {
        json = {{"kind", "sample"}, {"temperature", sampling.temperature}, {"top_k", sampling.top_k}};
        if (sampling.top_p != 1) json["top_p"] = sampling.top_p;
        if (sampling.min_p != 0) json["min_p"] = sampling.min_p;
        json["seed"] = sampling.seed;
    }
    if (sampling.repetition_penalty != 1) json["repetition_penalty"] = sampling.repetition_penalty;
    return json;
}

OrderedJson cache_json(const CacheSpec& cache) {
    const CacheSpec plain;
    OrderedJson json = {{"kind", to_string(cache.kind)}};
    if (cache.dtype != plain.dtype) json["dtype"] = to_string(cache.dtype);
    if (cache.capacity != plain.capacity) json["capacity"] = cache.capacity;
    if (cache.block != plain.block) json["block"] = cache.block;
    if (cache.blocks != plain.blocks) json["blocks"] = cache.blocks;
    if (cache.share_prefixes) json["share_prefixes"] = true;
    if (cache.kind == CacheKind::kivi) json["bits"] = cache.bits;
    if (cache.group != plain.group) json["group"] = cache.group;
    if (cache.residual != plain.residual) json["residual"] = cache.residual;
    return json;
}

OrderedJson batch_json(const LaneSpec& lane) {
    OrderedJson json = {{"kind", to_string(lane.batching)}};
    if (lane.batching == Batching::static_) json["padding"] = to_string(lane.padding);
    if (lane.max_rows != 0) json["max_rows"] = lane.max_rows;
    if (lane.budget != 0) json["budget"] = lane.budget;
    return json;
}

OrderedJson draft_json(const DraftSpec& draft) {
    OrderedJson json = {{"kind", to_string(draft.kind)}, {"tokens", draft.tokens}};
    switch (draft.kind) {
        case DraftKind::layers: json["layers"] = draft.layers; break;
        case DraftKind::ngram: json["ngram"] = draft.ngram; break;
        case DraftKind::model: json["model"] = model_json(draft.model); break;
    }
    json["acceptance"] = to_string(draft.acceptance);
    return json;
}

}  // namespace

void read_schema(JsonFields& fields, const char* expected) {
    fields.require("schema");
    std::string found = expected;
    fields.text("schema", found);
    if (found != expected) {
        fields.fail("schema", fmt::format("is {}, which this version cannot read, expected \"{}\"",
                                          brief(found), expected));
    }
}

OrderedJson lane_json(const LaneSpec& lane) {
    OrderedJson json = {{"name", lane.name}, {"mode", to_string(lane.mode)}};
    if (lane.device) json["device"] = lane.device->name();
    if (lane.weights != WeightType::f32) json["weights"] = to_string(lane.weights);
    if (lane.kernels != Kernels::packed) json["kernels"] = to_string(lane.kernels);
    if (lane.mode != LaneMode::naive) json["cache"] = cache_json(lane.cache);
    if (lane.window.size != 0) {
        json["window"] = {{"size", lane.window.size}};
        if (lane.window.sinks != 0) json["window"]["sinks"] = lane.window.sinks;
    }
    if (lane.batching != Batching::single) json["batch"] = batch_json(lane);
    if (lane.mode == LaneMode::speculative) json["draft"] = draft_json(lane.draft);
    if (lane.mode == LaneMode::beam) json["beams"] = lane.beams;
    if (lane.prefill_chunk != 0) json["prefill_chunk"] = lane.prefill_chunk;
    if (!lane.prefill_partition.empty()) json["prefill_partition"] = lane.prefill_partition;
    if (lane.allocation != AllocationPolicy::reused) json["allocation"] = to_string(lane.allocation);
    if (lane.cuda_graph) json["cuda_graph"] = true;
    if (lane.tf32) json["tf32"] = true;
    if (!lane.faults.empty()) json["faults"] = lane.faults;
    return json;
}

void read_lane(JsonFields& fields, LaneSpec& lane) {
    fields.require("name");
    fields.text("name", lane.name);
    fields.require("mode");
    fields.choice("mode", lane.mode,
                  {{"naive", LaneMode::naive},
                   {"cached", LaneMode::cached},
                   {"speculative", LaneMode::speculative},
                   {"beam", LaneMode::beam}});
    if (fields.has("device")) read_device(fields, lane.device.emplace());
    fields.choice("weights", lane.weights,
                  {{"f32", WeightType::f32},
                   {"f16", WeightType::f16},
                   {"bf16", WeightType::bf16},
                   {"int8", WeightType::int8},
                   {"int4", WeightType::int4}});
    fields.choice("kernels", lane.kernels, {{"packed", Kernels::packed}, {"openblas", Kernels::openblas}});
    if (lane.mode != LaneMode::naive) fields.require("cache");
    fields.object("cache", [&](JsonFields& cache) { read_cache(cache, lane.cache); });
    fields.object("window", [&](JsonFields& window) { read_window(window, lane.window); });
    fields.object("batch", [&](JsonFields& batch) { read_batch(batch, lane); });
    if (fields.has("draft") && lane.mode != LaneMode::speculative) {
        fields.fail("draft", "is set, but only a speculative lane drafts");
    }
    fields.object("draft", [&](JsonFields& draft) { read_draft(draft, lane.draft); });
    fields.integer("beams", lane.beams);
    fields.integer("prefill_chunk", lane.prefill_chunk);
    fields.integers("prefill_partition", lane.prefill_partition);
    fields.choice("allocation", lane.allocation,
                  {{"reused", AllocationPolicy::reused}, {"fresh", AllocationPolicy::fresh}});
    fields.boolean("cuda_graph", lane.cuda_graph);
    fields.boolean("tf32", lane.tf32);
    fields.texts("faults", lane.faults);
}

OrderedJson experiment_json(const Experiment& experiment) {
    OrderedJson json = {{"schema", experiment_schema}};
    json["model"] = model_json(experiment.model);
    json["device"] = experiment.device.name();
    json["threads"] = experiment.threads;
    json["drive"] = to_string(experiment.drive);
    if (!experiment.fixed_ids.empty()) json["fixed_ids"] = experiment.fixed_ids;
    json["prompts"] = OrderedJson::array();
    for (const PromptSpec& prompt : experiment.prompts) json["prompts"].push_back(prompt_json(prompt));
    json["new_tokens"] = experiment.new_tokens;
    json["sampling"] = sampling_json(experiment.sampling);
    json["stop_at_eos"] = experiment.stop_at_eos;
    if (!experiment.stop_ids.empty()) json["stop_ids"] = experiment.stop_ids;
    json["lanes"] = OrderedJson::array();
    for (const LaneSpec& lane : experiment.lanes) json["lanes"].push_back(lane_json(lane));
    json["reference"] = experiment.reference.empty() && !experiment.lanes.empty()
                            ? experiment.lanes.front().name
                            : experiment.reference;
    if (experiment.interleave != Interleave::automatic) {
        json["interleave"] = to_string(experiment.interleave);
    }
    json["warmup"] = experiment.warmup;
    json["repetitions"] = experiment.repetitions;
    if (experiment.precision.asked()) {
        json["precision"] = {{"interval", experiment.precision.interval},
                             {"seconds", experiment.precision.seconds}};
    }
    return json;
}

void read_experiment(JsonFields& fields, Experiment& experiment) {
    read_schema(fields, experiment_schema);
    fields.object("model", [&](JsonFields& model) { read_model(model, experiment.model); });
    read_device(fields, experiment.device);
    fields.integer("threads", experiment.threads);
    fields.choice("drive", experiment.drive,
                  {{"forced", Drive::forced}, {"free", Drive::free}, {"fixed", Drive::fixed}});
    fields.integers("fixed_ids", experiment.fixed_ids);
    fields.require("prompts");
    experiment.prompts.clear();
    fields.objects("prompts",
                   [&](JsonFields& prompt) { read_prompt(prompt, experiment.prompts.emplace_back()); });
    fields.integer("new_tokens", experiment.new_tokens);
    fields.object("sampling", [&](JsonFields& sampling) { read_sampling(sampling, experiment.sampling); });
    fields.boolean("stop_at_eos", experiment.stop_at_eos);
    fields.integers("stop_ids", experiment.stop_ids);
    fields.require("lanes");
    fields.objects("lanes", [&](JsonFields& lane) { read_lane(lane, experiment.lanes.emplace_back()); });
    fields.text("reference", experiment.reference);
    fields.choice("interleave", experiment.interleave,
                  {{"automatic", Interleave::automatic},
                   {"step", Interleave::step},
                   {"repetition", Interleave::repetition}});
    fields.integer("warmup", experiment.warmup);
    fields.integer("repetitions", experiment.repetitions);
    fields.object("precision", [&](JsonFields& precision) {
        precision.real("interval", experiment.precision.interval);
        precision.real("seconds", experiment.precision.seconds);
    });
}

Result<Experiment> parse_experiment(std::string_view json, std::vector<std::string>* warnings) {
    const auto document = parse_json(json);
    if (!document) return document.error();
    JsonReport report{.error = {}, .warnings = warnings, .null_is_absent = false};
    Experiment experiment;
    JsonFields fields(*document, "", report);
    read_experiment(fields, experiment);
    fields.finish();
    if (report.error) return *report.error;
    DS_TRY(experiment.validate());
    return experiment;
}

Result<Experiment> load_experiment(const std::filesystem::path& path, std::vector<std::string>* warnings) {
    const auto text = read_text_file(path, max_experiment_bytes);
    if (!text) return text.error();
    auto experiment = parse_experiment(*text, warnings);
    if (!experiment) {
        return Error{experiment.error().kind, path.string() + ": " + experiment.error().message};
    }
    return experiment;
}

std::string to_json(const Experiment& experiment) {
    return dump_json(experiment_json(experiment));
}

}  // namespace decodescope
