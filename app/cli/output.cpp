// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/output.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cerrno>
#include <cstdio>
#include <system_error>

#include "app/cli/options.h"
#include "engine/core/text_file.h"

namespace decodescope::cli {

Format Output::format() const {
    if (formatName == "json") return Format::json;
    if (formatName == "jsonl") return Format::jsonl;
    if (formatName == "csv") return Format::csv;
    if (formatName == "md") return Format::md;
    return Format::table;
}

void addOutputOptions(CLI::App& command, Output& output, const std::vector<std::string>& more) {
    std::vector<std::string> words = {"table", "json", "jsonl", "csv", "md"};
    words.insert(words.end(), more.begin(), more.end());
    command
        .add_option("-f,--format", output.formatName,
                    fmt::format("Format of the result: {} or {}",
                                fmt::join(words.begin(), words.end() - 1, ", "), words.back()))
        ->option_text("FORMAT [table]")
        ->check(oneOf(words));
    command.add_option("-o,--output", output.path, "Write the result to a file instead of standard output")
        ->option_text("FILE");
}

int writeResult(const Output& output, std::string_view text) {
    if (!output.path.empty()) {
        const auto written = write_file_atomically(output.path, text);
        return written ? 0 : reportError(written.error());
    }
    if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0) return 0;
    return reportError(Error{ErrorKind::io, fmt::format("Standard output cannot be written: {}.",
                                                        std::generic_category().message(errno))});
}

int reportError(const Error& error) {
    fmt::print(stderr, "decodescope-cli: {}\n", error.message);
    return exit_code(error.kind);
}

void reportNote(std::string_view sentence) {
    fmt::print(stderr, "decodescope-cli: {}\n", sentence);
}

}  // namespace decodescope::cli
