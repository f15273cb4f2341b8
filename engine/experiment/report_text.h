// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>

#include "engine/experiment/record.h"
#include "engine/experiment/text_table.h"

namespace decodescope {

/// What a record says about each lane: one row per lane. Times are a median with min..max and interquartile
/// range when there is more than one sample; what was not measured says so.
TextTable summary_table(const Record& record);

/// Title and notes if there are any, headline, summary table and the texts, for a terminal.
std::string to_plain_text(const Record& record);
/// What of a record its Markdown has besides notes and headline.
struct MarkdownParts {
    bool lanes = true;  ///< the summary table
    bool texts = true;
};
/// The same as Markdown; `notes` stand in for the record's own.
std::string to_markdown(const Record& record, const RecordNotes& notes, MarkdownParts parts = {});
inline std::string to_markdown(const Record& record) {
    return to_markdown(record, record.notes);
}
/// One row per step with the unit in the column name; what is not known is an empty cell (RFC 4180).
std::string to_csv(const Record& record);
/// One JSON object per lane and line: the test shape and samples under the names people know from
/// llama-bench, then the summary of the record.
std::string to_jsonl(const Record& record);

}  // namespace decodescope
