// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/attention/window.h"
#include "engine/backend/device.h"
#include "engine/cache/cache_spec.h"
#include "engine/core/memory.h"
#include "engine/formats/model_ref.h"
#include "engine/model/weight_type.h"

namespace decodescope {

/// How a lane computes the next tokens.
///  - `naive`: every step forwards the whole text again
///  - `cached`: every step forwards what is new
///  - `speculative`: drafts are guessed and verified together in one cached call
///  - `beam`: the `beams` likeliest continuations side by side, the cache reordered as they cross
enum class LaneMode { naive, cached, speculative, beam };

/// What happens to several requests.
///  - `single`: one after another
///  - `static_`: all of them in one batch from the first call to the last
///  - `continuous`: they join when there is room and leave when they are done
enum class Batching { single, static_, continuous };

/// How rows of different lengths are made a rectangle in a static batch: pads in front, pads behind, or not
/// at all (each row is given its own tokens only).
enum class Padding { left, right, none };

/// Where drafts come from: the model's own first layers, tokens that followed the same n tokens earlier in
/// the text, or another model with the same vocabulary.
enum class DraftKind { layers, ngram, model };

/// When a draft token is kept: when it is what plain decoding would have chosen, or by exact rejection
/// sampling (Leviathan et al. 2023), which only preserves the distribution.
enum class Acceptance { match, rejection };

/// Who computes products with weights: our kernels on weights repacked for them, or the reference library
/// (OpenBLAS) on the f32 weights where they lie.
enum class Kernels { packed, openblas };

const char* to_string(LaneMode mode);
const char* to_string(Kernels kernels);
const char* to_string(Batching batching);
const char* to_string(Padding padding);
const char* to_string(AllocationPolicy policy);
const char* to_string(DraftKind kind);
const char* to_string(Acceptance acceptance);

/// Drafting of a speculative lane.
struct DraftSpec {
    DraftKind kind = DraftKind::ngram;
    int tokens = 4;    ///< most drafts per verify call
    int layers = 1;    ///< kind layers: how many of the model's first
    int ngram = 2;     ///< kind ngram: tokens that must match
    ModelRef model{};  ///< kind model
    Acceptance acceptance = Acceptance::match;

    friend bool operator==(const DraftSpec&, const DraftSpec&) = default;
};

/// One way of decoding inside an experiment.
struct LaneSpec {
    std::string name;
    LaneMode mode = LaneMode::cached;
    std::optional<Device> device{};        ///< none = the experiment's
    WeightType weights = WeightType::f32;  ///< kernels openblas: f32
    Kernels kernels = Kernels::packed;
    CacheSpec cache;
    Window window;  ///< size 0 = the model's own; with cache kind window, what is outside it is forgotten
    Batching batching = Batching::single;
    Padding padding = Padding::left;  ///< static batch
    int max_rows = 0;                 ///< continuous batch: rows at a time; 0 = as many as there are requests
    int budget = 0;                   ///< continuous batch: tokens its rows may retain together; 0 = no limit
    DraftSpec draft;                  ///< mode speculative
    int beams = 4;                    ///< mode beam
    int prefill_chunk = 0;            ///< tokens per prefill call; 0 = the whole prompt at once
    std::vector<int>
        prefill_partition;  ///< explicit chunk sizes (must sum to the prompt); overrides prefill_chunk
    AllocationPolicy allocation = AllocationPolicy::reused;
    bool cuda_graph = false;          ///< decode steps are captured once and replayed, see `why_no_graph`
    bool tf32 = false;                ///< products take f32 as TF32: 10 bits of fraction, see `why_no_tf32`
    std::vector<std::string> faults;  ///< ids of deliberate faults, see `fault_catalogue`
};

}  // namespace decodescope
