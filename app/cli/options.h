// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <CLI/CLI.hpp>

#include <cstdint>
#include <string>
#include <vector>

#include "engine/attention/window.h"
#include "engine/backend/device.h"
#include "engine/core/result.h"

namespace decodescope::cli {

/// Accepts whole numbers of a range, with a sentence for everything else.
CLI::Validator wholeNumber(std::int64_t lowest, std::int64_t highest);
/// Accepts 0 to 2^64 - 1.
CLI::Validator seedNumber();
/// Accepts a finite number of a range.
CLI::Validator numberFrom(double lowest, double highest);
/// Accepts one of the words.
CLI::Validator oneOf(std::vector<std::string> words);

/// Token ids separated by commas or white space.
Result<std::vector<std::int32_t>> idsFromText(const std::string& option, const std::string& text);
/// The parts of "a,b,c"; empty parts are an error.
Result<std::vector<std::string>> listFromText(const std::string& option, const std::string& text);

/// Length and seed of a prompt of random ids: "LENGTH" or "LENGTH,seed=N".
struct RandomPrompt {
    int length = 0;
    std::uint64_t seed = 0;
};
Result<RandomPrompt> randomPromptFromText(const std::string& option, const std::string& text);

/// A sliding window: "SIZE" or "SIZE,sinks=N".
Result<Window> windowFromText(const std::string& option, const std::string& text);

/// Adds `--model` (default "demo") with its help.
CLI::Option* addModelOption(CLI::App& command, std::string& target);

/// Adds `--device` (default "cpu") with its help.
CLI::Option* addDeviceOption(CLI::App& command, std::string& target);
/// The device that it names.
Result<Device> deviceFromText(const std::string& name);

/// Everything on standard input, at most 64 MiB.
Result<std::string> readStandardInput();

}  // namespace decodescope::cli
