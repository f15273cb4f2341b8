// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engine/model/forward.h"
#include "engine/verify/diagnose.h"
#include "engine/verify/trace_file.h"
#include "tests/engine/decode/lane_fixture.h"

namespace decodescope::test {

/// What a call of a foreign decoder does: what is fed to each row, and where it leaves the rules.
struct ForeignCall {
    std::vector<Ids> rows{};              ///< tokens of each row; -1 = pad
    std::vector<std::string> requests{};  ///< empty = unknown
    std::vector<std::int32_t> text_start{};
    bool without_cache = false;
    bool fresh_cache = false;    ///< the cache is emptied before
    std::vector<int> columns{};  ///< where the next token is read; empty = the last real token
    std::vector<std::int32_t> accepted{};
    /// Position ids: [rows, width], preset to the right ones.
    std::function<void(std::vector<std::int32_t>&)> positions{};
    /// Queries alone, after `positions`.
    std::function<void(std::vector<std::int32_t>&)> query_positions{};
    /// Which slots of its row a query sees; preset by the rules.
    std::function<void(int row, int query, std::vector<SlotRange>& visible)> see{};
    HeadOrder heads = HeadOrder::grouped;
    std::function<void(ForwardTensor, int layer, std::span<float>)> computed{};
    const Weights* weights = nullptr;  ///< others than the decoder's
};

/// A decoder of somebody else: a home-made loop over a cache that every row fills from the left, pads
/// included, which does in each call what the test tells it to. Writes down what it did; a test takes out of
/// the trace what that program would not state.
class ForeignDecoder {
public:
    ForeignDecoder(std::shared_ptr<const Weights> weights, Backend& backend,
                   std::shared_ptr<MemoryLedger> ledger, int batch = 1, int capacity = 64)
        : weights_(std::move(weights)),
          backend_(backend),
          workspace_(ledger),
          ledger_(std::move(ledger)),
          batch_(batch),
          capacity_(capacity),
          logits_(std::make_shared<StoredLogits>(weights_->config.vocab)) {
        trace.label = "a foreign run";
        trace.vocab = weights_->config.vocab;
        trace.logits = logits_;
        reset();
    }

    Trace trace;

    void reset() {
        CacheSpec spec;
        spec.kind = CacheKind::static_;
        const ModelConfig& config = weights_->config;
        auto made = make_cache(spec, {config.n_layer, batch_, config.n_kv_head, config.head_dim},
                               {capacity_, capacity_, capacity_, {}}, ledger_);
        cache_ = *std::move(made);
    }
    KvCache& cache() { return *cache_; }

    /// Makes one call and records it. Logits of all columns; returns those of the column that is read, per
    /// row.
    std::vector<std::vector<float>> call(const ForeignCall& what) {
        if (what.fresh_cache) reset();
        KvCache* cache = what.without_cache ? nullptr : cache_.get();
        const auto width = static_cast<int>(what.rows.front().size());
        TraceCall& out = trace.calls.emplace_back();
        out.batch = static_cast<int>(what.rows.size());
        out.width = width;
        out.requests = what.requests;
        out.text_start = what.text_start;
        out.accepted = what.accepted;
        out.mask_known = true;
        CallTokens tokens;
        for (int b = 0; b < out.batch; ++b) {
            std::int32_t next = cache != nullptr ? cache->next_position(b) : 0;
            const std::int64_t held = cache != nullptr ? std::ssize(cache->slot_positions(b)) : 0;
            out.cache_length_before.push_back(held);
            out.cache_length_after.push_back(cache != nullptr ? held + width : 0);
            int last = -1;
            for (int t = 0; t < width; ++t) {
                const std::int32_t token =
                    what.rows[static_cast<std::size_t>(b)][static_cast<std::size_t>(t)];
                out.input_ids.push_back(std::max(token, 0));
                out.real.push_back(token >= 0);
                out.position_ids.push_back(token >= 0 ? next : 0);
                tokens.add(std::max(token, 0), token >= 0 ? next++ : slot_padding);
                if (token >= 0) last = t;
            }
            tokens.end_row();
            out.logits_columns.push_back(what.columns.empty() ? last
                                                              : what.columns[static_cast<std::size_t>(b)]);
        }
        if (what.positions) what.positions(out.position_ids);
        std::vector<std::int32_t> query = out.position_ids;
        if (what.query_positions) what.query_positions(query);
        Hook hook(what, query, out.position_ids, capacity_);
        std::vector<std::int32_t> rows = all_rows(tokens);
        auto output = forward(*weights_, tokens, rows, cache, {weights_->config.window, 0}, workspace_,
                              backend_, {}, &hook);
        std::vector<std::vector<float>> read;
        if (!output) {
            out.error = output.error().message;
            logits_->add_call(0, {});
            return read;
        }
        if (cache != nullptr) {
            out.cache_bytes = static_cast<std::int64_t>(cache->bytes().live + cache->bytes().padding);
            out.cache_capacity = capacity_;
        }
        out.logits = LogitRows::all;
        logits_->add_call(width, {output->logits.begin(), output->logits.end()});
        const auto vocab = static_cast<std::size_t>(trace.vocab);
        for (int b = 0; b < out.batch; ++b) {
            const auto at = static_cast<std::size_t>(
                b * width + std::max(out.logits_columns[static_cast<std::size_t>(b)], 0));
            read.emplace_back(output->logits.begin() + static_cast<std::ptrdiff_t>(at * vocab),
                              output->logits.begin() + static_cast<std::ptrdiff_t>((at + 1) * vocab));
        }
        return read;
    }

