// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/verify/stated.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include "engine/core/as_index.h"
#include "engine/core/quote.h"

namespace decodescope {

namespace {

std::string plural(std::int64_t n, const char* what) {
    if (n != 1 && std::string_view(what) == "entry") return fmt::format("{} entries", n);
    return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s");
}

class StatementJudge {
public:
    StatementJudge(const Trace& trace, const TraceReading& reading, const ModelConfig& config)
        : trace_(trace), reading_(reading), config_(config) {
        for (const TraceCall& call : trace_.calls) shift_.emplace_back(as_index(call.batch), unknown_shift);
    }

    std::vector<StatedFault> judge() {
        for (int c = 0; c < static_cast<int>(trace_.calls.size()); ++c) {
            const TraceCall& call = trace_.calls[as_index(c)];
            for (int b = 0; b < call.batch; ++b) {
                const ReadRow& row = reading_.row(c, b);
                if (row.n_real == 0) continue;
                tokens(c, b, row);
                lengths(c, b, row);
                positions(c, b, row);
                mask(c, b, row);
                column(c, b, row);
            }
            bytes(c);
            failure(c);
        }
        cost();
        return std::move(faults_);
    }

private:
    void add(FaultKind kind, int c, int b, int column, const char* tensor, std::string expected,
             std::string found, bool harmless = false) {
        const std::string request = b >= 0 ? reading_.row(c, b).request : std::string();
        if (!met_.emplace(tensor, request.empty() ? std::to_string(b) : request).second) return;
        faults_.push_back(
            {kind, {c, request, b, column, -1, tensor}, std::move(expected), std::move(found), harmless});
    }

    void tokens(int c, int b, const ReadRow& row) {
        const TraceCall& call = trace_.calls[as_index(c)];
        if (row.mismatch >= 0) {
            const int place = row.places[as_index(row.mismatch)];
            add(FaultKind::content, c, b, row.mismatch, "input ids",
                fmt::format("token {} of the text, id {}", place, reading_.token(row, place)),
                fmt::format("id {}", call.input_ids[as_index(b * call.width + row.mismatch)]));
        }
        if (row.start > 0 && row.no_cache) {
            add(FaultKind::capacity, c, b, -1, "input ids",
                fmt::format("all {} tokens of the text, as there is no cache", row.end()),
                fmt::format("only the last {}", row.n_real));
        }
        if (row.from_call >= 0) {
            const ReadRow& from = reading_.row(row.from_call, row.from_row);
            if (row.start > from.end()) {
                add(FaultKind::content, c, b, -1, "input ids",
                    fmt::format("token {} of the text next", from.end()), fmt::format("token {}", row.start));
            }
        }
    }

    bool speculated(const ReadRow& row) const {
        if (row.from_call < 0) return false;
        return !trace_.calls[as_index(row.from_call)].accepted.empty();
    }

    /// Entries that the row may hold before the call: real ones, or slots with pads; less where a window lets
    /// go.
    void lengths(int c, int b, const ReadRow& row) {
        const TraceCall& call = trace_.calls[as_index(c)];
        if (is_without_cache(call)) return;
        if (!call.cache_length_before.empty()) {
            const std::int64_t found = call.cache_length_before[as_index(b)];
            const std::int64_t most = row.start + row.pads_before;
            const int window = reading_.window.size;
            const std::int64_t least = window > 0 ? std::min(row.start, window - 1) : row.start;
            if (found < least || found > most) {
                add(length_kind(c, b, row, found), c, b, -1, "cache length",
                    plural(row.start == 0  ? 0
                           : found < least ? row.start
                                           : most,
                           "entry"),
                    plural(found, "entry"));
            }
        }
        if (call.cache_length_after.empty() || !call.error.empty()) return;
        const std::int64_t after = call.cache_length_after[as_index(b)];
        if (call.cache_capacity && after > *call.cache_capacity) {
            add(FaultKind::capacity, c, b, -1, "cache length",
                fmt::format("at most {} entries", *call.cache_capacity), plural(after, "entry"));
        }
        if (call.cache_length_before.empty() || reading_.window.size > 0) return;
        const std::int64_t before = call.cache_length_before[as_index(b)];
        if (after < before + row.n_real && call.cache_capacity && after == *call.cache_capacity) {
            add(FaultKind::capacity, c, b, -1, "cache length",
                fmt::format("{} or a refusal", plural(before + row.n_real, "entry")),
                fmt::format("still {}, the capacity", plural(after, "entry")));
        } else if (after < before + row.n_real && after != row.n_real) {
            add(FaultKind::content, c, b, -1, "cache length", plural(before + row.n_real, "entry"),
                plural(after, "entry"));
        }
    }

