// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/experiment/compare.h"

#include <fmt/format.h>

#include <memory>

#include "app/cli/commands.h"
#include "app/cli/output.h"
#include "engine/core/quote.h"

namespace decodescope::cli {

namespace {

struct CompareRequest {
    std::string a;
    std::string b;
    std::vector<std::string> lanes;
};

Result<std::vector<LanePair>> pairsOf(const std::vector<std::string>& texts) {
    std::vector<LanePair> pairs;
    for (const std::string& text : texts) {
        const std::size_t at = text.find('=');
        if (at == 0 || at == std::string::npos || at + 1 == text.size()) {
            return Error{
                ErrorKind::bad_input,
                fmt::format("--lane: {} is not A=B, a lane of the first record and one of the second.",
                            quote(text))};
        }
        pairs.push_back({text.substr(0, at), text.substr(at + 1)});
    }
    return pairs;
}

Result<Record> read(const std::string& path) {
    std::vector<std::string> warnings;
    auto record = load_record(path, &warnings);
    for (const std::string& warning : warnings) reportNote(path + ": " + warning);
    return record;
}

int compareRecords(const CompareRequest& request, const Output& output) {
    const auto pairs = pairsOf(request.lanes);
    if (!pairs) return reportError(pairs.error());
    const auto a = read(request.a);
    if (!a) return reportError(a.error());
    const auto b = read(request.b);
    if (!b) return reportError(b.error());
    const auto comparison = compare_records(*a, *b, *pairs);
    if (!comparison) return reportError(comparison.error());
    const ComparedNames names{request.a, request.b};
    std::string text;
    switch (output.format()) {
        case Format::table: text = to_plain_text(*comparison, *a, *b, names); break;
        case Format::md: text = to_markdown(*comparison, *a, *b, names); break;
        case Format::csv: text = to_csv(*comparison, *a, *b); break;
        case Format::json: text = to_json(*comparison, *a, *b, names); break;
        case Format::jsonl: text = to_jsonl(*comparison, *a, *b, names); break;
    }
    if (const int written = writeResult(output, text); written != 0) return written;
    return comparison->all_shown() ? 0 : 1;
}

}  // namespace

void addCompareCommand(CLI::App& app, Session& session) {
    CLI::App* command = app.add_subcommand(
        "compare",
        "Say by how much two records of the same work differ, and whether that is more than noise");
    auto request = std::make_shared<CompareRequest>();
    auto output = std::make_shared<Output>();
    command->add_option("A", request->a, "A record")->option_text(" ")->required();
    command->add_option("B", request->b, "Another record of the same work")->option_text(" ")->required();
    command
        ->add_option("--lane", request->lanes,
                     "Hold this lane of A against that one of B; again for another pair")
        ->option_text("X=Y [lanes of the same name]")
        ->allow_extra_args(false);
    addOutputOptions(*command, *output);
    command->footer(
        "Ratios are those of the medians over repetitions, B / A, with a bootstrap interval of 95 %; \"no\n"
        "difference\" means that it holds 1. Model, prompts, new tokens, drive, sampling and stop tokens "
        "must be\n"
        "the same. Machine, build, threads, lane settings, warm-up and order may differ, which is said, as "
        "is\n"
        "whatever else had the machine. A lane whose output is wrong, or differs between the two, gets no "
        "ratio\n"
        "of times.\n\n"
        "Examples:\n"
        "  decodescope-cli compare before.json after.json\n"
        "  decodescope-cli compare run.json run.json --lane concat=static --format md\n\n"
        "Exit status: 0 compared, 1 a lane's times are not held against each other (the reason is said),\n"
        "2 bad arguments or input, or not the same work.");
    command->callback([request, output, &session] { session.exitCode = compareRecords(*request, *output); });
}

}  // namespace decodescope::cli
