// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <CLI/CLI.hpp>

#include <stop_token>

namespace decodescope::cli {

/// What the subcommands share: whether the user wants to stop, and how the program will exit.
struct Session {
    std::stop_token stop;
    int exitCode = 0;
};

/// Each adds one subcommand with its options; its callback does the work and sets `session.exitCode`.
void addRunCommand(CLI::App& app, Session& session);
void addBenchCommand(CLI::App& app, Session& session);
void addSweepCommand(CLI::App& app, Session& session);
void addMistakesCommand(CLI::App& app, Session& session);
void addInspectCommand(CLI::App& app, Session& session);
void addTokenizeCommand(CLI::App& app, Session& session);
void addDevicesCommand(CLI::App& app, Session& session);
void addFaultsCommand(CLI::App& app, Session& session);
void addPlanCommand(CLI::App& app, Session& session);
void addAccountCommand(CLI::App& app, Session& session);
void addGetCommand(CLI::App& app, Session& session);
void addVerifyCommand(CLI::App& app, Session& session);
void addDiagnoseCommand(CLI::App& app, Session& session);
void addShowCommand(CLI::App& app, Session& session);
void addCompareCommand(CLI::App& app, Session& session);
void addInsideCommand(CLI::App& app, Session& session);

}  // namespace decodescope::cli
