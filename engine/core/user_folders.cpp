// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/core/user_folders.h"

#include <cstdlib>

namespace decodescope {

Result<std::filesystem::path> user_data_folder() {
    // The specification has relative paths ignored.
    if (const char* data = std::getenv("XDG_DATA_HOME"); data != nullptr && data[0] == '/')
        return std::filesystem::path(data) / "decodescope";
    if (const char* home = std::getenv("HOME"); home != nullptr && home[0] == '/')
        return std::filesystem::path(home) / ".local" / "share" / "decodescope";
    return Error{
        ErrorKind::io,
        "There is no folder for this user's models: neither XDG_DATA_HOME nor HOME is an absolute path."};
}

}  // namespace decodescope
