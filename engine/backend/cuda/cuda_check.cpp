// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/backend/cuda/cuda_check.h"

#include <fmt/format.h>

#include <string_view>

namespace decodescope::cuda {

namespace {

Error failure(bool no_memory, std::string_view call, std::string_view reason) {
    const ErrorKind kind = no_memory ? ErrorKind::out_of_memory : ErrorKind::device;
    return Error{kind, fmt::format("CUDA: {} failed: {}.", call.substr(0, call.find('(')), reason)};
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
    return failure(status == CUBLAS_STATUS_ALLOC_FAILED, call, cublasGetStatusString(status));
}

}  // namespace decodescope::cuda
