// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>

namespace decodescope {

/// The time of day as files hold it: RFC 3339, UTC, whole seconds.
std::string utc_now();

}  // namespace decodescope
