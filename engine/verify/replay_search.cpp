// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/verify/replay_search.h"

#include <algorithm>
#include <cmath>

#include "engine/verify/explanations.h"
#include "engine/verify/logit_comparison.h"
#include "engine/verify/replay_fit.h"

namespace decodescope {

namespace {

/// Wrong calls after the first one that an explanation is tried on too.
constexpr int most_followed = 4;

class Search {
public:
    Search(const Trace& trace, const TraceReading& reading, const DiagnosisTools& tools,
           const std::vector<LogitCell>& cells, const LogitCell& wrong, double tolerance, int& n_replay)
        : trace_(trace),
          reading_(reading),
          tools_(tools),
          cells_(cells),
          wrong_(wrong),
          tolerance_(tolerance),
          n_replay_(n_replay) {}

    Result<std::optional<Match>> search() {
        auto made = Replayer::make(trace_, reading_, tools_);
        if (!made) return made.error();
        replayer_.emplace(*std::move(made));
        own_ = replayer_->lineage(wrong_.call, wrong_.row);
        own_.emplace_back(wrong_.call, wrong_.row);
        later_ = followers();
        const auto ran = replayer_->run(replayer_->background(wrong_.call));
        if (!ran) return ran.error();
        const ReplaySituation here = replayer_->situation(wrong_.call, wrong_.row);

        Explanation as_fed;
        as_fed.kind = FaultKind::content;
        as_fed.summary = "the tokens that were fed are not those of the text";
        as_fed.tensor = "input ids";
        DS_TRY(try_one(as_fed, false));
        for (const Explanation& explanation : known_explanations(here)) DS_TRY(try_one(explanation, true));
        if (!best_ && reading_.row(wrong_.call, wrong_.row).start > 0) DS_TRY(try_fits());
        if (!best_) {
            for (const Explanation& explanation : searched_explanations(here)) {
                DS_TRY(try_one(explanation, true));
                if (best_) break;
            }
        }
        if (best_) DS_TRY(describe());
        return std::move(best_);
    }

private:
    /// Later calls that go on from the first wrong row, each from the one before.
    Replayer::Places followers() const {
        Replayer::Places found;
        std::pair<int, int> last{wrong_.call, wrong_.row};
        for (int c = wrong_.call + 1; c < static_cast<int>(trace_.calls.size()); ++c) {
            for (int b = 0; b < trace_.calls[static_cast<std::size_t>(c)].batch; ++b) {
                const ReadRow& row = reading_.row(c, b);
                if (row.from_call != last.first || row.from_row != last.second || row.n_real == 0) continue;
                found.emplace_back(c, b);
                last = found.back();
                break;
            }
            if (found.size() == most_followed) break;
        }
        return found;
    }

    /// Largest error of the run's cells of a row against the last replay; negative when there are none.
    Result<double> error_in(int call, int row, double* unlike) const {
        double worst = -1;
        std::vector<float> found(static_cast<std::size_t>(trace_.vocab));
        for (const LogitCell& cell : cells_) {
            if (cell.call != call || cell.row != row) continue;
            const auto replayed = replayer_->logits(call, row, cell.column);
            if (replayed.empty()) continue;
            DS_TRY(trace_.logits->read(call, row, cell.stored, found));
            const double error = compare_logits(found, replayed).relative_error;
            worst = std::max(worst, std::isnan(error) ? INFINITY : error);
            if (unlike != nullptr) *unlike = std::max(*unlike, cell.error());
        }
        return worst;
    }

