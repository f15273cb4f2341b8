// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/core/user_folders.h"

#include <fmt/format.h>

#include <cstdlib>

namespace decodescope {

namespace {

Result<std::filesystem::path> user_folder(const char* variable, const char* below_home, const char* purpose) {
    // The specification has relative paths ignored.
    if (const char* folder = std::getenv(variable); folder != nullptr && folder[0] == '/')
        return std::filesystem::path(folder) / "decodescope";
    if (const char* home = std::getenv("HOME"); home != nullptr && home[0] == '/')
        return std::filesystem::path(home) / below_home / "decodescope";
    return Error{ErrorKind::io,
                 fmt::format("There is no folder for {}: neither {} nor HOME is an absolute path.", purpose,
                             variable)};
}

}  // namespace

Result<std::filesystem::path> user_data_folder() {
    return user_folder("XDG_DATA_HOME", ".local/share", "this user's models");
}

Result<std::filesystem::path> user_cache_folder() {
    return user_folder("XDG_CACHE_HOME", ".cache", "what this machine was measured to do");
}

}  // namespace decodescope
