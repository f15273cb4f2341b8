// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/model/forward.h"
#include "engine/verify/evidence.h"
#include "engine/verify/verdict.h"

namespace decodescope {

/// One token that a row has stored.
struct ReplayEntry {
    /// Of the store that all rows of a replay share. In `ReplayRow::kept` also -1 - t: that of token t.
    std::int32_t slot = 0;
    std::int32_t place = -1;    ///< in its sequence; -1 = pad
    std::int32_t position = 0;  ///< that its key was turned by
    std::int32_t call = 0;      ///< where it was fed
    std::int32_t row = 0;
};
using ReplayEntries = std::vector<ReplayEntry>;

/// One token of a call that is replayed.
struct ReplayToken {
    std::int32_t token = 0;
    std::int32_t place = -1;  ///< -1 = pad
    std::int32_t query_position = 0;
    std::int32_t key_position = 0;
    /// What it sees: indices of `ReplayRow::kept`, then of the row's own tokens.
    std::vector<std::int32_t> visible;
};

/// How one row of one call is computed. Comes as the rules have it; an explanation changes it.
struct ReplayRow {
    ReplayEntries kept;  ///< what it goes on from
    /// [n_fed], pads included; behind them doubles of these, which only count for what `kept` says.
    std::vector<ReplayToken> tokens;
    int spare = 0;  ///< slots of zeros that every token sees

    /// Makes every real token see what `sees(query, key)` says of real entries, and those before it of its
    /// own: `key` is an index as in `visible`.
    void see(const std::function<bool(std::int32_t query, std::int32_t key)>& sees);
    std::int32_t n_kept() const { return static_cast<std::int32_t>(kept.size()); }
    /// -1 = pad.
    std::int32_t place_of(std::int32_t key) const;
};

/// What an explanation knows about the row that it changes.
struct ReplaySituation {
    const Trace& trace;
    const TraceReading& reading;
    const ModelConfig& config;
    int call = 0;
    int row = 0;
    const ReplayEntries& stored;    ///< what the row it goes on from holds, nothing dropped
    const ReplayEntries& occupant;  ///< what the same row of the batch held before, whoever's it was
    const std::vector<std::vector<ReplayEntries>>& after;  ///< [call][row], what was stored after each call
    std::function<ReplayRow(int row)> right_row;           ///< another row of the call, by the rules

    const TraceCall& trace_call() const { return trace.calls[static_cast<std::size_t>(call)]; }
    const ReadRow& read() const { return reading.row(call, row); }
};

/// Something that a program may have done instead of what is right.
struct Explanation {
    FaultKind kind = FaultKind::position;
    bool is_precision = false;  ///< it is no fault, but a narrower type
    bool of_history = false;    ///< it is about what the row goes on from
    bool as_stated = false;     ///< only says that what the trace states was done
    bool from_start = false;    ///< it acts on all calls; else on the first wrong one and those after it
    std::string summary;        ///< "positions restart at 0 in every call"
    std::string tensor;         ///< what is wrong: "position ids"
    std::function<void(const ReplaySituation&, ReplayRow&)> amend;
    std::optional<HeadOrder> heads;
    bool heads_of_appends_only = false;
    bool merged_without_transpose = false;
    std::shared_ptr<const Weights> weights;  ///< other ones
    /// Changes K and V of one token and head, [head_dim], before they are stored.
    std::function<void(std::span<float>)> stored_as;
    /// Expected and found, for a person; from the row as it should be and as it was replayed.
    std::function<std::pair<std::string, std::string>(const ReplaySituation&, const ReplayRow& right,
                                                      const ReplayRow& found)>
        describe;
};

/// Recomputes calls of a trace by the rules, or as an explanation has it. All rows share one store in which
/// every token that was ever fed has its own slot, so that any token can be made to see any other.
class Replayer {
public:
    static Result<Replayer> make(const Trace& trace, const TraceReading& reading, DiagnosisTools tools);
    Replayer(Replayer&&) noexcept;
    Replayer& operator=(Replayer&&) noexcept;
    ~Replayer();

    using Places = std::vector<std::pair<int, int>>;  ///< calls and rows
    /// Rows that must be replayed before row `row` of call `call`: what it goes on from.
    Places lineage(int call, int row) const;
    /// The same for all rows of the calls before `call` that hold something then.
    Places background(int call) const;

    /// Replays rows in the order of the trace. With an explanation, false when it does not apply (a position
    /// the model does not have).
    Result<bool> run(const Places& places, const Explanation* explanation = nullptr);
    /// Whether the explanation changes how the row is computed at all.
    bool changes(int call, int row, const Explanation& explanation) const;
    /// Logits of a row's column from its last replay, [vocab]; empty when it was not replayed.
    std::span<const float> logits(int call, int row, int column) const;

    /// The state of the replay, and going back to it.
    std::size_t mark() const;
    void back_to(std::size_t mark);

    ReplayRow right_row(int call, int row) const;
    ReplayRow row_as(int call, int row, const Explanation& explanation) const;
    ReplaySituation situation(int call, int row) const;

    /// Keeps every tensor of the next runs, for `first_difference`.
    struct Tensors {
        std::vector<std::pair<ForwardTensor, int>> names;
        std::vector<std::vector<float>> values;
    };
    void capture(Tensors* into);

private:
    struct State;
    explicit Replayer(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

/// The first tensor in which two captures of the same call differ beyond rounding.
std::optional<std::pair<ForwardTensor, int>> first_difference(const Replayer::Tensors& one,
                                                              const Replayer::Tensors& other);

}  // namespace decodescope
