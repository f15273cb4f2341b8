// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/verify/evidence.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "engine/core/as_index.h"
#include "engine/model/forward.h"
#include "engine/verify/logit_comparison.h"
#include "engine/verify/trace_file.h"

namespace decodescope {

namespace {

std::vector<LogitCell> cells_of(const Trace& trace, const TraceReading& reading) {
    std::vector<LogitCell> cells;
    for (int c = 0; c < static_cast<int>(trace.calls.size()); ++c) {
        const TraceCall& call = trace.calls[as_index(c)];
        for (int b = 0; b < call.batch; ++b) {
            const ReadRow& row = reading.row(c, b);
            if (row.n_real == 0) continue;
            if (call.logits == LogitRows::all) {
                for (int t = 0; t < call.width; ++t) {
                    if (row.places[as_index(t)] >= 0)
                        cells.push_back({c, b, t, t, row.places[as_index(t)], {}, false});
                }
            } else if (call.logits == LogitRows::last) {
                const int column =
                    call.logits_columns.empty() ? row.sampled : call.logits_columns[as_index(b)];
                if (column < 0) continue;
                const bool at_pad = row.places[as_index(column)] < 0;
                const int place = at_pad ? row.end() - 1 : row.places[as_index(column)];
                cells.push_back({c, b, column, 0, place, {}, at_pad});
            }
        }
    }
    return cells;
}

}  // namespace

double LogitCell::error() const {
    return std::isnan(comparison.relative_error) ? INFINITY : comparison.relative_error;
}

Result<std::vector<LogitCell>> compare_with_truth(const Trace& trace, const TraceReading& reading,
                                                  const DiagnosisTools& tools) {
    std::vector<LogitCell> cells = cells_of(trace, reading);
    const auto vocab = as_index(tools.weights->config.vocab);
    Workspace workspace(tools.ledger);
    std::vector<float> found(vocab);
    for (std::size_t s = 0; s < reading.sequences.size(); ++s) {
        std::map<int, std::vector<LogitCell*>> by_place;
        for (LogitCell& cell : cells) {
            if (reading.row(cell.call, cell.row).sequence == static_cast<int>(s))
                by_place[cell.place].push_back(&cell);
        }
        if (by_place.empty()) continue;
        CallTokens call;
        const auto& sequence = reading.sequences[s];
        call.add_row(std::span(sequence).first(as_index(by_place.rbegin()->first) + 1), 0);
        std::vector<std::int32_t> rows;
        for (const auto& [place, unused] : by_place) rows.push_back(place);
        const auto truth = forward(*tools.weights, call, rows, nullptr, reading.window, workspace,
                                   *tools.backend, tools.stop);
        if (!truth) return truth.error();
        std::size_t i = 0;
        for (const auto& [place, same] : by_place) {
            const auto right = truth->logits.subspan(i++ * vocab, vocab);
            for (LogitCell* cell : same) {
                DS_TRY(trace.logits->read(cell->call, cell->row, cell->stored, found));
                cell->comparison = compare_logits(found, right);
            }
        }
    }
    return cells;
}

Result<std::vector<Repetition>> repetitions(const Trace& trace, const TraceReading& reading,
                                            const std::vector<LogitCell>& cells) {
    constexpr std::size_t most = 200;
    std::vector<Repetition> found;
    std::map<std::tuple<int, int, int, int, bool>, int> first;
    std::vector<float> one(as_index(trace.vocab));
    std::vector<float> other(as_index(trace.vocab));
    for (int i = 0; i < static_cast<int>(cells.size()) && found.size() < most; ++i) {
        const LogitCell& cell = cells[as_index(i)];
        const ReadRow& row = reading.row(cell.call, cell.row);
        const auto [known, is_new] =
            first.emplace(std::tuple(row.sequence, cell.place, row.start, row.n_real, cell.at_pad), i);
        if (is_new) continue;
        const LogitCell& earlier = cells[as_index(known->second)];
        DS_TRY(trace.logits->read(earlier.call, earlier.row, earlier.stored, one));
        DS_TRY(trace.logits->read(cell.call, cell.row, cell.stored, other));
        const double error = compare_logits(other, one).relative_error;
        found.push_back({known->second, i, std::isnan(error) ? INFINITY : error});
    }
    return found;
}

}  // namespace decodescope
