# SPDX-License-Identifier: GPL-3.0-or-later
# Package names of Debian and Ubuntu are in scripts/setup.sh; ./run and ./test install them.
find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(OPENBLAS REQUIRED IMPORTED_TARGET openblas)
find_package(hwy REQUIRED)
pkg_check_modules(UTF8PROC REQUIRED IMPORTED_TARGET libutf8proc)

if(DECODESCOPE_UI)
    find_package(Qt6 6.4 QUIET COMPONENTS Widgets PrintSupport Svg)
    find_package(QCustomPlotQt6 CONFIG QUIET)
    find_package(Boost 1.74 REQUIRED)
    if(NOT Qt6_FOUND OR NOT QCustomPlotQt6_FOUND)
        message(
            FATAL_ERROR
                "The window needs Qt 6.4 (Widgets, PrintSupport, Svg) and QCustomPlot's Qt 6 build; at least one was not found. "
                "Install them (Debian: qt6-base-dev qt6-svg-dev libqcustomplot-dev), or configure with -DDECODESCOPE_UI=OFF "
                "to build the engine and decodescope-cli alone."
        )
    endif()
endif()
add_feature_info(window DECODESCOPE_UI "the desktop window, chart export and HTML reports (without it only decodescope-cli is built)")
