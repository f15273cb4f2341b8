// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/verify/trace_reading.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/core/as_index.h"
#include "engine/core/quote.h"

namespace decodescope {

namespace {

using Ids = std::vector<std::int32_t>;

bool all_zero(const std::vector<std::int64_t>& values) {
    return std::all_of(values.begin(), values.end(), [](std::int64_t n) { return n == 0; });
}

class Reader {
public:
    Reader(const Trace& trace, const ModelConfig& config) : trace_(trace), config_(config) {}

    Result<TraceReading> read() {
        DS_TRY(check());
        reading_.window = trace_.window ? *trace_.window : Window{config_.window, 0};
        for (std::size_t c = 0; c < trace_.calls.size(); ++c) {
            const TraceCall& call = trace_.calls[c];
            reading_.calls.emplace_back();
            for (int b = 0; b < call.batch; ++b) {
                ReadRow row = read_row(static_cast<int>(c), b);
                if (row.n_real > 0 && row.end() > config_.n_positions) {
                    return Error{
                        ErrorKind::bad_input,
                        fmt::format("{}: calls[{}] row {} reaches token {} of its text, but the model "
                                    "has {} positions.",
                                    trace_.label, c, b, row.end() - 1, config_.n_positions)};
                }
                reading_.calls.back().push_back(std::move(row));
            }
            const bool stores = !call.cache_length_after.empty() && !all_zero(call.cache_length_after);
            reading_.has_cache = reading_.has_cache || stores || call.cache_bytes.value_or(0) > 0;
        }
        return std::move(reading_);
    }

private:
    Result<void> check() const {
        const auto refuse = [&](std::string what) {
            return Error{ErrorKind::bad_input, fmt::format("{}: {}.", trace_.label, what)};
        };
        if (trace_.vocab > 0 && trace_.vocab != config_.vocab) {
            return refuse(fmt::format("the logits have a vocabulary of {}, but the model has {}",
                                      trace_.vocab, config_.vocab));
        }
        for (std::size_t c = 0; c < trace_.calls.size(); ++c) {
            for (const std::int32_t id : trace_.calls[c].input_ids) {
                if (id < 0 || id >= config_.vocab) {
                    return refuse(
                        fmt::format("calls[{}].input_ids holds {}, but the model has a vocabulary "
                                    "of {}",
                                    c, id, config_.vocab));
                }
            }
        }
        for (const auto& [name, text] : trace_.texts) {
            for (const std::int32_t id : text.ids) {
                if (id < 0 || id >= config_.vocab) {
                    return refuse(fmt::format("texts.{}.ids holds {}, but the model has a vocabulary of {}",
                                              quote(name), id, config_.vocab));
                }
            }
        }
        return {};
    }

    ReadRow read_row(int c, int b) {
        const TraceCall& call = trace_.calls[as_index(c)];
        ReadRow row;
        if (!call.requests.empty()) row.request = call.requests[as_index(b)];
        const TraceText* text = nullptr;
        if (const auto found = trace_.texts.find(row.request); found != trace_.texts.end())
            text = &found->second;
        row.has_text = text != nullptr;
        link(c, b, row);
        const std::vector<bool> real = real_columns(call, b, text);
        Ids fed;
        row.n_fed = columns_fed(call, b, real);
        for (int t = 0; t < call.width; ++t) {
            if (!real[as_index(t)]) {
                row.n_pad += t < row.n_fed;
                continue;
            }
            fed.push_back(call.input_ids[as_index(b * call.width + t)]);
            row.sampled = t;
        }
        row.n_real = static_cast<int>(fed.size());
        row.start = start_of(c, b, row, text, fed);
        row.guessed = c > 0 && text == nullptr && call.text_start.empty() && call.cache_length_before.empty();
        row.no_cache = is_without_cache(call) || is_cropped(c, row);
        if (call.error.empty()) count(row);
        const bool after_pads = row.from_call >= 0 && reading_.row(row.from_call, row.from_row).end() == 0;
        if ((row.start == 0 && !after_pads) || row.no_cache) {
            row.from_call = row.from_row = -1;
            row.pads_before = 0;
        }
        for (int t = 0, place = row.start; t < call.width; ++t)
            row.places.push_back(real[as_index(t)] ? place++ : -1);
        if (row.n_real > 0) {
            row.sequence = sequence_of(c, b, row, text, fed);
        } else if (row.from_call >= 0) {
            row.sequence = reading_.row(row.from_call, row.from_row).sequence;
        }
        if (row.n_real > 0 && row.start > 0 && row.from_call < 0 && !row.no_cache) adopt(c, row);
        if (text == nullptr && row.start > 0) reading_.judged_at_face_value = true;
        return row;
    }

