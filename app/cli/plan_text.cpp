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
    add("attention", attention_name(s));
    add("width of keys / values", fmt::format("{} / {}", s.key_dim, s.value_dim));
    add("layers", std::to_string(s.n_layer));
    add("window", windowText(s));
    add("positions", s.n_positions == 0 ? "not stated" : std::to_string(s.n_positions));
    add("parameters", s.n_parameter() == 0 ? "not known" : std::to_string(s.n_parameter()));
    if (!s.stored_as.empty()) add("stored as", s.stored_as);
    if (s.file_tensor_bytes > 0) add("tensor bytes in the file", std::to_string(s.file_tensor_bytes));
    return table;
}

TextTable partTable(const std::vector<PlanPart>& parts) {
    TextTable table;
    table.header = {"part", "bytes", "size", "how"};
    table.right = {false, true, true, false};
    for (const PlanPart& part : parts) {
        table.rows.push_back({part.name, part.known ? std::to_string(part.bytes) : "not known",
                              part.known ? human(part.bytes) : "", part.how});
    }
    return table;
}

TextTable variantTable(const PlanReport& report) {
    TextTable table;
    table.header = {fmt::format("attention, {}", to_string(variant_type(report))),
                    "KV B/token",
                    "KV bytes",
                    "size",
                    "less than MHA",
                    ""};
    table.right = {false, true, true, true, true, false};
    for (const AttentionVariant& variant : attention_variants(report)) {
        table.rows.push_back({variant.name, std::to_string(variant.per_token), std::to_string(variant.bytes),
                              human(variant.bytes), percent(variant.saving),
                              variant.own ? "this model" : ""});
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

TextTable checkTable(const PlanCheck& check) {
    TextTable table;
    table.header = {"part", "plan", "measured", "difference", "", "verdict"};
    table.right = {false, true, true, true, true, false};
    for (const CheckRow& row : check.rows) {
        table.rows.push_back({row.part, std::to_string(row.planned), std::to_string(row.measured),
                              fmt::format("{:+}", row.difference()),
                              fmt::format("{:+.2f} %", relative_difference(row)), verdict_of(row)});
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
    Json json = {{"schema", "decodescope.plan/1"},   {"model", jsonOf(report.shape)},
                 {"batch", request.batch},           {"context", request.context},
                 {"new_tokens", request.new_tokens}, {"threads", request.threads},
                 {"cache", cache_name(request)},     {"weights_type", weights_name(request)},
                 {"bytes", Json::object()}};
    for (const PlanPart& part : plan_parts(report)) {
        json["bytes"][part.key] = part.known ? Json(part.bytes) : Json();
    }
    json["capacity"] = Json();
    if (request.memory > 0 && plan.weights > 0) {
        json["capacity"] = Json::object();
        for (const PlanPart& part : plan_capacity(report)) json["capacity"][part.key] = part.bytes;
        json["capacity"]["requests"] = plan.fitting_requests;
        json["capacity"]["tokens_per_request"] = plan.fitting_context;
    }
    json["attention_type"] = to_string(variant_type(report));
    json["attention"] = Json::array();
    for (const AttentionVariant& variant : attention_variants(report)) {
        json["attention"].push_back({{"kind", variant.name},
                                     {"n_kv_head", variant.n_kv_head == 0 ? Json() : Json(variant.n_kv_head)},
                                     {"kv_bytes_per_token", variant.per_token},
                                     {"kv_bytes", variant.bytes},
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
    for (const PlanPart& part : plan_parts(report)) {
        if (part.known) add("plan", part.key, part.bytes);
    }
    for (const PlanPart& part : plan_capacity(report)) add("capacity", part.key, part.bytes);
    for (const AttentionVariant& variant : attention_variants(report))
        add("attention", variant.name, variant.bytes);
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
    text += '\n' + print(partTable(plan_parts(report)));
    if (!report.check) {
        text += '\n' + print(variantTable(report));
        if (const auto capacity = plan_capacity(report); !capacity.empty())
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
