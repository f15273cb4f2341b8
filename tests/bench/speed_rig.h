// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "busy_process.h"
#include "engine/backend/backend.h"
#include "engine/cache/kv_cache.h"
#include "engine/measure/bandwidth.h"
#include "engine/measure/fma_peak.h"
#include "engine/model/workspace.h"
#include "speed_case.h"

namespace decodescope::bench {

/// What one repetition of one case found. 0 and -1: not measured.
struct SpeedSample {
    double tok_s = 0;              ///< tokens of all rows per second; of the median step or call
    double tok_s_of_all = 0;       ///< the same of all steps or calls together
    double read_gb_s = 0;          ///< of the probe with the same threads, before and after it
    double peak_gflop_s = 0;       ///< prefill: likewise
    double faults = -1;            ///< minor page faults per step, of the whole process
    double allocations = -1;       ///< C++ allocations per step, of the calling thread
    std::array<double, 4> busy{};  ///< busy: tok/s of 1 and 2 threads alone, then beside another process
};

/// A product whose weights are ready, or why they are not.
struct ReadyProduct {
    Product product;
    std::shared_ptr<const Weights> weights;  ///< null when it cannot be measured
    std::string reason;
};

/// One model, its weights in every form, and what is needed to run steps with 1 and more threads.
class SpeedRig {
public:
    /// Everything that is not timed: packing, caches full of random entries, and one call of
    /// each kind, so that the timed ones find all memory in place.
    static Result<std::unique_ptr<SpeedRig>> make(std::shared_ptr<const Weights> weights,
                                                  std::shared_ptr<MemoryLedger> ledger,
                                                  const std::vector<Product>& products,
                                                  const std::vector<int>& threads, int n_step);

    const ModelConfig& config() const { return config_; }
    const std::vector<ReadyProduct>& products() const { return products_; }
    /// What the backend calls itself.
    std::string kernels() const { return engines_.begin()->second->backend->description(); }
    const std::string& peak_instructions() const { return peak_instructions_; }
    int n_step() const { return n_step_; }

    /// The case and a probe on each side of it.
    Result<SpeedSample> measure(const SpeedCase& one);

private:
    struct Engine {
        std::unique_ptr<Backend> backend;
        std::unique_ptr<Workspace> workspace;
    };

    SpeedRig(const ModelConfig& config, std::shared_ptr<MemoryLedger> ledger, int n_step)
        : config_(config), n_step_(n_step), ledger_(std::move(ledger)) {}
    Result<void> prepare(const std::shared_ptr<const Weights>& weights, const std::vector<Product>& products);
    Result<void> warm_up();
    Result<double> read_now(int threads);
    Result<KvCache*> cache_of(int batch, DType kv);
    /// Rows of `cache` hold `depth` entries afterwards.
    Result<void> bring_to(KvCache& cache, int depth);
    Result<void> prefill_calls(const SpeedCase& one, SpeedSample& sample);
    Result<void> decode_steps(const SpeedCase& one, SpeedSample& sample);
    Result<double> steady_tok_s(std::size_t product, int threads);
    Result<void> busy(const SpeedCase& one, SpeedSample& sample);
    /// One step of `cache.batch()` rows that goes on from `tokens`, and changes them to what was chosen.
    Result<void> step(const Weights& weights, Engine& engine, KvCache& cache,
                      std::vector<std::int32_t>& tokens);
    int capacity() const;
    Engine& engine(int threads) { return *engines_.at(threads); }

    ModelConfig config_;
    int n_step_;
    std::shared_ptr<MemoryLedger> ledger_;
    std::map<int, std::unique_ptr<Engine>> engines_;  // by number of threads
    std::vector<ReadyProduct> products_;
    std::unique_ptr<ReadProbe> probe_;
    std::map<std::pair<int, DType>, std::unique_ptr<KvCache>> caches_;
    std::string peak_instructions_;
    // Of the step being made.
    CallTokens call_;
    std::vector<std::int32_t> logit_rows_;
};

}  // namespace decodescope::bench
