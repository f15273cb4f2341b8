// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/measure/memory_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <iterator>
#include <set>

#include "engine/core/quote.h"

namespace decodescope {

namespace {

/// One mapping and those of its numbers that count here, in bytes.
struct Mapping {
    std::string path;  // empty: of no file
    bool executable = false;
    std::int64_t rss = 0;
    std::int64_t anonymous = 0;
    std::int64_t huge = 0;
    std::int64_t swap = 0;
};

/// The `n`-th word of a line and where it begins, words being separated by blanks.
std::string_view word(std::string_view line, int n, std::size_t* begin = nullptr) {
    std::size_t at = line.find_first_not_of(' ');
    for (; n > 0 && at != line.npos; --n) at = line.find_first_not_of(' ', line.find(' ', at));
    if (at == line.npos) return {};
    if (begin != nullptr) *begin = at;
    return line.substr(at, line.find(' ', at) - at);
}

/// A line "Key:   number kB".
bool take_number(std::string_view line, std::string_view key, std::int64_t& out) {
    if (!line.starts_with(key)) return false;
    const std::string_view text = word(line, 1);
    std::int64_t kilobytes = -1;
    std::from_chars(text.data(), text.data() + text.size(), kilobytes);
    if (kilobytes >= 0) out = kilobytes * 1024;
    return kilobytes >= 0;
}

/// A line "begin-end perms offset device inode   path".
bool take_header(std::string_view line, Mapping& out) {
    const std::string_view range = word(line, 0);
    const std::string_view permissions = word(line, 1);
    if (range.find('-') == range.npos || range.find_first_not_of("0123456789abcdef-") != range.npos ||
        permissions.size() != 4)
        return false;
    out = {};
    out.executable = permissions[2] == 'x';
    std::size_t begin = 0;
    if (!word(line, 5, &begin).empty()) out.path = line.substr(begin);
    constexpr std::string_view deleted = " (deleted)";
    if (out.path.ends_with(deleted)) out.path.resize(out.path.size() - deleted.size());
    return true;
}

Result<std::vector<Mapping>> mappings_of(std::string_view smaps) {
    std::vector<Mapping> mappings;
    for (int n = 1; !smaps.empty(); ++n) {
        const std::size_t end = std::min(smaps.find('\n'), smaps.size());
        const std::string_view line = smaps.substr(0, end);
        smaps.remove_prefix(std::min(end + 1, smaps.size()));
        Mapping mapping;
        if (take_header(line, mapping)) {
            mappings.push_back(std::move(mapping));
            continue;
        }
        if (mappings.empty()) {
            return Error{ErrorKind::io,
                         fmt::format("Memory map: line {} is {}, expected a mapping.", n, quote(line, 60))};
        }
        Mapping& here = mappings.back();
        if (take_number(line, "Rss:", here.rss) || take_number(line, "Anonymous:", here.anonymous) ||
            take_number(line, "AnonHugePages:", here.huge))
            continue;
        take_number(line, "Swap:", here.swap);
    }
    return mappings;
}

}  // namespace

Result<MemoryMap> parse_memory_map(std::string_view smaps, const std::vector<std::string>& model_files) {
    const auto mappings = mappings_of(smaps);
    if (!mappings) return mappings.error();
    // A file that is executable anywhere is a program or a library in all its mappings.
    std::set<std::string_view> programs;
    for (const Mapping& mapping : *mappings) {
        if (mapping.executable) programs.insert(mapping.path);
    }
    MemoryMap map;
    for (const Mapping& mapping : *mappings) {
        const std::string& path = mapping.path;
        map.rss += mapping.rss;
        map.huge_pages += mapping.huge;
        map.swapped += mapping.swap;
        if (path == "[heap]") {
            map.heap += mapping.rss;
        } else if (path == "[stack]") {
            map.stack += mapping.rss;
        } else if (path.empty() || path.starts_with("[anon")) {
            map.anonymous += mapping.rss;
        } else if (path.starts_with('[')) {
            map.kernel += mapping.rss;
        } else if (std::find(model_files.begin(), model_files.end(), path) != model_files.end()) {
            map.model_files += mapping.rss;
        } else if (programs.contains(path)) {
            map.program += mapping.rss - mapping.anonymous;
            map.program_data += mapping.anonymous;
        } else {
            map.other_files += mapping.rss;
        }
    }
    return map;
}

Result<MemoryMap> read_memory_map(const std::vector<std::string>& model_files) {
    std::ifstream file("/proc/self/smaps", std::ios::binary);
    const std::string text(std::istreambuf_iterator<char>(file), {});
    if (text.empty())
        return Error{ErrorKind::io, "The memory map of this process (/proc/self/smaps) cannot be read."};
    return parse_memory_map(text, model_files);
}

std::int64_t read_peak_rss() {
    std::ifstream file("/proc/self/status");
    std::int64_t peak = -1;
    for (std::string line; std::getline(file, line);) {
        std::replace(line.begin(), line.end(), '\t', ' ');
        if (take_number(line, "VmHWM:", peak)) break;
    }
    return peak;
}

bool reset_peak_rss() {
    std::ofstream file("/proc/self/clear_refs");
    file << "5" << std::flush;  // this and nothing else is forgotten
    return file.good();
}

}  // namespace decodescope
