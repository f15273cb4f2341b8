// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "engine/core/memory.h"
#include "engine/core/thread_pool.h"
#include "engine/experiment/json_fields.h"
#include "engine/measure/machine_limits.h"
#include "engine/measure/machine_use.h"

namespace decodescope {

/// What this machine can do at most with a number of threads, and how far that is to be trusted.
struct Calibration {
    MachineLimits limits;
    std::string cpu_model;
    int threads = 1;
    std::string measured_at;  ///< RFC 3339, UTC
    MachineUse use;           ///< who else was busy meanwhile
    bool kept = false;        ///< taken from the file, not measured now
    std::string note;         ///< why it is doubtful, or was not kept; one sentence, or empty
};

/// Where calibrations are kept between runs: below the user's cache folder.
Result<std::filesystem::path> calibration_path();

/// What is kept in `file` for this processor and the threads of `pool`, else measured now (about 0.7 s) and
/// kept there. What was measured while others were busy, or with `afresh`, is measured again. A file that
/// cannot be read or written costs the keeping, not the measurement; `note` says so.
Calibration calibrate(ThreadPool& pool, std::shared_ptr<MemoryLedger> ledger,
                      const std::filesystem::path& file, bool afresh = false);

/// "72.8 GB/s read, 429 GFLOP/s f32 with AVX-512 (2 threads, measured 2026-11-30T01:00:00Z)".
std::string to_text(const Calibration& calibration);
OrderedJson calibration_json(const Calibration& calibration);

}  // namespace decodescope
