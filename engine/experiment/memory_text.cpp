// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/experiment/memory_text.h"

#include <fmt/format.h>

#include <cmath>

#include "engine/experiment/memory_use.h"

namespace decodescope {

namespace {

std::string bytes_text(std::int64_t bytes) {
    return bytes < 0 ? "not measured" : human_bytes(static_cast<double>(bytes));
}

/// "34.1 MiB after 1.20 s: naive, repetition 1, step 12".
std::string peak_text(const Record& record, const MemorySample& sample, std::int64_t bytes) {
    return fmt::format("{} after {:.3g} s: {}, repetition {}, {}", bytes_text(bytes),
                       static_cast<double>(sample.at_ns) * 1e-9,
                       record.lanes.at(static_cast<std::size_t>(sample.lane)).spec.name,
                       sample.repetition + 1,
                       sample.step == 0 ? std::string("first step") : fmt::format("step {}", sample.step));
}

std::string count_text(std::int64_t count) {
    return count < 0 ? "not measured" : std::to_string(count);
}

}  // namespace

std::vector<std::pair<std::string, std::string>> memory_lines(const Record& record) {
    std::vector<std::pair<std::string, std::string>> lines;
    const auto use = memory_use(record);
    if (!use) return lines;
    const ProcessMemory& memory = use->last.memory;
    std::string rss = bytes_text(memory.rss);
    if (use->peaks.rss)
        rss += fmt::format(", peak {}", peak_text(record, *use->peaks.rss, use->peaks.rss->memory.rss));
    lines.emplace_back("Resident", std::move(rss));
    lines.emplace_back(
        "Tensors", fmt::format("{}, peak {}", bytes_text(static_cast<std::int64_t>(use->last.tensor_total())),
                               peak_text(record, *use->peaks.tensors,
                                         static_cast<std::int64_t>(use->peaks.tensors->tensor_total()))));
    lines.emplace_back("Allocator",
                       fmt::format("in use {}, keeps {}, mapped {}", bytes_text(memory.heap_in_use),
                                   bytes_text(memory.heap_free), bytes_text(memory.heap_mapped)));
    const auto unaccounted = use->last.unaccounted();
    std::string remainder = "not measured";
    if (unaccounted)
        remainder = fmt::format("{}{}: resident less tensors less what the allocator keeps",
                                *unaccounted < 0 ? "-" : "",
                                human_bytes(std::abs(static_cast<double>(*unaccounted))));
    lines.emplace_back("Unaccounted", std::move(remainder));
    lines.emplace_back("Page faults",
                       use->minor_faults < 0
                           ? "not measured"
                           : fmt::format("{} since the end of the first step", use->minor_faults));
    return lines;
}

TextTable gpu_memory_table(const Record& record) {
    TextTable table;
    table.header = {"lane",          "device",   "allocated", "peak",     "reserved",
                    "peak reserved", "GPU used", "baseline",  "GPU total"};
    table.right = {false, false, true, true, true, true, true, true, true};
    for (std::size_t owner = 0; owner < n_owner; ++owner) {
        table.header.emplace_back(to_string(static_cast<Owner>(owner)));
        table.right.push_back(true);
    }
    for (const LaneRecord& lane : record.lanes) {
        if (!lane.gpu_memory) continue;
        const GpuMemoryUse& use = *lane.gpu_memory;
        std::vector<std::string> row{lane.spec.name, record.experiment.device_of(lane.spec).name()};
        for (const std::int64_t bytes : {use.allocated, use.peak_allocated, use.reserved, use.peak_reserved,
                                         use.device_used, use.baseline_used, use.device_total})
            row.push_back(bytes_text(bytes));
        for (const std::uint64_t bytes : use.owners)
            row.push_back(bytes_text(static_cast<std::int64_t>(bytes)));
        table.rows.push_back(std::move(row));
    }
    return table;
}

TextTable memory_table(const Record& record) {
    TextTable table;
    table.header = {"lane",   "KV formula [B]", "KV measured [B]", "agree",      "reserved",
                    "copied", "tensors/step",   "allocs/step",     "faults/step"};
    table.right = {false, true, true, false, true, true, true, true, true};
    for (std::size_t i = 0; i < record.lanes.size(); ++i) {
        const CacheUse use = cache_use(record, i);
        std::vector<std::string> row{use.spec.name};
        if (!use.any || !use.cached()) {
            row.insert(row.end(), {use.any ? "no cache" : "not measured", "", "", "", ""});
        } else {
            row.push_back(use.formula ? std::to_string(*use.formula) : "not known");
            row.push_back(std::to_string(use.unshared()));
            row.push_back(!use.formula ? "" : use.agrees() ? "yes" : "NO");
            row.push_back(bytes_text(use.step.kv_bytes_reserved));
            row.push_back(bytes_text(use.copied));
        }
        for (const std::int64_t count : {use.tensor_allocations, use.heap_allocations, use.faults_per_step})
            row.push_back(count_text(count));
        table.rows.push_back(std::move(row));
    }
    return table;
}

}  // namespace decodescope
