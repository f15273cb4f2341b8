// SPDX-License-Identifier: GPL-3.0-or-later
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "engine/core/as_index.h"
#include "engine/verify/structure.h"

namespace decodescope {

namespace {

const char* type_of(double error) {
    return error <= 4e-3 ? "f16" : error <= 3e-2 ? "bf16" : "8-bit codes";
}

bool logits_are_narrow(const Trace& trace) {
    for (std::size_t c = 0; c < trace.calls.size(); ++c) {
        if (trace.calls[c].logits != LogitRows::none &&
            trace.logits->dtype(static_cast<int>(c)) != DType::f32)
            return true;
    }
    return false;
}

class StructureJudge {
public:
    StructureJudge(const Structure& s, const Trace& trace, const TraceReading& reading,
                   const ModelConfig& config, const std::vector<StatedFault>& stated, Verdict& verdict)
        : s_(s), trace_(trace), reading_(reading), config_(config), stated_(stated), verdict_(verdict) {}

    void judge() {
        if (s_.chance) {
            verdict_.expected = "the same numbers each time";
            verdict_.found = fmt::format("numbers that differ by up to {:.2g}", s_.unrepeatable);
            return fault(
                FaultKind::mode, Certainty::likely,
                "The same tokens give other numbers each time: something random, such as dropout, is on.");
        }
        if (const StatedFault* said = first_statement()) {
            verdict_.expected = said->expected;
            verdict_.found = said->found;
            verdict_.first = said->place;
            return fault(said->kind, Certainty::likely,
                         fmt::format("The logits are off, and the trace states why: {}.", said->sentence()));
        }
        if (is_precision()) return;
        const double bytes = cache_bytes_per_element(trace_, config_);
        const bool stored_whole = bytes >= 4 - 1e-9;
        const bool exact_first = s_.first_tokens <= s_.limit && s_.appended > 0;
        if (exact_first && bytes > 0 && !stored_whole && s_.worst < 1.0) {
            verdict_.word = VerdictWord::precision;
            verdict_.kind = FaultKind::dtype;
            verdict_.certainty = Certainty::likely;
            verdict_.summary = fmt::format(
                "Exact at the prefill, then off by up to {:.2g}: entries of {:.2f} bytes "
                "per element are quantised.",
                s_.worst, bytes);
            return;
        }
        if (s_.only_padded_rows) {
            return fault(FaultKind::padding, Certainty::likely, "Only rows with pads are off.");
        }
        if (s_.guessed) return cannot_tell();
        if (s_.only_later_requests) {
            verdict_.next = "Run the later request alone: if it is then exact, something was left behind.";
            return fault(FaultKind::isolation, Certainty::possible,
                         "The first request is exact, a later one is off from its first row.");
        }
        if (exact_first && at_border()) return;
        if (exact_first && s_.grows && config_.rotary && s_.first_place > first_append_place()) {
            verdict_.expected = "one rotary base for the whole text";
            verdict_.found = "errors that begin late and grow slowly";
            return fault(
                FaultKind::position, Certainty::possible,
                "Exact up to some length, then slowly wrong: the rotary base may follow the length.");
        }
        // Where weights are rounded, a flat error is no trace of anything but that.
        if (exact_first && s_.flat && s_.worst < 0.3 && stored_whole && !s_.rounds()) {
            verdict_.expected = "the weights of the prefill";
            verdict_.found =
                "small, flat errors in every call that goes on from the cache, which is not quantised";
            return fault(
                FaultKind::state, Certainty::possible,
                "Exact at the prefill and slightly off after it: the weights may have changed under the "
                "cache.");
        }
        if (s_.from_nothing > most_precision) return judge_other_model();
        cannot_tell();
    }

private:
    void fault(FaultKind kind, Certainty certainty, std::string summary) {
        verdict_.word = VerdictWord::fault;
        verdict_.kind = kind;
        verdict_.certainty = certainty;
        verdict_.summary = std::move(summary);
    }

    const StatedFault* first_statement() const {
        for (const StatedFault& said : stated_) {
            if (!said.harmless && said.kind != FaultKind::cost) return &said;
        }
        return nullptr;
    }

    bool is_precision() {
        if (s_.worst > most_precision) return false;
        const bool from_prefill = s_.first_tokens > s_.limit && s_.appended <= 8 * s_.first_tokens;
        if (!from_prefill && !logits_are_narrow(trace_)) return false;
        if (logits_are_narrow(trace_) && s_.worst > 1e-2) return false;
        verdict_.word = VerdictWord::precision;
        verdict_.kind = FaultKind::dtype;
        verdict_.certainty = Certainty::likely;
        verdict_.summary = fmt::format(
            "Off by up to {:.1e} of the logits' standard deviation, at the prefill as well as after it: "
            "what {} rounds to.",
            s_.worst, type_of(s_.worst));
        verdict_.next = "A run in f32 decides: there the difference must go below 1e-4.";
        return true;
    }

    int first_append_place() const {
        for (const auto& call : reading_.calls) {
            for (const ReadRow& row : call)
                if (row.start > 0) return row.start;
        }
        return 0;
    }

