// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/verify/verify_context.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "engine/core/random.h"
#include "engine/measure/environment.h"
#include "engine/model/forward.h"
#include "engine/verify/logit_comparison.h"

namespace decodescope {

VerifyContext::VerifyContext(const LoadedModel& model, const VerifyOptions& options,
                             std::shared_ptr<MemoryLedger> ledger, std::stop_token stop)
    : source_(model.weights),
      weights_(model.weights),
      ledger_(std::move(ledger)),
      stop_(std::move(stop)),
      seed_(options.seed),
      on_check_(options.on_check),
      device_(options.device),
      threads_(options.threads > 0 ? options.threads : physical_core_count()) {
    const int positions = config().n_positions;
    prompt_length_ = std::clamp(options.prompt_length, 1, std::max(1, positions / 2));
    steps_ = std::clamp(options.steps, 1, std::max(1, positions - prompt_length_));
}

Result<void> VerifyContext::prepare() {
    auto engine = make_engine(device_, threads_, ledger_);
    if (!engine) return engine.error();
    engine_ = *std::move(engine);
    workspace_.emplace(engine_.ledger);
    auto prepared = engine_.backend->prepare(weights_, WeightType::f32, engine_.ledger, stop_);
    if (!prepared) return prepared.error();
    weights_ = *std::move(prepared);
    return {};
}

void VerifyContext::add(std::string name, std::string expected, std::string found, bool held) {
    report_.checks.push_back({std::move(name), std::move(expected), std::move(found), held});
    if (on_check_) on_check_(report_.checks.back());
}

void VerifyContext::add_equal(const std::string& name, double error) {
    add(name, fmt::format("error <= {:.0e} of the logits' standard deviation", f32_error_limit),
        fmt::format("largest error {:.2e}", error), error <= f32_error_limit);
}

Ids VerifyContext::random_ids(std::uint64_t stream, int length) const {
    Ids ids;
    for (int i = 0; i < length; ++i) {
        const std::uint64_t bits = random_bits(seed_, stream, static_cast<std::uint64_t>(i));
        ids.push_back(static_cast<std::int32_t>(bits % static_cast<std::uint64_t>(config().vocab)));
    }
    return ids;
}

Rows VerifyContext::to_rows(std::span<const float> logits) const {
    const auto vocab = static_cast<std::size_t>(config().vocab);
    Rows rows;
    for (std::size_t i = 0; i < logits.size(); i += vocab) {
        rows.emplace_back(logits.begin() + static_cast<std::ptrdiff_t>(i),
                          logits.begin() + static_cast<std::ptrdiff_t>(i + vocab));
    }
    return rows;
}

Result<Rows> VerifyContext::rows_on(const LaneEngine& engine, const Weights& weights, Workspace& workspace,
                                    const Ids& ids, Window window) {
    CallTokens call;
    call.add_row(ids, 0);
    const auto output = forward(weights, call, all_rows(call), nullptr,
                                effective_window(window, config().window), workspace, *engine.backend, stop_);
    if (!output) return output.error();
    return to_rows(output->logits);
}

Result<Rows> VerifyContext::naive_rows(const Ids& ids, Window window) {
    return rows_on(engine_, *weights_, *workspace_, ids, window);
}

Result<Rows> VerifyContext::cpu_rows(const Ids& ids) {
    const auto engine = make_engine({}, threads_, ledger_);
    if (!engine) return engine.error();
    const auto weights = engine->backend->prepare(source_, WeightType::f32, ledger_, stop_);
    if (!weights) return weights.error();
    Workspace workspace(ledger_);
    return rows_on(*engine, **weights, workspace, ids, {});
}

Result<std::unique_ptr<KvCache>> VerifyContext::new_cache(const CacheSpec& spec, int batch,
                                                          const KvRoom& room) {
    return make_cache(spec, {config().n_layer, batch, config().n_kv_head, config().head_dim}, room,
                      engine_.ledger);
}

Result<Rows> VerifyContext::feed(KvCache& cache, int row, const Ids& ids, Window window) {
    CallTokens call;
    for (int b = 0; b < cache.batch(); ++b) {
        if (b == row)
            call.add_row(ids, cache.next_position(row));
        else
            call.end_row();
    }
    const auto output =
        forward(*weights_, call, all_rows(call), &cache, effective_window(window, config().window),
                *workspace_, *engine_.backend, stop_);
    if (!output) return output.error();
    return to_rows(output->logits);
}

Result<Rows> VerifyContext::chunked_rows(const CacheSpec& spec, const Ids& ids, const std::vector<int>& sizes,
                                         Window window) {
    const int n = static_cast<int>(ids.size());
    auto cache = new_cache(spec, 1, {n, *std::max_element(sizes.begin(), sizes.end()), 0, window});
    if (!cache) return cache.error();
    Rows rows;
    auto begin = ids.begin();
    for (const int size : sizes) {
        auto fed = feed(**cache, 0, Ids(begin, begin + size), window);
        if (!fed) return fed.error();
        for (auto& row : *fed) rows.push_back(std::move(row));
        begin += size;
    }
    return rows;
}

Result<Served> VerifyContext::serve(const LaneSpec& spec, const Workload& workload, TokenFeed* feed,
                                    const AfterStep& after_step) {
    auto lane = make_lane(spec, {weights_, nullptr, engine_.backend.get(), engine_.ledger, ledger_});
    if (!lane) return lane.error();
    DS_TRY((*lane)->start(workload, feed));
    Served served;
    served.tokens.resize(workload.requests.size());
    served.rows.resize(workload.requests.size());
    while (true) {
        const auto ready = (*lane)->ready();
        if (!ready) return ready.error();
        if (!*ready) break;
        const auto step = (*lane)->step(stop_);
        if (!step) return step.error();
        for (const ChosenToken& token : step->chosen) {
            const auto i = static_cast<std::size_t>(token.request);
            const auto logits = step->logits_of(token, config().vocab);
            served.tokens[i].push_back(token.token);
            served.rows[i].emplace_back(logits.begin(), logits.end());
        }
        served.positions += step->positions_forwarded;
        served.n_accepted += step->n_accepted;
        ++served.steps;
        if (after_step) after_step(**lane, *step);
    }
    served.states = (*lane)->requests();
    return served;
}

Result<Served> VerifyContext::serve_one(const LaneSpec& spec, const Ids& prompt, int new_tokens,
                                        TokenFeed* feed, const AfterStep& after_step) {
    Workload workload;
    workload.requests.push_back({prompt, new_tokens, 0, 0, 0});
    return serve(spec, workload, feed, after_step);
}

double worst_error(const Rows& found, const Rows& reference) {
    double worst = found.size() == reference.size() ? 0 : INFINITY;
    for (std::size_t i = 0; i < std::min(found.size(), reference.size()); ++i) {
        const double error = compare_logits(found[i], reference[i]).relative_error;
        worst = std::isnan(error) ? INFINITY : std::max(worst, error);
    }
    return worst;
}

double worst_error(const std::vector<Rows>& found, const std::vector<Rows>& reference) {
    double worst = found.size() == reference.size() ? 0 : INFINITY;
    for (std::size_t i = 0; i < std::min(found.size(), reference.size()); ++i)
        worst = std::max(worst, worst_error(found[i], reference[i]));
    return worst;
}

LaneSpec lane_of(std::string name, LaneMode mode, const CacheSpec& cache) {
    LaneSpec spec;
    spec.name = std::move(name);
    spec.mode = mode;
    spec.cache = cache;
    return spec;
}

std::vector<std::pair<std::string, CacheSpec>> exact_caches(const Device& device) {
    CacheSpec concat;
    concat.kind = CacheKind::concat;
    CacheSpec fixed;
    fixed.kind = CacheKind::static_;
    CacheSpec paged;
    paged.kind = CacheKind::paged;
    CacheSpec small_blocks = paged;
    small_blocks.block = 3;
    // Nothing is quantised before there are more than this many tokens.
    CacheSpec kivi;
    kivi.kind = CacheKind::kivi;
    kivi.residual = 1 << 16;
    std::vector<std::pair<std::string, CacheSpec>> caches = {
        {"concat", concat}, {"static", fixed}, {"paged", paged}, {"paged, blocks of 3", small_blocks}};
    if (!device.is_gpu()) caches.emplace_back("kivi, all residual", kivi);
    return caches;
}

}  // namespace decodescope
