// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "engine/backend/backend.h"
#include "engine/backend/device.h"
#include "engine/core/memory.h"
#include "engine/core/result.h"
#include "engine/experiment/experiment.h"
#include "engine/experiment/record.h"
#include "engine/measure/environment.h"

namespace decodescope {

/// What the lanes on one device compute with. They share it, and so the weights that it prepares.
struct LaneEngine {
    Device device;
    std::unique_ptr<Backend> backend;
    std::shared_ptr<MemoryLedger> ledger;  ///< of what is stored on the device
};

/// Whether every device that a lane of `experiment` names is there; the sentence is that of `check_device`.
/// Asks the driver only where a lane wants a GPU.
Result<void> check_devices(const Experiment& experiment);

/// The engine of one device; `host` is the ledger of what is stored in the processor's memory.
Result<LaneEngine> make_engine(const Device& device, int threads, const std::shared_ptr<MemoryLedger>& host);

/// One engine per device of the lanes, in the order of `Experiment::devices`.
Result<std::vector<LaneEngine>> make_engines(const Experiment& experiment, int threads,
                                             const std::shared_ptr<MemoryLedger>& host);
/// The one of them that computes on `device`.
LaneEngine& engine_on(std::vector<LaneEngine>& engines, const Device& device);

/// The memory of the engine's GPU as it is now; nothing for the CPU.
std::optional<GpuMemoryUse> memory_use(const LaneEngine& engine);
/// From here on peaks are counted.
void begin_memory_use(LaneEngine& engine);

/// Notes the kernels of `engines`, and where some compute on a GPU: which one, with what driver and in which
/// precision.
void describe_engines(const Experiment& experiment, const std::vector<LaneEngine>& engines,
                      Environment& environment);

}  // namespace decodescope
