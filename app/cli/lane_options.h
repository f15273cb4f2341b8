// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <CLI/CLI.hpp>

#include <string>

#include "engine/core/result.h"
#include "engine/experiment/experiment.h"

namespace decodescope::cli {

/// The options that say which lanes run and how. Each changes every lane that has such a setting, and is
/// refused when none has.
class LaneOptions {
public:
    /// `lanes`: those that run unless others are asked for.
    explicit LaneOptions(CLI::App& command, std::string lanes = "naive,concat,static");

    /// Sets the lanes when they were asked for (or `replace` is true), then their settings and the reference.
    Result<void> apply(Experiment& experiment, bool replace) const;

private:
    Result<void> replaceLanes(Experiment& experiment) const;
    Result<void> applyCaches(Experiment& experiment) const;
    Result<void> applyBatching(Experiment& experiment) const;
    Result<void> applyDrafts(Experiment& experiment) const;
    Result<void> applyWindow(Experiment& experiment) const;
    Result<void> applyReference(Experiment& experiment) const;
    bool given(const char* option) const { return command_.count(option) > 0; }

    CLI::App& command_;
    std::string lanes_;
    std::string reference_;
    int prefillChunk_ = 0;
    int capacity_ = 0;
    int block_ = 0;
    int residual_ = 0;
    bool sharePrefixes_ = false;
    std::string window_;
    int batchRows_ = 0;
    int budget_ = 0;
    int draftTokens_ = 0;
    int draftLayers_ = 0;
    std::string draftModel_;
    std::string acceptance_;
    int beams_ = 0;
    std::string allocation_;
    std::string weights_;
    std::string kernels_;
};

}  // namespace decodescope::cli
