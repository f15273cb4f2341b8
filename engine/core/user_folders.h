// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <filesystem>

#include "engine/core/result.h"

namespace decodescope {

/// Where this user's own models are kept: $XDG_DATA_HOME/decodescope, else ~/.local/share/decodescope (XDG
/// Base Directory Specification). It need not exist. Fails when neither variable says where.
Result<std::filesystem::path> user_data_folder();
/// Where what can be made again is kept: $XDG_CACHE_HOME/decodescope, else ~/.cache/decodescope. It need not
/// exist. Fails when neither variable says where.
Result<std::filesystem::path> user_cache_folder();

}  // namespace decodescope
