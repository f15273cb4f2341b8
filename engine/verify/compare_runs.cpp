// SPDX-License-Identifier: GPL-3.0-or-later
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "engine/core/quote.h"
#include "engine/verify/diagnose.h"
#include "engine/verify/evidence.h"
#include "engine/verify/logit_comparison.h"
#include "engine/verify/trace_reading.h"

namespace decodescope {

namespace {

/// How far two runs are apart where both have logits of the same token of the same text.
struct Distance {
    int n = 0;
    double worst = 0;
    VerdictPlace first;  ///< in the first run
};

Result<Distance> distance(const Trace& a, const Trace& b, const DiagnosisTools& tools) {
    auto read_a = read_trace(a, tools.weights->config);
    if (!read_a) return read_a.error();
    auto read_b = read_trace(b, tools.weights->config);
    if (!read_b) return read_b.error();
    const auto cells_a = compare_with_truth(a, *read_a, tools);
    if (!cells_a) return cells_a.error();
    const auto cells_b = compare_with_truth(b, *read_b, tools);
    if (!cells_b) return cells_b.error();
    // A token is known by all that comes before it.
    const auto tokens = [](const TraceReading& reading, const LogitCell& cell) {
        const auto& sequence =
            reading.sequences[static_cast<std::size_t>(reading.row(cell.call, cell.row).sequence)];
        return std::vector<std::int32_t>(sequence.begin(), sequence.begin() + cell.place + 1);
    };
    std::map<std::vector<std::int32_t>, const LogitCell*> known;
    for (const LogitCell& cell : *cells_b) known.emplace(tokens(*read_b, cell), &cell);
    Distance found;
    std::vector<float> one(static_cast<std::size_t>(a.vocab));
    std::vector<float> other(static_cast<std::size_t>(b.vocab));
    for (const LogitCell& cell : *cells_a) {
        const auto match = known.find(tokens(*read_a, cell));
        if (match == known.end()) continue;
        DS_TRY(a.logits->read(cell.call, cell.row, cell.stored, one));
        DS_TRY(b.logits->read(match->second->call, match->second->row, match->second->stored, other));
        const double error = compare_logits(one, other).relative_error;
        ++found.n;
        if (found.first.call < 0 && !(error <= f32_error_limit)) {
            found.first = {cell.call, read_a->row(cell.call, cell.row).request, cell.row, cell.column, -1,
                           "logits"};
        }
        found.worst = std::max(found.worst, std::isnan(error) ? INFINITY : error);
    }
    return found;
}

bool is_wrong(const Verdict& verdict) {
    return verdict.word == VerdictWord::fault && verdict.kind != FaultKind::cost;
}

std::string side(const Verdict& verdict) {
    return verdict.word == VerdictWord::fault ? fmt::format("{} fault", to_string(*verdict.kind))
                                              : std::string(to_string(verdict.word));
}

}  // namespace

Result<Verdict> compare(const Trace& a, const Trace& b, std::shared_ptr<const Weights> weights,
                        Backend& backend, std::shared_ptr<MemoryLedger> ledger, std::stop_token stop) {
    const auto apart = distance(a, b, {weights, &backend, ledger, stop});
    if (!apart) return apart.error();
    const auto of_a = diagnose(a, weights, backend, ledger, stop);
    if (!of_a) return of_a.error();
    const auto of_b = diagnose(b, weights, backend, ledger, stop);
    if (!of_b) return of_b.error();

    const bool a_wrong = is_wrong(*of_a);
    const bool b_wrong = is_wrong(*of_b);
    const bool agree = apart->n > 0 && apart->worst <= f32_error_limit;
    // The wrong one speaks; of two that are not, the one that is less sure.
    const bool b_speaks = b_wrong && !a_wrong;
    const bool b_less_sure = !a_wrong && !b_wrong && of_b->word > of_a->word;
    Verdict verdict = b_speaks || b_less_sure ? *of_b : *of_a;
    const std::string name = quote(b_speaks || b_less_sure ? b.label : a.label);
    if (a_wrong && b_wrong && agree) {
        verdict.summary = fmt::format(
            "Both runs agree, and both are wrong: they share a fault, which comparing them cannot "
            "show. {}",
            of_a->summary);
    } else if (a_wrong && b_wrong) {
        verdict.summary = fmt::format("Both runs depart from the truth. {}: {} {}: {}", quote(a.label),
                                      of_a->summary, quote(b.label), of_b->summary);
    } else if (a_wrong || b_wrong) {
        verdict.summary = fmt::format("{} departs from the truth, {} does not. {}", name,
                                      quote(b_speaks ? a.label : b.label), verdict.summary);
    } else if (apart->n == 0) {
        verdict.word = VerdictWord::cannot_tell;
        verdict.summary = "The two runs have no token with the same text before it in common.";
        verdict.next = "Feed both the same tokens.";
    }
    std::vector<VerdictEvidence> evidence;
    evidence.push_back(
        {"comparison",
         apart->n == 0
             ? std::string("The runs have no logits in common.")
             : fmt::format("The runs have {} rows of logits in common and differ by up to {:.2g} of their "
                           "standard deviation.",
                           apart->n, apart->worst),
         agree});
    evidence.push_back(
        {"first run", fmt::format("{}: {}. {}", quote(a.label), side(*of_a), of_a->summary), !a_wrong});
    evidence.push_back(
        {"second run", fmt::format("{}: {}. {}", quote(b.label), side(*of_b), of_b->summary), !b_wrong});
    for (VerdictEvidence& item : verdict.evidence) evidence.push_back(std::move(item));
    verdict.evidence = std::move(evidence);
    return verdict;
}

}  // namespace decodescope
