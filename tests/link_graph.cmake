# SPDX-License-Identifier: GPL-3.0-or-later
# Fails if the engine or a program that must do without Qt reaches Qt or QCustomPlot, by what CMake was told (GRAPH, written
# by cmake/link_graph.cmake), by the symbols that the engine's ARCHIVE asks for, or by the libraries that PROGRAM loads.
#     cmake [-DGRAPH=file] [-DARCHIVE=file -DNM=nm] [-DPROGRAM=file] -P link_graph.cmake
cmake_minimum_required(VERSION 3.25)

set(qt_library "(^|[/:])(lib)?Qt[0-9]|[Qq][Cc]ustom[Pp]lot")
set(found "")
set(looked_at 0)

if(GRAPH)
    file(STRINGS ${GRAPH} edges)
    foreach(edge IN LISTS edges)
        if(edge MATCHES "^(.*) -> (.*)$")
            math(EXPR looked_at "${looked_at} + 1")
            set(from ${CMAKE_MATCH_1})
            set(to ${CMAKE_MATCH_2})
            if(to MATCHES "${qt_library}")
                list(APPEND found "CMake: ${from} links ${to}")
            endif()
        endif()
    endforeach()
endif()

if(ARCHIVE)
    execute_process(
        COMMAND ${NM} --demangle --undefined-only ${ARCHIVE}
        OUTPUT_VARIABLE symbols
        COMMAND_ERROR_IS_FATAL ANY
    )
    string(REGEX MATCHALL "[^\n]+" symbols "${symbols}")
    foreach(symbol IN LISTS symbols)
        math(EXPR looked_at "${looked_at} + 1")
        if(symbol MATCHES "(^|[^A-Za-z0-9_])(Q[A-Z][A-Za-z]+::|qt_[a-z])")
            list(APPEND found "${ARCHIVE} asks for ${symbol}")
        endif()
    endforeach()
endif()

if(PROGRAM)
    file(
        GET_RUNTIME_DEPENDENCIES
        EXECUTABLES ${PROGRAM}
        RESOLVED_DEPENDENCIES_VAR loaded
        UNRESOLVED_DEPENDENCIES_VAR unresolved
    )
    foreach(library IN LISTS loaded unresolved)
        math(EXPR looked_at "${looked_at} + 1")
        if(library MATCHES "${qt_library}")
            list(APPEND found "${PROGRAM} loads ${library}")
        endif()
    endforeach()
endif()

if(looked_at EQUAL 0)
    message(FATAL_ERROR "Nothing was looked at: give GRAPH, ARCHIVE or PROGRAM with something in it.")
endif()
if(found)
    list(JOIN found "\n" found)
    message(FATAL_ERROR "What must do without Qt reaches it:\n${found}")
endif()
message(STATUS "${looked_at} links, symbols and libraries: no Qt among them")
