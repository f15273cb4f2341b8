// SPDX-License-Identifier: GPL-3.0-or-later
#include <array>

#include "engine/experiment/memory_use.h"
#include "engine/experiment/record_json.h"

namespace decodescope {

namespace {

constexpr std::array<Owner, n_owner> owners = {Owner::weights, Owner::kv, Owner::activations, Owner::logits,
                                               Owner::workspace};

struct GpuBytes {
    const char* name;
    std::int64_t GpuMemoryUse::*member;
};
constexpr GpuBytes gpu_bytes[] = {
    {"allocated", &GpuMemoryUse::allocated},           {"reserved", &GpuMemoryUse::reserved},
    {"peak_allocated", &GpuMemoryUse::peak_allocated}, {"peak_reserved", &GpuMemoryUse::peak_reserved},
    {"device_used", &GpuMemoryUse::device_used},       {"device_total", &GpuMemoryUse::device_total},
    {"baseline_used", &GpuMemoryUse::baseline_used},
};

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

OrderedJson owner_bytes_json(const OwnerBytes& bytes) {
    OrderedJson json = OrderedJson::object();
    for (const Owner owner : owners) json[to_string(owner)] = bytes[static_cast<std::size_t>(owner)];
    return json;
}

void read_owner_bytes(JsonFields& fields, OwnerBytes& bytes) {
    for (const Owner owner : owners) fields.integer(to_string(owner), bytes[static_cast<std::size_t>(owner)]);
}

OrderedJson gpu_memory_json(const GpuMemoryUse& use) {
    OrderedJson json;
    for (const GpuBytes& bytes : gpu_bytes)
        json[bytes.name] = number_or_null(use.*bytes.member, std::int64_t{-1});
    json["owners"] = owner_bytes_json(use.owners);
    return json;
}

void read_gpu_memory(JsonFields& fields, GpuMemoryUse& use) {
    for (const GpuBytes& bytes : gpu_bytes) fields.integer(bytes.name, use.*bytes.member);
    fields.object("owners", [&](JsonFields& owner) { read_owner_bytes(owner, use.owners); });
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
