// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <nlohmann/json.hpp>

#include <string>

#include "app/cli/output.h"
#include "engine/core/result.h"
#include "engine/verify/verdict.h"

namespace decodescope::cli {

/// Members of a verdict: `verdict`, `kind`, `certainty`, `summary`, `first`, `expected`, `found`, `evidence`,
/// `next`. What is not known is null.
nlohmann::ordered_json verdictJson(const Verdict& verdict);
/// The verdict as text: `table` plain, `md` Markdown, `csv` the evidence alone.
std::string verdictText(const Verdict& verdict, Format format);
/// The same with a heading that names the lane, to be appended to a table or to Markdown.
std::string verdictSection(const std::string& lane, const Verdict& verdict, Format format);
/// Reads back what `verdictJson` writes; `path` is what it is called in sentences.
Result<Verdict> verdictFromJson(const nlohmann::json& json, const std::string& path);

}  // namespace decodescope::cli
