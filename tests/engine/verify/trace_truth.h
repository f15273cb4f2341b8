// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "engine/model/forward.h"
#include "engine/verify/logit_comparison.h"
#include "engine/verify/trace.h"

namespace decodescope::test {

/// What a trace's logits should be: every row of every call against the same text in one call without a
/// cache.
class TraceTruth {
public:
    TraceTruth(std::shared_ptr<const Weights> weights, Backend& backend,
               const std::shared_ptr<MemoryLedger>& ledger)
        : weights_(std::move(weights)), backend_(backend), workspace_(ledger) {}

    /// Logits [vocab] after `text`.
    const std::vector<float>& after(const std::vector<std::int32_t>& text, const Window& window) {
        auto& logits = known_[{text, {window.size, window.sinks}}];
        if (!logits.empty()) return logits;
        CallTokens call;
        call.add_row(text, 0);
        const auto last = last_rows(call);
        const auto output = forward(*weights_, call, last, nullptr, window, workspace_, backend_);
        if (output) logits.assign(output->logits.begin(), output->logits.end());
        return logits;
    }

    /// What the tokens of row `row` of call `call` are to follow: the request's text up to the first of them.
    /// Beams have no texts: what their rows were fed, through the parents.
    static std::vector<std::int32_t> text_before(const Trace& trace, int call, int row) {
        const TraceCall& here = trace.calls[static_cast<std::size_t>(call)];
        const auto known = trace.texts.find(here.requests[static_cast<std::size_t>(row)]);
        if (known != trace.texts.end()) {
            const auto& ids = known->second.ids;
            return {ids.begin(), ids.begin() + here.text_start[static_cast<std::size_t>(row)]};
        }
        if (here.cache_length_before[static_cast<std::size_t>(row)] == 0) return {};
        const int parent = here.parents.empty() ? row : here.parents[static_cast<std::size_t>(row)];
        auto text = text_before(trace, call - 1, parent);
        for (const std::int32_t id : fed(trace, call - 1, parent)) text.push_back(id);
        return text;
    }

    /// The real tokens of a row.
    static std::vector<std::int32_t> fed(const Trace& trace, int call, int row) {
        const TraceCall& here = trace.calls[static_cast<std::size_t>(call)];
        std::vector<std::int32_t> ids;
        for (int column = 0; column < here.width; ++column) {
            const auto cell = static_cast<std::size_t>(row * here.width + column);
            if (here.real[cell] != 0) ids.push_back(here.input_ids[cell]);
        }
        return ids;
    }

    /// Error of every real token of a row, relative to the standard deviation of the right logits; infinite
    /// where there are none.
    std::vector<double> errors(const Trace& trace, int call, int row, const Window& window) {
        const TraceCall& here = trace.calls[static_cast<std::size_t>(call)];
        std::vector<double> errors;
        auto text = text_before(trace, call, row);
        std::vector<float> found(static_cast<std::size_t>(trace.vocab));
        for (int column = 0; column < here.width; ++column) {
            const auto cell = static_cast<std::size_t>(row * here.width + column);
            if (here.real[cell] == 0) continue;
            text.push_back(here.input_ids[cell]);
            if (here.logits == LogitRows::none || !trace.logits->read(call, row, column, found)) {
                errors.push_back(INFINITY);
                continue;
            }
            errors.push_back(compare_logits(found, after(text, window)).relative_error);
        }
        return errors;
    }

private:
    std::shared_ptr<const Weights> weights_;
    Backend& backend_;
    Workspace workspace_;
    std::map<std::pair<std::vector<std::int32_t>, std::pair<int, int>>, std::vector<float>> known_;
};

}  // namespace decodescope::test
