// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/plan_text.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

#include "engine/experiment/text_table.h"

namespace decodescope::cli {

namespace {

using Json = nlohmann::ordered_json;

std::string human(std::int64_t bytes) {
    return bytes < 0 ? "-" + human_bytes(static_cast<double>(-bytes))
                     : human_bytes(static_cast<double>(bytes));
}

/// What the planned cache is called: "static f16", "kivi4", "window 4096 f16".
std::string cacheName(const PlanReport& report) {
    const CacheSpec& cache = report.request.cache;
    std::string name =
        cache.kind == CacheKind::kivi ? fmt::format("kivi{}", cache.bits) : to_string(cache.kind);
    if (cache.kind == CacheKind::paged) name += fmt::format(", blocks of {}", cache.block);
    return has_dtype(cache.kind) ? fmt::format("{} {}", name, to_string(cache.dtype)) : name;
}

std::string weightsName(const PlanReport& report) {
    if (report.request.file_weights > 0) return "as in the file";
    return report.request.weights ? report.request.weights->name : "F32, as this program holds them";
}

/// One line of the memory table.
struct Part {
    const char* key;
    std::string name;
    std::int64_t bytes;
    std::string how;
};

std::vector<Part> partsOf(const PlanReport& report) {
    const MemoryPlan& plan = report.plan;
    const PlanRequest& request = report.request;
    std::vector<Part> parts;
    const std::int64_t parameters = report.shape.n_parameter();
    const bool unknown = plan.weights == 0;
    parts.push_back({"weights", "weights", plan.weights,
                     unknown ? "not known: the file does not tell the tensors, see --parameters"
                             : fmt::format("{} parameters, {}", parameters, weightsName(report))});
    parts.push_back({"kv_bytes_per_token", "KV of one token", plan.kv.per_token,
                     fmt::format("all {} layers, {}", report.shape.n_layer, cacheName(report))});
    parts.push_back({"kv_bytes_live", "KV live", plan.kv.live,
                     fmt::format("{} x {} tokens stored", request.batch, request.context)});
    parts.push_back(
        {"kv_bytes_reserved", "KV reserved", plan.kv.reserved,
         plan.kv.blocks > 0 ? fmt::format("{} blocks of {} tokens", plan.kv.blocks, request.cache.block)
         : request.cache.kind == CacheKind::kivi
             ? "codes, scales, and entries in f32 for as many tokens as a call has, see --prefill-chunk"
             : "allocated for entries"});
    parts.push_back({"kv_bytes_meta", "KV tables and positions", plan.kv.meta,
                     plan.kv.block_tables > 0
                         ? fmt::format("of these {} B are block tables", plan.kv.block_tables)
                         : "positions of the slots"});
    if (request.cache.kind == CacheKind::concat) {
        const std::int64_t tokens =
            concat_copied_tokens(request.prompt(), request.new_tokens - 1, request.prefill_chunk);
        parts.push_back({"kv_bytes_copied", "KV copied by growing",
                         tokens * request.batch * plan.kv.per_token,
                         fmt::format("{} tokens of old entries, {} prompt and {} new tokens", tokens,
                                     request.prompt(), request.new_tokens)});
        parts.push_back({"kv_bytes_peak", "KV peak during an append", plan.kv.peak,
                         "a layer's old and new tensors exist together"});
        parts.push_back({"kv_bytes_peak_one_tensor", "the same, all layers in one tensor",
                         plan.kv.peak_of_one_tensor, "old and new cache exist together"});
    }
    const std::string call =
        fmt::format("of calls of {} x {} tokens in this program, f32", request.batch, request.largest_call());
    parts.push_back({"activations", "activations", plan.activations, call});
    parts.push_back({"logits", "logits", plan.logits, "one row for each request, f32"});
    parts.push_back({"workspace", "workspace", plan.workspace,
                     fmt::format("attention scores of {} threads", request.threads)});
    if (plan.page_rounding > 0) {
        parts.push_back({"page_rounding", "rest of huge pages", plan.page_rounding,
                         "tensors of 2 MiB and more end inside a huge page"});
    }
    parts.push_back({"total", "total", unknown ? 0 : plan.total(),
                     unknown                  ? "not known without the weights"
                     : plan.page_rounding > 0 ? "weights + KV reserved + work + rest of huge pages"
                                              : "weights + KV reserved + work"});
    return parts;
}

/// Lines about what fits.
std::vector<Part> capacityOf(const PlanReport& report) {
    const MemoryPlan& plan = report.plan;
    const PlanRequest& request = report.request;
    if (request.memory == 0 || plan.weights == 0) return {};
    return {
        {"memory", "memory", request.memory, "to plan with"},
        {"reserve", "reserve", request.reserve, "not to be used"},
        {"left_for_kv", "left for KV", plan.left_for_kv, "memory - reserve - weights - work"},
        {"kv_per_request", "KV of one request", plan.kv_per_request,
         fmt::format("{} tokens, {}", request.context, cacheName(report))},
    };
}

std::string fittingText(const PlanReport& report) {
    const MemoryPlan& plan = report.plan;
    if (report.request.memory == 0) return "No memory was given to plan with, see --memory.\n";
    if (plan.weights == 0) return "What fits is not known without the weights, see --parameters.\n";
    if (plan.left_for_kv <= 0) return "Does not fit: nothing is left for the cache.\n";
    std::string text = fmt::format("Fits {} request{} of {} tokens, {} tokens in all.\n",
                                   plan.fitting_requests, plan.fitting_requests == 1 ? "" : "s",
                                   report.request.context, plan.fitting_requests * report.request.context);
    return text + fmt::format("Fits {} request{} of {} tokens{}.\n", report.request.batch,
                              report.request.batch == 1 ? "" : "s", plan.fitting_context,
                              plan.limited_by_positions ? ", all the positions that the model has" : "");
}

/// One kind of attention beside the others.
struct Variant {
    std::string name;
    int kvHeads;  // 0: of a latent
    std::int64_t perToken;
    std::int64_t atContext;
    double saving;  // of MHA, percent
    bool own;
};

/// Kinds of attention are compared with entries as they are.
DType variantType(const PlanReport& report) {
    return has_dtype(report.request.cache.kind) ? report.request.cache.dtype : DType::f16;
}

std::vector<Variant> variantsOf(const PlanReport& report) {
    const PlanShape& shape = report.shape;
    const AttentionKind own = shape.attention();
    constexpr int usualGroups = 8;
    const int groups = own == AttentionKind::gqa ? shape.n_kv_head : usualGroups;
    std::vector<Variant> variants;
    const auto width = static_cast<std::int64_t>(size_of(variantType(report)));
    const std::int64_t tokens = report.request.batch * report.request.context;
    const std::int64_t most = shape.with_attention(AttentionKind::mha).kv_elements();
    const auto add = [&](std::string name, const PlanShape& one, bool isOwn) {
        const std::int64_t elements = one.kv_elements();
        variants.push_back({std::move(name), one.latent > 0 ? 0 : one.n_kv_head, elements * width,
                            elements * width * tokens,
                            100.0 * static_cast<double>(most - elements) / static_cast<double>(most), isOwn});
    };
    add("MHA", shape.with_attention(AttentionKind::mha), own == AttentionKind::mha);
    if (own == AttentionKind::gqa || (shape.n_head > groups && shape.n_head % groups == 0))
        add(fmt::format("GQA, {} KV heads", groups), shape.with_attention(AttentionKind::gqa, groups),
            own == AttentionKind::gqa);
    if (shape.n_head > 1) add("MQA", shape.with_attention(AttentionKind::mqa), own == AttentionKind::mqa);
    const PlanShape latent = shape.with_attention(AttentionKind::mla);
    // The usual latent is wider than all keys and values of a small model.
    if (own == AttentionKind::mla || latent.kv_elements() < most)
        add(fmt::format("MLA, {} + {}", latent.latent, latent.rope_dim), latent, own == AttentionKind::mla);
    if (shape.n_window_layer > 0) {
        const std::int64_t kept = tokens_in_window(report.request.context, {shape.window, 0});
        const std::int64_t perLayer = shape.kv_elements() / shape.n_layer * width;
        const std::int64_t bytes =
            report.request.batch * perLayer *
            (shape.n_window_layer * kept + (shape.n_layer - shape.n_window_layer) * report.request.context);
        const double all = static_cast<double>(most * width * tokens);
        variants.push_back({fmt::format("{}, {} of {} layers forget beyond {} tokens", to_string(own),
                                        shape.n_window_layer, shape.n_layer, shape.window),
                            shape.n_kv_head, shape.kv_elements() * width, bytes,
                            100.0 * (all - static_cast<double>(bytes)) / all, false});
    }
    return variants;
}

std::string percent(double value) {
    return fmt::format("{:.7g} %", value);
}

std::string windowText(const PlanShape& shape) {
    if (shape.n_window_layer == 0) return "none";
    return fmt::format("{} tokens in {} of {} layers", shape.window, shape.n_window_layer, shape.n_layer);
}

TextTable shapeTable(const PlanReport& report) {
    const PlanShape& s = report.shape;
    TextTable table;
    table.header = {"property", "value"};
    const auto add = [&](const char* name, std::string value) {
        table.rows.push_back({name, std::move(value)});
    };
    add("model", s.name);
    add("read from", s.source);
    add("attention", s.latent > 0 ? fmt::format("MLA, latent {} + rotary key {}", s.latent, s.rope_dim)
                                  : fmt::format("{}, {} query / {} KV heads", to_string(s.attention()),
                                                s.n_head, s.n_kv_head));
    add("width of keys / values", fmt::format("{} / {}", s.key_dim, s.value_dim));
    add("layers", std::to_string(s.n_layer));
    add("window", windowText(s));
    add("positions", s.n_positions == 0 ? "not stated" : std::to_string(s.n_positions));
    add("parameters", s.n_parameter() == 0 ? "not known" : std::to_string(s.n_parameter()));
    if (!s.stored_as.empty()) add("stored as", s.stored_as);
    if (s.file_tensor_bytes > 0) add("tensor bytes in the file", std::to_string(s.file_tensor_bytes));
    return table;
}

TextTable partTable(const std::vector<Part>& parts) {
    TextTable table;
    table.header = {"part", "bytes", "size", "how"};
    table.right = {false, true, true, false};
    for (const Part& part : parts) {
        const bool unknown = part.bytes == 0 && part.how.starts_with("not known");
        table.rows.push_back({part.name, unknown ? "not known" : std::to_string(part.bytes),
                              unknown ? "" : human(part.bytes), part.how});
    }
    return table;
}

TextTable variantTable(const PlanReport& report) {
    TextTable table;
    table.header = {fmt::format("attention, {}", to_string(variantType(report))),
                    "KV B/token",
                    "KV bytes",
                    "size",
                    "less than MHA",
                    ""};
    table.right = {false, true, true, true, true, false};
    for (const Variant& variant : variantsOf(report)) {
        table.rows.push_back({variant.name, std::to_string(variant.perToken),
                              std::to_string(variant.atContext), human(variant.atContext),
                              percent(variant.saving), variant.own ? "this model" : ""});
    }
    return table;
}

TextTable mapTable(const MemoryPlan& plan) {
    TextTable table;
    table.header = {"batch"};
    for (const PlanCell& cell : plan.map) {
        if (cell.batch == plan.map.front().batch)
            table.header.push_back(fmt::format("{} tokens", cell.context));
    }
    table.right.assign(table.header.size(), true);
    for (const PlanCell& cell : plan.map) {
        if (table.rows.empty() || table.rows.back().size() == table.header.size())
            table.rows.push_back({std::to_string(cell.batch)});
        table.rows.back().push_back(cell.fits ? human(cell.total) : fmt::format("no: {}", human(cell.total)));
    }
    return table;
}

const char* verdictOf(const CheckRow& row) {
    if (row.wanted == Agreement::exact) return row.holds() ? "exact" : "DIFFERS";
    return row.holds() ? "within the limit" : "BEYOND THE LIMIT";
}

TextTable checkTable(const PlanCheck& check) {
    TextTable table;
    table.header = {"part", "plan", "measured", "difference", "", "verdict"};
    table.right = {false, true, true, true, true, false};
    for (const CheckRow& row : check.rows) {
        const double relative = row.planned == 0 ? 0
                                                 : 100.0 * static_cast<double>(row.difference()) /
                                                       static_cast<double>(row.planned);
        table.rows.push_back({row.part, std::to_string(row.planned), std::to_string(row.measured),
                              fmt::format("{:+}", row.difference()), fmt::format("{:+.2f} %", relative),
                              verdictOf(row)});
    }
    return table;
}

TextTable memoryTable(const PlanCheck& check) {
    TextTable table;
    table.header = {"resident memory", "bytes", "meaning"};
    table.right = {false, true, false};
    for (const MemoryLine& line : check.memory)
        table.rows.push_back({line.part, std::to_string(line.bytes), line.meaning});
    table.rows.push_back(
        {"remainder", std::to_string(check.remainder),
         fmt::format("{:+.2f} % of the resident set; at most 5 % or 512 KiB is wanted",
                     100.0 * static_cast<double>(check.remainder) / static_cast<double>(check.rss))});
    table.rows.push_back({"resident set", std::to_string(check.rss), "the sum; /proc/self/smaps"});
    table.rows.push_back({"its peak while running",
                          check.rss_peak < 0 ? "not measured" : std::to_string(check.rss_peak),
                          "during appends and calls; VmHWM of /proc/self/status"});
    return table;
}

Json jsonOf(const PlanCheck& check) {
    Json json = {{"holds", check.holds()}, {"rows", Json::array()}, {"memory", Json::array()}};
    for (const CheckRow& row : check.rows) {
        json["rows"].push_back({{"part", row.part},
                                {"plan", row.planned},
                                {"measured", row.measured},
                                {"difference", row.difference()},
                                {"holds", row.holds()}});
    }
    for (const MemoryLine& line : check.memory)
        json["memory"].push_back({{"part", line.part}, {"bytes", line.bytes}});
    json["remainder"] = check.memory.empty() ? Json() : Json(check.remainder);
    json["rss"] = check.rss;
    json["rss_peak"] = check.rss_peak < 0 ? Json() : Json(check.rss_peak);
    json["rss_before_loading"] = check.rss_before;
    return json;
}

Json jsonOf(const PlanShape& s) {
    const auto known = [](std::int64_t value) { return value == 0 ? Json() : Json(value); };
    return {{"name", s.name},
            {"source", s.source},
            {"architecture", s.architecture},
            {"attention", to_string(s.attention())},
            {"n_layer", s.n_layer},
            {"d_model", s.d_model},
            {"n_head", s.n_head},
            {"n_kv_head", s.n_kv_head},
            {"key_dim", s.key_dim},
            {"value_dim", s.value_dim},
            {"kv_lora_rank", known(s.latent)},
            {"rope_key_dim", known(s.rope_dim)},
            {"window", known(s.window)},
            {"window_layers", s.n_window_layer},
            {"n_positions", known(s.n_positions)},
            {"vocab", known(s.vocab)},
            {"n_parameter", known(s.n_parameter())},
            {"stored_as", s.stored_as.empty() ? Json() : Json(s.stored_as)},
            {"file_tensor_bytes", known(static_cast<std::int64_t>(s.file_tensor_bytes))},
            {"notes", s.notes}};
}

Json jsonOf(const PlanReport& report) {
    const PlanRequest& request = report.request;
    const MemoryPlan& plan = report.plan;
    Json json = {
        {"schema", "decodescope.plan/1"}, {"model", jsonOf(report.shape)},       {"batch", request.batch},
        {"context", request.context},     {"new_tokens", request.new_tokens},    {"threads", request.threads},
        {"cache", cacheName(report)},     {"weights_type", weightsName(report)}, {"bytes", Json::object()}};
    for (const Part& part : partsOf(report)) {
        const bool unknown = part.how.starts_with("not known");
        json["bytes"][part.key] = unknown ? Json() : Json(part.bytes);
    }
    json["capacity"] = Json();
    if (request.memory > 0 && plan.weights > 0) {
        json["capacity"] = Json::object();
        for (const Part& part : capacityOf(report)) json["capacity"][part.key] = part.bytes;
        json["capacity"]["requests"] = plan.fitting_requests;
        json["capacity"]["tokens_per_request"] = plan.fitting_context;
    }
    json["attention_type"] = to_string(variantType(report));
    json["attention"] = Json::array();
    for (const Variant& variant : variantsOf(report)) {
        json["attention"].push_back({{"kind", variant.name},
                                     {"n_kv_head", variant.kvHeads == 0 ? Json() : Json(variant.kvHeads)},
                                     {"kv_bytes_per_token", variant.perToken},
                                     {"kv_bytes", variant.atContext},
                                     {"percent_less_than_mha", variant.saving},
                                     {"this_model", variant.own}});
    }
    json["map"] = Json::array();
    for (const PlanCell& cell : plan.map) {
        json["map"].push_back({{"batch", cell.batch},
                               {"context", cell.context},
                               {"kv_bytes_reserved", cell.kv_reserved},
                               {"total_bytes", cell.total},
                               {"fits", cell.fits}});
    }
    json["check"] = report.check ? jsonOf(*report.check) : Json();
    return json;
}

std::string dump(const Json& json, int indent) {
    return json.dump(indent, ' ', false, Json::error_handler_t::replace) + "\n";
}

/// Every number on a line of its own.
TextTable flatTable(const PlanReport& report) {
    TextTable table;
    table.header = {"section", "item", "bytes", "plan_bytes", "holds"};
    const auto add = [&](const char* section, std::string item, std::int64_t bytes) {
        table.rows.push_back({section, std::move(item), std::to_string(bytes), "", ""});
    };
    for (const Part& part : partsOf(report)) {
        if (!part.how.starts_with("not known")) add("plan", part.key, part.bytes);
    }
    for (const Part& part : capacityOf(report)) add("capacity", part.key, part.bytes);
    for (const Variant& variant : variantsOf(report)) add("attention", variant.name, variant.atContext);
    for (const PlanCell& cell : report.plan.map) {
        table.rows.push_back({"map", fmt::format("batch {} context {}", cell.batch, cell.context),
                              std::to_string(cell.total), "", cell.fits ? "true" : "false"});
    }
    if (!report.check) return table;
    for (const CheckRow& row : report.check->rows) {
        table.rows.push_back({"check", row.part, std::to_string(row.measured), std::to_string(row.planned),
                              row.holds() ? "true" : "false"});
    }
    for (const MemoryLine& line : report.check->memory) add("memory", line.part, line.bytes);
    return table;
}

/// The same as one object per line.
std::string jsonLines(const TextTable& table) {
    std::string lines;
    for (const auto& row : table.rows) {
        Json json = {{"section", row[0]}, {"item", row[1]}, {"bytes", std::stoll(row[2])}};
        if (!row[3].empty()) json["plan_bytes"] = std::stoll(row[3]);
        if (!row[4].empty()) json["holds"] = row[4] == "true";
        lines += dump(json, -1);
    }
    return lines;
}

}  // namespace

std::string planText(const PlanReport& report, Format format) {
    if (format == Format::json) return dump(jsonOf(report), 2);
    if (format == Format::jsonl) return jsonLines(flatTable(report));
    if (format == Format::csv) return flatTable(report).csv();
    const bool markdown = format == Format::md;
    const auto print = [&](const TextTable& table) { return markdown ? table.markdown() : table.plain(); };
    std::string text = print(shapeTable(report));
    for (const std::string& note : report.shape.notes) text += (markdown ? "\nNote: " : "\nnote: ") + note;
    if (!report.shape.notes.empty()) text += '\n';
    text += '\n' + print(partTable(partsOf(report)));
    if (!report.check) {
        text += '\n' + print(variantTable(report));
        if (const auto capacity = capacityOf(report); !capacity.empty())
            text += '\n' + print(partTable(capacity));
        text += '\n' + fittingText(report);
        if (!report.plan.map.empty()) text += '\n' + print(mapTable(report.plan));
        return text;
    }
    text += '\n' + print(checkTable(*report.check));
    if (report.check->memory.empty())
        return text + "\nResident memory by part: not measured, this build's allocator gives no figures.\n";
    return text + '\n' + print(memoryTable(*report.check));
}

std::string knownModelsText(const std::vector<KnownModel>& models, Format format) {
    if (format == Format::json || format == Format::jsonl) {
        Json list = Json::array();
        for (const KnownModel& model : models) {
            Json json = jsonOf(model.shape);
            json["title"] = model.title;
            list.push_back(std::move(json));
        }
        if (format == Format::json)
            return dump({{"schema", "decodescope.plan-models/1"}, {"models", list}}, 2);
        std::string lines;
        for (const Json& json : list) lines += dump(json, -1);
        return lines;
    }
    TextTable table;
    table.header = {"name",   "title",    "parameters",           "attention",
                    "layers", "KV heads", "KV B/token (16 bits)", "window",
                    "source"};
    table.right = {false, false, true, false, true, true, true, false, false};
    for (const KnownModel& model : models) {
        const PlanShape& s = model.shape;
        table.rows.push_back({model.name, model.title, std::to_string(s.n_parameter()),
                              to_string(s.attention()), std::to_string(s.n_layer),
                              s.latent > 0 ? "" : std::to_string(s.n_kv_head),
                              std::to_string(2 * s.kv_elements()), windowText(s), model.source});
    }
    if (format == Format::csv) return table.csv();
    return format == Format::md ? table.markdown() : table.plain();
}

}  // namespace decodescope::cli