    FaultKind length_kind(int c, int b, const ReadRow& row, std::int64_t found) const {
        if (row.start > 0) return speculated(row) ? FaultKind::rollback : FaultKind::content;
        // A beginning that is not empty: of whom are the entries?
        for (int earlier = c - 1; earlier >= 0; --earlier) {
            if (b >= trace_.calls[as_index(earlier)].batch) continue;
            const ReadRow& before = reading_.row(earlier, b);
            if (before.n_real == 0) continue;
            if (before.request == row.request && row.end() > before.end()) return FaultKind::content;
            break;
        }
        (void)found;
        return FaultKind::isolation;
    }

    void positions(int c, int b, const ReadRow& row) {
        const TraceCall& call = trace_.calls[as_index(c)];
        if (call.position_ids.empty()) return;
        const int inherited =
            row.from_call >= 0 ? shift_[as_index(row.from_call)][as_index(row.from_row)] : unknown_shift;
        int shift = inherited;
        // What an earlier call of the row did not keep to is no shift.
        bool uniform = row.from_call < 0 || inherited != unknown_shift ||
                       trace_.calls[as_index(row.from_call)].position_ids.empty();
        int first = -1;
        for (int t = 0; t < call.width; ++t) {
            if (row.places[as_index(t)] < 0) continue;
            const int by = call.position_ids[as_index(b * call.width + t)] - row.places[as_index(t)];
            if (shift == unknown_shift) shift = by;
            uniform = uniform && by == shift;
            if (by != 0 && first < 0) first = t;
        }
        shift_[as_index(c)][as_index(b)] = uniform ? shift : unknown_shift;
        if (first < 0) return;
        // Rotary attention knows distances only.
        const bool harmless = config_.rotary && uniform;
        const int place = row.places[as_index(first)];
        const int used = call.position_ids[as_index(b * call.width + first)];
        add(position_kind(c, b, row, used - place), c, b, first, "position ids",
            fmt::format("position {}", place), fmt::format("position {}", used), harmless);
    }

    FaultKind position_kind(int c, int b, const ReadRow& row, int by) const {
        if (by != 0 && by == row.pads_before + row.n_pad) return FaultKind::padding;
        if (row.start == 0 && c > 0 && b < trace_.calls[as_index(c - 1)].batch) {
            if (by > 0 && by == reading_.row(c - 1, b).end()) return FaultKind::isolation;
        }
        if (reading_.window.size > 0 && row.start + by <= reading_.window.size && by < 0 &&
            row.start + by > 0)
            return FaultKind::window;
        return FaultKind::position;
    }

    /// Whether each slot that the row has filled holds a pad; in the order in which they were fed.
    std::vector<bool> pads(int c, int b) const {
        std::vector<bool> pad;
        const ReadRow& row = reading_.row(c, b);
        if (row.from_call >= 0) {
            pad = pads(row.from_call, row.from_row);
            // What was dropped again are the newest tokens.
            int surplus = reading_.row(row.from_call, row.from_row).end() - row.start;
            while (surplus > 0 && !pad.empty()) {
                surplus -= !pad.back();
                pad.pop_back();
            }
        }
        for (int t = 0; t < row.n_fed; ++t) pad.push_back(row.places[as_index(t)] < 0);
        return pad;
    }

