// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace decodescope {

/// What a run is found to be.
///  - `equal`: up to the rounding of f32 (`f32_error_limit`), or of the type of the weights (`error_limit`)
///  - `precision`: off by what a narrower type explains; flat over the steps
///  - `harmless`: something is not as expected, and no logit can show it
///  - `fault`: wrong, with a kind
///  - `cannot_tell`: the run at hand does not decide it
enum class VerdictWord { equal, precision, harmless, fault, cannot_tell };

/// Kinds of fault.
enum class FaultKind {
    position,     ///< position ids
    mask,         ///< causality: a query sees what it must not, or not what it must
    padding,      ///< pads are seen, counted, or read from
    isolation,    ///< a request meets what another one left behind
    content,      ///< tokens twice, missing, or in the wrong place of the cache
    window,       ///< sliding window and eviction
    capacity,     ///< what happens when the room ends
    rollback,     ///< drafts that were not accepted
    prefix,       ///< shared prefixes
    state,        ///< weights or buffers changed under a cache that was kept
    mode,         ///< dropout and the like: not repeatable
    head_layout,  ///< which head reads what, how heads are joined, axes taken for one another
    batch,        ///< rows taken for one another, beams not reordered
    dtype,        ///< bits or scales of stored entries
    other_model,  ///< not the model it was compared with
    cost,         ///< right, but more was computed or stored than needed
};

inline constexpr int n_fault_kind = static_cast<int>(FaultKind::cost) + 1;

const char* to_string(VerdictWord word);
/// Lower-case words: "position", "head layout", ...
const char* to_string(FaultKind kind);

/// How sure a verdict is.
enum class Certainty {
    certain,   ///< recomputing with this and nothing else gives the run's own numbers, or it is stated
    likely,    ///< the structure of the errors fits this kind alone
    possible,  ///< it fits best of several
};
const char* to_string(Certainty certainty);

/// Where something first goes wrong. -1 and empty = not known, or no such thing.
struct VerdictPlace {
    int call = -1;
    std::string request;
    int row = -1;     ///< of the call
    int column = -1;  ///< of the row's tokens
    int layer = -1;
    std::string tensor;  ///< as in `to_string(ForwardTensor)`, "position ids", "cache length", ...
};

/// One observation that a verdict rests on.
struct VerdictEvidence {
    std::string claim;  ///< "positions", "cache length", "logits", "repeatability", ...
    std::string text;   ///< one sentence
    bool held = true;   ///< false: it speaks against the run
};

/// The answer to "is this rounding or a bug, where does it start, and which bug is it?".
struct Verdict {
    VerdictWord word = VerdictWord::cannot_tell;
    std::optional<FaultKind> kind;  ///< of a fault; of something harmless what it is about
    Certainty certainty = Certainty::possible;
    std::string summary;  ///< one sentence for a person
    VerdictPlace first;
    std::string expected;  ///< "position 7"
    std::string found;     ///< "position 0"
    std::vector<VerdictEvidence> evidence;
    std::string next;  ///< which further run would settle what is open; empty when nothing is
};

}  // namespace decodescope
