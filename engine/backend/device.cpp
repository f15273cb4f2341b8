// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/backend/device.h"

#include <fmt/format.h>

#include <charconv>

#include "engine/backend/backend.h"
#include "engine/backend/cuda/cuda_backend.h"
#include "engine/core/quote.h"

namespace decodescope {

namespace {

constexpr std::string_view cuda = "cuda";
constexpr int max_index = 1023;  // more than a machine holds, and no overflow

/// Digits alone, no sign and no zeros in front: one device has one name.
bool read_index(std::string_view text, int& index) {
    if (text.empty() || (text.front() == '0' && text.size() > 1) || text.front() == '-') return false;
    const char* const end = text.data() + text.size();
    const auto [at, code] = std::from_chars(text.data(), end, index);
    return code == std::errc() && at == end && index <= max_index;
}

}  // namespace

std::string Device::name() const {
    return kind == Kind::cpu ? "cpu" : fmt::format("{}:{}", cuda, index);
}

Result<Device> parse_device(std::string_view name) {
    if (name == "cpu") return Device{};
    if (name == cuda) return Device{Device::Kind::cuda, 0};
    Device device{Device::Kind::cuda, 0};
    if (name.starts_with(cuda) && name.size() > cuda.size() && name[cuda.size()] == ':' &&
        read_index(name.substr(cuda.size() + 1), device.index))
        return device;
    return Error{ErrorKind::bad_input,
                 fmt::format("The device is {}, expected {}.", quote(name), device_words)};
}

Result<void> check_device(const Device& device, const CudaDevices& found) {
    if (!device.is_gpu()) return {};
    for (const CudaDevice& gpu : found.devices) {
        if (gpu.index == device.index) return {};
    }
    if (!found.devices.empty()) {
        std::string all = "\"cpu\"";
        for (const CudaDevice& gpu : found.devices)
            all += fmt::format(", \"{}\" ({})", Device{Device::Kind::cuda, gpu.index}.name(), gpu.name);
        return Error{ErrorKind::bad_input,
                     fmt::format("There is no device \"{}\", expected one of {}.", device.name(), all)};
    }
    if (device.index > 0) {
        return Error{ErrorKind::bad_input,
                     fmt::format("There is no device \"{}\", expected \"cpu\", the only one here: {}.",
                                 device.name(), found.why_none)};
    }
    return Error{ErrorKind::device,
                 fmt::format("The device \"{}\" cannot be used: {}.", device.name(), found.why_none)};
}

std::string cpu_only(const CudaDevices& found) {
    return found.devices.empty() ? fmt::format("CPU only: {}", found.why_none) : std::string();
}

Result<std::unique_ptr<Backend>> make_backend(const Device& device, int threads) {
    if (!device.is_gpu()) return make_cpu_backend(threads);
    DS_TRY(check_device(device, find_cuda_devices()));
    return make_cuda_backend(device.index, threads);
}

}  // namespace decodescope
