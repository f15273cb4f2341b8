// SPDX-License-Identifier: GPL-3.0-or-later
// Input: two bytes that say how many bytes of data follow the header (little-endian), then the header.
#include <string_view>
#include <unordered_set>

#include "engine/formats/safetensors.h"
#include "tests/fuzz/fuzz.h"

using namespace decodescope;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size < 2) return 0;
    const auto data_bytes = static_cast<std::uint64_t>(data[0] | data[1] << 8);
    const std::string_view json(reinterpret_cast<const char*>(data + 2), size - 2);
    const auto header = parse_safetensors_header(json, data_bytes, "f");
    if (!header) {
        fuzz::require_sentence(header.error());
        return 0;
    }
    std::uint64_t end = 0;
    std::unordered_set<std::string_view> names;
    for (const SafetensorsEntry& entry : header->entries) {
        fuzz::require(entry.begin == end && entry.end >= entry.begin, "entries cover the data in order");
        fuzz::require(names.insert(entry.name).second, "names are unique");
        fuzz::require(entry.shape.size() <= 8, "the rank is bounded");
        end = entry.end;
    }
    fuzz::require(end == data_bytes, "entries cover all data");
    return 0;
}
