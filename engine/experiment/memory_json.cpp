// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/experiment/memory_use.h"
#include "engine/experiment/record_json.h"

namespace decodescope {

namespace {

OrderedJson measured(std::int64_t value) {
    return number_or_null(value, ProcessMemory::not_measured);
}

OrderedJson peak_json(const Record& record, const MemorySample& sample, std::int64_t bytes) {
    return {{"bytes", bytes},
            {"at_ns", sample.at_ns},
            {"lane", record.lanes.at(static_cast<std::size_t>(sample.lane)).spec.name},
            {"repetition", sample.repetition},
            {"step", sample.step}};
}

}  // namespace

OrderedJson memory_json(const Record& record) {
    const auto use = memory_use(record);
    if (!use) return nullptr;
    const MemoryPeaks& peaks = use->peaks;
    const auto unaccounted = use->last.unaccounted();
    OrderedJson json;
    json["rss_peak"] = peaks.rss ? peak_json(record, *peaks.rss, peaks.rss->memory.rss) : nullptr;
    json["tensor_peak"] =
        peak_json(record, *peaks.tensors, static_cast<std::int64_t>(peaks.tensors->tensor_total()));
    json["unaccounted"] = unaccounted ? OrderedJson(*unaccounted) : OrderedJson(nullptr);
    json["minor_faults"] = measured(use->minor_faults);
    return json;
}

OrderedJson cache_json(const Record& record, std::size_t lane) {
    const CacheUse use = cache_use(record, lane);
    if (!use.any) return nullptr;
    OrderedJson json;
    json["formula"] = use.formula ? OrderedJson(*use.formula) : OrderedJson(nullptr);
    json["unshared"] = use.cached() ? OrderedJson(use.unshared()) : OrderedJson(nullptr);
    json["copied"] = use.copied;
    json["tensor_allocations_step"] = measured(use.tensor_allocations);
    json["heap_allocations_step"] = measured(use.heap_allocations);
    json["minor_faults_step"] = measured(use.faults_per_step);
    return json;
}

}  // namespace decodescope
