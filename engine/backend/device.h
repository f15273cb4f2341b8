// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "engine/core/result.h"

namespace decodescope {

class Backend;
struct CudaDevices;

/// Where a lane computes.
struct Device {
    enum class Kind { cpu, cuda };
    Kind kind = Kind::cpu;
    int index = 0;  ///< cuda: which GPU, as the driver counts them

    bool is_gpu() const { return kind != Kind::cpu; }
    /// "cpu", "cuda:0".
    std::string name() const;

    friend bool operator==(const Device&, const Device&) = default;
};

/// What `parse_device` reads, for sentences.
inline constexpr const char* device_words = "\"cpu\", \"cuda\" or \"cuda:N\"";

/// Reads a device's name; "cuda" is "cuda:0". Whether there is such a device is not asked. Fails with
/// `bad_input`.
Result<Device> parse_device(std::string_view name);

/// Whether there is such a device among those that were `found`. Fails with `bad_input` for a number that
/// no GPU has, and with `device` for the first GPU of a machine that has none that can be used.
Result<void> check_device(const Device& device, const CudaDevices& found);

/// "CPU only: no CUDA driver"; empty where a GPU was found.
std::string cpu_only(const CudaDevices& found);

/// The backend that computes there; what a processor does is done by `threads` threads. Fails as
/// `check_device` does, and with `device` where the GPU cannot be used.
Result<std::unique_ptr<Backend>> make_backend(const Device& device, int threads);

}  // namespace decodescope
