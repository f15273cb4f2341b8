// SPDX-License-Identifier: GPL-3.0-or-later
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <memory>
#include <optional>

#include "app/cli/commands.h"
#include "app/cli/options.h"
#include "app/cli/output.h"
#include "engine/core/quote.h"
#include "engine/experiment/experiment.h"
#include "engine/experiment/lane_engines.h"
#include "engine/experiment/text_table.h"
#include "engine/formats/model_source.h"
#include "engine/measure/environment.h"
#include "engine/plan/measured_run.h"
#include "engine/plan/shape_reader.h"

namespace decodescope::cli {

namespace {

using Json = nlohmann::ordered_json;

struct AccountOptions {
    std::string model = "demo";
    int prompt = 32;
    int tokens = 64;
    int chunk = 0;
    int threads = 0;
    std::string lanes = "naive,concat,static";
    std::string device = "cpu";
    bool noRun = false;
    Output output;
};

/// One lane's counts, in closed form and as a run had them.
struct Account {
    LaneSpec lane;
    WorkCount formula;
    std::optional<WorkCount> run;

    bool cached() const { return lane.mode == LaneMode::cached; }
    bool gpu() const { return lane.device && lane.device->is_gpu(); }
    bool agrees() const { return !run || *run == formula; }
};

Result<std::vector<LaneSpec>> lanesOf(const AccountOptions& options) {
    const auto device = deviceFromText(options.device);
    if (!device) return device.error();
    const auto names = listFromText("--lanes", options.lanes);
    if (!names) return names.error();
    std::vector<LaneSpec> lanes;
    for (const std::string& name : *names) {
        auto lane = lane_from_name(name);
        if (!lane) return Error{lane.error().kind, "--lanes: " + lane.error().message};
        const bool plain = (lane->mode == LaneMode::naive || lane->mode == LaneMode::cached) &&
                           lane->batching == Batching::single && lane->faults.empty() &&
                           lane->cache.kind != CacheKind::window;
        if (!plain) {
            return Error{ErrorKind::bad_input,
                         fmt::format("--lanes: {} cannot be counted in closed form, expected naive, concat, "
                                     "static, f16, bf16, paged, int8, kivi4 or kivi2.",
                                     quote(name))};
        }
        if (lane->mode == LaneMode::cached) lane->prefill_chunk = options.chunk;
        lanes.push_back(*std::move(lane));
    }
    // The other settings are as an experiment has them when it says nothing.
    Experiment experiment;
    experiment.device = *device;
    experiment.prompts[0].text = " ";
    experiment.lanes = std::move(lanes);
    DS_TRY(experiment.validate());
    if (!options.noRun) DS_TRY(check_devices(experiment));
    return experiment.placed_lanes();
}

TextTable tableOf(const std::vector<Account>& accounts) {
    TextTable table;
    table.header = {"lane", "what", "unit", "closed form", "run", "", "formula"};
    table.right = {false, false, false, true, true, false, false};
    for (const Account& account : accounts) {
        for (const WorkLine& line : work_lines(account.cached(), account.gpu())) {
            const std::int64_t formula = account.formula.*line.count;
            std::string run = "not run";
            std::string verdict;
            if (account.run) {
                run = std::to_string((*account.run).*line.count);
                verdict = formula == (*account.run).*line.count ? "agrees" : "DIFFERS";
            }
            table.rows.push_back({account.lane.name, line.what, line.unit, std::to_string(formula), run,
                                  verdict, line.formula});
        }
    }
    return table;
}

Json jsonOf(const Account& account) {
    Json json = {{"lane", account.lane.name},
                 {"agrees", account.run ? Json(account.agrees()) : Json()},
                 {"lines", Json::array()}};
    for (const WorkLine& line : work_lines(account.cached(), account.gpu())) {
        json["lines"].push_back({{"what", line.what},
                                 {"unit", line.unit},
                                 {"formula", line.formula},
                                 {"closed_form", account.formula.*line.count},
                                 {"run", account.run ? Json((*account.run).*line.count) : Json()}});
    }
    return json;
}

std::string textOf(const std::vector<Account>& accounts, const AccountOptions& options,
                   const std::string& model) {
    const auto dump = [](const Json& json, int indent) {
        return json.dump(indent, ' ', false, Json::error_handler_t::replace) + "\n";
    };
    switch (options.output.format()) {
        case Format::json: {
            Json json = {{"schema", "decodescope.account/1"}, {"model", model},
                         {"prompt_length", options.prompt},   {"new_tokens", options.tokens},
                         {"prefill_chunk", options.chunk},    {"lanes", Json::array()}};
            for (const Account& account : accounts) json["lanes"].push_back(jsonOf(account));
            return dump(json, 2);
        }
        case Format::jsonl: {
            std::string lines;
            for (const Account& account : accounts) lines += dump(jsonOf(account), -1);
            return lines;
        }
        case Format::csv: return tableOf(accounts).csv();
        case Format::md: return tableOf(accounts).markdown();
        case Format::table: break;
    }
    return tableOf(accounts).plain();
}

int account(const AccountOptions& options, Session& session) {
    const auto lanes = lanesOf(options);
    if (!lanes) return reportError(lanes.error());
    const auto shape = read_shape(options.model);
    if (!shape) return reportError(shape.error());
    if (!shape->config || (!shape->loadable && !options.noRun)) {
        return reportError(Error{
            ErrorKind::bad_input,
            fmt::format("--model: {} {}.", quote(options.model),
                        shape->config ? "is a configuration without weights: count it with --no-run"
                                      : "is of a kind that this program does not run, and whose work it does "
                                        "not count")});
    }
    const std::int64_t last = std::int64_t{options.prompt} + options.tokens - 1;
    if (last > shape->config->n_positions) {
        return reportError(
            Error{ErrorKind::bad_input,
                  fmt::format("--prompt-length and --tokens: {} tokens are beyond the {} positions "
                              "of {}.",
                              last, shape->config->n_positions, quote(shape->name))});
    }
    const WorkRequest request{options.prompt, options.tokens, options.chunk, {}};
    if (const auto countable = check_countable(*shape->config, request); !countable)
        return reportError(countable.error());
    std::vector<Account> accounts;
    for (const LaneSpec& lane : *lanes) {
        const bool naive = lane.mode == LaneMode::naive;
        WorkRequest own = request;
        own.prepared = prepared_type(lane);
        Account& one = accounts.emplace_back(Account{lane, {}, {}});
        own.gpu = one.gpu();
        one.formula = naive ? naive_work(*shape->config, own) : cached_work(*shape->config, own, lane.cache);
    }
    if (!options.noRun) {
        const auto ref = parse_model_ref(options.model);
        if (!ref) return reportError(ref.error());
        const auto ledger = std::make_shared<MemoryLedger>();
        const auto model = load_model(*ref, ledger, {session.stop, {}});
        if (!model) return reportError(model.error());
        const int threads = options.threads > 0 ? options.threads : physical_core_count();
        Experiment placed;
        for (const Account& one : accounts) placed.lanes.push_back(one.lane);
        auto engines = make_engines(placed, threads, ledger);
        if (!engines) return reportError(engines.error());
        for (Account& one : accounts) {
            const LaneEngine& engine = engine_on(*engines, placed.device_of(one.lane));
            const auto run =
                run_counted(one.lane, {model->weights, nullptr, engine.backend.get(), engine.ledger, ledger},
                            {1, options.prompt, options.tokens, 0}, session.stop);
            if (!run) return reportError(run.error());
            one.run = *run;
        }
    }
    const int written = writeResult(options.output, textOf(accounts, options, shape->name));
    if (written != 0) return written;
    for (const Account& one : accounts) {
        if (!one.agrees()) return 1;
    }
    return 0;
}

}  // namespace

void addAccountCommand(CLI::App& app, Session& session) {
    CLI::App* command = app.add_subcommand(
        "account", "Count score cells, FLOPs and bytes in closed form beside the counters of a real run");
    auto options = std::make_shared<AccountOptions>();
    command
        ->add_option("-m,--model,model", options->model,
                     "Model: a folder, a GGUF file, a bundled name, preset:NAME; with --no-run also a "
                     "config.json or a known configuration")
        ->option_text("MODEL [demo]");
    command->add_option("-p,--prompt-length", options->prompt, "Tokens of the (random) prompt")
        ->option_text("N [32]")
        ->check(wholeNumber(1, 1 << 24));
    command->add_option("-n,--tokens", options->tokens, "New tokens")
        ->option_text("N [64]")
        ->check(wholeNumber(1, 1 << 24));
    command
        ->add_option("-l,--lanes", options->lanes,
                     "Lanes to count: naive, concat, static, f16, bf16, paged, int8, kivi4, kivi2")
        ->option_text("LANE,... [naive,concat,static]");
    command->add_option("--prefill-chunk", options->chunk, "Prompt tokens per call of lanes with a cache")
        ->option_text("N [0: all at once]")
        ->check(wholeNumber(0, 1 << 24));
    addDeviceOption(*command, options->device);
    command->add_option("-t,--threads", options->threads, "Threads that compute")
        ->option_text("N [physical cores]")
        ->check(wholeNumber(1, 1024));
    command->add_flag("--no-run", options->noRun, "Print the closed forms only");
    addOutputOptions(*command, options->output);
    command->footer(
        "One request: P prompt tokens, N new ones; step i is fed P + i tokens (naive) or what is new "
        "(cached), and "
        "the last new token is never fed. Cells are query-key pairs per head and layer.\n\n"
        "From an empty start 500 tokens are P = 1, N = 500: 41791750 cells naive and 125250 cached.\n\n"
        "Example:\n"
        "  decodescope-cli account --model demo --prompt-length 128 --tokens 64\n"
        "  decodescope-cli account --model gpt2-small --prompt-length 128 --tokens 400 --no-run\n\n"
        "Exit status: 0 every line agrees, 1 one does not, 2 bad arguments or unreadable input, 3 could not "
        "run.");
    command->callback([options, &session] { session.exitCode = account(*options, session); });
}

}  // namespace decodescope::cli
