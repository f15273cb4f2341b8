# SPDX-License-Identifier: GPL-3.0-or-later
# What every target of the project compiles with: warnings, sanitizers, the source root as include directory.
add_library(decodescope_options INTERFACE)
target_include_directories(decodescope_options INTERFACE ${PROJECT_SOURCE_DIR})
target_compile_options(decodescope_options INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion
                                                     -Wnon-virtual-dtor -Woverloaded-virtual)
if(DECODESCOPE_WERROR)
    target_compile_options(decodescope_options INTERFACE -Werror)
endif()
if(DECODESCOPE_SANITIZE)
    target_compile_options(decodescope_options INTERFACE -fsanitize=${DECODESCOPE_SANITIZE} -fno-omit-frame-pointer
                                                         -fno-sanitize-recover=all)
    target_link_options(decodescope_options INTERFACE -fsanitize=${DECODESCOPE_SANITIZE})
endif()
