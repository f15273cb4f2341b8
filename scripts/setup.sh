# shellcheck shell=bash disable=SC2034 # the lists are read by the scripts that source this one
# SPDX-License-Identifier: GPL-3.0-or-later
# Shared by run, test and .ci/run (sourced): what must be installed, and how a preset is configured.

say() { printf '%s\n' "$*" >&2; }

# "what they are for|packages": Debian and Ubuntu names.
readonly packages_without_window=(
    "compiler and build tools|g++ cmake ninja-build pkg-config git"
    "matrix products and vector instructions (OpenBLAS, Highway)|libopenblas-dev libhwy-dev"
    "JSON, Unicode, formatting, command line, lock-free queue|nlohmann-json3-dev libutf8proc-dev libfmt-dev libcli11-dev libboost-dev"
)
readonly packages_to_build=(
    "${packages_without_window[@]}"
    "window, charts and tests (Qt 6, QCustomPlot)|qt6-base-dev qt6-svg-dev libqcustomplot-dev libqcustomplot2.1-qt6 libgl-dev"
    "the window in German, standard buttons included|qt6-l10n-tools qt6-translations-l10n"
    "letters and keyboard of the window|fonts-dejavu-core xkb-data"
)
# Only desktops without X11 need it, and it brings Qt Quick with it.
readonly packages_for_wayland=("window on Wayland|qt6-wayland")
# Used by the tests alone; without it those that need it are skipped, except in CI.
readonly packages_to_test=(
    "validating the files that are written against their schemas|python3-jsonschema"
    "reading reports in PDF back|poppler-utils"
)
# Used by scripts/stylecheck and scripts/tidy alone.
readonly packages_to_check_style=(
    "formatting and static checks|clang-format clang-tidy shellcheck"
    "checks of the desktop file and its metainfo|desktop-file-utils appstream"
)

# Used by scripts/fuzz alone.
readonly packages_to_fuzz=("fuzzing (clang, libFuzzer)|clang libclang-rt-14-dev")

# install_packages GROUP...: installs what is missing, after saying what and why. Quiet when nothing is.
install_packages() {
    local group package installed command
    local missing=() reasons=()
    if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
        if [[ ! -d build ]]; then
            say "This is not a Debian or Ubuntu system; these must be installed by other means (Debian's names):"
            for group in "$@"; do say "  ${group%%|*}: ${group#*|}"; done
        fi
        return 0
    fi
    # shellcheck disable=SC2016 # dpkg-query's own variables
    installed=$(dpkg-query -W -f '${db:Status-Status} ${Package}\n' 2>/dev/null | sed -n 's/^installed //p')
    for group in "$@"; do
        local absent=()
        for package in ${group#*|}; do
            grep -qxF "$package" <<<"$installed" || absent+=("$package")
        done
        if ((${#absent[@]})); then
            missing+=("${absent[@]}")
            reasons+=("  ${group%%|*}: ${absent[*]}")
        fi
    done
    ((${#missing[@]})) || return 0

    say "These packages are missing and will be installed with apt-get:"
    printf '%s\n' "${reasons[@]}" >&2
    local as_root=()
    if ((EUID != 0)); then
        if ! command -v sudo >/dev/null; then
            say "That needs root, and there is no sudo here. Please have an administrator run:"
            say "  apt-get install --no-install-recommends ${missing[*]}"
            return 1
        fi
        as_root=(sudo)
        say "That needs root: sudo may ask for your password."
    fi
    for command in "update -q" "install -q -y --no-install-recommends ${missing[*]}"; do
        # shellcheck disable=SC2086 # words on purpose
        if ! "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get $command >&2; then
            say "apt-get ${command%% *} failed; its message is above."
            return 1
        fi
    done
}

# configure PRESET [ARGUMENT...]: only the first time (ninja looks after later changes), or when arguments are given.
configure() {
    local preset=$1
    local tree=build/$preset
    shift
    # A tree that was moved or copied here from elsewhere still points there.
    if [[ -f $tree/CMakeCache.txt ]] && ! grep -qxF "CMAKE_HOME_DIRECTORY:INTERNAL=$PWD" "$tree/CMakeCache.txt"; then
        say "$tree was made for another folder; starting it afresh."
        rm -rf "$tree"
    fi
    if (($#)) || [[ ! -f $tree/build.ninja ]]; then
        cmake --preset "$preset" "$@" >&2
    fi
}
