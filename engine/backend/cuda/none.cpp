// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/backend/cuda/cuda_backend.h"

namespace decodescope {

CudaDevices find_cuda_devices() {
    CudaDevices found;
    found.why_none = "built without CUDA";
    return found;
}

CudaDevices find_cuda_devices_and_free_memory() {
    return find_cuda_devices();
}

Result<std::unique_ptr<Backend>> make_cuda_backend(int, int) {
    return Error{ErrorKind::device, "This program was built without CUDA."};
}

}  // namespace decodescope