    void mask(int c, int b, const ReadRow& row) {
        const TraceCall& call = trace_.calls[as_index(c)];
        if (!call.mask_known || reading_.window.size > 0) return;
        const auto pad = pads(c, b);
        // Behind the last token a pad is in nobody's past.
        const auto last = std::find(pad.rbegin(), pad.rend(), false).base();
        const auto n_pad = std::count(pad.begin(), last, true);
        if (call.attention_mask.empty()) {
            if (n_pad > 0) {
                add(FaultKind::padding, c, b, -1, "attention mask",
                    fmt::format("a mask that hides {}", plural(n_pad, "pad")), "no mask");
            }
            return;
        }
        const std::uint8_t* visible = call.attention_mask.data() + as_index(b * call.mask_columns);
        if (as_index(call.mask_columns) < pad.size()) {
            if (n_pad > 0) {
                add(FaultKind::padding, c, b, -1, "attention mask", plural(std::ssize(pad), "column"),
                    plural(call.mask_columns, "column"));
            }
            return;
        }
        // A mask may be wider than this row, where other rows of the batch are longer.
        if (!call.cache_length_before.empty() && !is_without_cache(call) &&
            call.cache_length_before[as_index(b)] + row.n_fed != std::ssize(pad))
            return;
        int seen = 0;
        int hidden = 0;
        int spare = 0;
        for (int i = 0; i < call.mask_columns; ++i) {
            const bool in_use = as_index(i) < pad.size();
            seen += in_use && pad[as_index(i)] && visible[i] != 0;
            hidden += in_use && !pad[as_index(i)] && visible[i] == 0;
            spare += !in_use && visible[i] != 0;
        }
        if (seen > 0) {
            add(FaultKind::padding, c, b, -1, "attention mask", "0 pads visible",
                fmt::format("{} visible", plural(seen, "pad")));
        } else if (hidden > 0) {
            add(FaultKind::mask, c, b, -1, "attention mask", "all earlier tokens visible",
                fmt::format("{} hidden", plural(hidden, "token")));
        } else if (spare > 0 && call.mask_columns > std::ssize(pad) && call.batch == 1) {
            add(FaultKind::mask, c, b, -1, "attention mask", "0 empty slots visible",
                fmt::format("{} visible", plural(spare, "empty slot")));
        }
    }

    void column(int c, int b, const ReadRow& row) {
        const TraceCall& call = trace_.calls[as_index(c)];
        if (call.logits_columns.empty()) return;
        const int read = call.logits_columns[as_index(b)];
        if (read < 0 || row.places[as_index(read)] >= 0) return;
        add(FaultKind::padding, c, b, read, "logits", fmt::format("read at column {}", row.sampled),
            fmt::format("read at column {}, a pad", read));
    }

    void bytes(int c) {
        const TraceCall& call = trace_.calls[as_index(c)];
        if (!call.cache_bytes || call.cache_length_after.empty() || !call.error.empty()) return;
        const std::int64_t slots_held =
            std::accumulate(call.cache_length_after.begin(), call.cache_length_after.end(), std::int64_t{0});
        const std::int64_t one_byte = slots_held * config_.kv_bytes_per_token(DType::f32) /
                                      static_cast<std::int64_t>(size_of(DType::f32));
        if (one_byte <= 0) return;
        const double per_element = static_cast<double>(*call.cache_bytes) / static_cast<double>(one_byte);
        const auto is = [&](double value) { return std::abs(per_element - value) < 1e-9; };
        const double group = static_cast<double>(config_.n_head) / config_.n_kv_head;
        const auto expect = [&](int size, std::string why) {
            add(FaultKind::cost, c, -1, -1, "cache bytes",
                fmt::format("{} bytes for {} in {} bytes each", one_byte * size, plural(slots_held, "entry"),
                            size),
                fmt::format("{} bytes{}", *call.cache_bytes, why));
        };
        if (is(4) || is(2)) return;
        if (group > 1 && (is(2 * group) || is(4 * group))) {
            return expect(is(2 * group) ? 2 : 4,
                          fmt::format(": {} times as many, what {} query heads take instead of {} KV heads",
                                      static_cast<int>(group), config_.n_head, config_.n_kv_head));
        }
        const double derived = static_cast<double>(config_.d_model) / config_.n_head / config_.head_dim;
        if (derived != 1 && (is(2 * derived) || is(4 * derived))) {
            return expect(
                is(2 * derived) ? 2 : 4,
                fmt::format(": what heads of {} / {} = {} take, but they are {} wide", config_.d_model,
                            config_.n_head, config_.d_model / config_.n_head, config_.head_dim));
        }
        if (per_element > 4) expect(4, "");
        // Fewer than two bytes: codes with scales. Of how many bits is not known, so nothing is expected.
    }

    /// Slots of f32 entries that the bytes reserved last amount to; 0 = unknown.
    std::int64_t reserved_slots(int c) const {
        for (; c >= 0; --c) {
            if (const auto& bytes = trace_.calls[as_index(c)].cache_bytes_reserved)
                return *bytes / config_.kv_bytes_per_token(DType::f32);
        }
        return 0;
    }

    /// Whether a refusal says that there is no room.
    static bool speaks_of_room(const std::string& error) {
        for (const char* word : {"capacity", "full", "left", "room", "blocks", "memory", "space", "slots"})
            if (error.find(word) != std::string::npos) return true;
        return false;
    }

