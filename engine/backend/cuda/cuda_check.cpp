// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/backend/cuda/cuda_check.h"

#include <fmt/format.h>

#include <string>
#include <string_view>

namespace decodescope::cuda {

namespace {

Error failure(bool no_memory, std::string_view call, std::string_view reason) {
    const ErrorKind kind = no_memory ? ErrorKind::out_of_memory : ErrorKind::device;
    return Error{kind, fmt::format("CUDA: {} failed: {}.", call.substr(0, call.find('(')), reason)};
}

/// cuBLAS can name it too, but is not linked to the program.
std::string name_of(cublasStatus_t status) {
    switch (status) {
        case CUBLAS_STATUS_NOT_INITIALIZED: return "CUBLAS_STATUS_NOT_INITIALIZED";
        case CUBLAS_STATUS_ALLOC_FAILED: return "CUBLAS_STATUS_ALLOC_FAILED";
        case CUBLAS_STATUS_INVALID_VALUE: return "CUBLAS_STATUS_INVALID_VALUE";
        case CUBLAS_STATUS_EXECUTION_FAILED: return "CUBLAS_STATUS_EXECUTION_FAILED";
        case CUBLAS_STATUS_NOT_SUPPORTED: return "CUBLAS_STATUS_NOT_SUPPORTED";
        default: return fmt::format("status {}", static_cast<int>(status));
    }
}

}  // namespace

Result<void> checked(cudaError_t error, const char* call) {
    if (error == cudaSuccess) return {};
    (void)cudaGetLastError();
    return failure(error == cudaErrorMemoryAllocation, call,
                   fmt::format("{} ({})", cudaGetErrorString(error), cudaGetErrorName(error)));
}

Result<void> checked(cublasStatus_t status, const char* call) {
    if (status == CUBLAS_STATUS_SUCCESS) return {};
    return failure(status == CUBLAS_STATUS_ALLOC_FAILED, call, name_of(status));
}

}  // namespace decodescope::cuda
