// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/verify/replay_fit.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <numbers>

#include "engine/model/rotary.h"

namespace decodescope {

namespace {

/// A view that owns the matrix it has changed.
struct Scaled {
    std::shared_ptr<Weights> weights;
    std::vector<float> matrix;
};

double dot(const std::vector<float>& a, const std::vector<float>& b) {
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) sum += double{a[i]} * b[i];
    return sum;
}

std::vector<float> minus(const std::vector<float>& a, const std::vector<float>& b) {
    std::vector<float> out(a.size());
    for (std::size_t i = 0; i < a.size(); ++i) out[i] = a[i] - b[i];
    return out;
}

class Fit {
public:
    Fit(const std::shared_ptr<const Weights>& weights, const std::vector<float>& found,
        const ReplayOnce& replay)
        : weights_(weights), found_(found), replay_(replay) {}

    Result<std::vector<Explanation>> fit() {
        Explanation truth;
        auto right = replay_(truth);
        if (!right) return right.error();
        right_ = *std::move(right);
        if (right_.size() != found_.size()) return std::vector<Explanation>{};
        missing_ = minus(found_, right_);
        if (weights_->config.rotary) DS_TRY(fit_base());
        for (std::size_t layer = 0; layer < weights_->layers.size(); ++layer)
            for (const auto& [member, name] : members) DS_TRY(fit_matrix(layer, member, name));
        return std::move(fits_);
    }

private:
    static constexpr std::array<std::pair<Linear LayerWeights::*, const char*>, 5> members{
        {{&LayerWeights::attn_qkv, "queries, keys and values"},
         {&LayerWeights::attn_out, "attention output"},
         {&LayerWeights::ff_gate, "gate"},
         {&LayerWeights::ff_up, "first feed-forward matrix"},
         {&LayerWeights::ff_down, "second feed-forward matrix"}}};

    static Explanation explanation(FaultKind kind, std::string summary, std::string tensor,
                                   std::string expected, std::string found) {
        Explanation made;
        made.kind = kind;
        made.summary = std::move(summary);
        made.tensor = std::move(tensor);
        made.describe = [expected, found](const ReplaySituation&, const ReplayRow&, const ReplayRow&) {
            return std::pair(expected, found);
        };
        return made;
    }

    /// Squared distance of the run from a replay; infinite when that does not apply.
    Result<double> distance(const Explanation& as) const {
        const auto logits = replay_(as);
        if (!logits) return logits.error();
        if (logits->size() != found_.size()) return INFINITY;
        const auto left = minus(found_, *logits);
        return dot(left, left);
    }

    Explanation with_base(double log_factor) const {
        Rotary rotary = *weights_->config.rotary;
        const double right = rotary.theta;
        rotary.theta *= std::exp(log_factor);
        auto view = view_of(weights_);
        view->rotary_frequencies = rotary_frequencies(rotary, weights_->config.head_dim);
        Explanation made = explanation(
            FaultKind::position, "the call turns queries and keys by another rotary base than what is stored",
            "rotary base", fmt::format("base {:.6g}", right), fmt::format("base {:.6g}", rotary.theta));
        made.weights = std::move(view);
        return made;
    }

    /// The base may have any factor: the best of a grid, then its neighbourhood by golden sections.
    Result<void> fit_base() {
        constexpr double reach = 3;
        constexpr int steps = 24;
        double best = INFINITY;
        double where = 0;
        for (int i = -steps; i <= steps; ++i) {
            const double at = reach * i / steps;
            const auto here = distance(with_base(at));
            if (!here) return here.error();
            if (*here < best) {
                best = *here;
                where = at;
            }
        }
        // The truth itself is best: another base explains nothing.
        if (where == 0 && best >= dot(missing_, missing_)) return {};
        double low = where - reach / steps;
        double high = where + reach / steps;
        constexpr double section = 1 / std::numbers::phi;
        for (int i = 0; i < 40; ++i) {
            const double a = high - section * (high - low);
            const double b = low + section * (high - low);
            const auto at_a = distance(with_base(a));
            if (!at_a) return at_a.error();
            const auto at_b = distance(with_base(b));
            if (!at_b) return at_b.error();
            if (*at_a < *at_b)
                high = b;
            else
                low = a;
        }
        const Explanation fitted = with_base((low + high) / 2);
        const auto left = distance(fitted);
        if (!left) return left.error();
        if (*left < 1e-4 * dot(missing_, missing_)) fits_.push_back(fitted);
        return {};
    }

    Explanation with_matrix(std::size_t layer, Linear LayerWeights::*member, const char* name,
                            double change) const {
        auto scaled = std::make_shared<Scaled>();
        scaled->weights = view_of(weights_);
        Linear& linear = scaled->weights->layers[layer].*member;
        scaled->matrix.assign(linear.weight, linear.weight + std::int64_t{linear.n_in} * linear.n_out);
        for (float& value : scaled->matrix) value *= static_cast<float>(1 + change);
        linear = linear.with_weight(scaled->matrix.data());
        Explanation made = explanation(
            FaultKind::state, fmt::format("the weights are not those that the stored entries were made with"),
            fmt::format("weights of layer {}, {}", layer, name), "the weights of the model",
            fmt::format("{} of layer {} times {:.4g}", name, layer, 1 + change));
        made.weights = std::shared_ptr<const Weights>(scaled, scaled->weights.get());
        return made;
    }

    /// Small changes act nearly in proportion: a few steps of the secant along what one matrix does.
    Result<void> fit_matrix(std::size_t layer, Linear LayerWeights::*member, const char* name) {
        if ((weights_->layers[layer].*member).weight == nullptr) return {};
        double change = 0.01;
        for (int i = 0; i < 6; ++i) {
            const auto logits = replay_(with_matrix(layer, member, name, change));
            if (!logits) return logits.error();
            if (logits->size() != right_.size()) return {};
            const auto effect = minus(*logits, right_);
            const double size = dot(effect, effect);
            if (size == 0) return {};
            const double along = dot(missing_, effect);
            // Only a change that points where the run went is followed.
            if (along * along < 0.8 * size * dot(missing_, missing_)) return {};
            const double next = change * along / size;
            if (!(std::abs(next) < 0.9)) return {};
            const bool done = std::abs(next - change) < 1e-7;
            change = next;
            if (done) break;
        }
        const Explanation fitted = with_matrix(layer, member, name, change);
        const auto left = distance(fitted);
        if (!left) return left.error();
        if (*left < 1e-4 * dot(missing_, missing_)) fits_.push_back(fitted);
        return {};
    }

    const std::shared_ptr<const Weights>& weights_;
    const std::vector<float>& found_;
    const ReplayOnce& replay_;
    std::vector<float> right_;
    std::vector<float> missing_;  // what the run has and the truth has not
    std::vector<Explanation> fits_;
};

}  // namespace

Result<std::vector<Explanation>> fitted_explanations(const std::shared_ptr<const Weights>& weights,
                                                     const std::vector<float>& found,
                                                     const ReplayOnce& replay) {
    return Fit(weights, found, replay).fit();
}

}  // namespace decodescope
