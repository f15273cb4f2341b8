// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/verify/diagnose.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "engine/core/as_index.h"
#include "engine/core/quote.h"
#include "engine/verify/replay_search.h"
#include "engine/verify/stated.h"
#include "engine/verify/structure.h"

namespace decodescope {

namespace {

class Diagnosis {
public:
    Diagnosis(const Trace& trace, DiagnosisTools tools) : trace_(trace), tools_(std::move(tools)) {}

    Result<Verdict> judge() {
        auto reading = read_trace(trace_, tools_.weights->config);
        if (!reading) return reading.error();
        reading_ = *std::move(reading);
        stated_ = stated_faults(trace_, reading_, tools_.weights->config);
        auto cells = compare_with_truth(trace_, reading_, tools_);
        if (!cells) return cells.error();
        cells_ = *std::move(cells);
        auto repeated = repetitions(trace_, reading_, cells_);
        if (!repeated) return repeated.error();
        structure_ =
            structure_of(trace_, reading_, tools_.weights->config, cells_, *repeated, tools_.weights->type);
        gather_evidence();
        if (cells_.empty())
            judge_statements_alone();
        else if (structure_.worst <= structure_.limit)
            judge_exact();
        else
            DS_TRY(judge_wrong());
        return std::move(verdict_);
    }

private:
    const ModelConfig& config() const { return tools_.weights->config; }

    void say(const char* claim, std::string text, bool held) {
        verdict_.evidence.push_back({claim, std::move(text), held});
    }

    void gather_evidence() {
        for (const VerdictEvidence& item : structure_.evidence) verdict_.evidence.push_back(item);
        for (const StatedFault& fault : stated_)
            say(fault.place.tensor.c_str(), fault.sentence() + ".", fault.harmless);
        for (VerdictEvidence& item : stated_rights(trace_, stated_))
            verdict_.evidence.push_back(std::move(item));
    }

    void be_fault(FaultKind kind, Certainty certainty, std::string summary) {
        verdict_.word = VerdictWord::fault;
        verdict_.kind = kind;
        verdict_.certainty = certainty;
        verdict_.summary = std::move(summary);
    }

    void take(const StatedFault& fault) {
        verdict_.first = fault.place;
        verdict_.expected = fault.expected;
        verdict_.found = fault.found;
    }

    /// Exact logits say that what the call stored and hid was right, whatever was written down about it.
    bool shown_wrong(const StatedFault& fault) const {
        if (fault.place.tensor == "attention mask") return true;
        return fault.place.tensor == "cache length" && fault.kind != FaultKind::capacity &&
               trace_.calls[as_index(fault.place.call)].logits != LogitRows::none;
    }

    /// The statement that counts most: what is no mere cost before what is, the earlier first.
    const StatedFault* main_statement(bool exact = false) const {
        const StatedFault* best = nullptr;
        for (const StatedFault& fault : stated_) {
            if (fault.harmless || (exact && shown_wrong(fault))) continue;
            if (best == nullptr || (best->kind == FaultKind::cost && fault.kind != FaultKind::cost))
                best = &fault;
        }
        return best;
    }

    void judge_statements_alone() {
        if (const StatedFault* fault = main_statement()) {
            take(*fault);
            return be_fault(fault->kind, Certainty::certain,
                            "The trace states it: " + fault->sentence() + ".");
        }
        const bool any = std::any_of(verdict_.evidence.begin(), verdict_.evidence.end(),
                                     [](const VerdictEvidence& item) { return item.held; });
        verdict_.word = any ? VerdictWord::equal : VerdictWord::cannot_tell;
        verdict_.certainty = any ? Certainty::likely : Certainty::possible;
        verdict_.summary = any ? "Everything that the trace states is right; it has no logits to compare."
                               : "The trace has neither logits nor anything else to judge.";
        verdict_.next = "Record the logits of every call.";
    }

