// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <CLI/CLI.hpp>

#include <string>
#include <string_view>
#include <vector>

#include "engine/core/result.h"

namespace decodescope::cli {

enum class Format { table, json, jsonl, csv, md };

/// Where and how a command writes its result.
struct Output {
    std::string formatName = "table";
    std::string path;  ///< empty = standard output

    Format format() const;
};

/// Adds `--format` and `--output`. `more`: formats that only this command has, told by `formatName`.
void addOutputOptions(CLI::App& command, Output& output, const std::vector<std::string>& more = {});

/// Writes a result and returns 0, or says why it cannot and returns that exit code.
int writeResult(const Output& output, std::string_view text);

/// Writes one sentence to standard error and returns the exit code of the failure.
int reportError(const Error& error);
/// Writes a remark to standard error.
void reportNote(std::string_view sentence);

}  // namespace decodescope::cli