    Result<void> try_one(const Explanation& explanation, bool must_change) {
        const bool from_start = explanation.from_start;
        if (must_change && !from_start && !replayer_->changes(wrong_.call, wrong_.row, explanation))
            return {};
        // What acts from the start on is slow to try, and only tried while something is left to explain.
        if (from_start && best_ && best_->calls >= 2 && best_->calls == best_->tried) return {};
        const std::size_t mark = replayer_->mark();
        Match match;
        match.explanation = explanation;
        ++n_replay_;
        const Replayer::Places places = from_start ? own_ : Replayer::Places{{wrong_.call, wrong_.row}};
        auto applies = replayer_->run(places, &explanation);
        bool fits = applies && *applies;
        for (std::size_t i = 0; fits && i < places.size(); ++i) {
            const auto error = error_in(places[i].first, places[i].second, &match.unlike);
            if (!error) return error.error();
            fits = *error <= tolerance_;
            match.error = std::max(match.error, *error);
        }
        if (fits) {
            match.calls = match.tried = 1;
            for (const auto& [call, row] : later_) {
                applies = replayer_->run({{call, row}}, &explanation);
                if (!applies && applies.error().kind == ErrorKind::cancelled) return applies.error();
                if (!applies || !*applies) break;
                const auto error = error_in(call, row, nullptr);
                if (!error) return error.error();
                if (*error < 0) continue;
                ++match.tried;
                if (*error > tolerance_) break;
                ++match.calls;
            }
        } else if (!applies && applies.error().kind == ErrorKind::cancelled) {
            return applies.error();
        }
        replayer_->back_to(mark);
        // What the truth does as well explains nothing.
        if (!fits || match.unlike <= 2 * match.error) return {};
        if (!best_ || match.calls > best_->calls) {
            best_ = std::move(match);
        } else if (match.calls == best_->calls && match.explanation.kind != best_->explanation.kind &&
                   best_->rival.empty() && !match.explanation.as_stated) {
            best_->rival = match.explanation.summary;
        }
        return {};
    }

    /// What has a number in it that is not known.
    Result<void> try_fits() {
        std::vector<float> found;
        std::vector<const LogitCell*> mine;
        std::vector<float> row(static_cast<std::size_t>(trace_.vocab));
        for (const LogitCell& cell : cells_) {
            if (cell.call != wrong_.call || cell.row != wrong_.row || cell.at_pad) continue;
            DS_TRY(trace_.logits->read(cell.call, cell.row, cell.stored, row));
            found.insert(found.end(), row.begin(), row.end());
            mine.push_back(&cell);
        }
        const std::size_t mark = replayer_->mark();
        const auto once = [&](const Explanation& explanation) -> Result<std::vector<float>> {
            ++n_replay_;
            const auto ran = replayer_->run({{wrong_.call, wrong_.row}}, &explanation);
            if (!ran) return ran.error();
            std::vector<float> logits;
            for (const LogitCell* cell : mine) {
                const auto replayed = replayer_->logits(cell->call, cell->row, cell->column);
                logits.insert(logits.end(), replayed.begin(), replayed.end());
            }
            replayer_->back_to(mark);
            return logits;
        };
        const auto fitted = fitted_explanations(tools_.weights, found, once);
        if (!fitted) return fitted.error();
        for (const Explanation& explanation : *fitted) DS_TRY(try_one(explanation, true));
        return {};
    }

    /// Says what was expected and found, and in which tensor the replay departs from the truth.
    Result<void> describe() {
        const Explanation& explanation = best_->explanation;
        const ReplayRow right = replayer_->right_row(wrong_.call, wrong_.row);
        const ReplayRow found = replayer_->row_as(wrong_.call, wrong_.row, explanation);
        if (explanation.describe) {
            std::tie(best_->expected, best_->found) =
                explanation.describe(replayer_->situation(wrong_.call, wrong_.row), right, found);
        }
        const Replayer::Places here{{wrong_.call, wrong_.row}};
        Replayer::Tensors truth;
        Replayer::Tensors replay;
        const std::size_t mark = replayer_->mark();
        const auto capture = [&](const Explanation* as, Replayer::Tensors& into) -> Result<void> {
            replayer_->capture(&into);
            const auto done = replayer_->run(here, as);
            replayer_->capture(nullptr);
            replayer_->back_to(mark);
            if (!done && done.error().kind == ErrorKind::cancelled) return done.error();
            return {};
        };
        DS_TRY(capture(nullptr, truth));
        DS_TRY(capture(&explanation, replay));
        best_->first = first_difference(truth, replay);
        return {};
    }

    const Trace& trace_;
    const TraceReading& reading_;
    DiagnosisTools tools_;
    const std::vector<LogitCell>& cells_;
    const LogitCell wrong_;
    double tolerance_;
    int& n_replay_;
    std::optional<Replayer> replayer_;
    Replayer::Places own_;
    Replayer::Places later_;
    std::optional<Match> best_;
};

}  // namespace

Result<std::optional<Match>> search_replays(const Trace& trace, const TraceReading& reading,
                                            const DiagnosisTools& tools, const std::vector<LogitCell>& cells,
                                            const LogitCell& first_wrong, double tolerance, int& n_replay) {
    return Search(trace, reading, tools, cells, first_wrong, tolerance, n_replay).search();
}

}  // namespace decodescope
