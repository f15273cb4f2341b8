// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

#include "app/cli/output.h"

namespace decodescope::cli {

/// Any JSON object that a command has written, for people: its plain members as properties, every member that
/// is a list of objects as a table of its own. `csv` is the first such table alone, else the properties.
std::string documentText(const nlohmann::ordered_json& document, Format format);

/// Objects as the rows of one table; members of nested objects are columns "outer.inner". `columns`: those
/// wanted, in this order; empty = all that any row has.
std::string rowsText(const std::vector<nlohmann::ordered_json>& rows, const std::vector<std::string>& columns,
                     Format format);

}  // namespace decodescope::cli
