// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cublas_v2.h>

#include "engine/core/result.h"

namespace decodescope::cuda {

/// The functions of cuBLAS that are used. The library is loaded when a GPU is first used and stays: linked to
/// the program it would cost everybody who decodes on the CPU seconds to start and 200 MB to hold.
struct CublasLibrary {
    // Some of the names are macros for the version of a function, which only its type is asked for here.
    decltype(&cublasCreate) create = nullptr;
    decltype(&cublasDestroy) destroy = nullptr;
    decltype(&cublasGetVersion) get_version = nullptr;
    decltype(&cublasSetStream) set_stream = nullptr;
    decltype(&cublasSetWorkspace) set_workspace = nullptr;
    decltype(&cublasSetMathMode) set_math_mode = nullptr;
    decltype(&cublasSgemm) sgemm = nullptr;
    // Its name stands for two functions; this is the one that the library has.
    cublasStatus_t (*gemm_ex)(cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int, int,
                              const void*, const void*, cudaDataType, int, const void*, cudaDataType, int,
                              const void*, void*, cudaDataType, int, cublasComputeType_t,
                              cublasGemmAlgo_t) = nullptr;

    /// Fails with `device` where the library of the version that the program was built for is not there.
    static Result<CublasLibrary> load();
};

}  // namespace decodescope::cuda
