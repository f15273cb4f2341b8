// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <string_view>

namespace decodescope {

/// `text` in Unicode's normal form C. Bytes that are not UTF-8 stay as they are, and nothing is composed
/// across them.
std::string to_nfc(std::string_view text);

}  // namespace decodescope
