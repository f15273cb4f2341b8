// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/backend/cuda/cublas_library.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <string>
#include <type_traits>

namespace decodescope::cuda {

namespace {

#ifdef DECODESCOPE_LIBRARIES_LINKED

template <class Function>
Result<void> find(void*, Function& function, std::type_identity_t<Function> linked, const char*) {
    function = linked;
    return {};
}
Result<void*> open_library() {
    return static_cast<void*>(nullptr);
}
// What stands in for cuBLAS in tests is part of the program.
#define DS_FIND(member, name) DS_TRY(find(library, found.member, &name, #name))

#else

template <class Function>
Result<void> find(void* library, Function& function, const char* name) {
    function = reinterpret_cast<Function>(dlsym(library, name));
    if (function != nullptr) return {};
    return Error{ErrorKind::device, fmt::format("cuBLAS cannot be used: it has no {}.", name)};
}
Result<void*> open_library() {
    const std::string name = fmt::format("libcublas.so.{}", CUBLAS_VER_MAJOR);
    // As the system finds libraries, then where the toolkit was that the program was built with.
    for (const std::string& path : {name, DECODESCOPE_CUBLAS_FOLDER "/" + name}) {
        if (void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) return library;
    }
    return Error{ErrorKind::device, fmt::format("cuBLAS cannot be used: {} was not found.", name)};
}
// Twice, so that a name that is a macro is replaced first.
#define DS_TEXT_OF(name) #name
#define DS_TEXT(name) DS_TEXT_OF(name)
#define DS_FIND(member, name) DS_TRY(find(library, found.member, DS_TEXT(name)))

#endif

}  // namespace

Result<CublasLibrary> CublasLibrary::load() {
    const auto opened = open_library();
    if (!opened) return opened.error();
    [[maybe_unused]] void* const library = *opened;
    CublasLibrary found;
    DS_FIND(create, cublasCreate);
    DS_FIND(destroy, cublasDestroy);
    DS_FIND(get_version, cublasGetVersion);
    DS_FIND(set_stream, cublasSetStream);
    DS_FIND(set_workspace, cublasSetWorkspace);
    DS_FIND(set_math_mode, cublasSetMathMode);
    DS_FIND(sgemm, cublasSgemm);
    DS_FIND(gemm_ex, cublasGemmEx);
    return found;
}

}  // namespace decodescope::cuda
