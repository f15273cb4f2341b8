// SPDX-License-Identifier: GPL-3.0-or-later
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <memory>

#include "app/cli/commands.h"
#include "app/cli/options.h"
#include "app/cli/output.h"
#include "app/cli/progress.h"
#include "engine/backend/cuda/cuda_backend.h"
#include "engine/backend/device.h"
#include "engine/experiment/text_table.h"
#include "engine/verify/verify_model.h"

namespace decodescope::cli {

namespace {

using Json = nlohmann::ordered_json;

TextTable tableOf(const VerifyReport& report) {
    TextTable table;
    table.header = {"check", "expected", "found", "held"};
    for (const VerifyCheck& check : report.checks) {
        table.rows.push_back({check.name, check.expected, check.found, check.held ? "yes" : "NO"});
    }
    return table;
}

Json jsonOf(const VerifyCheck& check) {
    return {
        {"check", check.name}, {"expected", check.expected}, {"found", check.found}, {"held", check.held}};
}

std::string lineOf(const Json& json) {
    return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string textOf(const std::string& model, const VerifyReport& report, Format format) {
    const std::size_t nHeld = static_cast<std::size_t>(std::count_if(
        report.checks.begin(), report.checks.end(), [](const VerifyCheck& c) { return c.held; }));
    const std::string verdict = fmt::format("{} of {} checks held.\n", nHeld, report.checks.size());
    switch (format) {
        case Format::json: {
            Json json = {
                {"schema", "decodescope.verify/1"}, {"model", model}, {"all_held", report.all_held()}};
            json["checks"] = Json::array();
            for (const VerifyCheck& check : report.checks) json["checks"].push_back(jsonOf(check));
            return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
        }
        case Format::jsonl: {
            std::string lines;
            for (const VerifyCheck& check : report.checks) lines += lineOf(jsonOf(check));
            return lines;
        }
        case Format::csv: return tableOf(report).csv();
        case Format::md: return tableOf(report).markdown() + "\n" + verdict;
        case Format::table: break;
    }
    return tableOf(report).plain() + "\n" + verdict;
}

int verify(const std::string& modelText, const std::string& deviceText, const VerifyOptions& options,
           const Output& output, const std::stop_token& stop) {
    const auto ref = parse_model_ref(modelText);
    if (!ref) return reportError(ref.error());
    const auto device = deviceFromText(deviceText);
    if (!device) return reportError(device.error());
    if (const auto there = check_device(*device, find_cuda_devices()); !there)
        return reportError(there.error());
    const auto ledger = std::make_shared<MemoryLedger>();
    const auto model = loadModel(*ref, ledger, stop);
    ProgressLine line;
    VerifyOptions watched = options;
    watched.device = *device;
    int n = 0;
    watched.on_check = [&](const VerifyCheck& check) {
        line.show(fmt::format("Checking ... {} done, the last: {}", ++n, check.name));
    };
    const auto report =
        model ? verify_model(*model, watched, ledger, stop) : Result<VerifyReport>(model.error());
    line.clear();
    if (!report) return reportError(report.error());
    const int written = writeResult(output, textOf(model->weights->source, *report, output.format()));
    return written != 0 ? written : report->all_held() ? 0 : 1;
}

}  // namespace

void addVerifyCommand(CLI::App& app, Session& session) {
    CLI::App* command =
        app.add_subcommand("verify", "Check that cached decoding of a model is right, and print a table");
    auto model = std::make_shared<std::string>("demo");
    auto device = std::make_shared<std::string>("cpu");
    auto options = std::make_shared<VerifyOptions>();
    auto output = std::make_shared<Output>();
    addModelOption(*command, *model);
    command->add_option("--prompt-length", options->prompt_length, "Random tokens of the prompt")
        ->option_text(fmt::format("N [{}]", options->prompt_length))
        ->check(wholeNumber(1, 1 << 20));
    command->add_option("--steps", options->steps, "Decode steps after the prompt")
        ->option_text(fmt::format("N [{}]", options->steps))
        ->check(wholeNumber(1, 1 << 20));
    command->add_option("--seed", options->seed, "Seed of the random tokens")
        ->option_text(fmt::format("N [{}]", options->seed))
        ->check(seedNumber());
    addDeviceOption(*command, *device);
    command->add_option("-t,--threads", options->threads, "Compute threads; 0 = all physical cores")
        ->option_text("N [0]")
        ->check(wholeNumber(0, 1024));
    addOutputOptions(*command, *output);
    command->footer(
        "Example:\n"
        "  decodescope-cli verify --model preset:tiny,seed=3\n\n"
        "Exit status: 0 everything held, 1 something did not, 2 bad arguments or input, 3 could not run.");
    command->callback([model, device, options, output, &session] {
        session.exitCode = verify(*model, *device, *options, *output, session.stop);
    });
}

}  // namespace decodescope::cli
