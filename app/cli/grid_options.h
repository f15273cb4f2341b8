// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <CLI/CLI.hpp>

#include <cstdint>
#include <stop_token>
#include <string>
#include <vector>

#include "app/cli/lane_options.h"
#include "engine/core/result.h"
#include "engine/sweep/grid_choices.h"

namespace decodescope::cli {

/// The options of commands that run many tests: which model, lanes and shapes, and how often.
class GridOptions {
public:
    /// Defaults of the lists, as they are typed.
    struct Defaults {
        std::string lanes;
        std::string prompts;
        std::string generations;
    };
    GridOptions(CLI::App& command, Defaults defaults);

    const std::string& model() const { return model_; }
    bool givesShapes() const { return given("--n-prompt") || given("--n-gen"); }
    bool repeatsFirst() const { return !noDriftCheck_; }
    /// The values to be combined.
    Result<Grid> grid() const;
    /// The lanes and how they are run.
    Result<CellSettings> settings() const;

private:
    bool given(const char* option) const { return command_.count(option) > 0; }

    CLI::App& command_;
    std::string device_ = "cpu";
    std::string model_ = "demo";
    GridChoices choices_;
    bool noDriftCheck_ = false;
    LaneOptions laneOptions_;
};

/// How a command that ran these tests ends: 0, 1 when a lane's output differs, 3 when none ran, 130 when
/// stopped.
int exitCodeOf(const std::vector<Cell>& cells, const std::stop_token& stop);

}  // namespace decodescope::cli
