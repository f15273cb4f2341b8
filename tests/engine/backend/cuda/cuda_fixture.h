// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "engine/backend/backend.h"
#include "engine/backend/cuda/cuda_backend.h"
#include "engine/core/memory.h"
#include "tests/cuda_shim/shim.h"

namespace decodescope::test {

/// A backend on the pretended GPU number 0, and the ledger of its memory.
struct CudaFixture {
    std::unique_ptr<Backend> backend;
    std::shared_ptr<MemoryLedger> ledger;
    std::string error;

    explicit CudaFixture(const cuda_shim::Settings& settings = {}) {
        cuda_shim::configure(settings);
        auto made = make_cuda_backend(0, 1);
        if (!made) {
            error = made.error().message;
            return;
        }
        backend = *std::move(made);
        ledger = std::make_shared<MemoryLedger>(backend->memory());
        ledger->set_poison(true);
    }
};

/// What lies at `data` in device memory.
template <class T>
std::vector<T> downloaded(const T* data, std::size_t n) {
    std::vector<T> values(n);
    // The copies of tests come after everything that was queued.
    if (cudaDeviceSynchronize() != cudaSuccess ||
        cudaMemcpy(values.data(), data, n * sizeof(T), cudaMemcpyDeviceToHost) != cudaSuccess)
        values.clear();
    return values;
}

}  // namespace decodescope::test
