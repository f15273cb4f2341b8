// SPDX-License-Identifier: GPL-3.0-or-later
#include <fmt/format.h>

#include <algorithm>

#include "engine/core/as_index.h"
#include "engine/verify/explanations.h"

namespace decodescope {

namespace {

class MaskRules {
public:
    explicit MaskRules(std::vector<Explanation>& out) : out_(out) {}

    Explanation& add(FaultKind kind, std::string summary, Amend amend) {
        return add_visibility_rule(out_, kind, std::move(summary), std::move(amend));
    }
    /// Once for the first wrong call and those after it, once for all calls.
    void both(FaultKind kind, const std::string& summary, const Amend& amend) {
        add(kind, summary, amend);
        add(kind, summary, amend).from_start = true;
    }

private:
    std::vector<Explanation>& out_;
};

bool appends(const ReplaySituation& here) {
    return here.read().start > 0;
}

bool sees_by_rule(const ReplayRow& row, std::int32_t query, std::int32_t key, const Window& window) {
    const auto q = row.place_of(query);
    const auto k = row.place_of(key);
    return q >= 0 && k >= 0 && cell_state(q, k, window) == CellState::visible;
}

/// Slots in the order in which they were filled, pads included: what a mask over the whole buffer speaks of.
void see_slots(ReplayRow& row, const std::function<bool(int query, int key)>& sees) {
    row.see([&](std::int32_t query, std::int32_t key) { return sees(query, key); });
}

std::string keys(const ReplayRow& row, const ReplayToken& token) {
    int pads = 0;
    int first = -1;
    int last = -1;
    for (const std::int32_t key : token.visible) {
        const std::int32_t place = row.place_of(key);
        if (place < 0) {
            ++pads;
            continue;
        }
        first = first < 0 ? place : std::min(first, place);
        last = std::max(last, place);
    }
    const int n = static_cast<int>(token.visible.size()) - pads;
    std::string text = n == 0   ? "no key visible"
                       : n == 1 ? fmt::format("only key {} visible", first)
                                : fmt::format("{} keys from {} to {} visible", n, first, last);
    if (pads > 0) text += fmt::format(", and {} pad{}", pads, pads == 1 ? "" : "s");
    if (row.spare > 0) text += fmt::format(", and {} empty slot{}", row.spare, row.spare == 1 ? "" : "s");
    return text;
}

void add_window_rules(const ReplaySituation& here, MaskRules& rules) {
    const Window window = here.reading.window;
    const auto with = [&](int size, const std::string& summary) {
        rules.add(FaultKind::window, summary, [size, window](const ReplaySituation&, ReplayRow& row) {
            row.see([&](std::int32_t query, std::int32_t key) {
                return sees_by_rule(row, query, key, {size, size > 0 ? window.sinks : 0});
            });
        });
    };
    if (window.size > 0) {
        with(0, "the sliding window is ignored");
        with(window.size + 1, "the sliding window is one too wide");
        if (window.size > 1) with(window.size - 1, "the sliding window is one too narrow");
        if (window.sinks > 0) {
            rules.add(FaultKind::window, "the first tokens are not kept as sinks",
                      [window](const ReplaySituation&, ReplayRow& row) {
                          row.see([&](std::int32_t query, std::int32_t key) {
                              return sees_by_rule(row, query, key, {window.size, 0});
                          });
                      });
        }
        // What was evicted before a chunk is gone for its first rows.
        rules.add(FaultKind::window, "a chunk keeps one window of keys for all its rows",
                  [window](const ReplaySituation&, ReplayRow& row) {
                      const int last = row.n_kept() + static_cast<int>(row.tokens.size()) - 1;
                      row.see([&](std::int32_t query, std::int32_t key) {
                          return sees_by_rule(row, query, key, window) && key > last - window.size;
                      });
                  });
    }
}

void add_capacity_rules(const ReplaySituation& here, MaskRules& rules) {
    if (here.reading.window.size > 0) return;
    // The room of the cache: stated, else whatever had been stored when things went wrong.
    const int n = static_cast<int>(here.stored.size());
    const int capacity =
        static_cast<int>(std::clamp<std::int64_t>(here.trace_call().cache_capacity.value_or(n), 1, 1 << 20));
    rules
        .add(FaultKind::capacity, "the cache is full and its last slot is overwritten",
             [capacity](const ReplaySituation& now, ReplayRow& row) {
                 const int all = row.n_kept() + static_cast<int>(row.tokens.size());
                 if (!appends(now) || all <= capacity) return;
                 row.see([&](std::int32_t query, std::int32_t key) {
                     return (key < capacity - 1 || key == query) && sees_by_rule(row, query, key, {});
                 });
             })
        .tensor = "cache";
    for (const int size : {capacity, capacity - 1}) {
        if (size < 1) continue;
        auto& rule = rules.add(FaultKind::capacity,
                               "the cache is full and the oldest entries are overwritten, although the model "
                               "has no window",
                               [size, capacity](const ReplaySituation& now, ReplayRow& row) {
                                   const int all = row.n_kept() + static_cast<int>(row.tokens.size());
                                   if (!appends(now) || all <= capacity) return;
                                   row.see([&](std::int32_t query, std::int32_t key) {
                                       return sees_by_rule(row, query, key, {size, 0});
                                   });
                               });
        rule.tensor = "cache";
    }
}

}  // namespace

void see_all_kept(ReplayRow& row) {
    row.see([&](std::int32_t query, std::int32_t key) {
        return row.place_of(query) >= 0 && row.place_of(key) >= 0 && key <= query;
    });
}

std::pair<std::string, std::string> describe_visible(const ReplaySituation&, const ReplayRow& right,
                                                     const ReplayRow& found) {
    for (std::size_t t = 0; t < right.tokens.size() && t < found.tokens.size(); ++t) {
        if (right.tokens[t].place < 0) continue;
        const std::string expected = keys(right, right.tokens[t]);
        const std::string seen = keys(found, found.tokens[t]);
        if (expected != seen) return {expected, seen};
    }
    return {};
}

std::pair<std::string, std::string> describe_length(const ReplaySituation&, const ReplayRow& right,
                                                    const ReplayRow& found) {
    return {fmt::format("{} entries before the call", right.n_kept()),
            fmt::format("{} entries before the call", found.n_kept())};
}

void add_mask_rules(const ReplaySituation& here, std::vector<Explanation>& out) {
    MaskRules rules(out);
    // Where there is a window, seeing too much is first of all a matter of the window.
    add_window_rules(here, rules);
    rules.add(FaultKind::mask, "the causal mask is aligned with the upper left corner",
              [](const ReplaySituation& now, ReplayRow& row) {
                  if (!appends(now)) return;
                  see_slots(row, [&](int query, int key) {
                      return row.place_of(query) >= 0 && row.place_of(key) >= 0 &&
                             key <= query - row.n_kept();
                  });
              });
    rules.add(FaultKind::mask, "a call that appends to a cache has no causal mask",
              [](const ReplaySituation& now, ReplayRow& row) {
                  if (!appends(now)) return;
                  row.see([&](std::int32_t query, std::int32_t key) {
                      return row.place_of(query) >= 0 && row.place_of(key) >= 0;
                  });
              });
    rules.both(FaultKind::mask, "there is no causal mask", [](const ReplaySituation&, ReplayRow& row) {
        row.see([&](std::int32_t query, std::int32_t key) {
            return row.place_of(query) >= 0 && row.place_of(key) >= 0;
        });
    });
    const auto strict = [](const ReplaySituation& now, ReplayRow& row) {
        row.see([&](std::int32_t query, std::int32_t key) {
            return key != query && sees_by_rule(row, query, key, now.reading.window);
        });
    };
    rules.both(FaultKind::mask, "a token does not see itself", strict);
    rules
        .add(FaultKind::mask, "a token that is appended to a cache does not see itself",
             [strict](const ReplaySituation& now, ReplayRow& row) {
                 if (appends(now)) strict(now, row);
             })
        .from_start = true;
    rules
        .add(FaultKind::mask, "a call that appends to a cache does not see what is stored",
             [](const ReplaySituation& now, ReplayRow& row) {
                 if (!appends(now)) return;
                 row.see([&](std::int32_t query, std::int32_t key) {
                     return key >= row.n_kept() && sees_by_rule(row, query, key, now.reading.window);
                 });
             })
        .of_history = true;
    // Pads: they themselves see nothing, or what a causal mask alone lets them see.
    const auto pads_visible = [](const ReplaySituation& now, ReplayRow& row, bool pads_see) {
        row.see([&](std::int32_t query, std::int32_t key) {
            if (row.place_of(query) >= 0 && row.place_of(key) >= 0)
                return sees_by_rule(row, query, key, now.reading.window);
            return key <= query && (row.place_of(query) >= 0 || pads_see);
        });
    };
    for (const bool pads_see : {false, true}) {
        rules
            .add(FaultKind::padding, "pads are visible once a cache exists",
                 [pads_visible, pads_see](const ReplaySituation& now, ReplayRow& row) {
                     if (appends(now)) return pads_visible(now, row, pads_see);
                     if (!pads_see) return;
                     for (std::size_t t = 0; t < row.tokens.size(); ++t) {
                         if (row.tokens[t].place >= 0) continue;
                         for (std::size_t key = 0; key <= t; ++key)
                             row.tokens[t].visible.push_back(static_cast<std::int32_t>(key));
                     }
                 })
            .from_start = true;
        rules
            .add(FaultKind::padding, "pads are visible",
                 [pads_visible, pads_see](const ReplaySituation& now, ReplayRow& row) {
                     pads_visible(now, row, pads_see);
                 })
            .from_start = true;
    }
    if (const auto capacity = here.trace_call().cache_capacity) {
        rules.both(FaultKind::mask, "slots that hold nothing yet are visible",
                   [capacity = *capacity](const ReplaySituation& now, ReplayRow& row) {
                       const auto used = row.kept.size() + row.tokens.size();
                       row.spare = static_cast<int>(
                           std::clamp<std::int64_t>(capacity - static_cast<std::int64_t>(used), 0, 1 << 16));
                       (void)now;
                   });
        rules.add(FaultKind::mask, "slots that hold nothing yet are visible once a cache exists",
                  [capacity = *capacity](const ReplaySituation& now, ReplayRow& row) {
                      if (!appends(now)) return;
                      const auto used = row.kept.size() + row.tokens.size();
                      row.spare = static_cast<int>(
                          std::clamp<std::int64_t>(capacity - static_cast<std::int64_t>(used), 0, 1 << 16));
                  });
    }
    if (!here.trace_call().attention_mask.empty()) {
        rules
            .add(FaultKind::padding, "the attention mask that the trace states is wrong",
                 [](const ReplaySituation& now, ReplayRow& row) {
                     const TraceCall& call = now.trace_call();
                     const int slots = row.n_kept() + static_cast<int>(row.tokens.size());
                     if (call.mask_columns != slots) return;
                     row.see([&](std::int32_t query, std::int32_t key) {
                         return key <= query &&
                                call.attention_mask[as_index(now.row * call.mask_columns + key)] != 0;
                     });
                 })
            .as_stated = true;
    }
    add_capacity_rules(here, rules);
}

}  // namespace decodescope
