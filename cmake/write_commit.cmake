# SPDX-License-Identifier: GPL-3.0-or-later
# cmake -DSOURCE_DIR=... -DOUTPUT=... -P write_commit.cmake: writes a header with the commit of the source tree,
# "-dirty" behind it where tracked files differ from it, and "" where there is no git or no repository (a tarball).
set(commit "")
# Asking git in a tarball could find a repository further up that is not ours.
if(EXISTS ${SOURCE_DIR}/.git)
    find_program(GIT git)
    if(GIT)
        execute_process(
            COMMAND ${GIT} --no-optional-locks describe --always --dirty --abbrev=12 --exclude=*
            WORKING_DIRECTORY ${SOURCE_DIR}
            OUTPUT_VARIABLE commit
            OUTPUT_STRIP_TRAILING_WHITESPACE
            ERROR_QUIET
        )
    endif()
endif()
set(content "// Written by cmake/write_commit.cmake.\n#pragma once\n\n#define DECODESCOPE_COMMIT \"${commit}\"\n")
set(old "")
if(EXISTS ${OUTPUT})
    file(READ ${OUTPUT} old)
endif()
if(NOT old STREQUAL content)
    file(WRITE ${OUTPUT} "${content}")
endif()
