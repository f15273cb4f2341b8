// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <CLI/CLI.hpp>

#include <cstdint>
#include <string>
#include <vector>

#include "app/cli/lane_options.h"
#include "engine/core/result.h"
#include "engine/experiment/experiment.h"

namespace decodescope::cli {

/// The options that say what to run. What is given on the command line wins over the experiment file.
class RunOptions {
public:
    explicit RunOptions(CLI::App& command);

    /// The experiment that was asked for, validated; warnings about the file end up in `warnings`.
    Result<Experiment> experiment(std::vector<std::string>& warnings) const;

private:
    Result<Experiment> base(std::vector<std::string>& warnings) const;
    Result<void> applyPrompt(Experiment& experiment) const;
    Result<void> applyDrive(Experiment& experiment) const;
    Result<void> applySampling(Experiment& experiment) const;
    bool given(const char* option) const { return command_.count(option) > 0; }

    CLI::App& command_;
    std::string experiment_;
    std::string model_ = "demo";
    std::vector<std::string> prompts_;
    std::string promptFile_;
    bool control_ = false;
    std::vector<std::string> ids_;
    std::vector<std::string> randomPrompts_;
    int tokens_ = 64;
    std::string drive_ = "forced";
    std::string fixedIds_;
    double temperature_ = 1;
    int topK_ = 0;
    double topP_ = 1;
    double minP_ = 0;
    double repetitionPenalty_ = 1;
    std::string stopIds_;
    std::uint64_t seed_ = 0;
    std::string device_ = "cpu";
    int threads_ = 0;
    int warmup_ = 1;
    int repetitions_ = 1;
    double interval_ = 0;
    double seconds_ = 60;
    std::string interleave_;
    LaneOptions laneOptions_;
};

}  // namespace decodescope::cli
