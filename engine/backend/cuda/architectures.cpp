// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/backend/cuda/architectures.h"

#include <algorithm>
#include <charconv>
#include <utility>

namespace decodescope::cuda {

namespace {

/// One of them.
bool one_runs_on(std::string_view architecture, int major, int minor) {
    int number = 0;
    const char* const end = architecture.data() + architecture.size();
    const auto [at, code] = std::from_chars(architecture.data(), end, number);
    if (code != std::errc()) return true;
    std::string_view rest(at, static_cast<std::size_t>(end - at));
    const char kind = rest.starts_with('a') || rest.starts_with('f') ? rest.front() : ' ';
    if (kind != ' ') rest.remove_prefix(1);
    const std::pair mine(number / 10, number % 10);
    const std::pair theirs(major, minor);
    if (kind == 'a') return mine == theirs;
    if (mine.first == major) return mine.second <= minor;
    return rest != "-real" && kind != 'f' && mine < theirs;
}

}  // namespace

bool runs_on(std::string_view architectures, int major, int minor) {
    while (!architectures.empty()) {
        const std::string_view one = architectures.substr(0, architectures.find(','));
        if (one_runs_on(one, major, minor)) return true;
        architectures.remove_prefix(std::min(one.size() + 1, architectures.size()));
    }
    return false;
}

}  // namespace decodescope::cuda
