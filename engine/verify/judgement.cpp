// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/verify/judgement.h"

#include <algorithm>
#include <utility>

#include "engine/verify/diagnose.h"
#include "engine/verify/evidence.h"

namespace decodescope {

namespace {

std::vector<CallError> errors_by_call(const std::vector<LogitCell>& cells, const TraceReading& reading) {
    std::vector<CallError> calls;
    bool choice_seen = false;
    for (const LogitCell& cell : cells) {
        const ReadRow& row = reading.row(cell.call, cell.row);
        const bool first = calls.empty() || calls.back().call != cell.call;
        if (first) {
            calls.push_back({.call = cell.call, .request = {}, .error = -1});
            choice_seen = false;
        }
        CallError& call = calls.back();
        call.same_argmax = call.same_argmax && cell.comparison.same_argmax;
        if (const double error = cell.error(); !(error <= call.error)) {
            call.error = error;
            call.request = row.request;
            call.row = cell.row;
            call.column = cell.column;
        }
        const bool choice = cell.column == row.sampled || cell.at_pad;
        const double margin = cell.comparison.top2_margin;
        if (first || (choice && (!choice_seen || margin < call.top2_margin))) call.top2_margin = margin;
        choice_seen = choice_seen || choice;
    }
    return calls;
}

}  // namespace

Result<Judgement> judge_trace(const Trace& trace, std::shared_ptr<const Weights> weights, Backend& backend,
                              std::shared_ptr<MemoryLedger> ledger, std::stop_token stop) {
    auto verdict = diagnose(trace, weights, backend, ledger, stop);
    if (!verdict) return verdict.error();
    const auto reading = read_trace(trace, weights->config);
    if (!reading) return reading.error();
    const auto cells = compare_with_truth(trace, *reading, {weights, &backend, ledger, stop});
    if (!cells) return cells.error();
    return Judgement{*std::move(verdict), errors_by_call(*cells, *reading), weights->type};
}

std::optional<NoiseFloor> noise_floor(const CacheSpec& cache) {
    switch (cache.kind) {
        case CacheKind::int8: return NoiseFloor{"int8 entries", 2e-2};
        case CacheKind::kivi:
            return cache.bits == 4 ? std::optional(NoiseFloor{"4-bit entries", 3.5e-1}) : std::nullopt;
        default: break;
    }
    if (cache.dtype == DType::f16) return NoiseFloor{"f16 entries", 1e-3};
    if (cache.dtype == DType::bf16) return NoiseFloor{"bf16 entries", 8e-3};
    return std::nullopt;
}

}  // namespace decodescope
