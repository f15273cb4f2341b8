// SPDX-License-Identifier: GPL-3.0-or-later
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "engine/experiment/compare.h"
#include "engine/experiment/record_json.h"
#include "engine/experiment/text_table.h"

namespace decodescope {

namespace {

const char* unit_of(ComparedMetric::Kind kind) {
    switch (kind) {
        case ComparedMetric::Kind::time: return "ns";
        case ComparedMetric::Kind::rate: return "tok/s";
        case ComparedMetric::Kind::bytes: return "B";
    }
    return "";
}

/// A median with its unit, for people.
std::string value_text(ComparedMetric::Kind kind, const Summary& summary) {
    if (summary.n == 0) return "not measured";
    switch (kind) {
        case ComparedMetric::Kind::time:
            return fmt::format("{:.{}f} ms", summary.median / 1e6, summary.median >= 1e7 ? 1 : 4);
        case ComparedMetric::Kind::rate: return fmt::format("{:.1f}", summary.median);
        case ComparedMetric::Kind::bytes: return human_bytes(summary.median);
    }
    return "";
}

std::string lane_text(const ComparedLane& lane, const Record& a, const Record& b) {
    const std::string& mine = a.lanes[lane.a].spec.name;
    const std::string& theirs = b.lanes[lane.b].spec.name;
    return mine == theirs ? mine : fmt::format("{} = {}", mine, theirs);
}

TextTable table_of(const RecordComparison& comparison, const Record& a, const Record& b) {
    TextTable table;
    table.header = {"lane", "", "A", "B", "B / A", "95 % interval", "result"};
    table.right = {false, false, true, true, true, true, false};
    for (const ComparedLane& lane : comparison.lanes) {
        for (const ComparedMetric& metric : lane.metrics) {
            const bool shown = metric.ratio > 0;
            const bool blocked =
                !shown && metric.kind != ComparedMetric::Kind::bytes && !lane.why_not.empty();
            table.rows.push_back(
                {lane_text(lane, a, b), metric.name, value_text(metric.kind, metric.a),
                 value_text(metric.kind, metric.b), shown ? fmt::format("{:.3f}", metric.ratio) : "",
                 metric.interval.known
                     ? fmt::format("{:.3f} .. {:.3f}", metric.interval.low, metric.interval.high)
                     : "",
                 blocked ? "not shown" : metric.result()});
        }
    }
    return table;
}

std::string about(const Record& record) {
    const Environment& environment = record.environment;
    std::string text = fmt::format("{}, {}", record.model.name,
                                   environment.cpu_model.empty() ? "unknown CPU" : environment.cpu_model);
    if (environment.threads > 0)
        text += fmt::format(", {} thread{}", environment.threads, environment.threads == 1 ? "" : "s");
    if (!environment.program_version.empty()) text += ", version " + environment.program_version;
    if (!environment.commit.empty()) text += fmt::format(" ({})", environment.commit);
    return text + (record.started_at.empty() ? "" : ", " + record.started_at);
}

/// Sentences on what the table does not say.
std::vector<std::string> remarks(const RecordComparison& comparison, const Record& a, const Record& b) {
    std::vector<std::string> out;
    for (const ComparedLane& lane : comparison.lanes) {
        const std::string name = lane_text(lane, a, b);
        if (!lane.why_not.empty())
            out.push_back(fmt::format("{}: times are not held against each other: {}.", name, lane.why_not));
        if (!lane.approximation.empty())
            out.push_back(fmt::format("{}: not meant to compute the same ({}).", name, lane.approximation));
        for (const std::string& setting : lane.settings) out.push_back(fmt::format("{}: {}.", name, setting));
    }
    out.insert(out.end(), comparison.notes.begin(), comparison.notes.end());
    out.insert(out.end(), comparison.unmatched.begin(), comparison.unmatched.end());
    return out;
}

OrderedJson side_json(const Record& record, const std::string& name) {
    const auto text = [](const std::string& value) {
        return value.empty() ? OrderedJson(nullptr) : OrderedJson(value);
    };
    const Environment& environment = record.environment;
    return {{"name", name},
            {"started_at", text(record.started_at)},
            {"model", record.model.name},
            {"model_hash", text(record.model_hash)},
            {"program_version", text(environment.program_version)},
            {"commit", text(environment.commit)},
            {"cpu_model", text(environment.cpu_model)},
            {"threads", environment.threads > 0 ? OrderedJson(environment.threads) : OrderedJson(nullptr)}};
}

OrderedJson lane_json_of(const ComparedLane& lane, const Record& a, const Record& b) {
    OrderedJson json = {{"lane_a", a.lanes[lane.a].spec.name}, {"lane_b", b.lanes[lane.b].spec.name}};
    json["settings"] = lane.settings;
    json["approximation"] =
        lane.approximation.empty() ? OrderedJson(nullptr) : OrderedJson(lane.approximation);
    json["why_not"] = lane.why_not.empty() ? OrderedJson(nullptr) : OrderedJson(lane.why_not);
    json["metrics"] = OrderedJson::array();
    for (const ComparedMetric& metric : lane.metrics) {
        const std::string result = metric.result();
        json["metrics"].push_back(
            {{"metric", metric.key},
             {"unit", unit_of(metric.kind)},
             {"a", spread_json(metric.a)},
             {"b", spread_json(metric.b)},
             {"ratio", metric.ratio > 0 ? OrderedJson(metric.ratio) : OrderedJson(nullptr)},
             {"interval", interval_json(metric.interval)},
             {"result", result.empty() ? OrderedJson(nullptr) : OrderedJson(result)}});
    }
    return json;
}

}  // namespace

std::string to_plain_text(const RecordComparison& comparison, const Record& a, const Record& b,
                          const ComparedNames& names) {
    std::string out = fmt::format("A  {}: {}\nB  {}: {}\n\n", names.a, about(a), names.b, about(b));
    out += table_of(comparison, a, b).plain();
    const auto sentences = remarks(comparison, a, b);
    if (!sentences.empty()) out += '\n';
    for (const std::string& sentence : sentences) out += sentence + '\n';
    return out;
}

std::string to_markdown(const RecordComparison& comparison, const Record& a, const Record& b,
                        const ComparedNames& names) {
    std::string out = fmt::format("- **A** {}: {}\n- **B** {}: {}\n\n", names.a, about(a), names.b, about(b));
    out += table_of(comparison, a, b).markdown();
    const auto sentences = remarks(comparison, a, b);
    if (!sentences.empty()) out += '\n';
    for (const std::string& sentence : sentences) out += "- " + sentence + '\n';
    return out;
}

std::string to_csv(const RecordComparison& comparison, const Record& a, const Record& b) {
    TextTable table;
    table.header = {"lane_a",        "lane_b",   "metric", "unit",         "a_median",
                    "a_n",           "b_median", "b_n",    "ratio_b_to_a", "interval_low",
                    "interval_high", "result",   "why_not"};
    const auto number = [](bool known, double value) { return known ? fmt::format("{}", value) : ""; };
    for (const ComparedLane& lane : comparison.lanes) {
        for (const ComparedMetric& metric : lane.metrics) {
            const bool interval = metric.interval.known;
            table.rows.push_back({a.lanes[lane.a].spec.name, b.lanes[lane.b].spec.name, metric.key,
                                  unit_of(metric.kind), number(metric.a.n > 0, metric.a.median),
                                  std::to_string(metric.a.n), number(metric.b.n > 0, metric.b.median),
                                  std::to_string(metric.b.n), number(metric.ratio > 0, metric.ratio),
                                  number(interval, metric.interval.low),
                                  number(interval, metric.interval.high), metric.result(), lane.why_not});
        }
    }
    return table.csv();
}

std::string to_json(const RecordComparison& comparison, const Record& a, const Record& b,
                    const ComparedNames& names) {
    OrderedJson json = {{"schema", "decodescope.comparison/1"}};
    json["a"] = side_json(a, names.a);
    json["b"] = side_json(b, names.b);
    json["notes"] = comparison.notes;
    json["unmatched"] = comparison.unmatched;
    json["lanes"] = OrderedJson::array();
    for (const ComparedLane& lane : comparison.lanes) json["lanes"].push_back(lane_json_of(lane, a, b));
    return dump_json(json);
}

std::string to_jsonl(const RecordComparison& comparison, const Record& a, const Record& b,
                     const ComparedNames& names) {
    std::string out;
    for (const ComparedLane& lane : comparison.lanes) {
        OrderedJson json = {{"schema", "decodescope.compared_lane/1"}, {"a", names.a}, {"b", names.b}};
        json.update(lane_json_of(lane, a, b));
        out += dump_json_line(json) + '\n';
    }
    return out;
}

}  // namespace decodescope
