# SPDX-License-Identifier: GPL-3.0-or-later
# decodescope_compile_by_folder(TARGET): where CMAKE_UNITY_BUILD is on (all presets but dev), the sources of each folder of
# the target are compiled as one file. Reading the same headers for every file is most of what a compiler does here; a whole
# build takes a third of the time this way. So names in unnamed namespaces are unique within a folder. Files that need
# options of their own, or include themselves once per instruction set, are left alone (SKIP_UNITY_BUILD_INCLUSION).
function(decodescope_compile_by_folder target)
    set_target_properties(${target} PROPERTIES UNITY_BUILD_MODE GROUP)
    get_target_property(sources ${target} SOURCES)
    foreach(source IN LISTS sources)
        cmake_path(ABSOLUTE_PATH source)
        cmake_path(GET source EXTENSION extension)
        if(NOT extension STREQUAL ".cpp")
            continue()
        endif()
        file(STRINGS ${source} once_per_target REGEX "^#include <hwy/foreach_target.h>" LIMIT_COUNT 1)
        if(once_per_target)
            set_source_files_properties(${source} TARGET_DIRECTORY ${target} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
            continue()
        endif()
        cmake_path(GET source PARENT_PATH folder)
        cmake_path(RELATIVE_PATH folder BASE_DIRECTORY ${PROJECT_SOURCE_DIR})
        string(MAKE_C_IDENTIFIER ${folder} group)
        set_source_files_properties(${source} TARGET_DIRECTORY ${target} PROPERTIES UNITY_GROUP ${group})
    endforeach()
endfunction()

# decodescope_optimise_fully(TARGET source...): the presets compile with -O2, which takes two thirds of the time of -O3; in these
# files loops must be unrolled over registers or turned into vectors. Each of them is compiled alone.
function(decodescope_optimise_fully target)
    set_source_files_properties(
        ${ARGN} TARGET_DIRECTORY ${target}
        PROPERTIES COMPILE_OPTIONS $<$<AND:$<CONFIG:Release>,$<CXX_COMPILER_ID:GNU,Clang,AppleClang>>:-O3>
    )
endfunction()
