// SPDX-License-Identifier: GPL-3.0-or-later
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "engine/core/as_index.h"
#include "engine/verify/explanations.h"

namespace decodescope {

namespace {

/// Sets the positions of every real token: `position(ordinal among the row's real tokens, place, column)`.
void place(ReplayRow& row, const std::function<std::int32_t(int, int, int)>& position, bool query = true,
           bool key = true) {
    int ordinal = 0;
    for (std::size_t t = 0; t < row.tokens.size(); ++t) {
        ReplayToken& token = row.tokens[t];
        if (token.place < 0) continue;
        const std::int32_t used = position(ordinal++, token.place, static_cast<int>(t));
        if (query) token.query_position = used;
        if (key) token.key_position = used;
    }
}

std::int32_t bf16(std::int32_t position) {
    const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(position));
    const std::uint32_t rounded = (bits + 0x7fff + ((bits >> 16) & 1)) & 0xffff0000u;
    return static_cast<std::int32_t>(std::bit_cast<float>(rounded));
}

int n_real_kept(const ReplayRow& row) {
    return static_cast<int>(std::count_if(row.kept.begin(), row.kept.end(),
                                          [](const ReplayEntry& entry) { return entry.place >= 0; }));
}

class PositionRules {
public:
    explicit PositionRules(std::vector<Explanation>& out) : out_(out) {}

    Explanation& add(FaultKind kind, std::string summary, Amend amend) {
        return add_position_rule(out_, kind, std::move(summary), std::move(amend));
    }
    /// Acts on rows that go on from a cache.
    void on_append(FaultKind kind, std::string summary,
                   std::function<std::int32_t(const ReplaySituation&, int, int, int)> position,
                   bool query = true, bool key = true) {
        add(kind, std::move(summary), [position, query, key](const ReplaySituation& here, ReplayRow& row) {
            if (here.read().start == 0) return;
            place(
                row, [&](int o, int p, int c) { return position(here, o, p, c); }, query, key);
        });
    }

private:
    std::vector<Explanation>& out_;
};

}  // namespace

int first_length(const ReplaySituation& here) {
    const ReadRow* row = &here.read();
    while (row->from_call >= 0) row = &here.reading.row(row->from_call, row->from_row);
    return row->end();
}

std::pair<std::string, std::string> describe_positions(const ReplaySituation&, const ReplayRow& right,
                                                       const ReplayRow& found) {
    for (std::size_t t = 0; t < right.tokens.size(); ++t) {
        const ReplayToken& a = right.tokens[t];
        const ReplayToken& b = found.tokens[t];
        if (a.place < 0) continue;
        if (a.query_position != b.query_position && a.key_position == b.key_position) {
            return {fmt::format("query position {}", a.query_position),
                    fmt::format("query position {}, key position {}", b.query_position, b.key_position)};
        }
        if (a.key_position != b.key_position)
            return {fmt::format("position {}", a.key_position), fmt::format("position {}", b.key_position)};
    }
    return {};
}

