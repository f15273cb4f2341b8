// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/core/result.h"
#include "engine/model/model_config.h"
#include "engine/verify/trace.h"

namespace decodescope {

/// What one row of one call was meant to be.
struct ReadRow {
    std::string request;               ///< empty = unknown
    bool has_text = false;             ///< `Trace::texts` says what the request consists of
    int sequence = -1;                 ///< the tokens it belongs to; -1 = it has had no real token
    int start = 0;                     ///< place of its first real token in the sequence
    int n_real = 0;                    ///< real tokens
    std::vector<std::int32_t> places;  ///< [width] place in the sequence; -1 = pad
    int sampled = -1;                  ///< the column whose logits the next token comes from: its last token
    int from_call = -1;                ///< the call and row that it goes on from; -1 = it is the first
    int from_row = -1;
    int pads_before = 0;    ///< pads that the row was fed in the calls it goes on from
    int n_pad = 0;          ///< pads of this call
    int n_fed = 0;          ///< columns that were fed: what lies behind only fills the rectangle
    bool guessed = false;   ///< neither texts nor lengths say what it goes on from
    bool no_cache = false;  ///< it was computed without one
    int guess = -1;     ///< place of its first token that is not the text's and was a guess of the program
    int mismatch = -1;  ///< first column whose token is not the one of the text; drafts apart

    int end() const { return start + n_real; }
};

/// A trace put in order: which tokens belong to which request at which place, as far as it can be known. What
/// the trace states wins over what follows from the tokens; without `texts`, what was fed is taken at face
/// value.
struct TraceReading {
    std::vector<std::vector<ReadRow>> calls;           ///< [calls][batch]
    std::vector<std::vector<std::int32_t>> sequences;  ///< tokens
    Window window;                                     ///< that the model decodes with
    bool has_cache = false;                            ///< some call has stored something
    bool judged_at_face_value = false;                 ///< no text for some row that uses a cache
    std::int64_t forwarded = 0;                        ///< real tokens fed
    std::int64_t needed = 0;                           ///< of these: what had not been fed before
    const ReadRow& row(int call, int b) const {
        return calls[static_cast<std::size_t>(call)][static_cast<std::size_t>(b)];
    }
    std::int32_t token(const ReadRow& row, int place) const {
        return sequences[static_cast<std::size_t>(row.sequence)][static_cast<std::size_t>(place)];
    }
};

/// Fails when the trace cannot be one of a model with this config: ids, places or rows of logits do not fit.
Result<TraceReading> read_trace(const Trace& trace, const ModelConfig& config);

/// Whether a call says that it keeps nothing: it was made without a cache.
bool is_without_cache(const TraceCall& call);

}  // namespace decodescope
