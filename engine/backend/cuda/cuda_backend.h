// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "engine/backend/backend.h"
#include "engine/core/result.h"

/// What the rest of the engine knows of CUDA; no header of the toolkit is needed to read it. A program that
/// was built without CUDA has these functions too: they say so.
namespace decodescope {

/// One NVIDIA GPU.
struct CudaDevice {
    int index = 0;
    std::string name;  ///< as the driver calls it, e.g. "NVIDIA H200"
    int compute_major = 0;
    int compute_minor = 0;
    int n_multiprocessor = 0;
    std::uint64_t memory_bytes = 0;    ///< in all
    std::uint64_t free_bytes = 0;      ///< when it was asked; 0 = it was not, or is not known
    double memory_gb_s = 0;            ///< bus width x clock x 2, as the driver states them; 0 = not known
    std::int64_t core_clock_khz = -1;  ///< highest, as the driver states it; -1 = not known
    std::int64_t memory_clock_khz = -1;
};

/// The GPUs of this machine, or why there are none.
struct CudaDevices {
    std::vector<CudaDevice> devices;
    std::string
        why_none;  ///< "no CUDA driver", "no NVIDIA GPU", "built without CUDA"; empty when there are some
    std::string driver;   ///< newest CUDA version the driver can do, e.g. "13.0"; empty = none
    std::string runtime;  ///< CUDA version of the program; empty without
};

/// Asks the driver, in which no GPU is put to use. Never fails: a machine without driver or GPU is an
/// ordinary one. Any thread.
CudaDevices find_cuda_devices();
/// The same with the memory that is free, for those who show it.
CudaDevices find_cuda_devices_and_free_memory();

/// The backend on GPU number `index`; what stays on the processor is done by `threads` threads. Fails with
/// `device` where there is none, or it cannot be used.
Result<std::unique_ptr<Backend>> make_cuda_backend(int index, int threads);

}  // namespace decodescope