    /// Begins where a window or the room of the cache ends.
    bool at_border() {
        const int window = reading_.window.size;
        if (window > 0 && (s_.first_place == window || s_.first_place == window - 1)) {
            verdict_.expected = fmt::format("a window of {}", window);
            verdict_.found = fmt::format("errors from position {} on", s_.first_place);
            fault(FaultKind::window, Certainty::likely,
                  fmt::format("Exact up to position {}, where the window of {} begins to matter.",
                              s_.first_place - 1, window));
            return true;
        }
        for (const TraceCall& call : trace_.calls) {
            if (!call.cache_capacity || s_.first_place != *call.cache_capacity) continue;
            verdict_.expected = fmt::format("no entry beyond the {} of the cache", *call.cache_capacity);
            verdict_.found = fmt::format("errors from position {} on", s_.first_place);
            fault(FaultKind::capacity, Certainty::likely,
                  fmt::format("Exact until the cache's {} entries are full.", *call.cache_capacity));
            return true;
        }
        return false;
    }

    void judge_other_model() {
        if (s_.repeats) {
            verdict_.expected = "the logits of this model";
            verdict_.found =
                fmt::format("logits that are {:.2g} off where a token sees only itself", s_.from_nothing);
            return fault(
                FaultKind::other_model, Certainty::likely,
                "Even a token that sees only itself is off, by the same numbers each time: these are "
                "other weights, or another architecture.");
        }
        verdict_.word = VerdictWord::cannot_tell;
        verdict_.certainty = Certainty::possible;
        verdict_.summary =
            "Even a token that sees only itself is off: another model, or something random such as dropout.";
        verdict_.next =
            "Make the same call twice: numbers that repeat mean another model, others mean dropout.";
    }

    void cannot_tell() {
        verdict_.word = VerdictWord::cannot_tell;
        verdict_.certainty = Certainty::possible;
        const bool small = s_.worst <= 0.3 && s_.flat;
        verdict_.summary =
            small ? fmt::format(
                        "Off by up to {:.2g}, by nothing that a replay shows: quantised entries, or weights "
                        "that changed under the cache.",
                        s_.worst)
                  : fmt::format("Off by up to {:.2g}, by nothing that a replay shows.", s_.worst);
        if (small)
            verdict_.next = "Record `cache_bytes` with the lengths, or run with entries stored in f32.";
        else if (trace_.texts.empty())
            verdict_.next = "Give `texts`, so that what was fed can be told from what should have been.";
        else
            verdict_.next = "Record position ids, masks and cache lengths, and the logits of all rows.";
    }

    const Structure& s_;
    const Trace& trace_;
    const TraceReading& reading_;
    const ModelConfig& config_;
    const std::vector<StatedFault>& stated_;
    Verdict& verdict_;
};

}  // namespace

void judge_structure(const Structure& structure, const Trace& trace, const TraceReading& reading,
                     const ModelConfig& config, const std::vector<StatedFault>& stated, Verdict& verdict) {
    StructureJudge(structure, trace, reading, config, stated, verdict).judge();
}

BlindSpot blind_spot(const Trace& trace, const TraceReading& reading, const ModelConfig& config) {
    std::set<std::int32_t> ids;
    bool positions_stated = true;
    bool chunks = false;
    bool all_rows = true;
    int n_append = 0;
    int prompt = 0;
    for (std::size_t c = 0; c < trace.calls.size(); ++c) {
        const TraceCall& call = trace.calls[c];
        positions_stated = positions_stated && !call.position_ids.empty();
        all_rows = all_rows && call.logits == LogitRows::all;
        bool appends = false;
        for (const ReadRow& row : reading.calls[c]) {
            for (int t = 0; t < static_cast<int>(row.places.size()); ++t) {
                if (row.places[as_index(t)] >= 0) ids.insert(reading.token(row, row.places[as_index(t)]));
            }
            if (row.n_real == 0) continue;
            chunks = chunks || row.n_real > 1;
            appends = appends || row.start > 0;
            if (c == 0) prompt = row.end();
        }
        n_append += appends;
    }
    const bool long_enough = reading.forwarded > 1;
    if (config.rotary && ids.size() == 1 && long_enough && !positions_stated) {
        return {
            "Exact, but all tokens are the same: under rotary positions no fault of positions or masks can "
            "show.",
            "Run it with a text of different tokens."};
    }
    if (config.n_layer == 1 && chunks && !all_rows && n_append > 0) {
        return {
            "Exact where there are logits, but with one layer a wrong mask shows in the row it hits alone, "
            "and "
            "only the last rows have logits.",
            "Record the logits of all rows, or use a model of two layers."};
    }
    if (n_append == 1 && !positions_stated && (prompt == config.n_head || prompt == config.n_kv_head)) {
        return {
            fmt::format("Exact, but the prompt has {} tokens, as many as the model has heads: a length read "
                        "from the wrong axis would be right by chance.",
                        prompt),
            "Run it with a prompt of another length, or more steps."};
    }
    return {};
}

}  // namespace decodescope
