// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/experiment/experiment_json.h"

#include "engine/core/text_file.h"

namespace decodescope {

namespace {

constexpr const char* schema = "decodescope.experiment/1";
constexpr std::uint64_t max_file_bytes = std::uint64_t{64} << 20;

void read_model(JsonFields& fields, ModelRef& model) {
    model = {};
    fields.text("path", model.path);
    fields.text("preset", model.preset);
    fields.integer("seed", model.seed);
    if (fields.has("seed") && !fields.has("preset")) fields.fail("seed", "is set, but only a preset has one");
}

void read_prompt(JsonFields& fields, PromptSpec& prompt) {
    const int n_kind = int{fields.has("text")} + int{fields.has("ids")} + int{fields.has("random")};
    if (n_kind != 1 && !fields.failed()) {
        fields.fail("text", fmt::format("or ids or random: {} of them are set, expected one", n_kind));
    }
    prompt = {};
    fields.text("text", prompt.text);
    fields.integers("ids", prompt.ids);
    fields.object("random", [&](JsonFields& random) {
        random.require("length");
        random.integer("length", prompt.length);
        random.integer("seed", prompt.seed);
    });
    prompt.kind = fields.has("ids")      ? PromptSpec::Kind::ids
                  : fields.has("random") ? PromptSpec::Kind::random
                                         : PromptSpec::Kind::text;
}

void read_sampling(JsonFields& fields, Sampling& sampling) {
    fields.require("kind");
    fields.choice("kind", sampling.kind,
                  {{"greedy", SamplingKind::greedy}, {"sample", SamplingKind::sample}});
    fields.real("temperature", sampling.temperature);
    fields.integer("top_k", sampling.top_k);
    fields.integer("seed", sampling.seed);
}

OrderedJson prompt_json(const PromptSpec& prompt) {
    switch (prompt.kind) {
        case PromptSpec::Kind::text: return {{"text", prompt.text}};
        case PromptSpec::Kind::ids: return {{"ids", prompt.ids}};
        case PromptSpec::Kind::random:
            return {{"random", {{"length", prompt.length}, {"seed", prompt.seed}}}};
    }
    return {};
}

OrderedJson sampling_json(const Sampling& sampling) {
    if (sampling.kind == SamplingKind::greedy) return {{"kind", "greedy"}};
    return {{"kind", "sample"},
            {"temperature", sampling.temperature},
            {"top_k", sampling.top_k},
            {"seed", sampling.seed}};
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
    if (lane.mode == LaneMode::cached) {
        json["cache"] = {{"kind", to_string(lane.cache.kind)}};
        if (lane.cache.capacity != 0) json["cache"]["capacity"] = lane.cache.capacity;
    }
    if (lane.prefill_chunk != 0) json["prefill_chunk"] = lane.prefill_chunk;
    if (!lane.prefill_partition.empty()) json["prefill_partition"] = lane.prefill_partition;
    json["allocation"] = to_string(lane.allocation);
    json["faults"] = lane.faults;
    return json;
}

void read_lane(JsonFields& fields, LaneSpec& lane) {
    fields.require("name");
    fields.text("name", lane.name);
    fields.require("mode");
    fields.choice("mode", lane.mode, {{"naive", LaneMode::naive}, {"cached", LaneMode::cached}});
    if (lane.mode == LaneMode::cached) fields.require("cache");
    fields.object("cache", [&](JsonFields& cache) {
        cache.require("kind");
        cache.choice(
            "kind", lane.cache.kind,
            {{"none", CacheKind::none}, {"concat", CacheKind::concat}, {"static", CacheKind::static_}});
        cache.integer("capacity", lane.cache.capacity);
    });
    fields.integer("prefill_chunk", lane.prefill_chunk);
    fields.integers("prefill_partition", lane.prefill_partition);
    fields.choice("allocation", lane.allocation,
                  {{"reused", AllocationPolicy::reused}, {"fresh", AllocationPolicy::fresh}});
    fields.texts("faults", lane.faults);
}

OrderedJson experiment_json(const Experiment& experiment) {
    OrderedJson json = {{"schema", schema}};
    json["model"] = experiment.model.preset.empty()
                        ? OrderedJson{{"path", experiment.model.path}}
                        : OrderedJson{{"preset", experiment.model.preset}, {"seed", experiment.model.seed}};
    json["device"] = experiment.device;
    json["threads"] = experiment.threads;
    json["drive"] = to_string(experiment.drive);
    if (!experiment.fixed_ids.empty()) json["fixed_ids"] = experiment.fixed_ids;
    json["prompts"] = OrderedJson::array({prompt_json(experiment.prompt)});
    json["new_tokens"] = experiment.new_tokens;
    json["sampling"] = sampling_json(experiment.sampling);
    json["stop_at_eos"] = experiment.stop_at_eos;
    json["lanes"] = OrderedJson::array();
    for (const LaneSpec& lane : experiment.lanes) json["lanes"].push_back(lane_json(lane));
    json["reference"] = experiment.reference.empty() && !experiment.lanes.empty()
                            ? experiment.lanes.front().name
                            : experiment.reference;
    json["interleave"] = to_string(experiment.interleave);
    json["warmup"] = experiment.warmup;
    json["repetitions"] = experiment.repetitions;
    return json;
}

void read_experiment(JsonFields& fields, Experiment& experiment) {
    read_schema(fields, schema);
    fields.object("model", [&](JsonFields& model) { read_model(model, experiment.model); });
    fields.text("device", experiment.device);
    fields.integer("threads", experiment.threads);
    fields.choice("drive", experiment.drive,
                  {{"forced", Drive::forced}, {"free", Drive::free}, {"fixed", Drive::fixed}});
    fields.integers("fixed_ids", experiment.fixed_ids);
    std::size_t n_prompt = 0;
    fields.require("prompts");
    fields.objects("prompts", [&](JsonFields& prompt) {
        if (n_prompt++ == 0) read_prompt(prompt, experiment.prompt);
    });
    if (n_prompt == 0 && !fields.failed()) fields.fail("prompts", "is empty, expected one prompt");
    if (n_prompt > 1) {
        fields.fail("prompts", fmt::format("holds {} prompts, but this version runs one at a time", n_prompt),
                    ErrorKind::unsupported);
    }
    fields.integer("new_tokens", experiment.new_tokens);
    fields.object("sampling", [&](JsonFields& sampling) { read_sampling(sampling, experiment.sampling); });
    fields.boolean("stop_at_eos", experiment.stop_at_eos);
    fields.require("lanes");
    fields.objects("lanes", [&](JsonFields& lane) { read_lane(lane, experiment.lanes.emplace_back()); });
    fields.text("reference", experiment.reference);
    fields.choice("interleave", experiment.interleave,
                  {{"step", Interleave::step}, {"repetition", Interleave::repetition}});
    fields.integer("warmup", experiment.warmup);
    fields.integer("repetitions", experiment.repetitions);
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
    const auto text = read_text_file(path, max_file_bytes);
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
