// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/experiment/memory_use.h"

#include <algorithm>
#include <numeric>

#include "engine/cache/kv_cache.h"

namespace decodescope {

namespace {

std::int64_t median_of_steps(const RepetitionRecord& repetition, std::int64_t StepEvent::*member) {
    std::vector<double> values;
    for (const StepEvent& step : repetition.steps) {
        if (step.phase != Phase::prefill && step.*member >= 0)
            values.push_back(static_cast<double>(step.*member));
    }
    return values.empty() ? -1 : static_cast<std::int64_t>(median_of(values));
}

/// The formula of every kind but kivi is the same for one row and for many with as many entries together.
std::optional<std::int64_t> formula_of(const LaneSpec& spec, const ModelConfig& model, const StepEvent& step,
                                       std::size_t n_request) {
    if (spec.mode == LaneMode::beam) return std::nullopt;
    if (spec.cache.kind == CacheKind::kivi && spec.batching != Batching::single && n_request > 1)
        return std::nullopt;
    const KvShape shape{model.n_layer, 1, model.n_kv_head, model.head_dim};
    const int length = static_cast<int>(step.cache_length);
    return static_cast<std::int64_t>(kv_live_formula(spec.cache, shape, std::span(&length, 1)));
}

}  // namespace

std::uint64_t total_bytes(const OwnerBytes& bytes) {
    return std::accumulate(bytes.begin(), bytes.end(), std::uint64_t{0});
}

std::optional<std::int64_t> unaccounted_bytes(const ProcessMemory& memory, const OwnerBytes& tensors) {
    if (memory.rss < 0) return std::nullopt;
    return memory.rss - static_cast<std::int64_t>(total_bytes(tensors)) -
           std::max<std::int64_t>(0, memory.heap_free);
}

MemorySample memory_sample(const StepEvent& step, std::int64_t run_start_ns) {
    return {step.lane,         step.repetition, step.step,           step.end_ns - run_start_ns,
            step.tensor_bytes, step.memory,     step.kv_bytes_copied};
}

bool MemoryPeaks::add(const MemorySample& sample) {
    bool peak = false;
    if (sample.memory.rss >= 0 && (!rss || sample.memory.rss > rss->memory.rss)) {
        rss = sample;
        peak = true;
    }
    if (!tensors || sample.tensor_total() > tensors->tensor_total()) {
        tensors = sample;
        peak = true;
    }
    return peak;
}

std::vector<MemorySample> memory_samples(const Record& record) {
    std::vector<const StepEvent*> steps;
    for (const LaneRecord& lane : record.lanes)
        for (const RepetitionRecord& repetition : lane.repetitions)
            for (const StepEvent& step : repetition.steps) steps.push_back(&step);
    std::stable_sort(steps.begin(), steps.end(),
                     [](const StepEvent* a, const StepEvent* b) { return a->end_ns < b->end_ns; });
    std::vector<MemorySample> samples;
    if (steps.empty()) return samples;
    std::int64_t start = steps.front()->start_ns;
    for (const StepEvent* step : steps) start = std::min(start, step->start_ns);
    samples.reserve(steps.size());
    for (const StepEvent* step : steps) samples.push_back(memory_sample(*step, start));
    return samples;
}

std::optional<MemoryUse> memory_use(const Record& record) {
    const std::vector<MemorySample> samples = memory_samples(record);
    if (samples.empty()) return std::nullopt;
    MemoryUse use;
    use.last = samples.back();
    for (const MemorySample& sample : samples) use.peaks.add(sample);
    const std::int64_t before = samples.front().memory.minor_faults;
    const std::int64_t after = use.last.memory.minor_faults;
    if (before >= 0 && after >= 0) use.minor_faults = after - before;
    return use;
}

const StepEvent* fullest_step(const RepetitionRecord& repetition) {
    const StepEvent* fullest = nullptr;
    for (const StepEvent& step : repetition.steps) {
        if (fullest == nullptr || step.kv_bytes_live >= fullest->kv_bytes_live) fullest = &step;
    }
    return fullest;
}

CacheUse cache_use(const Record& record, std::size_t index) {
    const LaneRecord& lane = record.lanes.at(index);
    CacheUse use;
    use.spec = lane.spec;
    if (lane.repetitions.empty() || lane.repetitions.back().steps.empty()) return use;
    const RepetitionRecord& newest = lane.repetitions.back();
    use.any = true;
    use.step = *fullest_step(newest);
    for (const StepEvent& step : newest.steps) use.copied = std::max(use.copied, step.kv_bytes_copied);
    if (use.cached()) use.formula = formula_of(lane.spec, record.model, use.step, record.prompts.size());
    use.faults_per_step = median_of_steps(newest, &StepEvent::minor_faults_step);
    use.tensor_allocations = median_of_steps(newest, &StepEvent::tensor_allocations);
    use.heap_allocations = median_of_steps(newest, &StepEvent::heap_allocations);
    return use;
}

}  // namespace decodescope