    void failure(int c) {
        const TraceCall& call = trace_.calls[as_index(c)];
        if (call.error.empty()) return;
        bool full = false;
        bool appends = false;
        bool others = false;
        std::int64_t needed = 0;
        for (int b = 0; b < call.batch; ++b) {
            const ReadRow& row = reading_.row(c, b);
            appends = appends || row.start > 0;
            others = others || (row.start == 0 && c > 0);
            const std::int64_t before = call.cache_length_before.empty()
                                            ? row.start + row.pads_before
                                            : call.cache_length_before[as_index(b)];
            needed += before + row.n_fed;
            full = full || (call.cache_capacity && before + row.n_fed > *call.cache_capacity) ||
                   row.end() > config_.n_positions;
        }
        // Refusing what does not fit is right.
        if (full) return;
        if (speaks_of_room(call.error)) {
            if (reserved_slots(c) < 2 * needed) return;
            return add(FaultKind::cost, c, -1, -1, "error",
                       fmt::format("room for {} in {} slots", plural(needed, "entry"), reserved_slots(c)),
                       fmt::format("the error {}", quote(call.error)));
        }
        const FaultKind kind = appends && call.width > 1 ? FaultKind::mask
                               : appends                 ? FaultKind::head_layout
                               : others                  ? FaultKind::isolation
                                                         : FaultKind::head_layout;
        add(kind, c, -1, -1, "error", "a call that works", fmt::format("the error {}", quote(call.error)));
    }

    void cost() {
        const std::int64_t more = reading_.forwarded - reading_.needed;
        if (!reading_.has_cache || more * 4 < reading_.forwarded) return;
        add(FaultKind::cost, -1, -1, -1, "tokens forwarded", plural(reading_.needed, "token"),
            plural(reading_.forwarded, "token"));
    }

    static constexpr int unknown_shift = -(1 << 30);

    const Trace& trace_;
    const TraceReading& reading_;
    const ModelConfig& config_;
    std::vector<StatedFault> faults_;
    std::set<std::pair<std::string, std::string>> met_;
    std::vector<std::vector<int>> shift_;  // [call][row] of the position ids, where it is the same for all
};

}  // namespace

std::string StatedFault::sentence() const {
    std::string where = place.tensor;
    if (place.row >= 0) where += fmt::format(" of row {}", place.row);
    if (place.call >= 0) where += fmt::format(" in call {}", place.call);
    return fmt::format("{}: expected {}, found {}", where, expected, found);
}

std::vector<StatedFault> stated_faults(const Trace& trace, const TraceReading& reading,
                                       const ModelConfig& config) {
    return StatementJudge(trace, reading, config).judge();
}

std::vector<VerdictEvidence> stated_rights(const Trace& trace, const std::vector<StatedFault>& faults) {
    std::vector<VerdictEvidence> rights;
    const auto count = [&](const char* tensor, const char* claim, auto stated) {
        const auto n = std::count_if(trace.calls.begin(), trace.calls.end(), stated);
        if (n == 0) return;
        for (const StatedFault& fault : faults)
            if (fault.place.tensor == tensor) return;
        rights.push_back({claim,
                          fmt::format("The {} of {} {} what they should be.", claim, plural(n, "call"),
                                      n == 1 ? "is" : "are"),
                          true});
    };
    count("position ids", "position ids", [](const TraceCall& c) { return !c.position_ids.empty(); });
    count("cache length", "cache lengths", [](const TraceCall& c) { return !c.cache_length_before.empty(); });
    count("attention mask", "padding masks", [](const TraceCall& c) { return c.mask_known; });
    count("cache bytes", "cache bytes",
          [](const TraceCall& c) { return c.cache_bytes.has_value() && !c.cache_length_after.empty(); });
    return rights;
}

double cache_bytes_per_element(const Trace& trace, const ModelConfig& config) {
    for (auto call = trace.calls.rbegin(); call != trace.calls.rend(); ++call) {
        if (!call->cache_bytes || call->cache_length_after.empty()) continue;
        const auto held = std::accumulate(call->cache_length_after.begin(), call->cache_length_after.end(),
                                          std::int64_t{0});
        if (held <= 0) continue;
        return static_cast<double>(*call->cache_bytes) /
               (static_cast<double>(held) * static_cast<double>(config.kv_bytes_per_token(DType::f32)) / 4);
    }
    return 0;
}

}  // namespace decodescope