    /// Tokens of a row that the request has had: in `from`, without guesses that were not accepted.
    int seen_in(int c, int b) const {
        const ReadRow& from = reading_.row(c, b);
        const auto& accepted = trace_.calls[as_index(c)].accepted;
        if (!accepted.empty()) return std::min(from.end(), from.start + 1 + accepted[as_index(b)]);
        return from.guess >= 0 ? from.guess : from.end();
    }

    /// Without lengths: a row that is fed much of what its request has had, but not from the start, comes
    /// from a loop that crops its text.
    bool is_cropped(int c, const ReadRow& row) const {
        const TraceCall& call = trace_.calls[as_index(c)];
        if (!call.cache_length_before.empty() || row.start == 0 || row.from_call < 0 || row.n_real < 3)
            return false;
        const int again = seen_in(row.from_call, row.from_row) - row.start;
        return again >= 2 && again >= row.n_real - 1;
    }

    void count(const ReadRow& row) {
        reading_.forwarded += row.n_real;
        reading_.needed += row.n_real;
        if (row.from_call < 0) return;
        // A request that begins anew and does not get further than before is another run of it.
        if (row.start == 0 && row.end() <= reading_.row(row.from_call, row.from_row).end()) return;
        reading_.needed -= std::clamp(seen_in(row.from_call, row.from_row) - row.start, 0, row.n_real);
    }

    /// The call and row that this one may go on from.
    void link(int c, int b, ReadRow& row) const {
        const TraceCall& call = trace_.calls[as_index(c)];
        if (c == 0) return;
        const TraceCall& before = trace_.calls[as_index(c - 1)];
        if (!call.parents.empty()) {
            row.from_call = c - 1;
            row.from_row = call.parents[as_index(b)];
        } else if (row.request.empty()) {
            if (b >= before.batch) return;
            row.from_call = c - 1;
            row.from_row = b;
        } else {
            for (int earlier = c - 1; earlier >= 0 && row.from_call < 0; --earlier) {
                const auto& names = trace_.calls[as_index(earlier)].requests;
                const auto named = std::find(names.begin(), names.end(), row.request);
                if (named == names.end()) continue;
                const bool same_row = as_index(b) < names.size() && names[as_index(b)] == row.request;
                row.from_call = earlier;
                row.from_row = same_row ? b : static_cast<int>(named - names.begin());
            }
        }
        // A call that failed, and one without tokens of this row, leave things as they were.
        while (row.from_call >= 0) {
            const ReadRow& from = reading_.row(row.from_call, row.from_row);
            if (from.n_real + from.n_pad > 0 && trace_.calls[as_index(row.from_call)].error.empty()) break;
            row.from_call = from.from_call;
            row.from_row = from.from_row;
        }
        if (row.from_call < 0) return;
        const ReadRow& from = reading_.row(row.from_call, row.from_row);
        row.pads_before = from.pads_before + from.n_pad;
    }

