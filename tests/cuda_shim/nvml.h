// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/backend/cuda/nvml_library.h"

/// The part of NVIDIA's management library that the backend uses; see cuda_runtime.h.
int nvmlInit_v2();
int nvmlShutdown();
int nvmlDeviceGetHandleByPciBusId_v2(const char* bus_id, decodescope::cuda::NvmlLibrary::Device* device);
int nvmlDeviceGetMemoryInfo(decodescope::cuda::NvmlLibrary::Device device,
                            decodescope::cuda::NvmlLibrary::Memory* memory);
