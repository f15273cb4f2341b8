// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace decodescope {

/// `text` in double quotes, fit for one line of a message: control characters, quotes, backslashes and bytes
/// that are not UTF-8 are escaped, and what is longer than `limit` bytes is cut with "...".
std::string quote(std::string_view text, std::size_t limit = 96);

/// The first three of `names`, each in quotes, and how many more there are.
std::string quote_list(const std::vector<std::string>& names);

/// Offset of the first byte that is not well-formed UTF-8, or nothing.
std::optional<std::size_t> find_invalid_utf8(std::string_view text);

}  // namespace decodescope