    /// Which tokens of a row are no pads: as stated, else by the mask of the call's own columns, else where
    /// the text begins, else all.
    std::vector<bool> real_columns(const TraceCall& call, int b, const TraceText* text) const {
        std::vector<bool> real(as_index(call.width), true);
        const auto row = as_index(b * call.width);
        if (!call.real.empty()) {
            for (int t = 0; t < call.width; ++t) real[as_index(t)] = call.real[row + as_index(t)] != 0;
        } else if (!call.attention_mask.empty() && call.mask_columns >= call.width) {
            const auto own = as_index(b * call.mask_columns + call.mask_columns - call.width);
            for (int t = 0; t < call.width; ++t)
                real[as_index(t)] = call.attention_mask[own + as_index(t)] != 0;
        } else if (text != nullptr && call.batch > 1 && call.width > 1) {
            for (int pads = 0; pads < call.width; ++pads) {
                const auto n = std::min(as_index(call.width - pads), text->ids.size());
                if (n != as_index(call.width - pads)) continue;
                if (!std::equal(text->ids.begin(), text->ids.begin() + static_cast<std::ptrdiff_t>(n),
                                call.input_ids.begin() + static_cast<std::ptrdiff_t>(row + as_index(pads))))
                    continue;
                std::fill_n(real.begin(), pads, false);
                break;
            }
        }
        return real;
    }

    /// Pads behind the last token may never have been fed, where rows of different lengths are written as a
    /// rectangle: the lengths tell.
    static int columns_fed(const TraceCall& call, int b, const std::vector<bool>& real) {
        int last = -1;
        for (int t = 0; t < call.width; ++t) {
            if (real[as_index(t)]) last = t;
        }
        if (call.cache_length_before.empty() || call.cache_length_after.empty()) return call.width;
        const std::int64_t grown =
            call.cache_length_after[as_index(b)] - call.cache_length_before[as_index(b)];
        if (is_without_cache(call) || grown >= call.width) return call.width;
        return std::max<int>(last + 1, static_cast<int>(std::clamp<std::int64_t>(grown, 0, call.width)));
    }

    int start_of(int c, int b, const ReadRow& row, const TraceText* text, const Ids& fed) const {
        const TraceCall& call = trace_.calls[as_index(c)];
        if (!call.text_start.empty()) return call.text_start[as_index(b)];
        if (row.from_call < 0 || is_without_cache(call))
            return text == nullptr || fed.empty() ? 0 : nearest_match(text->ids, fed, 0);
        const ReadRow& from = reading_.row(row.from_call, row.from_row);
        const int seen = seen_in(row.from_call, row.from_row);
        if (text != nullptr) return nearest_match(text->ids, fed, seen);
        const std::optional<std::int64_t> stored =
            call.cache_length_before.empty()
                ? std::nullopt
                : std::optional(call.cache_length_before[as_index(b)] - row.pads_before);
        if (stored && call.cache_length_before[as_index(b)] == 0) return 0;
        if (stored && reading_.window.size == 0 && *stored > 0 && *stored < seen)
            return static_cast<int>(*stored);
        if (!stored && from.sequence >= 0 && row.n_real > seen) {
            const auto& history = reading_.sequences[as_index(from.sequence)];
            if (std::equal(history.begin(), history.begin() + seen, fed.begin())) return 0;
        }
        // Nothing says that it goes on: beyond the model's positions it cannot.
        if (!stored && seen + row.n_real > config_.n_positions) return 0;
        return seen;
    }

    /// Where `fed` stands in `text`: after what was seen, at the beginning, or the match that is nearest.
    static int nearest_match(const Ids& text, const Ids& fed, int seen) {
        const auto matches = [&](int from) {
            return from >= 0 && as_index(from) + fed.size() <= text.size() &&
                   std::equal(fed.begin(), fed.end(), text.begin() + from);
        };
        if (fed.empty() || matches(seen)) return seen;
        if (matches(0)) return 0;
        // Drafts need not hold, and may go beyond the text; the token before them does.
        if (seen > 0 && as_index(seen) < text.size() && text[as_index(seen)] == fed.front()) return seen;
        for (int distance = 1; distance <= static_cast<int>(text.size()); ++distance) {
            for (const int from : {seen - distance, seen + distance}) {
                if (matches(from)) return from;
            }
        }
        return seen;
    }

    /// First place that the row's request is fed next, or -1.
    int next_start(int c, const ReadRow& row) const {
        for (std::size_t later = as_index(c) + 1; later < trace_.calls.size(); ++later) {
            const TraceCall& call = trace_.calls[later];
            if (call.text_start.empty()) continue;
            for (std::size_t b = 0; b < call.requests.size(); ++b) {
                if (call.requests[b] == row.request && !row.request.empty()) return call.text_start[b];
            }
        }
        return -1;
    }

