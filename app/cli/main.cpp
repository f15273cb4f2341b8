// SPDX-License-Identifier: GPL-3.0-or-later
#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <cstdio>
#include <exception>

#include "app/blas_core.h"
#include "app/cli/commands.h"
#include "app/cli/interrupt.h"
#include "engine/backend/cpu/instructions.h"
#include "engine/core/mapped_file.h"
#include "engine/core/quote.h"
#include "engine/measure/environment.h"

namespace {

constexpr int exitBadInput = 2;
constexpr int exitCouldNotRun = 3;

/// No command was recognised: says which word was taken for one.
std::string whatIsMissing(const CLI::App& app, int argc, char** argv) {
    std::string commands;
    for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
        commands += (commands.empty() ? "" : ", ") + command->get_name();
    }
    if (argc < 2) return fmt::format("A command is missing, expected one of {}", commands);
    return fmt::format("{} is not a command, expected one of {}", decodescope::quote(argv[1]), commands);
}

int parseAndRun(int argc, char** argv) {
    const decodescope::cli::InterruptWatch interrupt;
    decodescope::cli::Session session{.stop = interrupt.token(), .exitCode = 0};
    CLI::App app("DecodeScope: what LLM decoding costs, what its cache stores, and whether it is right.",
                 "decodescope-cli");
    app.require_subcommand(1);
    app.footer("\"decodescope-cli COMMAND --help\" shows the options of a command, with an example.");
    app.set_version_flag("--version", [] {
        return fmt::format("decodescope-cli {}", decodescope::read_environment().program_version);
    });
    decodescope::cli::addRunCommand(app, session);
    decodescope::cli::addBenchCommand(app, session);
    decodescope::cli::addSweepCommand(app, session);
    decodescope::cli::addPlanCommand(app, session);
    decodescope::cli::addAccountCommand(app, session);
    decodescope::cli::addVerifyCommand(app, session);
    decodescope::cli::addDiagnoseCommand(app, session);
    decodescope::cli::addCompareCommand(app, session);
    decodescope::cli::addShowCommand(app, session);
    decodescope::cli::addInsideCommand(app, session);
    decodescope::cli::addInspectCommand(app, session);
    decodescope::cli::addTokenizeCommand(app, session);
    decodescope::cli::addDevicesCommand(app, session);
    decodescope::cli::addFaultsCommand(app, session);
    decodescope::cli::addMistakesCommand(app, session);
    decodescope::cli::addGetCommand(app, session);

    try {
        app.parse(argc, argv);
    } catch (const CLI::Success& help) {
        return app.exit(help);
    } catch (const CLI::ParseError& error) {
        const auto chosen = app.get_subcommands();
        fmt::print(stderr, "decodescope-cli: {}. \"decodescope-cli {}--help\" shows what is possible.\n",
                   chosen.empty() ? whatIsMissing(app, argc, argv) : error.what(),
                   chosen.empty() ? "" : chosen.front()->get_name() + " ");
        return exitBadInput;
    }
    return session.exitCode;
}

}  // namespace

int main(int argc, char** argv) {
    decodescope::restartWithBetterBlasCore(argv);
    decodescope::survive_shrinking_files();
    if (const auto chosen = decodescope::choose_instructions(); !chosen) {
        fmt::print(stderr, "decodescope-cli: {}\n", chosen.error().message);
        return decodescope::exit_code(chosen.error().kind);
    }
    try {
        return parseAndRun(argc, argv);
    } catch (const std::bad_alloc&) {
        fmt::print(stderr, "decodescope-cli: There is not enough memory.\n");
    } catch (const std::exception& error) {
        fmt::print(stderr, "decodescope-cli: Unexpected failure: {}.\n", error.what());
    }
    return exitCouldNotRun;
}
