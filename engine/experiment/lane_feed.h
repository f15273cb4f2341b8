// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/decode/lane.h"
#include "engine/experiment/experiment.h"
#include "engine/experiment/record.h"
#include "engine/experiment/reference_rows.h"

namespace decodescope {

/// What one lane of an experiment is fed: its own tokens, given ones, or those of the reference lane, as the
/// experiment's drive says. Knows up to which token a request was fed the same as the reference's.
class LaneFeed final : public TokenFeed {
public:
    LaneFeed(const Experiment& experiment, const ReferenceRows& reference, const Lane* reference_lane)
        : experiment_(experiment), reference_(reference), reference_lane_(reference_lane) {}

    void begin(std::size_t n_request) { first_other_.assign(n_request, std::numeric_limits<int>::max()); }
    std::optional<std::int32_t> next(int request, int index, std::int32_t chosen) override {
        const auto& known = reference_.tokens(request);
        const auto i = static_cast<std::size_t>(index);
        switch (experiment_.drive) {
            case Drive::free:
                if (i >= known.size() || known[i] != chosen) {
                    int& first = first_other_[static_cast<std::size_t>(request)];
                    first = std::min(first, index);
                }
                return chosen;
            case Drive::fixed:
                if (i < experiment_.fixed_ids.size()) return experiment_.fixed_ids[i];
                return std::nullopt;
            case Drive::forced:
                if (i < known.size()) return known[i];
                return std::nullopt;
        }
        return std::nullopt;
    }
    std::pair<FinishReason, std::string> why(int request) override {
        const RequestState& theirs = reference_lane_->requests()[static_cast<std::size_t>(request)];
        return {theirs.finish,
                "The reference lane \"" + reference_lane_->spec().name + "\" stopped: " + theirs.reason};
    }
    /// Whether the request was fed the reference's tokens alone before its new token `index`.
    bool same_history(int request, int index) const {
        return first_other_[static_cast<std::size_t>(request)] >= index;
    }

private:
    const Experiment& experiment_;
    const ReferenceRows& reference_;
    const Lane* reference_lane_;
    std::vector<int> first_other_;  // [requests], the first new token that was fed and is not the reference's
};

}  // namespace decodescope
