// SPDX-License-Identifier: GPL-3.0-or-later
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>

#include "engine/cache/entry_codec.h"
#include "engine/core/as_index.h"
#include "engine/core/quote.h"
#include "engine/verify/explanations.h"

namespace decodescope {

namespace {

/// How the tokens of a call are numbered when the cache holds something else than it should.
enum class Numbering { by_text, by_entries };

void number(ReplayRow& row, Numbering numbering) {
    if (numbering == Numbering::by_text) return;
    auto next = static_cast<std::int32_t>(std::count_if(
        row.kept.begin(), row.kept.end(), [](const ReplayEntry& entry) { return entry.place >= 0; }));
    for (ReplayToken& token : row.tokens) {
        if (token.place >= 0) token.query_position = token.key_position = next++;
    }
}

/// Every real token sees all that is kept, and its own row's up to itself; within the window, counted in
/// entries as the program does that has them.
void see_kept(const ReplaySituation& now, ReplayRow& row) {
    see_all_kept(row);
    if (now.reading.window.size == 0) return;
    for (ReplayToken& token : row.tokens) {
        std::erase_if(token.visible, [&](std::int32_t key) {
            const std::int32_t k = key < row.n_kept() ? row.kept[as_index(key)].position
                                                      : row.tokens[as_index(key - row.n_kept())].key_position;
            return cell_state(token.query_position, k, now.reading.window) != CellState::visible;
        });
    }
}

class ContentRules {
public:
    explicit ContentRules(std::vector<Explanation>& out) : out_(out) {}

    /// `keep` says what the row goes on from instead.
    void add(FaultKind kind, const std::string& summary,
             const std::function<void(const ReplaySituation&, ReplayEntries&)>& keep) {
        for (const Numbering numbering : {Numbering::by_text, Numbering::by_entries}) {
            bare(kind, summary).amend = [keep, numbering](const ReplaySituation& now, ReplayRow& row) {
                const auto slots_of = [](const ReplayEntries& entries) {
                    std::vector<std::int32_t> slots_held;
                    for (const ReplayEntry& entry : entries) slots_held.push_back(entry.slot);
                    return slots_held;
                };
                const auto before = slots_of(row.kept);
                keep(now, row.kept);
                if (slots_of(row.kept) == before) return;
                number(row, numbering);
                see_kept(now, row);
            };
        }
    }

