# SPDX-License-Identifier: GPL-3.0-or-later
# What every target of the project compiles with: warnings, sanitizers, the source root as include directory.
add_library(decodescope_options INTERFACE)
target_include_directories(decodescope_options INTERFACE ${PROJECT_SOURCE_DIR})
set(warnings -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion -Wnon-virtual-dtor -Woverloaded-virtual)
if(DECODESCOPE_WERROR)
    list(APPEND warnings -Werror)
endif()
if(DECODESCOPE_SANITIZE)
    set(sanitizers -fsanitize=${DECODESCOPE_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
    target_link_options(decodescope_options INTERFACE -fsanitize=${DECODESCOPE_SANITIZE})
endif()
# nvcc hands its own rewritten code to the host's compiler, which is neither pedantic nor free of conversions.
set(cuda_warnings -Xcompiler=-Wall,-Wextra -Wreorder)
if(DECODESCOPE_WERROR)
    list(APPEND cuda_warnings --Werror=all-warnings -Xcompiler=-Werror)
endif()
target_compile_options(
    decodescope_options INTERFACE "$<$<COMPILE_LANGUAGE:CXX>:${warnings};${sanitizers}>"
                                  "$<$<COMPILE_LANGUAGE:CUDA>:${cuda_warnings}>"
)
