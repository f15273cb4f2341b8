// SPDX-License-Identifier: GPL-3.0-or-later
#include <cblas.h>

#include <bit>
#include <cstdint>
#include <vector>

#include "cublas_v2.h"
#include "driver.h"
#include "engine/core/dtype.h"

struct cublasContext {
    cudaStream_t stream = nullptr;
    cublasMath_t mode = CUBLAS_DEFAULT_MATH;
    bool has_workspace = false;
};

namespace {

using cuda_shim::Driver;

struct Matrix {
    const void* data = nullptr;
    cudaDataType type = CUDA_R_32F;
    int ld = 0;
    int rows = 0;
    int columns = 0;
    bool transposed = false;

    std::size_t element_bytes() const { return type == CUDA_R_32F ? 4 : 2; }
    bool lies_well() const {
        if (ld < rows || rows < 0 || columns < 0) return false;
        if (rows == 0 || columns == 0) return true;
        const std::size_t n = static_cast<std::size_t>(columns - 1) * static_cast<std::size_t>(ld) +
                              static_cast<std::size_t>(rows);
        return Driver::instance().memory.find(data, n * element_bytes()) != nullptr;
    }
};

// What a tensor core reads of an f32 number: 10 bits of its fraction.
float tf32(float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    return std::bit_cast<float>((bits + 0x1000u) & 0xFFFFE000u);
}

/// The matrix as f32, without gaps between columns.
std::vector<float> read(const Matrix& matrix, bool rounded) {
    std::vector<float> out;
    out.reserve(static_cast<std::size_t>(matrix.rows) * static_cast<std::size_t>(matrix.columns));
    for (int column = 0; column < matrix.columns; ++column) {
        const std::int64_t at = std::int64_t{column} * matrix.ld;
        for (int row = 0; row < matrix.rows; ++row) {
            if (matrix.type == CUDA_R_32F) {
                const float value = static_cast<const float*>(matrix.data)[at + row];
                out.push_back(rounded ? tf32(value) : value);
            } else {
                const std::uint16_t bits = static_cast<const std::uint16_t*>(matrix.data)[at + row];
                out.push_back(matrix.type == CUDA_R_16F ? decodescope::f16_to_f32(bits)
                                                        : decodescope::bf16_to_f32(bits));
            }
        }
    }
    return out;
}

cublasStatus_t gemm(cublasHandle_t handle, int m, int n, int k, float alpha, const Matrix& a, const Matrix& b,
                    float beta, const Matrix& c, cublasComputeType_t compute) {
    if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
    const std::scoped_lock lock(Driver::instance().mutex);
    if (m < 0 || n < 0 || k < 0 || !a.lies_well() || !b.lies_well() || !c.lies_well())
        return CUBLAS_STATUS_INVALID_VALUE;
    // Memory of the library's own could move while a graph still reads it.
    const bool captured = handle->stream != nullptr && handle->stream->capture != nullptr;
    if (captured && !handle->has_workspace) return CUBLAS_STATUS_NOT_SUPPORTED;
    if (m == 0 || n == 0) return CUBLAS_STATUS_SUCCESS;
    const bool rounded =
        handle->mode == CUBLAS_TF32_TENSOR_OP_MATH || compute == CUBLAS_COMPUTE_32F_FAST_TF32;
    const auto work = [=] {
        auto* out = const_cast<float*>(static_cast<const float*>(c.data));
        const auto op = [](const Matrix& x) { return x.transposed ? CblasTrans : CblasNoTrans; };
        const auto plain = [&](const Matrix& x) { return x.type == CUDA_R_32F && !rounded; };
        const std::vector<float> own_a = plain(a) ? std::vector<float>() : read(a, rounded);
        const std::vector<float> own_b = plain(b) ? std::vector<float>() : read(b, rounded);
        cblas_sgemm(CblasColMajor, op(a), op(b), m, n, k, alpha,
                    plain(a) ? static_cast<const float*>(a.data) : own_a.data(), plain(a) ? a.ld : a.rows,
                    plain(b) ? static_cast<const float*>(b.data) : own_b.data(), plain(b) ? b.ld : b.rows,
                    beta, out, c.ld);
    };
    return cuda_shim::enqueue_work(handle->stream, work) == cudaSuccess ? CUBLAS_STATUS_SUCCESS
                                                                        : CUBLAS_STATUS_EXECUTION_FAILED;
}

}  // namespace

cublasStatus_t cublasCreate(cublasHandle_t* handle) {
    Driver& driver = Driver::instance();
    const std::scoped_lock lock(driver.mutex);
    if (driver.usable() != cudaSuccess) return CUBLAS_STATUS_NOT_INITIALIZED;
    *handle = new cublasContext;
    ++driver.live.handles;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasDestroy(cublasHandle_t handle) {
    Driver& driver = Driver::instance();
    const std::scoped_lock lock(driver.mutex);
    delete handle;
    --driver.live.handles;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetStream(cublasHandle_t handle, cudaStream_t stream) {
    handle->stream = stream;
    // As the library does it: a workspace belongs to the stream it was set for.
    handle->has_workspace = false;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetMathMode(cublasHandle_t handle, cublasMath_t mode) {
    handle->mode = mode;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetWorkspace(cublasHandle_t handle, void* workspace, std::size_t bytes) {
    const std::scoped_lock lock(Driver::instance().mutex);
    if (Driver::instance().memory.find(workspace, bytes) == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
    handle->has_workspace = true;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasGetVersion(cublasHandle_t, int* version) {
    *version = 130000;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSgemm(cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, int m,
                           int n, int k, const float* alpha, const float* a, int lda, const float* b, int ldb,
                           const float* beta, float* c, int ldc) {
    return cublasGemmEx(handle, op_a, op_b, m, n, k, alpha, a, CUDA_R_32F, lda, b, CUDA_R_32F, ldb, beta, c,
                        CUDA_R_32F, ldc, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT);
}

cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, int m,
                            int n, int k, const void* alpha, const void* a, cudaDataType a_type, int lda,
                            const void* b, cudaDataType b_type, int ldb, const void* beta, void* c,
                            cudaDataType c_type, int ldc, cublasComputeType_t compute, cublasGemmAlgo_t) {
    if (a_type != b_type || c_type != CUDA_R_32F) return CUBLAS_STATUS_NOT_SUPPORTED;
    if (compute != CUBLAS_COMPUTE_32F && a_type != CUDA_R_32F) return CUBLAS_STATUS_NOT_SUPPORTED;
    const auto input = [](const void* data, cudaDataType type, int ld, cublasOperation_t op, int rows,
                          int columns) {
        const bool turned = op == CUBLAS_OP_T;
        return Matrix{data, type, ld, turned ? columns : rows, turned ? rows : columns, turned};
    };
    return gemm(handle, m, n, k, *static_cast<const float*>(alpha), input(a, a_type, lda, op_a, m, k),
                input(b, b_type, ldb, op_b, k, n), *static_cast<const float*>(beta),
                Matrix{c, c_type, ldc, m, n, false}, compute);
}
