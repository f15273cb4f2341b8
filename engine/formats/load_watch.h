// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <functional>
#include <stop_token>

namespace decodescope {

/// How far reading a model's weights has come.
struct LoadProgress {
    std::uint64_t bytes_done = 0;  ///< of the weight files
    std::uint64_t bytes_total = 0;
    const char* what = "";  ///< what is being done: "Loading weights"
};

/// How the caller of a loader follows and ends it.
struct LoadWatch {
    /// Looked at after every MiB or so.
    std::stop_token stop{};
    /// Called on the loading thread after every MiB or so, and once at the end; may be empty.
    std::function<void(const LoadProgress&)> progress{};
};

}  // namespace decodescope
