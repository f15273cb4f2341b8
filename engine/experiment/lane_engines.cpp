// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/experiment/lane_engines.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "engine/backend/cuda/cuda_backend.h"

namespace decodescope {

namespace {

GpuInfo info_of(const CudaDevice& gpu) {
    GpuInfo info;
    info.device = Device{Device::Kind::cuda, gpu.index}.name();
    info.name = gpu.name;
    info.compute_capability = fmt::format("{}.{}", gpu.compute_major, gpu.compute_minor);
    info.memory_bytes = gpu.memory_bytes;
    info.memory_gb_s = gpu.memory_gb_s;
    info.core_clock_khz = gpu.core_clock_khz;
    info.memory_clock_khz = gpu.memory_clock_khz;
    return info;
}

/// "f32, TF32 off": how GPUs multiply by f32 weights, and in which lanes they do it so.
std::string precision_of(const Experiment& experiment) {
    std::string with;
    bool all = true;
    for (const LaneSpec& lane : experiment.lanes) {
        if (lane.tf32)
            with += fmt::format("{}{}", with.empty() ? "" : ", ", lane.name);
        else if (experiment.device_of(lane).is_gpu())
            all = false;
    }
    if (with.empty()) return "f32, TF32 off";
    return all ? "f32, TF32 on" : fmt::format("f32, TF32 on in {}", with);
}

}  // namespace

Result<void> check_devices(const Experiment& experiment) {
    if (!experiment.uses_gpu()) return {};
    const CudaDevices found = find_cuda_devices();
    for (const Device& device : experiment.devices()) DS_TRY(check_device(device, found));
    return {};
}

Result<LaneEngine> make_engine(const Device& device, int threads, const std::shared_ptr<MemoryLedger>& host) {
    auto made = make_backend(device, threads);
    if (!made) return made.error();
    std::unique_ptr<Backend> backend = *std::move(made);
    auto memory = backend->memory();
    return LaneEngine{device, std::move(backend),
                      memory != nullptr ? std::make_shared<MemoryLedger>(std::move(memory)) : host};
}

Result<std::vector<LaneEngine>> make_engines(const Experiment& experiment, int threads,
                                             const std::shared_ptr<MemoryLedger>& host) {
    std::vector<LaneEngine> engines;
    for (const Device& device : experiment.devices()) {
        auto engine = make_engine(device, threads, host);
        if (!engine) return engine.error();
        engines.push_back(*std::move(engine));
    }
    return engines;
}

LaneEngine& engine_on(std::vector<LaneEngine>& engines, const Device& device) {
    return *std::find_if(engines.begin(), engines.end(),
                         [&](const LaneEngine& engine) { return engine.device == device; });
}

std::optional<GpuMemoryUse> memory_use(const LaneEngine& engine) {
    if (!engine.device.is_gpu()) return std::nullopt;
    GpuMemoryUse use;
    use.owners = engine.ledger->live();
    const auto told = engine.backend->memory() != nullptr ? engine.backend->memory()->use() : std::nullopt;
    if (!told) return use;
    const auto bytes = [](std::uint64_t n) { return static_cast<std::int64_t>(n); };
    use.allocated = bytes(told->allocated);
    use.reserved = bytes(told->reserved);
    use.peak_allocated = bytes(told->peak_allocated);
    use.peak_reserved = bytes(told->peak_reserved);
    use.device_used = bytes(told->device_used);
    use.device_total = bytes(told->device_total);
    use.baseline_used = bytes(told->baseline_used);
    return use;
}

void begin_memory_use(LaneEngine& engine) {
    if (const auto memory = engine.backend->memory()) {
        memory->trim();  // of what the lane before it had
        memory->reset_peak();
    }
}

void describe_engines(const Experiment& experiment, const std::vector<LaneEngine>& engines,
                      Environment& environment) {
    for (const LaneEngine& engine : engines) {
        if (!environment.kernels.empty()) environment.kernels += "; ";
        environment.kernels += engine.backend->description();
    }
    const auto computes = [&](const CudaDevice& gpu) {
        return std::any_of(engines.begin(), engines.end(), [&](const LaneEngine& engine) {
            return engine.device == Device{Device::Kind::cuda, gpu.index};
        });
    };
    if (std::none_of(engines.begin(), engines.end(),
                     [](const LaneEngine& engine) { return engine.device.is_gpu(); }))
        return;
    const CudaDevices found = find_cuda_devices();
    for (const CudaDevice& gpu : found.devices) {
        if (computes(gpu)) environment.gpus.push_back(info_of(gpu));
    }
    environment.cuda_driver = found.driver;
    environment.cuda_runtime = found.runtime;
    environment.gpu_precision = precision_of(experiment);
}

}  // namespace decodescope
