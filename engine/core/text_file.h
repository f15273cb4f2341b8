// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "engine/core/result.h"

namespace decodescope {

/// The whole content of a file of at most `max_bytes`, a UTF-8 byte order mark at the start removed. Fails
/// with a sentence that names the file: missing, not a regular file, too large, not readable.
Result<std::string> read_text_file(const std::filesystem::path& path, std::uint64_t max_bytes);

/// Writes beside `path`, flushes to the disk and renames, so that a crash never leaves half a file. A link is
/// followed; what is not a regular file (a terminal, a pipe, /dev/null) is written to as it is. The sentence
/// names the file.
Result<void> write_file_atomically(const std::filesystem::path& path, std::string_view content);

}  // namespace decodescope
