// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/core/timestamp.h"

#include <fmt/chrono.h>

#include <ctime>

namespace decodescope {

std::string utc_now() {
    return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
}

}  // namespace decodescope