    /// One row, one request.
    std::vector<std::vector<float>> feed(const Ids& ids, ForeignCall what = {}) {
        what.rows = {ids};
        return call(what);
    }

    Result<Verdict> diagnose() { return decodescope::diagnose(trace, weights_, backend_, ledger_); }

    /// Takes out what a program that records little does not state.
    void state_only_tokens() {
        for (TraceCall& call : trace.calls) {
            call.position_ids.clear();
            call.attention_mask.clear();
            call.mask_known = false;
            call.cache_length_before.clear();
            call.cache_length_after.clear();
            call.cache_bytes.reset();
            call.cache_capacity.reset();
            call.logits_columns.clear();
        }
    }

private:
    class Hook final : public ForwardHook {
    public:
        Hook(const ForeignCall& what, const std::vector<std::int32_t>& query,
             const std::vector<std::int32_t>& key, int capacity)
            : what_(what), query_(query), key_(key), capacity_(capacity) {}
        const Weights& weights(const Weights& given) override {
            return what_.weights != nullptr ? *what_.weights : given;
        }
        void positions(const CallTokens&, const KvCache*, std::span<std::int32_t> query,
                       std::span<std::int32_t> key) override {
            std::copy(query_.begin(), query_.end(), query.begin());
            std::copy(key_.begin(), key_.end(), key.begin());
        }
        void plan(const CallTokens&, const KvCache* cache, AttentionPlan& plan) override {
            if (what_.see) plan.amend(cache != nullptr ? capacity_ : 0, what_.see);
        }
        HeadOrder head_order(const CallTokens&, const KvCache*) override { return what_.heads; }
        void computed(ForwardTensor tensor, int layer, std::span<float> values) override {
            if (what_.computed) what_.computed(tensor, layer, values);
        }

    private:
        const ForeignCall& what_;
        const std::vector<std::int32_t>& query_;
        const std::vector<std::int32_t>& key_;
        int capacity_;
    };

    std::shared_ptr<const Weights> weights_;
    Backend& backend_;
    Workspace workspace_;
    std::shared_ptr<MemoryLedger> ledger_;
    int batch_;
    int capacity_;
    std::shared_ptr<StoredLogits> logits_;
    std::unique_ptr<KvCache> cache_;
};

inline QString told(const Verdict& verdict) {
    QString text = QString("%1 %2 (%3): %4 | expected %5 | found %6 | next %7")
                       .arg(to_string(verdict.word), verdict.kind ? to_string(*verdict.kind) : "",
                            to_string(verdict.certainty), verdict.summary.c_str(), verdict.expected.c_str(),
                            verdict.found.c_str(), verdict.next.c_str());
    for (const VerdictEvidence& item : verdict.evidence)
        text += QString("\n    %1 %2").arg(item.held ? "+" : "-", item.text.c_str());
    return text;
}

}  // namespace decodescope::test