    void judge_exact() {
        // A text that is fed again and again is what its lengths are odd for.
        const auto cost = std::find_if(stated_.begin(), stated_.end(), [](const StatedFault& fault) {
            return fault.place.tensor == "tokens forwarded";
        });
        const StatedFault* fault = cost != stated_.end() && only_costs() ? &*cost : main_statement(true);
        if (fault != nullptr && fault->place.tensor == "position ids") {
            take(*fault);
            verdict_.kind = fault->kind;
            verdict_.word = VerdictWord::cannot_tell;
            verdict_.certainty = Certainty::possible;
            verdict_.summary = fmt::format(
                "The trace states wrong position ids ({}), and the logits do not "
                "show them.",
                fault->sentence());
            verdict_.next = "Run it with different tokens in the text, and record the ids that are used.";
            return;
        }
        if (fault != nullptr) {
            take(*fault);
            const bool costs = fault->kind == FaultKind::cost;
            return be_fault(
                fault->kind, Certainty::certain,
                fmt::format("All logits are exact, but {}: {}.",
                            costs ? "the run costs more than it has to" : "the trace states a fault",
                            fault->sentence()));
        }
        if (!stated_.empty()) {
            take(stated_.front());
            verdict_.kind = stated_.front().kind;
            verdict_.word = VerdictWord::harmless;
            verdict_.certainty = Certainty::certain;
            verdict_.summary =
                fmt::format("All logits are exact, although {}{}.", stated_.front().sentence(),
                            stated_.front().place.tensor == "position ids"
                                ? ": the same shift for queries and keys, which rotary attention does not see"
                                : "");
            return;
        }
        if (const auto blind = blind_spot(trace_, reading_, config()); !blind.summary.empty()) {
            verdict_.word = VerdictWord::cannot_tell;
            verdict_.summary = blind.summary;
            verdict_.next = blind.next;
            return;
        }
        verdict_.word = VerdictWord::equal;
        verdict_.certainty = Certainty::certain;
        verdict_.summary =
            structure_.rounds()
                ? fmt::format(
                      "All {} rows of logits are right up to what {} weights round to: the largest "
                      "error is {:.1e} of their standard deviation, {} are allowed.",
                      cells_.size(), to_string(tools_.weights->type), structure_.worst, structure_.limit)
                : fmt::format(
                      "All {} rows of logits are exact: the largest error is {:.1e} of their "
                      "standard deviation.",
                      cells_.size(), structure_.worst);
        if (reading_.judged_at_face_value) {
            verdict_.summary = fmt::format(
                "Exact for what was fed: the largest error of {} rows is {:.1e} of their standard "
                "deviation.",
                cells_.size(), structure_.worst);
            verdict_.next = "Give `texts` to check that the right tokens were fed.";
        }
    }

    /// Besides the tokens forwarded, nothing but lengths that follow from them is odd.
    bool only_costs() const {
        return std::all_of(stated_.begin(), stated_.end(), [](const StatedFault& fault) {
            return fault.kind == FaultKind::cost || fault.harmless ||
                   (fault.kind == FaultKind::content && fault.place.tensor == "cache length");
        });
    }

    Result<void> judge_wrong() {
        const LogitCell& wrong = cells_[as_index(structure_.first_wrong)];
        verdict_.first = {
            wrong.call, reading_.row(wrong.call, wrong.row).request, wrong.row, wrong.column, -1, "logits"};
        if (structure_.not_finite) {
            judge_not_finite(wrong);
            return {};
        }
        // One that is read at a pad, and nothing else wrong: the row is right, its reader is not.
        if (wrong.at_pad) {
            if (const StatedFault* fault = main_statement();
                fault != nullptr && fault->place.tensor == "logits")
                take(*fault);
            be_fault(FaultKind::padding, Certainty::certain,
                     "The next token is read from the logits of a pad: " + verdict_.found + ".");
            return {};
        }
        int n_replay = 0;
        const double tolerance =
            std::max(structure_.limit, std::clamp(3 * structure_.floor, f32_error_limit, 0.05));
        auto match = search_replays(trace_, reading_, tools_, cells_, wrong, tolerance, n_replay);
        if (!match) return match.error();
        if (*match) {
            take(**match, n_replay);
            return {};
        }
        say("replays",
            fmt::format(
                "None of {} replays with other positions, masks, contents or types gives these numbers.",
                n_replay),
            true);
        judge_structure(structure_, trace_, reading_, config(), stated_, verdict_);
        return {};
    }

