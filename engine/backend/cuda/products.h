// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cublas_v2.h>

#include <memory>

#include "engine/backend/cuda/cublas_library.h"
#include "engine/backend/cuda/cuda_memory.h"
#include "engine/backend/cuda/kernels.h"
#include "engine/core/result.h"
#include "engine/model/weight_type.h"

namespace decodescope::cuda {

/// How elements of this type are stored on the device. f32, f16 or bf16.
Stored stored_as(WeightType type);

/// Matrix products through cuBLAS, queued in the stream of a GPU's memory.
class Products {
public:
    explicit Products(std::shared_ptr<CudaMemory> memory) : memory_(std::move(memory)) {}
    ~Products();
    Products(const Products&) = delete;
    Products& operator=(const Products&) = delete;

    /// Before anything else.
    Result<void> open();
    /// From now on f32 products round their inputs to TF32, 10 bits of fraction, or no longer do.
    void set_tf32(bool on) { tf32_ = on; }
    /// y = x W^T, or y += x W^T with `accumulate`, summed in f32. x [rows, n_in] and w [n_out, n_in] as
    /// `type` (f32, f16 or bf16), y [rows, n_out] in f32; all in device memory.
    Result<void> multiply(Stored type, const void* x, int rows, int n_in, const void* w, int n_out, float* y,
                          bool accumulate);
    /// Version of cuBLAS, as it counts: 130000 is 13.0.0.
    int version() const { return version_; }

private:
    std::shared_ptr<CudaMemory> memory_;
    CublasLibrary cublas_;
    cublasHandle_t handle_ = nullptr;
    void* workspace_ = nullptr;
    int version_ = 0;
    bool tf32_ = false;
};

}  // namespace decodescope::cuda
