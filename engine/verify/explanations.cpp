// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/verify/explanations.h"

namespace decodescope {

namespace {

Explanation& add_rule(std::vector<Explanation>& out, FaultKind kind, std::string summary, Amend amend,
                      const char* tensor, decltype(Explanation::describe) describe) {
    Explanation& rule = out.emplace_back();
    rule.kind = kind;
    rule.summary = std::move(summary);
    rule.tensor = tensor;
    rule.amend = std::move(amend);
    rule.describe = std::move(describe);
    return rule;
}

}  // namespace

Explanation& add_position_rule(std::vector<Explanation>& out, FaultKind kind, std::string summary,
                               Amend amend) {
    return add_rule(out, kind, std::move(summary), std::move(amend), "position ids", describe_positions);
}

Explanation& add_visibility_rule(std::vector<Explanation>& out, FaultKind kind, std::string summary,
                                 Amend amend) {
    return add_rule(out, kind, std::move(summary), std::move(amend), "attention mask", describe_visible);
}

Explanation& add_cache_rule(std::vector<Explanation>& out, FaultKind kind, std::string summary, Amend amend) {
    Explanation& rule = add_rule(out, kind, std::move(summary), std::move(amend), "cache", describe_length);
    rule.of_history = true;
    return rule;
}

}  // namespace decodescope
