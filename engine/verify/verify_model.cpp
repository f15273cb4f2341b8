// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/verify/verify_model.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "engine/backend/backend.h"
#include "engine/core/random.h"
#include "engine/decode/lane.h"
#include "engine/measure/environment.h"
#include "engine/model/forward.h"
#include "engine/verify/logit_comparison.h"

namespace decodescope {

namespace {

using Ids = std::vector<std::int32_t>;
using Rows = std::vector<std::vector<float>>;  // logits, one row per position or step

constexpr std::uint64_t prompt_a = 1;
constexpr std::uint64_t prompt_b = 2;
constexpr std::uint64_t partition_stream = 3;
constexpr int n_random_partition = 4;

double worst_error(const Rows& found, const Rows& reference) {
    double worst = found.size() == reference.size() ? 0 : INFINITY;
    for (std::size_t i = 0; i < std::min(found.size(), reference.size()); ++i) {
        worst = std::max(worst, compare_logits(found[i], reference[i]).relative_error);
    }
    return worst;
}

/// Runs the checks of one model, one after the other.
class Verifier {
public:
    Verifier(const LoadedModel& model, const VerifyOptions& options, std::shared_ptr<MemoryLedger> ledger,
             std::stop_token stop)
        : weights_(model.weights),
          ledger_(std::move(ledger)),
          stop_(std::move(stop)),
          seed_(options.seed),
          backend_(make_cpu_backend(options.threads > 0 ? options.threads : physical_core_count())) {
        const int positions = weights_->config.n_positions;
        prompt_length_ = std::clamp(options.prompt_length, 1, std::max(1, positions / 2));
        steps_ = std::clamp(options.steps, 1, std::max(1, positions - prompt_length_));
    }

    Result<VerifyReport> run() {
        DS_TRY(check_finite_and_causal());
        DS_TRY(check_lanes());
        DS_TRY(check_partitions(CacheKind::static_));
        DS_TRY(check_partitions(CacheKind::concat));
        DS_TRY(check_isolation());
        DS_TRY(check_capacity());
        return std::move(report_);
    }

private:
    void add(std::string name, std::string expected, std::string found, bool held) {
        report_.checks.push_back({std::move(name), std::move(expected), std::move(found), held});
    }
    void add_equal(const std::string& name, double error) {
        add(name, fmt::format("error <= {:.0e} of the logits' standard deviation", f32_error_limit),
            fmt::format("largest error {:.2e}", error), error <= f32_error_limit);
    }

    Ids random_ids(std::uint64_t stream, int length) const {
        Ids ids;
        for (int i = 0; i < length; ++i) {
            const std::uint64_t bits = random_bits(seed_, stream, static_cast<std::uint64_t>(i));
            ids.push_back(
                static_cast<std::int32_t>(bits % static_cast<std::uint64_t>(weights_->config.vocab)));
        }
        return ids;
    }

    Rows to_rows(std::span<const float> logits) const {
        const auto vocab = static_cast<std::size_t>(weights_->config.vocab);
        Rows rows;
        for (std::size_t i = 0; i < logits.size(); i += vocab) {
            rows.emplace_back(logits.begin() + static_cast<std::ptrdiff_t>(i),
                              logits.begin() + static_cast<std::ptrdiff_t>(i + vocab));
        }
        return rows;
    }

    /// Logits of every position of `ids` from one call without a cache.
    Result<Rows> naive_rows(const Ids& ids) {
        Workspace workspace(ledger_);
        const int n = static_cast<int>(ids.size());
        const auto output = forward(*weights_, ids, plan_single(0, n, n), LogitsRows::all, nullptr, workspace,
                                    *backend_, stop_);
        if (!output) return output.error();
        return to_rows(output->logits);
    }

    /// Logits of every position of `ids`, fed to a fresh cache in pieces of the given sizes.
    Result<Rows> chunked_rows(CacheKind kind, const Ids& ids, const std::vector<int>& sizes) {
        Workspace workspace(ledger_);
        auto cache = new_cache(kind, static_cast<int>(ids.size()));
        if (!cache) return cache.error();
        Rows rows;
        std::size_t begin = 0;
        for (const int n : sizes) {
            const auto fed = std::span(ids).subspan(begin, static_cast<std::size_t>(n));
            const auto output = forward(*weights_, fed, plan_append(**cache, n), LogitsRows::all,
                                        cache->get(), workspace, *backend_, stop_);
            if (!output) return output.error();
            for (auto& row : to_rows(output->logits)) rows.push_back(std::move(row));
            begin += static_cast<std::size_t>(n);
        }
        return rows;
    }

    Result<std::unique_ptr<KvCache>> new_cache(CacheKind kind, int capacity) {
        const ModelConfig& config = weights_->config;
        return make_cache(kind, {config.n_layer, 1, config.n_kv_head, config.head_dim}, capacity, ledger_);
    }

