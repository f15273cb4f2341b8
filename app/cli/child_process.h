// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "engine/core/result.h"

namespace decodescope::cli {

/// How another program ended.
struct ChildResult {
    int exitCode = 0;       ///< 128 + N when signal N ended it
    std::string lastWords;  ///< the last line that it wrote to standard error and that was not empty
};

/// Runs a program (looked for on the PATH) and waits for it. Its standard output is dropped. `environment`
/// ("NAME=value") is added to this program's own. `tick` is called a few times a second. `stop` ends it.
/// Fails when it cannot be started.
Result<ChildResult> runChild(const std::vector<std::string>& command,
                             const std::vector<std::string>& environment, const std::function<void()>& tick,
                             const std::stop_token& stop);

}  // namespace decodescope::cli
