// SPDX-License-Identifier: GPL-3.0-or-later
#include "speed_rig.h"

#include <algorithm>
#include <numeric>
#include <span>

#include "engine/backend/cpu/instructions.h"
#include "engine/core/clock.h"
#include "engine/core/random.h"
#include "engine/measure/allocation_count.h"
#include "engine/measure/process_memory.h"
#include "engine/measure/statistics.h"
#include "engine/model/forward.h"

namespace decodescope::bench {

namespace {

constexpr int n_probe_pass = 3;
constexpr int longest_call = 512;
constexpr int largest_batch = 16;
/// Calls of a prefill case: as many as make about this many tokens.
constexpr int prefill_tokens = 1536;
/// How long a busy case decodes in each of its four situations: long enough for the threads to adapt.
constexpr std::int64_t busy_ns = 500'000'000;

double median(std::span<const double> values) {
    return summarize(values).median;
}

}  // namespace

int SpeedRig::capacity() const {
    const int deepest = depths[std::size(depths) - 1] + n_warm_up + n_step_;
    return std::min(config_.n_positions, std::max(longest_call, deepest));
}

Result<std::unique_ptr<SpeedRig>> SpeedRig::make(std::shared_ptr<const Weights> weights,
                                                 std::shared_ptr<MemoryLedger> ledger,
                                                 const std::vector<Product>& products,
                                                 const std::vector<int>& threads, int n_step) {
    std::unique_ptr<SpeedRig> rig(new SpeedRig(weights->config, std::move(ledger), n_step));
    for (const int n_thread : threads) {
        auto engine = std::make_unique<Engine>();
        engine->backend = make_cpu_backend(n_thread);
        engine->workspace = std::make_unique<Workspace>(rig->ledger_);
        rig->engines_.emplace(n_thread, std::move(engine));
    }
    Backend& widest = *rig->engines_.rbegin()->second->backend;
    auto probe = ReadProbe::make(widest.pool(), rig->ledger_);
    if (!probe) return probe.error();
    rig->probe_ = std::make_unique<ReadProbe>(*std::move(probe));
    rig->call_.reserve(largest_batch, longest_call);
    DS_TRY(rig->prepare(weights, products));
    DS_TRY(rig->warm_up());
    return rig;
}

Result<void> SpeedRig::prepare(const std::shared_ptr<const Weights>& weights,
                               const std::vector<Product>& products) {
    Backend& widest = *engines_.rbegin()->second->backend;
    for (const Product& product : products) {
        ReadyProduct& ready = products_.emplace_back(ReadyProduct{product, nullptr, {}});
        if (!product.packed) {
            ready.weights = weights;
            continue;
        }
        auto prepared = widest.prepare(weights, *product.packed, ledger_);
        if (prepared) {
            ready.weights = *std::move(prepared);
        } else {
            ready.reason = prepared.error().message;
        }
    }
    return {};
}

Result<void> SpeedRig::warm_up() {
    const int longest = std::min(longest_call, config_.n_positions);
    for (const auto& [n_thread, engine] : engines_) {
        for (const ReadyProduct& ready : products_) {
            if (!ready.weights) continue;
            for (const CallRoom& room : {CallRoom{1, longest, 1, capacity()},
                                         CallRoom{largest_batch, largest_batch, largest_batch, capacity()}}) {
                DS_TRY(reserve_room(*engine->workspace, *ready.weights, *engine->backend, room));
            }
        }
        for (std::size_t i = 0; i < products_.size(); ++i) {
            if (!products_[i].weights) continue;
            SpeedCase one{Work::prefill, i, n_thread, longest, 1, 0, DType::f32};
            SpeedSample unused;
            DS_TRY(prefill_calls(one, unused));
        }
    }
    return {};
}

Result<double> SpeedRig::read_now(int threads) {
    std::vector<double> passes;
    for (int i = 0; i < n_probe_pass; ++i) {
        const auto gb_s = probe_->pass(engine(threads).backend->pool());
        if (!gb_s) return gb_s.error();
        passes.push_back(*gb_s);
    }
    return median(passes);
}

Result<KvCache*> SpeedRig::cache_of(int batch, DType kv) {
    auto& cache = caches_[{batch, kv}];
    if (cache == nullptr) {
        const int most = batch == 1 ? capacity() : std::min(capacity(), n_warm_up + n_step_);
        CacheSpec spec;
        spec.kind = CacheKind::static_;
        spec.dtype = kv;
        const KvShape shape{config_.n_layer, batch, config_.n_kv_head, config_.head_dim};
        auto made = make_cache(spec, shape, {most, std::min(longest_call, most), most, {}}, ledger_);
        if (!made) return made.error();
        cache = *std::move(made);
    }
    return cache.get();
}

// Random entries instead of those of a prompt: what they say costs nothing, and a prefill before every
// measurement would take most of the time.
Result<void> SpeedRig::bring_to(KvCache& cache, int depth) {
    for (int row = 0; row < cache.batch(); ++row) {
        if (cache.next_position(row) > depth) DS_TRY(cache.truncate(row, depth));
    }
    const auto width = static_cast<std::size_t>(cache.shape().width());
    std::vector<float> entries(static_cast<std::size_t>(longest_call) * width);
    for (std::size_t i = 0; i < entries.size(); ++i) entries[i] = random_normal(1, 0, i);
    const std::vector<std::int32_t> tokens(static_cast<std::size_t>(longest_call), 0);
    while (cache.next_position() < depth) {
        const int n = std::min(longest_call, depth - cache.next_position());
        call_.clear();
        for (int row = 0; row < cache.batch(); ++row) {
            call_.add_row(std::span(tokens).first(static_cast<std::size_t>(n)), cache.next_position(row));
        }
        DS_TRY(cache.begin(call_));
        for (int layer = 0; layer < config_.n_layer; ++layer) {
            DS_TRY(cache.append(layer, {entries.data(), entries.data(), static_cast<std::int64_t>(width)}));
        }
        DS_TRY(cache.commit());
    }
    return {};
}

Result<void> SpeedRig::step(const Weights& weights, Engine& engine, KvCache& cache,
                            std::vector<std::int32_t>& tokens) {
    call_.clear();
    logit_rows_.clear();
    for (int row = 0; row < cache.batch(); ++row) {
        call_.add(tokens[static_cast<std::size_t>(row)], cache.next_position(row));
        call_.end_row();
        logit_rows_.push_back(row);
    }
    const auto output = forward(weights, call_, logit_rows_, &cache, effective_window({}, config_.window),
                                *engine.workspace, *engine.backend);
    if (!output) return output.error();
    for (std::size_t row = 0; row < tokens.size(); ++row)
        tokens[row] = chosen_token(*output, row, config_.vocab);
    return {};
}

Result<void> SpeedRig::decode_steps(const SpeedCase& one, SpeedSample& sample) {
    const Weights& weights = *products_[one.product].weights;
    const auto cache = cache_of(one.batch, one.kv);
    if (!cache) return cache.error();
    DS_TRY(bring_to(**cache, one.depth));
    std::vector<std::int32_t> tokens(static_cast<std::size_t>(one.batch), 1);
    logit_rows_.reserve(static_cast<std::size_t>(one.batch));
    for (int i = 0; i < n_warm_up; ++i) DS_TRY(step(weights, engine(one.threads), **cache, tokens));
    std::vector<double> step_ns;
    step_ns.reserve(static_cast<std::size_t>(n_step_));
    const std::int64_t faults = read_minor_faults();
    const std::int64_t allocations = read_allocation_count();
    std::int64_t before = now_ns();
    for (int i = 0; i < n_step_; ++i) {
        DS_TRY(step(weights, engine(one.threads), **cache, tokens));
        const std::int64_t after = now_ns();
        step_ns.push_back(static_cast<double>(after - before));
        before = after;
    }
    if (allocations >= 0) {
        sample.allocations = static_cast<double>(read_allocation_count() - allocations) / n_step_;
    }
    if (faults != ProcessMemory::not_measured) {
        sample.faults = static_cast<double>(read_minor_faults() - faults) / n_step_;
    }
    sample.tok_s = one.batch * 1e9 / median(step_ns);
    sample.tok_s_of_all = one.batch * 1e9 / moments(step_ns).mean;
    return {};
}

Result<void> SpeedRig::prefill_calls(const SpeedCase& one, SpeedSample& sample) {
    const auto cache = cache_of(1, one.kv);
    if (!cache) return cache.error();
    std::vector<double> call_ns;
    for (int i = 0; i < std::max(1, prefill_tokens / one.tokens); ++i) {
        (*cache)->clear_row(0);
        call_.clear();
        for (int t = 0; t < one.tokens; ++t) call_.add((t * 7 + 1) % config_.vocab, t);
        call_.end_row();
        logit_rows_.assign(1, one.tokens - 1);
        Engine& used = engine(one.threads);
        const std::int64_t before = now_ns();
        const auto output = forward(*products_[one.product].weights, call_, logit_rows_, *cache,
                                    effective_window({}, config_.window), *used.workspace, *used.backend);
        if (!output) return output.error();
        call_ns.push_back(static_cast<double>(now_ns() - before));
    }
    sample.tok_s = one.tokens * 1e9 / median(call_ns);
    sample.tok_s_of_all = one.tokens * 1e9 / moments(call_ns).mean;
    return {};
}

Result<double> SpeedRig::steady_tok_s(std::size_t product, int threads) {
    const auto cache = cache_of(1, DType::f32);
    if (!cache) return cache.error();
    (*cache)->clear_row(0);
    std::vector<std::int32_t> tokens{1};
    logit_rows_.reserve(1);
    const std::int64_t start = now_ns();
    std::int64_t n = 0;
    // By the clock and not by the median: steps in which a thread waited for its core count fully.
    while (now_ns() - start < busy_ns) {
        if ((*cache)->next_position() == (*cache)->capacity()) (*cache)->clear_row(0);
        DS_TRY(step(*products_[product].weights, engine(threads), **cache, tokens));
        ++n;
    }
    return static_cast<double>(n) * 1e9 / static_cast<double>(now_ns() - start);
}

Result<void> SpeedRig::busy(const SpeedCase& one, SpeedSample& sample) {
    std::size_t i = 0;
    for (const bool beside : {false, true}) {
        const auto other = beside ? std::make_unique<BusyProcess>() : nullptr;
        if (other != nullptr && !other->running()) {
            return Error{ErrorKind::internal, "The process that is to keep a core busy did not start."};
        }
        for (const int threads : {1, one.threads}) {
            const auto tok_s = steady_tok_s(one.product, threads);
            if (!tok_s) return tok_s.error();
            sample.busy[i++] = *tok_s;
        }
    }
    sample.tok_s = sample.busy[3];
    return {};
}

Result<SpeedSample> SpeedRig::measure(const SpeedCase& one) {
    SpeedSample sample;
    if (one.work == Work::busy) {
        DS_TRY(busy(one, sample));
        return sample;
    }
    std::array<double, 2> read{};
    std::array<double, 2> peak{};
    for (std::size_t side = 0; side < 2; ++side) {
        const auto gb_s = read_now(one.threads);
        if (!gb_s) return gb_s.error();
        read[side] = *gb_s;
        if (one.work == Work::prefill) {
            const FmaPeak now = measure_fma_peak(engine(one.threads).backend->pool(), instructions_in_use());
            peak[side] = now.gflop_s;
            peak_instructions_ = now.instructions;
        }
        if (side == 1) break;
        if (one.work == Work::prefill) {
            DS_TRY(prefill_calls(one, sample));
        } else {
            DS_TRY(decode_steps(one, sample));
        }
    }
    sample.read_gb_s = (read[0] + read[1]) / 2;
    sample.peak_gflop_s = (peak[0] + peak[1]) / 2;
    return sample;
}

}  // namespace decodescope::bench