void add_position_rules(const ReplaySituation& here, std::vector<Explanation>& out) {
    PositionRules rules(out);
    const ModelConfig& config = here.config;
    if (const Window window = here.reading.window; window.size > 0) {
        // Where a window is full, what is stored no longer grows.
        const int full = window.size + window.sinks;
        for (const int most : {full, full - 1}) {
            rules.on_append(FaultKind::window, "positions are the number of entries still stored",
                            [most](const ReplaySituation& now, int ordinal, int, int) {
                                return std::min(now.read().start, most) + ordinal;
                            });
        }
    }
    rules.on_append(FaultKind::position, "positions restart at 0 in every call",
                    [](const ReplaySituation&, int ordinal, int, int) { return ordinal; });
    // Only where the two differ: what has no pads has no slot numbers of its own.
    const auto slots = [](const ReplaySituation& now, int, int, int column) {
        return now.read().start + now.read().pads_before + column;
    };
    const std::string as_slots = "positions are slot numbers that count the pads";
    rules.on_append(FaultKind::padding, as_slots + " once a cache exists", slots);
    rules
        .add(FaultKind::padding, as_slots,
             [slots](const ReplaySituation& now, ReplayRow& row) {
                 place(row, [&](int o, int p, int c) { return slots(now, o, p, c); });
             })
        .from_start = true;
    rules.on_append(
        FaultKind::position, "the number of the last position goes on in every later call",
        [](const ReplaySituation& now, int ordinal, int, int) { return first_length(now) + ordinal; });
    for (const int less : {0, 1}) {
        rules.on_append(
            FaultKind::position,
            fmt::format("the length of the prompt{} is added a second time", less == 0 ? "" : " less one"),
            [less](const ReplaySituation& now, int, int p, int) { return p + first_length(now) - less; });
    }
    for (const int by : {1, -1}) {
        rules.on_append(FaultKind::position,
                        fmt::format("positions are one too {} once a cache exists", by > 0 ? "high" : "low"),
                        [by](const ReplaySituation&, int, int p, int) { return p + by; });
    }
    const auto ahead = [](const ReplaySituation& now, ReplayRow& row) {
        place(
            row, [&](int, int p, int) { return p + static_cast<int>(now.read().places.size()); }, true,
            false);
    };
    const std::string read_late = "queries read their offset after the call's keys have been counted";
    rules.add(FaultKind::position, read_late, ahead);
    rules.add(FaultKind::position, read_late, ahead).from_start = true;
    rules.add(FaultKind::position, read_late + " once a cache exists",
              [ahead](const ReplaySituation& now, ReplayRow& row) {
                  if (now.read().start > 0) ahead(now, row);
              });
    // An axis that was taken for the tokens; without meaning where that number is right by chance.
    for (const auto& [axis, n] :
         {std::pair("query heads", config.n_head), std::pair("KV heads", config.n_kv_head),
          std::pair("head_dim", config.head_dim)}) {
        rules.on_append(
            FaultKind::head_layout,
            fmt::format("the past is taken to be {} tokens long, the model's number of {}", n, axis),
            [n = n](const ReplaySituation&, int ordinal, int, int) { return n + ordinal; });
    }
    for (const bool from_start : {false, true}) {
        rules
            .add(FaultKind::dtype, "positions are rounded to bf16, which holds whole numbers up to 256",
                 [](const ReplaySituation&, ReplayRow& row) {
                     place(row, [](int, int p, int) { return bf16(p); });
                 })
            .from_start = from_start;
    }
    rules.add(FaultKind::isolation, "the position counter was not reset for a new request",
              [](const ReplaySituation& now, ReplayRow& row) {
                  std::int32_t by = 0;
                  if (now.read().start == 0) {
                      for (const ReplayEntry& entry : now.occupant) by = std::max(by, entry.place + 1);
                  } else if (!row.kept.empty() && row.kept.front().place >= 0) {
                      by = row.kept.front().position - row.kept.front().place;
                  }
                  place(row, [&](int, int p, int) { return p + by; });
              });
    if (!here.trace_call().position_ids.empty()) {
        rules
            .add(FaultKind::position, "the position ids that the trace states are wrong",
                 [](const ReplaySituation& now, ReplayRow& row) {
                     const TraceCall& call = now.trace_call();
                     if (call.position_ids.empty()) return;
                     place(row, [&](int, int, int column) {
                         return call.position_ids[as_index(now.row * call.width + column)];
                     });
                 })
            .as_stated = true;
    }
}

std::vector<Explanation> searched_explanations(const ReplaySituation& here) {
    std::vector<Explanation> out;
    PositionRules rules(out);
    // Far enough for every count that a program may confuse with a position.
    constexpr int reach = 64;
    const int start = here.read().start;
    const auto shifted = [&](int by, bool query, bool key) {
        const auto shift = [by, query, key](const ReplaySituation&, ReplayRow& row) {
            place(
                row, [&](int, int p, int) { return p + by; }, query, key);
        };
        const char* who = query && key ? "positions" : query ? "query positions" : "key positions";
        rules.add(FaultKind::position, fmt::format("{} are off by {:+}", who, by), shift);
    };
    for (int by = -std::min(start, reach); by <= reach; ++by) {
        if (by == 0) continue;
        shifted(by, true, true);
        shifted(by, true, false);
        shifted(by, false, true);
    }
    const auto with_kept = [&](std::string summary, std::function<bool(int, int)> keep) {
        for (const bool count : {false, true}) {
            add_cache_rule(out, FaultKind::content, summary,
                           [keep, count](const ReplaySituation&, ReplayRow& row) {
                               ReplayEntries kept;
                               const int n = row.n_kept();
                               for (int i = 0; i < n; ++i)
                                   if (keep(i, n)) kept.push_back(row.kept[as_index(i)]);
                               row.kept = std::move(kept);
                               see_all_kept(row);
                               if (!count) return;
                               const int first = n_real_kept(row);
                               place(row, [&](int ordinal, int, int) { return first + ordinal; });
                           });
        }
    };
    const int n = static_cast<int>(here.stored.size());
    for (int i = 0; i < std::min(n, reach); ++i) {
        with_kept(fmt::format("the {} newest entries are missing", i + 1),
                  [i](int entry, int all) { return entry < all - 1 - i; });
        with_kept(fmt::format("the {} oldest entries are missing", i + 1),
                  [i](int entry, int) { return entry > i; });
        if (i > 0 && i < n - 1) {
            with_kept(fmt::format("entry {} is missing", i), [i](int entry, int) { return entry != i; });
        }
    }
    for (int spare = 1; spare <= reach; ++spare) {
        add_visibility_rule(out, FaultKind::mask, fmt::format("{} empty slots are visible", spare),
                            [spare](const ReplaySituation&, ReplayRow& row) { row.spare = spare; });
    }
    return out;
}

std::vector<Explanation> known_explanations(const ReplaySituation& here) {
    std::vector<Explanation> out;
    add_content_rules(here, out);
    add_position_rules(here, out);
    add_mask_rules(here, out);
    add_layout_rules(here, out);
    return out;
}

}  // namespace decodescope
