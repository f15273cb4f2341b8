// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>

/// How kernels are started and get their dynamic shared memory, the two things that are no plain C++: nvcc
/// has its own syntax for them, and the tests run the same kernels on the processor (tests/cuda_shim). For
/// .cu files.

#ifdef __CUDACC__
/// `name`: the block's dynamic shared memory as a pointer to `type`.
#define DECODESCOPE_DYNAMIC_SHARED(type, name)                     \
    extern __shared__ __align__(128) unsigned char name##_bytes[]; \
    type* const name = reinterpret_cast<type*>(name##_bytes)
#else
#define DECODESCOPE_DYNAMIC_SHARED(type, name) \
    type* const name = reinterpret_cast<type*>(cuda_shim::dynamic_shared())
#endif

namespace decodescope::cuda {

/// Starts a kernel on `stream`; `cudaGetLastError` says whether that worked. A grid without blocks is nothing
/// to do.
template <class... Parameters>
void launch(cudaStream_t stream, dim3 grid, dim3 block, std::size_t shared_bytes,
            void (*kernel)(Parameters...), std::type_identity_t<Parameters>... arguments) {
    if (grid.x == 0 || grid.y == 0 || grid.z == 0) return;
#ifdef __CUDACC__
    kernel<<<grid, block, shared_bytes, stream>>>(arguments...);
#else
    cuda_shim::enqueue(stream, grid, block, shared_bytes, [=] { kernel(arguments...); });
#endif
}

/// Blocks of `size` that cover `n`.
constexpr unsigned blocks_for(std::int64_t n, std::int64_t size) {
    return static_cast<unsigned>((n + size - 1) / size);
}

}  // namespace decodescope::cuda
