// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/decode/drafts.h"

#include <algorithm>

namespace decodescope {

void lookup_drafts(std::span<const std::int32_t> text, int ngram, int n, std::vector<std::int32_t>& drafts) {
    const auto length = static_cast<std::ptrdiff_t>(text.size());
    if (n < 1 || ngram < 1 || length <= ngram) return;
    const auto tail = text.last(static_cast<std::size_t>(ngram));
    for (std::ptrdiff_t begin = length - ngram - 1; begin >= 0; --begin) {
        if (!std::equal(tail.begin(), tail.end(), text.begin() + begin)) continue;
        const auto next = text.begin() + begin + ngram;
        drafts.insert(drafts.end(), next, next + std::min<std::ptrdiff_t>(n, length - begin - ngram));
        return;
    }
}

Result<void> DraftModel::open(int entries, int max_call) {
    const ModelConfig& config = weights_->config;
    max_call_ = max_call;
    auto cache = make_cache({.kind = CacheKind::static_, .dtype = DType::f32},
                            {config.n_layer, 1, config.n_kv_head, config.head_dim},
                            {std::min(entries, config.n_positions), max_call, 0, {}}, ledger_);
    if (!cache) return cache.error();
    cache_ = *std::move(cache);
    const int slots = cache_->capacity();
    DS_TRY(reserve_room(workspace_, *weights_, backend_, {1, max_call, 1, slots}));
    call_.reserve(1, max_call);
    history_.reserve(static_cast<std::size_t>(entries) + 1);
    counts_ = {};
    n_lost_ = 0;
    return {};
}

void DraftModel::close() {
    cache_.reset();
    workspace_.release();
}

Result<std::span<const float>> DraftModel::feed(std::span<const std::int32_t> tokens, bool logits,
                                                std::stop_token stop) {
    std::span<const float> row;
    while (!tokens.empty()) {
        const std::size_t n = std::min(tokens.size(), static_cast<std::size_t>(max_call_));
        call_.clear();
        call_.add_row(tokens.first(n), cache_->next_position());
        tokens = tokens.subspan(n);
        const std::int32_t last = call_.n_token() - 1;
        const bool wanted = logits && tokens.empty();
        const auto output = forward(*weights_, call_, std::span(&last, wanted ? 1 : 0), cache_.get(),
                                    {weights_->config.window, 0}, workspace_, backend_, stop);
        if (!output) return output.error();
        row = output->logits;
        ++counts_.calls;
        counts_.positions += call_.n_token();
        counts_.device_time.add(backend_.device_seconds());
    }
    return row;
}

Result<void> DraftModel::catch_up(std::span<const std::int32_t> text, std::stop_token stop) {
    const auto room = static_cast<std::size_t>(cache_->capacity());
    if (text.size() <= seen() || text.size() > room) return {};
    const auto fed = feed(text.subspan(seen()), false, std::move(stop));
    return fed ? Result<void>() : Result<void>(fed.error());
}

Result<void> DraftModel::draft(std::span<const std::int32_t> text, int n, std::int64_t index,
                               Sampler& sampler, std::vector<std::int32_t>& drafts,
                               std::vector<double>* distributions, std::stop_token stop) {
    history_.assign(text.begin(), text.end());
    for (int i = 0; i < n; ++i) {
        // A draft model with a shorter context has nothing to say any more.
        if (static_cast<int>(history_.size()) > cache_->capacity()) return {};
        const auto logits = feed(std::span(history_).subspan(seen()), true, stop);
        if (!logits) return logits.error();
        std::int32_t token = -1;
        if (distributions != nullptr) {
            const std::size_t vocab = logits->size();
            const std::size_t begin = distributions->size();
            distributions->resize(begin + vocab);
            const auto row = std::span(*distributions).subspan(begin, vocab);
            DS_TRY(sampler.distribution(*logits, history_, row));
            token = draw(row, sampler.uniform(index + i, 1));
        } else {
            const auto chosen = sampler.choose(*logits, index + i, history_);
            if (!chosen) return chosen.error();
            token = *chosen;
        }
        drafts.push_back(token);
        history_.push_back(token);
    }
    return {};
}

Result<void> DraftModel::keep(int n_token) {
    return cache_->truncate(0, std::min(n_token - n_lost_, cache_->next_position()));
}

Result<void> DraftModel::lose(int n_entry) {
    const int lost = std::min(n_entry, cache_->next_position());
    DS_TRY(cache_->truncate(0, cache_->next_position() - lost));
    n_lost_ += lost;
    return {};
}

std::int32_t draw(std::span<const double> weights, double u) {
    double sum = 0;
    for (const double weight : weights) sum += weight;
    double left = u * sum;
    std::int32_t last = -1;
    for (std::size_t i = 0; i < weights.size(); ++i) {
        if (!(weights[i] > 0)) continue;
        last = static_cast<std::int32_t>(i);
        left -= weights[i];
        if (left < 0) return last;
    }
    return last;
}

}  // namespace decodescope