    /// Without `amend`.
    Explanation& bare(FaultKind kind, const std::string& summary) {
        return add_cache_rule(out_, kind, summary, {});
    }

private:
    std::vector<Explanation>& out_;
};

/// What other rows of the batch, and other requests, have stored when the row's call is made.
std::vector<std::pair<int, int>> others(const ReplaySituation& here) {
    constexpr std::size_t most = 16;
    std::vector<std::pair<int, int>> found;
    std::set<std::pair<int, std::string>> met;
    const ReadRow& mine = here.read();
    std::set<std::pair<int, int>> own;
    for (const ReadRow* row = &mine; row->from_call >= 0;
         row = &here.reading.row(row->from_call, row->from_row))
        own.emplace(row->from_call, row->from_row);
    for (int c = here.call - 1; c >= 0 && found.size() < most; --c) {
        for (int b = 0; b < static_cast<int>(here.after[as_index(c)].size()); ++b) {
            if (here.after[as_index(c)][as_index(b)].empty() || own.contains({c, b})) continue;
            if (met.emplace(b, here.reading.row(c, b).request).second) found.emplace_back(c, b);
        }
    }
    return found;
}

std::string name_of(const ReplaySituation& here, int call, int row) {
    const std::string& request = here.reading.row(call, row).request;
    return request.empty() ? fmt::format("row {}", row) : fmt::format("request {}", quote(request));
}

void add_leftovers(const ReplaySituation& here, ContentRules& rules) {
    // A call that verifies drafts says so, or is one of several tokens of which not all were kept.
    const bool speculates = [&] {
        if (here.read().from_call < 0) return false;
        const ReadRow& from = here.reading.row(here.read().from_call, here.read().from_row);
        return !here.trace.calls[as_index(here.read().from_call)].accepted.empty() ||
               (from.start > 0 && from.n_real > 1 && from.end() > here.read().start);
    }();
    const bool adopted =
        here.read().from_call >= 0 &&
        here.reading.row(here.read().from_call, here.read().from_row).request != here.read().request;
    rules.add(adopted      ? FaultKind::prefix
              : speculates ? FaultKind::rollback
                           : FaultKind::content,
              adopted      ? "the stored prefix has what another request added to it"
              : speculates ? "entries of tokens that were not kept stay in the cache"
                           : "entries that should have been dropped stay in the cache",
              [](const ReplaySituation& now, ReplayEntries& kept) { kept = now.stored; });
    if (speculates) {
        for (const int off : {1, -1, 2, -2, 3, -3}) {
            rules.add(FaultKind::rollback,
                      fmt::format("the rollback drops {} {} too {}", std::abs(off),
                                  std::abs(off) == 1 ? "entry" : "entries", off > 0 ? "few" : "many"),
                      [off](const ReplaySituation& now, ReplayEntries& kept) {
                          // A rollback that had nothing to drop is right.
                          if (now.stored.size() == kept.size()) return;
                          const auto n = static_cast<std::ptrdiff_t>(kept.size()) + off;
                          if (n < 0 || n > std::ssize(now.stored)) return;
                          kept.assign(now.stored.begin(), now.stored.begin() + n);
                      });
        }
    }
    // Lost once, when the wrong call was made; later calls go on without it.
    const auto lost = [&](const std::string& which, bool newest) {
        rules.add(FaultKind::content, fmt::format("the {} entry of the cache is missing", which),
                  [newest, call = here.call](const ReplaySituation& now, ReplayEntries& kept) {
                      if (now.call == call && !kept.empty())
                          kept.erase(newest ? kept.end() - 1 : kept.begin());
                  });
    };
    lost("newest", true);
    if (here.reading.window.size == 0) lost("oldest", false);
    // What the batch row held before: of the same request, or of another one.
    const bool same = !here.occupant.empty() &&
                      here.reading.row(here.occupant.back().call, here.occupant.back().row).request ==
                          here.read().request &&
                      !here.read().request.empty();
    rules.add(same ? FaultKind::content : FaultKind::isolation,
              same ? "the text is fed again onto what is stored of it"
                   : "the cache still holds what the request before left in it",
              [](const ReplaySituation& now, ReplayEntries& kept) {
                  if (now.read().start == 0) kept = now.occupant;
              });
}

/// The row's mask has moved with its request, the rows of the cache have not: it sees what another row has
/// stored, but for as many slots as it has pads itself.
void add_moved_row(ContentRules& rules, int call, int row, const std::string& who) {
    Explanation& rule =
        rules.bare(FaultKind::batch, fmt::format("the row goes on from what {} has stored", who));
    rule.amend = [call, row](const ReplaySituation& now, ReplayRow& found) {
        const auto is_theirs = [&](const ReplayEntry& entry) {
            return now.reading.row(entry.call, entry.row).request == now.reading.row(call, row).request;
        };
        const bool went_on = std::any_of(now.stored.begin(), now.stored.end(), is_theirs);
        found.kept = went_on ? now.stored : now.after[as_index(call)][as_index(row)];
        const std::int32_t hidden = now.read().pads_before;
        found.see([&](std::int32_t query, std::int32_t key) {
            return found.place_of(query) >= 0 && key >= hidden && key <= query;
        });
    };
}

/// A row whose block `from` is the same memory as block `to` of row `other` of the same call, or of itself:
/// it reads there what that row stores in this call.
void share_block(const ReplaySituation& now, ReplayRow& row, int size, int from, int other, int to) {
    if (other >= now.trace_call().batch) return;
    const ReplayRow theirs = other == now.row ? row : now.right_row(other);
    // What the other row's tokens see comes along, hidden from this row's own.
    std::vector<std::int32_t> moved;
    if (other != now.row) {
        for (const ReplayEntry& entry : theirs.kept) {
            moved.push_back(row.n_kept());
            row.kept.push_back(entry);
            row.kept.back().place = -1;
        }
        // Indices of the row's own tokens follow those of the entries.
        const auto grown = theirs.n_kept();
        for (ReplayToken& token : row.tokens) {
            for (std::int32_t& key : token.visible)
                if (key >= row.n_kept() - grown) key += grown;
        }
    }
    const auto first_double = static_cast<std::int32_t>(row.tokens.size());
    for (std::size_t t = 0; t < theirs.tokens.size(); ++t) {
        ReplayToken token = theirs.tokens[t];
        if (other != now.row) {
            for (std::int32_t& key : token.visible)
                key = key < theirs.n_kept() ? moved[as_index(key)]
                                            : row.n_kept() + first_double + key - theirs.n_kept();
        }
        const auto index = static_cast<std::int32_t>(row.tokens.size());
        for (ReplayEntry& entry : row.kept) {
            if (token.place < 0 || token.place / size != to) continue;
            if (entry.place == from * size + token.place % size) entry.slot = -1 - index;
        }
        row.tokens.push_back(std::move(token));
    }
}

/// Blocks of `size` slots whose memory is handed out again while a row still reads them.
void add_reused_blocks(const ReplaySituation& here, ContentRules& rules) {
    constexpr int most_rows = 16;
    if (here.read().start == 0) return;
    for (int other = 0; other < std::min(here.trace_call().batch, most_rows); ++other) {
        const ReadRow& theirs = here.reading.row(here.call, other);
        if (theirs.n_real == 0 || (other != here.row && theirs.start == 0)) continue;
        for (const int size : {2, 4, 8, 16, 32, 64}) {
            const int to = theirs.start / size;
            for (int from = 0; from * size < here.read().start; ++from) {
                if (other == here.row && from >= to) continue;
                Explanation& rule = rules.bare(
                    FaultKind::isolation,
                    fmt::format("a block of {} slots was given away while it was still read", size));
                rule.of_history = false;  // nobody means that
                rule.amend = [size, from, other, to](const ReplaySituation& now, ReplayRow& row) {
                    share_block(now, row, size, from, other, to);
                };
                rule.describe = [size, from, to](const ReplaySituation&, const ReplayRow&, const ReplayRow&) {
                    const auto range = [size](int block) {
                        return fmt::format("{} to {}", block * size, (block + 1) * size - 1);
                    };
                    return std::pair(
                        fmt::format("entries of tokens {}", range(from)),
                        fmt::format("what was stored for tokens {} of a row in their place", range(to)));
                };
            }
        }
    }
}

void add_mixtures(const ReplaySituation& here, ContentRules& rules) {
    const ReadRow& mine = here.read();
    const bool adopted =
        mine.from_call >= 0 && here.reading.row(mine.from_call, mine.from_row).request != mine.request &&
        !here.reading.row(mine.from_call, mine.from_row).request.empty() && here.trace_call().parents.empty();
    const auto rest = others(here);
    // All places where they may begin, or of many the first of every block.
    constexpr int most_rules = 192;
    const int step = std::max(1, static_cast<int>(std::ssize(rest)) * mine.start / most_rules);
    for (const auto& [call, row] : rest) {
        const std::string who = name_of(here, call, row);
        const bool same_batch = mine.from_call >= 0 && call == mine.from_call;
        const bool beams = same_batch && !here.trace_call().parents.empty();
        const auto theirs = [call = call, row = row](const ReplaySituation& now) -> const ReplayEntries& {
            return now.after[as_index(call)][as_index(row)];
        };
        if (mine.start > 0) {
            rules.add(adopted      ? FaultKind::prefix
                      : same_batch ? FaultKind::batch
                                   : FaultKind::isolation,
                      fmt::format("the row goes on from what {} has stored", who),
                      [theirs](const ReplaySituation& now, ReplayEntries& kept) {
                          kept.clear();
                          for (const ReplayEntry& entry : theirs(now))
                              if (entry.place < now.read().start) kept.push_back(entry);
                      });
        } else {
            rules.add(FaultKind::isolation, fmt::format("the row goes on from what {} has stored", who),
                      [theirs](const ReplaySituation& now, ReplayEntries& kept) { kept = theirs(now); });
        }
        if (mine.from_call >= 0) add_moved_row(rules, call, row, who);
        // Entries from some place on, or of one block, are another request's.
        for (int cut = 0; cut < mine.start; cut += step) {
            const auto from = [theirs](const ReplaySituation& now, ReplayEntries& kept, int begin, int end) {
                for (ReplayEntry& entry : kept) {
                    if (entry.place < begin || entry.place >= end) continue;
                    for (const ReplayEntry& other : theirs(now))
                        if (other.place == entry.place) entry = other;
                }
            };
            rules.add(beams ? FaultKind::batch : FaultKind::prefix,
                      fmt::format("the stored prefix holds entries of {} from place {} on", who, cut),
                      [from, cut](const ReplaySituation& now, ReplayEntries& kept) {
                          from(now, kept, cut, 1 << 30);
                      });
        }
    }
}

}  // namespace

void add_content_rules(const ReplaySituation& here, std::vector<Explanation>& out) {
    ContentRules rules(out);
    add_leftovers(here, rules);
    add_mixtures(here, rules);
    add_reused_blocks(here, rules);
}

void add_layout_rules(const ReplaySituation& here, std::vector<Explanation>& out) {
    const ModelConfig& config = here.config;
    const auto add = [&](FaultKind kind, std::string summary, std::string tensor) -> Explanation& {
        Explanation& rule = out.emplace_back();
        rule.kind = kind;
        rule.summary = std::move(summary);
        rule.tensor = std::move(tensor);
        return rule;
    };
    if (config.n_kv_head > 1 && config.n_kv_head < config.n_head) {
        for (const bool appends_only : {true, false}) {
            auto& rule = add(FaultKind::head_layout,
                             appends_only ? "KV heads are tiled instead of repeated once a cache exists"
                                          : "KV heads are tiled instead of repeated",
                             "heads");
            rule.heads = HeadOrder::tiled;
            rule.heads_of_appends_only = appends_only;
            rule.from_start = !appends_only;
            rule.describe = [group = config.n_head / config.n_kv_head](
                                const ReplaySituation&, const ReplayRow&,
                                const ReplayRow&) -> std::pair<std::string, std::string> {
                return {fmt::format("query head 1 reads KV head {}", 1 / group),
                        "query head 1 reads KV head 1"};
            };
        }
    }
    if (config.n_head > 1) {
        auto& rule =
            add(FaultKind::head_layout, "heads are merged without being transposed", "attention output");
        rule.merged_without_transpose = true;
        rule.from_start = true;
        rule.describe = [](const ReplaySituation&, const ReplayRow&,
                           const ReplayRow&) -> std::pair<std::string, std::string> {
            return {"[token, head, head_dim]", "[head, token, head_dim] read as if it were that"};
        };
    }
    const auto stored = [&](FaultKind kind, bool precision, std::string summary, std::string found,
                            std::function<void(std::span<float>)> as) {
        auto& rule = add(kind, std::move(summary), "keys and values");
        rule.is_precision = precision;
        rule.from_start = true;
        rule.stored_as = std::move(as);
        rule.describe = [found](const ReplaySituation&, const ReplayRow&,
                                const ReplayRow&) -> std::pair<std::string, std::string> {
            return {"keys and values as they were computed", found};
        };
    };
    const auto through = [](DType as, DType read_as) {
        return [as, read_as](std::span<float> x) {
            std::vector<std::byte> bytes(x.size() * size_of(as));
            encode_entries(as, x.data(), static_cast<std::int64_t>(x.size()), bytes.data());
            decode_entries(read_as, bytes.data(), static_cast<std::int64_t>(x.size()), x.data());
        };
    };
    const auto codes = [](bool scaled) {
        return [scaled](std::span<float> x) {
            std::vector<std::int8_t> code(x.size());
            const auto n = static_cast<std::int64_t>(x.size());
            const float scale = encode_int8(x.data(), n, code.data());
            decode_int8(code.data(), n, scaled ? scale : 1.0f, x.data());
        };
    };
    stored(FaultKind::dtype, true, "keys and values are stored in f16", "rounded to f16",
           through(DType::f16, DType::f16));
    stored(FaultKind::dtype, true, "keys and values are stored in bf16", "rounded to bf16",
           through(DType::bf16, DType::bf16));
    stored(FaultKind::dtype, true, "keys and values are stored as 8-bit codes", "rounded to 8-bit codes",
           codes(true));
    stored(FaultKind::dtype, false, "8-bit codes of keys and values are read without their scales",
           "codes without their scales", codes(false));
    stored(FaultKind::dtype, false, "keys and values are stored in bf16 and read as f16",
           "bits of bf16 read as f16", through(DType::bf16, DType::f16));
    stored(FaultKind::dtype, false, "keys and values are stored in f16 and read as bf16",
           "bits of f16 read as bf16", through(DType::f16, DType::bf16));
}

}  // namespace decodescope
