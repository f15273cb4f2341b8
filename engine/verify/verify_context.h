// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "engine/backend/backend.h"
#include "engine/cache/kv_cache.h"
#include "engine/decode/lane.h"
#include "engine/experiment/lane_engines.h"
#include "engine/model/weights.h"
#include "engine/verify/verify_model.h"

namespace decodescope {

using Ids = std::vector<std::int32_t>;
using Rows = std::vector<std::vector<float>>;  ///< logits, one row per position or new token

/// Cuts of 17 tokens into calls that between them meet every border: whole, one by one, one first, one last,
/// around a block of 16, halves, growing, shrinking, and uneven ones.
inline const std::vector<std::vector<int>>& partitions_of_17() {
    static const std::vector<std::vector<int>> partitions = {
        {17},
        {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1},
        {16, 1},
        {1, 16},
        {15, 2},
        {8, 9},
        {9, 8},
        {1, 2, 3, 4, 7},
        {7, 4, 3, 2, 1},
        {5, 3, 1, 4, 4},
        {2, 2, 2, 2, 2, 2, 2, 2, 1},
        {4, 4, 4, 4, 1},
        {3, 11, 3},
        {6, 1, 6, 1, 3},
        {1, 1, 13, 1, 1},
    };
    return partitions;
}
inline constexpr int partition_tokens = 17;

/// What a lane served: per request its tokens and the logits they were chosen from.
struct Served {
    std::vector<Ids> tokens;
    std::vector<Rows> rows;
    std::vector<RequestState> states;
    std::int64_t positions = 0;
    std::int64_t n_accepted = 0;
    int steps = 0;
};

/// What the checks of one model share: the model, random tokens, the reference without a cache, and the
/// report that they fill.
class VerifyContext {
public:
    VerifyContext(const LoadedModel& model, const VerifyOptions& options,
                  std::shared_ptr<MemoryLedger> ledger, std::stop_token stop);

    /// Makes the backend and prepares the weights for it, in f32. Before anything but `config`, `seed` and
    /// lengths is asked for.
    Result<void> prepare();

    const ModelConfig& config() const { return weights_->config; }
    int prompt_length() const { return prompt_length_; }
    int steps() const { return steps_; }
    std::uint64_t seed() const { return seed_; }
    const std::stop_token& stop() const { return stop_; }
    const std::shared_ptr<const Weights>& weights() const { return weights_; }
    /// Of what is stored on the device.
    const std::shared_ptr<MemoryLedger>& ledger() const { return engine_.ledger; }
    Backend& backend() { return *engine_.backend; }
    const Device& device() const { return device_; }

    void add(std::string name, std::string expected, std::string found, bool held);
    /// Equal up to the rounding of f32.
    void add_equal(const std::string& name, double error);
    VerifyReport take_report() { return std::move(report_); }

    Ids random_ids(std::uint64_t stream, int length) const;
    Rows to_rows(std::span<const float> logits) const;
    /// Logits of every position of `ids` from one call without a cache.
    Result<Rows> naive_rows(const Ids& ids, Window window = {});
    /// The same on the CPU.
    Result<Rows> cpu_rows(const Ids& ids);
    Result<std::unique_ptr<KvCache>> new_cache(const CacheSpec& spec, int batch, const KvRoom& room);
    /// Appends `ids` as one call to row `row` of `cache` and returns the logits of all of them.
    Result<Rows> feed(KvCache& cache, int row, const Ids& ids, Window window = {});
    /// Logits of every position of `ids`, fed to a fresh cache in pieces of the given sizes.
    Result<Rows> chunked_rows(const CacheSpec& spec, const Ids& ids, const std::vector<int>& sizes,
                              Window window = {});
    /// Serves `workload` with a lane of `spec`; `after_step` sees the lane after every step.
    using AfterStep = std::function<void(Lane&, const LaneStep&)>;
    Result<Served> serve(const LaneSpec& spec, const Workload& workload, TokenFeed* feed = nullptr,
                         const AfterStep& after_step = {});
    /// `serve` of one greedy request.
    Result<Served> serve_one(const LaneSpec& spec, const Ids& prompt, int new_tokens,
                             TokenFeed* feed = nullptr, const AfterStep& after_step = {});

private:
    Result<Rows> rows_on(const LaneEngine& engine, const Weights& weights, Workspace& workspace,
                         const Ids& ids, Window window);

    std::shared_ptr<const Weights> source_;  // as they were loaded
    std::shared_ptr<const Weights> weights_;
    std::shared_ptr<MemoryLedger> ledger_;  // of the processor's memory
    std::stop_token stop_;
    std::uint64_t seed_;
    std::function<void(const VerifyCheck&)> on_check_;
    Device device_;
    int threads_;
    LaneEngine engine_;
    std::optional<Workspace> workspace_;
    int prompt_length_ = 0;
    int steps_ = 0;
    VerifyReport report_;
};

/// Largest relative error over all rows; infinite when their numbers differ.
double worst_error(const Rows& found, const Rows& reference);
double worst_error(const std::vector<Rows>& found, const std::vector<Rows>& reference);

/// Feeds every request given tokens.
class GivenTokens final : public TokenFeed {
public:
    explicit GivenTokens(std::vector<Ids> tokens) : tokens_(std::move(tokens)) {}
    std::optional<std::int32_t> next(int request, int index, std::int32_t) override {
        return tokens_[static_cast<std::size_t>(request)][static_cast<std::size_t>(index)];
    }

private:
    std::vector<Ids> tokens_;
};

/// A lane of one mode and cache kind with everything else as it is by default.
LaneSpec lane_of(std::string name, LaneMode mode, const CacheSpec& cache = {});
/// Every cache kind of `device` that must agree with naive decoding, with a name and settings that meet its
/// borders.
std::vector<std::pair<std::string, CacheSpec>> exact_caches(const Device& device);

/// The groups of checks, in the order they are made.
Result<void> check_model(VerifyContext& context);
Result<void> check_caches(VerifyContext& context);
Result<void> check_windows(VerifyContext& context);
Result<void> check_batches(VerifyContext& context);
Result<void> check_speculation(VerifyContext& context);

}  // namespace decodescope
