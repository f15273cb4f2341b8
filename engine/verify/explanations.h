// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "engine/verify/replay.h"

namespace decodescope {

/// What may have gone wrong where a row first departs from the truth: changes of positions, of visibility, of
/// what the cache holds, of rows, layout and precision. `known` are rules that a program can follow by
/// mistake, the likelier first; `searched` tries every shift of the positions and every cut of the cache, for
/// what no rule explains. `at` is the first wrong row.
std::vector<Explanation> known_explanations(const ReplaySituation& at);
std::vector<Explanation> searched_explanations(const ReplaySituation& at);

/// The parts of `known_explanations`.
void add_position_rules(const ReplaySituation& at, std::vector<Explanation>& out);
void add_mask_rules(const ReplaySituation& at, std::vector<Explanation>& out);
void add_content_rules(const ReplaySituation& at, std::vector<Explanation>& out);
void add_layout_rules(const ReplaySituation& at, std::vector<Explanation>& out);

/// Expected and found of the first position id, or of what the first token sees, that differs.
std::pair<std::string, std::string> describe_positions(const ReplaySituation& at, const ReplayRow& right,
                                                       const ReplayRow& found);
std::pair<std::string, std::string> describe_visible(const ReplaySituation& at, const ReplayRow& right,
                                                     const ReplayRow& found);
/// Entries that the row goes on from.
std::pair<std::string, std::string> describe_length(const ReplaySituation& at, const ReplayRow& right,
                                                    const ReplayRow& found);

/// How an explanation changes a row.
using Amend = std::function<void(const ReplaySituation&, ReplayRow&)>;

/// Adds an explanation that is about position ids, about what tokens see, or about what the row goes on from,
/// with its `describe`; what else it says is for the caller to set. The reference holds until the next one.
Explanation& add_position_rule(std::vector<Explanation>& out, FaultKind kind, std::string summary,
                               Amend amend);
Explanation& add_visibility_rule(std::vector<Explanation>& out, FaultKind kind, std::string summary,
                                 Amend amend);
Explanation& add_cache_rule(std::vector<Explanation>& out, FaultKind kind, std::string summary, Amend amend);

/// Tokens of the row's first call: the prompt, as far as a trace shows it.
int first_length(const ReplaySituation& at);
/// Makes every real token see all real entries that are kept, and its own row's tokens up to itself.
void see_all_kept(ReplayRow& row);

}  // namespace decodescope