    Result<void> check_finite_and_causal() {
        Ids ids = random_ids(prompt_a, prompt_length_);
        const auto rows = naive_rows(ids);
        if (!rows) return rows.error();
        std::int64_t bad = 0;
        for (const auto& row : *rows) {
            bad += std::count_if(row.begin(), row.end(), [](float x) { return !std::isfinite(x); });
        }
        add("finite logits", "no NaN, no infinity",
            fmt::format("{} of {} not finite", bad, rows->size() * rows->front().size()), bad == 0);
        if (ids.size() < 2) return {};
        ids.back() = (ids.back() + 1) % weights_->config.vocab;
        auto changed = naive_rows(ids);
        if (!changed) return changed.error();
        const bool last_differs = weights_->config.vocab == 1 || changed->back() != rows->back();
        changed->pop_back();
        const double error = worst_error(*changed, Rows(rows->begin(), rows->end() - 1));
        add("causality", "another last token changes the last row alone",
            fmt::format("earlier rows moved by {:.2e}, last row {}", error,
                        last_differs ? "changed" : "did not change"),
            error <= f32_error_limit && last_differs);
        return {};
    }

    struct LaneRun {
        Rows rows;
        Ids tokens;
        std::int64_t positions = 0;
        std::string bytes_fault;  // first step whose bytes differ from the formula
    };

    /// Prefill and `steps_` decode steps; fed `forced` tokens if there are any, else its own.
    Result<LaneRun> run_lane(Lane& lane, const Ids& prompt, const Ids& forced) {
        LaneRun run;
        DS_TRY(lane.start(prompt, steps_ + 1, {}));
        std::uint64_t copied = 0;
        for (int i = 0; i <= steps_; ++i) {
            const std::int32_t feed =
                i == 0 ? -1 : (forced.empty() ? run.tokens.back() : forced[static_cast<std::size_t>(i - 1)]);
            const int before = lane.cache() != nullptr ? lane.cache()->length() : 0;
            const auto step = i == 0 ? lane.prefill(stop_) : lane.decode(feed, stop_);
            if (!step) return step.error();
            run.rows.emplace_back(step->logits.begin(), step->logits.end());
            run.tokens.push_back(step->token);
            run.positions += step->positions_forwarded;
            if (const KvCache* cache = lane.cache()) {
                const auto per_token =
                    static_cast<std::uint64_t>(weights_->config.kv_bytes_per_token(DType::f32));
                const auto length = prompt.size() + static_cast<std::size_t>(i);
                if (lane.spec().cache.kind == CacheKind::concat)
                    copied += per_token * static_cast<std::uint64_t>(before);
                if (run.bytes_fault.empty() &&
                    (cache->live_bytes() != per_token * length || cache->copied_bytes() != copied)) {
                    run.bytes_fault =
                        fmt::format("step {}: live {} of {}, copied {} of {} bytes", i, cache->live_bytes(),
                                    per_token * length, cache->copied_bytes(), copied);
                }
            }
        }
        lane.finish();
        return run;
    }

    Result<void> check_lanes() {
        const Ids prompt = random_ids(prompt_a, prompt_length_);
        LaneSpec spec{.name = "naive",
                      .mode = LaneMode::naive,
                      .cache = {},
                      .prefill_chunk = 0,
                      .prefill_partition = {},
                      .allocation = AllocationPolicy::reused,
                      .faults = {}};
        Lane naive(spec, weights_, *backend_, ledger_);
        const auto reference = run_lane(naive, prompt, {});
        if (!reference) return reference.error();
        const std::int64_t p = prompt_length_;
        const std::int64_t expected_naive = (p + p + steps_) * (steps_ + 1) / 2;
        add("naive positions forwarded", fmt::format("P + (P+1) + .. = {}", expected_naive),
            fmt::format("{}", reference->positions), reference->positions == expected_naive);
        for (const CacheKind kind : {CacheKind::static_, CacheKind::concat}) {
            spec.name = to_string(kind);
            spec.mode = LaneMode::cached;
            spec.cache.kind = kind;
            Lane lane(spec, weights_, *backend_, ledger_);
            const auto run = run_lane(lane, prompt, reference->tokens);
            if (!run) return run.error();
            add_equal(fmt::format("{} cache = naive, {} steps", spec.name, steps_),
                      worst_error(run->rows, reference->rows));
            add(fmt::format("{} cache, same tokens", spec.name), "all equal",
                run->tokens == reference->tokens ? "all equal" : "different",
                run->tokens == reference->tokens);
            add(fmt::format("{} cache, positions forwarded", spec.name),
                fmt::format("P + steps = {}", p + steps_), fmt::format("{}", run->positions),
                run->positions == p + steps_);
            add(fmt::format("{} cache, bytes = formula", spec.name),
                "live and copied bytes after every append",
                run->bytes_fault.empty() ? "all equal" : run->bytes_fault, run->bytes_fault.empty());
        }
        return {};
    }

