// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/sweep/self_test.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "engine/backend/backend.h"
#include "engine/core/clock.h"
#include "engine/decode/lane_weights.h"
#include "engine/experiment/experiment.h"
#include "engine/measure/process_memory.h"
#include "engine/model/forward.h"

namespace decodescope {

namespace {

constexpr int most_prompt = 32;
constexpr int most_steps = 64;
constexpr int n_test_pass = 16;

/// As long as the model has positions for.
struct Lengths {
    int prompt = 0;
    int steps = 0;
};
Lengths lengths_for(const ModelConfig& model) {
    const int prompt = std::min(most_prompt, model.n_positions / 2);
    return {prompt, std::min(most_steps, model.n_positions - prompt - 1)};
}

std::vector<std::int32_t> prompt_for(const ModelConfig& model) {
    std::vector<std::int32_t> ids;
    for (int i = 0; i < lengths_for(model).prompt; ++i) ids.push_back(i * 7 % model.vocab);
    return ids;
}

/// Forward calls and the largest logit, and nothing else.
class BareSteps {
public:
    BareSteps(const Weights& weights, Backend& backend, std::shared_ptr<MemoryLedger> ledger,
              ForwardHook* hook)
        : weights_(weights),
          backend_(backend),
          ledger_(std::move(ledger)),
          workspace_(ledger_),
          hook_(hook) {}

    Result<void> begin() {
        const ModelConfig& config = weights_.config;
        const auto [prompt, steps] = lengths_for(config);
        const int slots = prompt + steps;
        auto cache =
            make_cache({.kind = CacheKind::static_}, {config.n_layer, 1, config.n_kv_head, config.head_dim},
                       {slots, prompt, 0, window()}, ledger_);
        if (!cache) return cache.error();
        cache_ = *std::move(cache);
        DS_TRY(reserve_room(workspace_, weights_, backend_, {1, prompt, 1, slots}));
        call_.reserve(1, prompt);
        call_.clear();
        call_.add_row(prompt_for(config), 0);
        rows_ = {prompt - 1};
        position_ = prompt;
        return call();
    }

    Result<void> step() {
        call_.clear();
        call_.add(next_, position_++);
        call_.end_row();
        rows_.front() = 0;
        return call();
    }

private:
    Window window() const { return effective_window({}, weights_.config.window); }

    Result<void> call() {
        const auto output =
            forward(weights_, call_, rows_, cache_.get(), window(), workspace_, backend_, {}, hook_);
        if (!output) return output.error();
        // As a lane chooses: the head knows already unless a hook may have changed the logits.
        const auto& logits = output->logits;
        next_ = output->largest_of(0);
        if (next_ < 0)
            next_ =
                static_cast<std::int32_t>(std::max_element(logits.begin(), logits.end()) - logits.begin());
        return {};
    }

    const Weights& weights_;
    Backend& backend_;
    std::shared_ptr<MemoryLedger> ledger_;
    Workspace workspace_;
    ForwardHook* hook_;
    std::unique_ptr<KvCache> cache_;
    CallTokens call_;
    std::vector<std::int32_t> rows_;
    std::int32_t next_ = 0;
    std::int32_t position_ = 0;
};

}  // namespace

bool SelfTest::holds() const {
    return !ways.empty() && ways.back().ratio > 0 && ways.back().ratio < 1 + limit;
}

Result<SelfTest> run_self_test(const LoadedModel& model, std::shared_ptr<MemoryLedger> ledger, int threads,
                               std::stop_token stop) {
    const auto [n_prompt, n_step] = lengths_for(model.weights->config);
    if (n_prompt < 1 || n_step < 1) {
        return Error{ErrorKind::capacity, fmt::format("The model has {} positions, too few to decode.",
                                                      model.weights->config.n_positions)};
    }
    const auto backend = make_cpu_backend(threads);
    const auto spec = lane_from_name("static");
    if (!spec) return spec.error();
    const auto context = prepared_context(*spec, {model.weights, nullptr, backend.get(), ledger}, stop);
    if (!context) return context.error();
    ForwardHook idle;
    BareSteps bare(*context->weights, *backend, ledger, nullptr);
    BareSteps hooked(*context->weights, *backend, ledger, &idle);
    const auto lane = make_lane(*spec, *context);
    if (!lane) return lane.error();

    enum { is_bare, is_hooked, is_lane, n_way };
    std::array<std::vector<double>, n_way> times;
    std::vector<double> event_times;
    const auto timed = [](auto&& make, std::vector<double>& into) -> Result<void> {
        const std::int64_t start = now_ns();
        const auto done = make();
        into.push_back(static_cast<double>(now_ns() - start));
        return done;
    };
    for (int pass = 0; pass < n_test_pass; ++pass) {
        DS_TRY(bare.begin());
        DS_TRY(hooked.begin());
        DS_TRY((*lane)->start(
            {.requests = {{.prompt = prompt_for(model.weights->config), .new_tokens = n_step + 1}},
             .sampling = {},
             .stop_ids = {}}));
        const auto lane_step = [&](std::vector<double>* into) -> Result<void> {
            const auto ready = (*lane)->ready();
            if (!ready) return ready.error();
            const auto step = (*lane)->step();
            if (!step) return step.error();
            if (into == nullptr) return {};
            into->push_back(static_cast<double>(step->end_ns - step->start_ns));
            return timed(
                [&]() -> Result<void> {
                    if ((*lane)->cache()->bytes().live == 0 || read_process_memory().rss == 0)
                        return Error{ErrorKind::internal, "A step has left nothing in the cache."};
                    return {};
                },
                event_times);
        };
        DS_TRY(lane_step(nullptr));
        for (int i = 0; i < n_step; ++i) {
            if (stop.stop_requested()) return Error{ErrorKind::cancelled, "Stopped on request."};
            for (int k = 0; k < n_way; ++k) {
                switch ((i + k) % n_way) {
                    case is_bare: DS_TRY(timed([&] { return bare.step(); }, times[is_bare])); break;
                    case is_hooked: DS_TRY(timed([&] { return hooked.step(); }, times[is_hooked])); break;
                    default: DS_TRY(lane_step(&times[is_lane]));
                }
            }
        }
        (*lane)->finish();
    }

    SelfTest test;
    test.steps = n_test_pass * n_step;
    test.threads = threads;
    test.events_ns = median_of(event_times);
    static constexpr std::array<std::pair<const char*, const char*>, n_way> words = {
        {{"bare", "forward call and the largest logit"},
         {"empty hook", "the same with a hook that does nothing: taps cost at most this when off"},
         {"lane", "as runs measure it: counters on, taps off"}}};
    for (std::size_t way = 0; way < n_way; ++way) {
        const double median = median_of(times[way]);
        test.ways.push_back({words[way].first, words[way].second, median, median / median_of(times[is_bare]),
                             bootstrap_paired_ratio(times[way], times[is_bare])});
    }
    return test;
}

}  // namespace decodescope
