// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace decodescope {

/// A table of short texts that can be printed in several ways.
struct TextTable {
    std::vector<std::string> header;
    std::vector<std::vector<std::string>> rows;  ///< each as long as `header`
    /// Columns that hold numbers are set to the right; as long as `header`, or empty = all left.
    std::vector<bool> right;

    /// Columns padded with spaces, two between them; width counted in characters.
    std::string plain() const;
    std::string markdown() const;
    /// RFC 4180, lines end in LF.
    std::string csv() const;
};

/// One field of a CSV line, quoted when it has to be.
std::string csv_field(std::string_view text);

/// Bytes for people: "512 B", "1.50 KiB", "2.21 MiB".
std::string human_bytes(double bytes);

}  // namespace decodescope