    void take(const Match& match, int n_replay) {
        const Explanation& explanation = match.explanation;
        std::string expected = match.expected;
        std::string found = match.found;
        verdict_.first.tensor = explanation.tensor;
        if (match.first) {
            verdict_.first.layer = match.first->second;
            say("first divergence",
                fmt::format(
                    "Recomputed both ways, the first tensor that differs is: {}{}.",
                    to_string(match.first->first),
                    match.first->second < 0 ? std::string() : fmt::format(", layer {}", match.first->second)),
                false);
        }
        FaultKind kind = explanation.kind;
        std::string summary = explanation.summary;
        // What the trace states about the same thing says it best.
        for (const StatedFault& fault : stated_) {
            const bool same_thing = fault.place.tensor == explanation.tensor ||
                                    (explanation.tensor == "cache" && fault.place.tensor == "cache length");
            if (fault.harmless || !same_thing || fault.place.call != verdict_.first.call) continue;
            expected = fault.expected;
            found = fault.found;
            verdict_.first.tensor = fault.place.tensor;
            break;
        }
        if (explanation.tensor == "input ids") {
            if (const StatedFault* fault = main_statement(); fault != nullptr) {
                kind = fault->kind;
                expected = fault->expected;
                found = fault->found;
                verdict_.first.tensor = fault->place.tensor;
            }
        }
        const ReadRow& row = reading_.row(verdict_.first.call, verdict_.first.row);
        if (row.guessed && explanation.of_history) return take_as_open(match);
        if (row.start > 0 && row.no_cache) {
            kind = FaultKind::capacity;
            summary = "the loop without a cache feeds only the newest tokens";
        }
        verdict_.expected = std::move(expected);
        verdict_.found = std::move(found);
        say("replays",
            fmt::format(
                "A replay in which {} gives the run's own numbers: error {:.1e} in {} of {} calls, where "
                "the truth is {:.1e} away ({} replays).",
                summary, match.error, match.calls, match.tried, match.unlike, n_replay),
            explanation.is_precision);
        if (explanation.is_precision) {
            verdict_.word = VerdictWord::precision;
            verdict_.kind = FaultKind::dtype;
            verdict_.certainty = Certainty::certain;
            verdict_.summary = fmt::format("Off by up to {:.1e}, as {}.", structure_.worst, summary);
            return;
        }
        const bool alone = match.rival.empty();
        summary.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(summary.front())));
        be_fault(kind, alone ? Certainty::certain : Certainty::likely,
                 summary + (verdict_.expected.empty() ? "."
                                                      : fmt::format(": expected {}, found {}.",
                                                                    verdict_.expected, verdict_.found)));
        if (!alone) {
            say("replays", fmt::format("It would fit as well that {}.", match.rival), true);
            verdict_.next = "A run with more steps tells these apart.";
        }
    }

    /// What the call goes on from is not known: what comes out may have been meant.
    void take_as_open(const Match& match) {
        verdict_.word = VerdictWord::cannot_tell;
        verdict_.certainty = Certainty::possible;
        verdict_.expected = match.expected;
        verdict_.found = match.found;
        verdict_.summary = fmt::format(
            "From call {} on the numbers are those of a run in which {}: right if that was meant, as for "
            "a new request, a shared prefix or drafts that were dropped.",
            verdict_.first.call, match.explanation.summary);
        verdict_.next = "Give `texts`, or the cache lengths, so that what the call goes on from is known.";
    }

    void judge_not_finite(const LogitCell& wrong) {
        const ReadRow& row = reading_.row(wrong.call, wrong.row);
        const bool pads = row.n_pad + row.pads_before > 0;
        verdict_.expected = "finite logits";
        verdict_.found = "NaN or infinity";
        be_fault(pads ? FaultKind::mask : FaultKind::state, Certainty::possible,
                 fmt::format("The logits of a real token are not finite, first in call {} row {} column {}.",
                             wrong.call, wrong.row, wrong.column));
        verdict_.next = pads ? "Check what the softmax gives where a pad may see nothing."
                             : "Fill unused slots with zeros: if the NaN goes, they are read.";
    }

    const Trace& trace_;
    DiagnosisTools tools_;
    TraceReading reading_;
    std::vector<StatedFault> stated_;
    std::vector<LogitCell> cells_;
    Structure structure_;
    Verdict verdict_;
};

}  // namespace

Result<Verdict> diagnose(const Trace& trace, std::shared_ptr<const Weights> weights, Backend& backend,
                         std::shared_ptr<MemoryLedger> ledger, std::stop_token stop) {
    return Diagnosis(trace, {std::move(weights), &backend, std::move(ledger), std::move(stop)}).judge();
}

}  // namespace decodescope
