// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/backend/cuda/products.h"

#include "engine/backend/cuda/cuda_check.h"

namespace decodescope::cuda {

namespace {

// What NVIDIA recommends for Hopper; older GPUs need less.
constexpr std::size_t workspace_bytes = std::size_t{32} << 20;

cudaDataType type_of(Stored type) {
    return type == Stored::f16 ? CUDA_R_16F : type == Stored::bf16 ? CUDA_R_16BF : CUDA_R_32F;
}

}  // namespace

Stored stored_as(WeightType type) {
    return type == WeightType::f16 ? Stored::f16 : type == WeightType::bf16 ? Stored::bf16 : Stored::f32;
}

Result<void> Products::open() {
    DS_TRY(memory_->enter());
    auto library = CublasLibrary::load();
    if (!library) return library.error();
    cublas_ = *library;
    DS_TRY(checked(cublas_.create(&handle_), "cublasCreate"));
    DS_TRY(checked(cublas_.get_version(handle_, &version_), "cublasGetVersion"));
    DS_TRY(checked(cublas_.set_stream(handle_, memory_->stream()), "cublasSetStream"));
    // Memory of our own, which stays where it is, so that products can be part of a graph. Not from the pool:
    // it belongs to no model and no lane.
    DS_CUDA(cudaMalloc(&workspace_, workspace_bytes));
    DS_TRY(checked(cublas_.set_workspace(handle_, workspace_, workspace_bytes), "cublasSetWorkspace"));
    return checked(cublas_.set_math_mode(handle_, CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION),
                   "cublasSetMathMode");
}

Products::~Products() {
    memory_->note(memory_->enter());
    if (handle_ != nullptr) memory_->note(checked(cublas_.destroy(handle_), "cublasDestroy"));
    if (workspace_ != nullptr) memory_->note(checked(cudaFree(workspace_), "cudaFree"));
}

Result<void> Products::multiply(Stored type, const void* x, int rows, int n_in, const void* w, int n_out,
                                float* y, bool accumulate) {
    const float alpha = 1.0f;
    const float beta = accumulate ? 1.0f : 0.0f;
    // By columns, as cuBLAS counts, a row-major matrix is its transpose: y^T = (W^T)^T x^T.
    const bool rounds = type == Stored::f32 && tf32_;
    if (type == Stored::f32 && !rounds) {
        DS_TRY(checked(cublas_.sgemm(handle_, CUBLAS_OP_T, CUBLAS_OP_N, n_out, rows, n_in, &alpha,
                                     static_cast<const float*>(w), n_in, static_cast<const float*>(x), n_in,
                                     &beta, y, n_out),
                       "cublasSgemm"));
    } else {
        DS_TRY(checked(
            cublas_.gemm_ex(handle_, CUBLAS_OP_T, CUBLAS_OP_N, n_out, rows, n_in, &alpha, w, type_of(type),
                            n_in, x, type_of(type), n_in, &beta, y, CUDA_R_32F, n_out,
                            rounds ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT),
            "cublasGemmEx"));
    }
    return {};
}

}  // namespace decodescope::cuda