    int sequence_of(int c, int b, ReadRow& row, const TraceText* text, const Ids& fed) {
        const TraceCall& call = trace_.calls[as_index(c)];
        Ids path;
        if (text != nullptr) {
            const auto known = std::min(text->ids.size(), as_index(row.start));
            path.assign(text->ids.begin(), text->ids.begin() + static_cast<std::ptrdiff_t>(known));
        } else if (row.from_call >= 0) {
            const ReadRow& from = reading_.row(row.from_call, row.from_row);
            if (from.sequence >= 0) {
                const auto& history = reading_.sequences[as_index(from.sequence)];
                path.assign(history.begin(),
                            history.begin() + std::min<std::ptrdiff_t>(row.start, std::ssize(history)));
            }
        }
        // Stated to begin behind what is known: what lies between is what was fed first here.
        path.resize(as_index(row.start), fed.front());
        // Tokens from here on are guesses of a speculating program, which may be wrong.
        int guesses = row.start + row.n_real;
        if (!call.accepted.empty()) {
            guesses = row.start + 1 + call.accepted[as_index(b)];
        } else if (const int next = next_start(c, row); next > row.start && row.start > 0) {
            guesses = std::min(guesses, next);
        } else if (call.text_start.empty() && row.start > 0 && row.n_real > 1) {
            // Nothing says which tokens were drafts: those behind the first may have been.
            guesses = row.start + 1;
        }
        bool guessing = false;
        for (int i = 0, column = -1; i < row.n_real; ++i) {
            do ++column;
            while (row.places[as_index(column)] < 0);
            const int place = row.start + i;
            const std::int32_t token = fed[as_index(i)];
            const bool known = text != nullptr && as_index(place) < text->ids.size();
            if (known && token != text->ids[as_index(place)]) {
                if (place >= guesses) guessing = true;
                if (guessing && row.guess < 0) row.guess = place;
                if (place < guesses && row.mismatch < 0) row.mismatch = column;
            }
            path.push_back(known && !guessing ? text->ids[as_index(place)] : token);
        }
        return intern(path);
    }

    /// A request that begins behind the start of its text goes on from a stored prefix: that of the latest
    /// row with the same tokens.
    void adopt(int c, ReadRow& row) const {
        const Ids& mine = reading_.sequences[as_index(row.sequence)];
        for (int call = c - 1; call >= 0; --call) {
            for (int b = 0; b < trace_.calls[as_index(call)].batch; ++b) {
                const ReadRow& other = reading_.row(call, b);
                if (other.n_real == 0 || other.end() < row.start) continue;
                const Ids& theirs = reading_.sequences[as_index(other.sequence)];
                if (!std::equal(mine.begin(), mine.begin() + row.start, theirs.begin())) continue;
                row.from_call = call;
                row.from_row = b;
                return;
            }
        }
    }

    /// The sequence that `path` begins, or that begins `path` (which then becomes it).
    int intern(const Ids& path) {
        for (std::size_t s = 0; s < reading_.sequences.size(); ++s) {
            Ids& sequence = reading_.sequences[s];
            const auto n = static_cast<std::ptrdiff_t>(std::min(path.size(), sequence.size()));
            if (!std::equal(path.begin(), path.begin() + n, sequence.begin())) continue;
            if (path.size() > sequence.size()) sequence = path;
            return static_cast<int>(s);
        }
        reading_.sequences.push_back(path);
        return static_cast<int>(reading_.sequences.size()) - 1;
    }

    const Trace& trace_;
    const ModelConfig& config_;
    TraceReading reading_;
};

}  // namespace

bool is_without_cache(const TraceCall& call) {
    return !call.cache_length_before.empty() && !call.cache_length_after.empty() &&
           all_zero(call.cache_length_before) && all_zero(call.cache_length_after);
}

Result<TraceReading> read_trace(const Trace& trace, const ModelConfig& config) {
    return Reader(trace, config).read();
}

}  // namespace decodescope
