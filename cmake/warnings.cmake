# SPDX-License-Identifier: GPL-3.0-or-later
# What every target of the project compiles with: warnings, sanitizers, the source root as include directory.
add_library(decodescope_options INTERFACE)
target_include_directories(decodescope_options INTERFACE ${PROJECT_SOURCE_DIR})
set(warnings -Wall -Wextra -Wpedantic -Wconversion -Wno-sign-conversion -Wnon-virtual-dtor -Woverloaded-virtual)
# Where the files of a folder are compiled as one, a name of theirs may hide one of another file.
if(CMAKE_UNITY_BUILD)
    list(APPEND warnings $<IF:$<CXX_COMPILER_ID:GNU>,-Wshadow=local,-Wno-shadow>)
else()
    list(APPEND warnings -Wshadow)
endif()
if(DECODESCOPE_WERROR)
    list(APPEND warnings -Werror)
endif()
if(DECODESCOPE_SANITIZE)
    set(sanitizers -fsanitize=${DECODESCOPE_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
    # What a test does itself is not what users run, and half of what compiling it takes.
    list(APPEND sanitizers $<$<BOOL:$<TARGET_PROPERTY:DECODESCOPE_IS_TEST>>:-fno-sanitize=undefined>)
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
