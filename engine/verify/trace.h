// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/attention/window.h"
#include "engine/core/dtype.h"
#include "engine/core/result.h"
#include "engine/formats/model_ref.h"

namespace decodescope {

/// The logits of a trace, read when they are wanted: a trace may be larger than memory.
class TraceLogits {
public:
    virtual ~TraceLogits() = default;
    /// The type they are stored in.
    virtual DType dtype(int call) const = 0;
    /// Logits of column `column` of row `row` of call `call`, [vocab]. With `LogitRows::last`, `column` is 0.
    virtual Result<void> read(int call, int row, int column, std::span<float> out) const = 0;
};

/// Which columns of a call a trace has logits of.
enum class LogitRows {
    none,
    last,  ///< one per row: `TraceCall::logits_columns`, else the row's last token
    all,
};

/// One forward call as a program made it. What is empty or `nullopt` is unknown, never assumed to be right.
/// Matrices are row-major.
struct TraceCall {
    int batch = 0;
    int width = 0;                             ///< tokens per row, pads included
    std::vector<std::string> requests;         ///< [batch], "" = nobody; empty = unknown
    std::vector<std::int32_t> parents;         ///< [batch] row in the call before; empty = as they were
    std::vector<std::int32_t> input_ids;       ///< [batch, width]
    std::vector<std::int32_t> text_start;      ///< [batch] index in `texts` of the first real token fed
    std::vector<std::uint8_t> real;            ///< [batch, width] 1 = token, 0 = pad
    int mask_columns = 0;                      ///< of `attention_mask`
    std::vector<std::uint8_t> attention_mask;  ///< [batch, mask_columns] 1 = visible; empty = none used
    bool mask_known = false;                   ///< `attention_mask` was stated, if only as "none"
    std::vector<std::int32_t> position_ids;    ///< [batch, width]
    std::vector<std::vector<std::int32_t>> cache_positions;  ///< [batch] position of every slot, after
    std::vector<std::int64_t> cache_length_before;           ///< [batch]
    std::vector<std::int64_t> cache_length_after;            ///< [batch]
    std::vector<std::int64_t> cache_seen_before;             ///< [batch] counters that go on past a window
    std::vector<std::int64_t> cache_seen_after;              ///< [batch]
    std::optional<std::int64_t> cache_bytes;                 ///< after; pads counted
    std::optional<std::int64_t> cache_bytes_reserved;
    std::optional<std::int64_t> cache_capacity;  ///< slots
    LogitRows logits = LogitRows::none;
    /// [batch] column of `input_ids` whose logits the program went on with, -1 = none of this call; those
    /// that a trace with `last` has.
    std::vector<std::int32_t> logits_columns;
    std::vector<std::int32_t> accepted;  ///< [batch] drafts accepted, of a verify call
    std::string error;                   ///< the program's own words; the call failed
    std::optional<std::int64_t> step_ns;
    std::optional<std::int64_t> rss;
    std::string note;
};

/// What a request was meant to consist of.
struct TraceText {
    std::vector<std::int32_t> ids;
    int prompt_length = 0;
};

/// A run of a decoder, ours or somebody else's: `decodescope.trace/1`. Immutable once read or recorded.
struct Trace {
    std::string label;  ///< what messages call it: the path, or a lane's name
    std::optional<ModelRef> model;
    std::map<std::string, TraceText> texts;     ///< by request; empty = unknown
    std::optional<Window> window;               ///< where the model's config does not say it
    std::vector<TraceCall> calls;               ///< in the order they were made
    int vocab = 0;                              ///< columns of the logits; 0 without
    std::shared_ptr<const TraceLogits> logits;  ///< null when no call has any
};

}  // namespace decodescope
