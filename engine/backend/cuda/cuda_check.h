// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cublas_v2.h>
#include <cuda_runtime.h>

#include "engine/core/result.h"

namespace decodescope::cuda {

/// What a call of the CUDA runtime answered: success, or an Error that names the call and the reason. Its
/// kind is `out_of_memory` where that is the reason, else `device`. Forgets the runtime's own note of the
/// error, so that it is not taken for that of a later call. `call`: the call as it is written, its arguments
/// are left out.
Result<void> checked(cudaError_t error, const char* call);
/// The same for cuBLAS.
Result<void> checked(cublasStatus_t status, const char* call);

}  // namespace decodescope::cuda

/// Makes a call of CUDA or cuBLAS and returns its failure from the enclosing function.
#define DS_CUDA(call) DS_TRY(::decodescope::cuda::checked((call), #call))
