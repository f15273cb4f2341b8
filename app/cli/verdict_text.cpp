// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/verdict_text.h"

#include <fmt/format.h>

#include <initializer_list>
#include <optional>
#include <utility>
#include <vector>

#include "engine/core/quote.h"
#include "engine/experiment/json_fields.h"
#include "engine/experiment/text_table.h"

namespace decodescope::cli {

namespace {

using Json = nlohmann::ordered_json;  // what is written; decodescope::Json is what is read

Json orNull(int number) {
    return number < 0 ? Json(nullptr) : Json(number);
}

Json orNull(const std::string& text) {
    return text.empty() ? Json(nullptr) : Json(text);
}

std::string placeOf(const VerdictPlace& first) {
    std::string text;
    const auto add = [&](const char* what, int number) {
        if (number >= 0) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", what, number);
    };
    add("call", first.call);
    if (!first.request.empty()) text += fmt::format("{}request {}", text.empty() ? "" : ", ", first.request);
    add("row", first.row);
    add("column", first.column);
    add("layer", first.layer);
    if (!first.tensor.empty()) text += fmt::format("{}{}", text.empty() ? "" : ", ", first.tensor);
    return text;
}

std::vector<std::pair<std::string, std::string>> factsOf(const Verdict& verdict) {
    std::vector<std::pair<std::string, std::string>> facts;
    facts.emplace_back("verdict", verdict.kind && verdict.word == VerdictWord::fault
                                      ? fmt::format("fault: {}", to_string(*verdict.kind))
                                      : to_string(verdict.word));
    facts.emplace_back("certainty", to_string(verdict.certainty));
    for (const auto& [name, value] :
         {std::pair("first", placeOf(verdict.first)), std::pair("expected", verdict.expected),
          std::pair("found", verdict.found), std::pair("next", verdict.next)}) {
        if (!value.empty()) facts.emplace_back(name, value);
    }
    return facts;
}

TextTable evidenceOf(const Verdict& verdict) {
    TextTable table;
    table.header = {"", "claim", "evidence"};
    for (const VerdictEvidence& item : verdict.evidence)
        table.rows.push_back({item.held ? "ok" : "!!", item.claim, item.text});
    return table;
}

template <class Enum>
void readWord(JsonFields& fields, const char* name, std::initializer_list<Enum> words, Enum& out) {
    std::string word;
    fields.text(name, word);
    for (const Enum one : words) {
        if (word == to_string(one)) {
            out = one;
            return;
        }
    }
    if (!word.empty()) fields.fail(name, fmt::format("is {}, which is no such word", quote(word)));
}

void readKind(JsonFields& fields, std::optional<FaultKind>& out) {
    std::string word;
    fields.text("kind", word);
    for (int i = 0; i < n_fault_kind; ++i) {
        if (word == to_string(static_cast<FaultKind>(i))) out = static_cast<FaultKind>(i);
    }
    if (!word.empty() && !out) fields.fail("kind", fmt::format("is {}, which is no such kind", quote(word)));
}

void readPlace(JsonFields& fields, VerdictPlace& first) {
    fields.integer("call", first.call);
    fields.text("request", first.request);
    fields.integer("row", first.row);
    fields.integer("column", first.column);
    fields.integer("layer", first.layer);
    fields.text("tensor", first.tensor);
}

TextTable factTable(const Verdict& verdict) {
    TextTable table;
    table.header = {"property", "value"};
    for (const auto& [name, value] : factsOf(verdict)) table.rows.push_back({name, value});
    return table;
}

}  // namespace

Json verdictJson(const Verdict& verdict) {
    const VerdictPlace& first = verdict.first;
    Json json = {{"verdict", to_string(verdict.word)},
                 {"kind", verdict.kind ? Json(to_string(*verdict.kind)) : Json(nullptr)},
                 {"certainty", to_string(verdict.certainty)},
                 {"summary", verdict.summary}};
    json["first"] = {{"call", orNull(first.call)},   {"request", orNull(first.request)},
                     {"row", orNull(first.row)},     {"column", orNull(first.column)},
                     {"layer", orNull(first.layer)}, {"tensor", orNull(first.tensor)}};
    json["expected"] = orNull(verdict.expected);
    json["found"] = orNull(verdict.found);
    json["evidence"] = Json::array();
    for (const VerdictEvidence& item : verdict.evidence)
        json["evidence"].push_back({{"claim", item.claim}, {"text", item.text}, {"held", item.held}});
    json["next"] = orNull(verdict.next);
    return json;
}

std::string verdictText(const Verdict& verdict, Format format) {
    switch (format) {
        case Format::csv: return evidenceOf(verdict).csv();
        case Format::md:
            return fmt::format("**{}**\n\n{}\n{}", verdict.summary, factTable(verdict).markdown(),
                               evidenceOf(verdict).markdown());
        default: break;
    }
    return fmt::format("{}\n\n{}\n{}", verdict.summary, factTable(verdict).plain(),
                       evidenceOf(verdict).plain());
}

std::string verdictSection(const std::string& lane, const Verdict& verdict, Format format) {
    const std::string text = verdictText(verdict, format);
    if (format == Format::md) return fmt::format("\n### Verdict on {}\n\n{}", lane, text);
    return fmt::format("\nVerdict on {}: {}", lane, text);
}

Result<Verdict> verdictFromJson(const nlohmann::json& json, const std::string& path) {
    JsonReport report{.error = {}, .warnings = nullptr, .null_is_absent = true};
    JsonFields fields(json, path, report);
    Verdict verdict;
    fields.require("verdict");
    readWord(fields, "verdict",
             {VerdictWord::equal, VerdictWord::precision, VerdictWord::harmless, VerdictWord::fault,
              VerdictWord::cannot_tell},
             verdict.word);
    readKind(fields, verdict.kind);
    readWord(fields, "certainty", {Certainty::certain, Certainty::likely, Certainty::possible},
             verdict.certainty);
    fields.text("summary", verdict.summary);
    fields.object("first", [&](JsonFields& first) { readPlace(first, verdict.first); });
    fields.text("expected", verdict.expected);
    fields.text("found", verdict.found);
    fields.objects("evidence", [&](JsonFields& item) {
        VerdictEvidence& one = verdict.evidence.emplace_back();
        item.text("claim", one.claim);
        item.text("text", one.text);
        item.boolean("held", one.held);
    });
    fields.text("next", verdict.next);
    if (report.error) return *report.error;
    return verdict;
}

}  // namespace decodescope::cli
