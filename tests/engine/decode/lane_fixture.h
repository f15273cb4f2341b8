// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/decode/lane.h"
#include "engine/experiment/experiment.h"
#include "engine/model/preset.h"
#include "engine/verify/logit_comparison.h"
#include "engine/verify/verify_context.h"
#include "tests/engine/prepared.h"

namespace decodescope::test {

/// What a lane did for the requests of a workload.
struct Trail {
    std::vector<std::vector<std::vector<float>>> rows;  // [requests, new tokens, vocab]
    std::vector<Ids> tokens;                            // [requests, new tokens]
    std::vector<LaneStep> steps;                        // without their spans
    std::int64_t forwarded = 0;
    std::int64_t allowed = 0;
    std::int64_t accepted = 0;
    std::string error;
};

/// A random model whose attention matters: weights large enough that what a query sees shows in the logits.
inline std::shared_ptr<const Weights> lively_weights(ModelConfig config, std::uint64_t seed,
                                                     const std::shared_ptr<MemoryLedger>& ledger) {
    auto random = random_weights(config, seed, ledger);
    auto weights = *allocate_weights(config, ledger);
    auto to = tensor_slots(*weights);
    const auto from = tensor_slots(const_cast<Weights&>(**random));
    for (std::size_t i = 0; i < to.size(); ++i) {
        const bool scaled = to[i].rows > 1 || to[i].role == TensorRole::position_embedding;
        const std::int64_t n = to[i].rows * to[i].columns;
        for (std::int64_t k = 0; k < n; ++k) to[i].data[k] = from[i].data[k] * (scaled ? 12.0f : 1.0f);
    }
    return weights;
}

struct LaneFixture {
    std::shared_ptr<MemoryLedger> ledger = std::make_shared<MemoryLedger>();
    std::shared_ptr<const Weights> weights;
    std::unique_ptr<Backend> backend = make_cpu_backend(2);

    explicit LaneFixture(int n_positions = 64, std::string_view preset = "tiny") {
        ModelConfig config = *preset_config(preset);
        config.n_positions = n_positions;
        weights = prepared(lively_weights(config, 5, ledger), *backend);
    }

    std::unique_ptr<Lane> lane(const LaneSpec& spec, std::shared_ptr<const Weights> draft = nullptr) {
        auto made = make_lane(spec, {weights, std::move(draft), backend.get(), ledger});
        return made ? *std::move(made) : nullptr;
    }
};

/// Prompts: short, long, and one whose tokens n-gram drafts can guess.
inline const Ids prompt_of_3{11, 12, 13};
inline const Ids prompt_of_7{3, 1, 4, 15, 9, 2, 6};
inline const Ids repeating{1, 2, 3, 1, 2, 3, 1, 2};

inline LaneSpec named(std::string_view name) {
    return *lane_from_name(name);
}

inline Workload work_of(const std::vector<Ids>& prompts, int new_tokens, const Sampling& sampling = {}) {
    Workload workload;
    workload.sampling = sampling;
    for (const Ids& prompt : prompts) workload.requests.push_back({prompt, new_tokens, 0, 0, 0});
    return workload;
}

/// Serves a workload to its end, or to the first failure.
inline Trail follow(Lane& lane, const Workload& workload, TokenFeed* feed = nullptr,
                    const std::function<void(const LaneStep&)>& after = {}) {
    Trail trail;
    int vocab = 0;
    trail.rows.resize(workload.requests.size());
    trail.tokens.resize(workload.requests.size());
    if (const Result<void> started = lane.start(workload, feed); !started) {
        trail.error = started.error().message;
        return trail;
    }
    while (true) {
        const auto ready = lane.ready();
        if (!ready) trail.error = ready.error().message;
        if (!ready || !*ready) return trail;
        auto step = lane.step();
        if (!step) {
            trail.error = step.error().message;
            return trail;
        }
        int n_row = 0;
        for (const ChosenToken& token : step->chosen) n_row = std::max(n_row, token.row + 1);
        if (n_row > 0 && vocab == 0) vocab = static_cast<int>(step->logits.size()) / n_row;
        for (const ChosenToken& token : step->chosen) {
            const auto i = static_cast<std::size_t>(token.request);
            const auto row = step->logits_of(token, vocab);
            trail.rows[i].emplace_back(row.begin(), row.end());
            trail.tokens[i].push_back(token.token);
        }
        trail.forwarded += step->positions_forwarded;
        trail.allowed += step->score_cells_allowed;
        trail.accepted += step->n_accepted;
        if (after) after(*step);
        step->chosen = {};
        step->logits = {};
        trail.steps.push_back(*step);
    }
}

inline Trail follow_one(Lane& lane, const Ids& prompt, int new_tokens, const Sampling& sampling = {}) {
    return follow(lane, work_of({prompt}, new_tokens, sampling));
}

/// Largest relative error over all rows of all requests; infinite when their numbers differ.
inline double worst_error(const Trail& found, const Trail& reference) {
    return decodescope::worst_error(found.rows, reference.rows);
}

}  // namespace decodescope::test