    Result<void> check_partitions(CacheKind kind) {
        const Ids ids = random_ids(prompt_a, prompt_length_ + steps_);
        const int n = static_cast<int>(ids.size());
        const auto reference = naive_rows(ids);
        if (!reference) return reference.error();
        std::vector<std::vector<int>> partitions{{n}, std::vector<int>(ids.size(), 1)};
        std::uint64_t draw = 0;
        for (int i = 0; i < n_random_partition; ++i) {
            std::vector<int> sizes;
            for (int left = n; left > 0; left -= sizes.back()) {
                const std::uint64_t bits = random_bits(seed_, partition_stream, draw++);
                sizes.push_back(1 + static_cast<int>(bits % static_cast<std::uint64_t>(std::min(left, 9))));
            }
            partitions.push_back(std::move(sizes));
        }
        double worst = 0;
        std::string where = "all";
        for (const auto& sizes : partitions) {
            const auto rows = chunked_rows(kind, ids, sizes);
            if (!rows) return rows.error();
            const double error = worst_error(*rows, *reference);
            if (error > worst) where = fmt::format("{}", fmt::join(sizes, "+"));
            worst = std::max(worst, error);
        }
        add(fmt::format("{} cache, {} chunk partitions", to_string(kind), partitions.size()),
            fmt::format("every row, error <= {:.0e}", f32_error_limit),
            worst <= f32_error_limit ? fmt::format("largest error {:.2e}", worst)
                                     : fmt::format("largest error {:.2e} in {}", worst, where),
            worst <= f32_error_limit);
        return {};
    }

    Result<void> check_isolation() {
        LaneSpec spec{.name = "static",
                      .mode = LaneMode::cached,
                      .cache = {CacheKind::static_, 0},
                      .prefill_chunk = 0,
                      .prefill_partition = {},
                      .allocation = AllocationPolicy::reused,
                      .faults = {}};
        Lane lane(spec, weights_, *backend_, ledger_);
        const Ids a = random_ids(prompt_a, prompt_length_);
        const Ids b = random_ids(prompt_b, std::max(1, prompt_length_ / 2));
        const auto first = run_lane(lane, a, {});
        if (!first) return first.error();
        const auto between = run_lane(lane, b, {});
        if (!between) return between.error();
        const auto again = run_lane(lane, a, {});
        if (!again) return again.error();
        const double error = worst_error(again->rows, first->rows);
        add("requests A, B, A are isolated", "A the same both times",
            fmt::format("largest error {:.2e}", error), error == 0 && again->tokens == first->tokens);
        return {};
    }

    Result<void> check_capacity() {
        const Ids ids = random_ids(prompt_a, prompt_length_ + 1);
        const int n = static_cast<int>(ids.size());
        auto cache = new_cache(CacheKind::static_, n - 1);
        if (!cache) return cache.error();
        Workspace workspace(ledger_);
        const auto fill =
            forward(*weights_, std::span(ids).first(ids.size() - 1), plan_append(**cache, n - 1),
                    LogitsRows::last, cache->get(), workspace, *backend_, stop_);
        if (!fill) return fill.error();
        const std::vector<float> before((*cache)->view(0).k, (*cache)->view(0).k + weights_->config.head_dim);
        const auto refused = forward(*weights_, std::span(ids).last(1), plan_append(**cache, 1),
                                     LogitsRows::last, cache->get(), workspace, *backend_, stop_);
        const std::vector<float> after((*cache)->view(0).k, (*cache)->view(0).k + weights_->config.head_dim);
        const bool held = !refused && refused.error().kind == ErrorKind::capacity &&
                          (*cache)->length() == n - 1 && before == after;
        add("entry beyond the capacity", "refused before anything is written",
            held ? "refused, cache unchanged" : "accepted or changed", held);
        return {};
    }

    std::shared_ptr<const Weights> weights_;
    std::shared_ptr<MemoryLedger> ledger_;
    std::stop_token stop_;
    std::uint64_t seed_;
    std::unique_ptr<Backend> backend_;
    int prompt_length_ = 0;
    int steps_ = 0;
    VerifyReport report_;
};

}  // namespace

bool VerifyReport::all_held() const {
    return std::all_of(checks.begin(), checks.end(), [](const VerifyCheck& check) { return check.held; });
}

Result<VerifyReport> verify_model(const LoadedModel& model, const VerifyOptions& options,
                                  std::shared_ptr<MemoryLedger> ledger, std::stop_token stop) {
    return Verifier(model, options, std::move(ledger), std::move(stop)).run();
}

}  // namespace decodescope
