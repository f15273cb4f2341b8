// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <initializer_list>

#include "engine/core/quote.h"
#include "engine/experiment/field_check.h"
#include "engine/fault/fault_catalogue.h"

namespace decodescope {

namespace {

bool is_one_of(CacheKind kind, std::initializer_list<CacheKind> kinds) {
    for (const CacheKind each : kinds) {
        if (each == kind) return true;
    }
    return false;
}

std::string words_of(std::initializer_list<CacheKind> kinds) {
    std::string words;
    for (const CacheKind kind : kinds) {
        words += fmt::format("{}\"{}\"", words.empty() ? "" : " or ", to_string(kind));
    }
    return words;
}

Result<void> expect_kind(const std::string& path, const LaneSpec& lane, std::string_view whose,
                         std::initializer_list<CacheKind> kinds) {
    if (is_one_of(lane.cache.kind, kinds)) return {};
    return field_error(path + ".cache.kind", fmt::format("is \"{}\", expected {} for {}",
                                                         to_string(lane.cache.kind), words_of(kinds), whose));
}

Result<void> check_weights(const std::string& path, const LaneSpec& lane) {
    if (lane.kernels == Kernels::packed || lane.weights == WeightType::f32) return {};
    return field_error(path + ".weights", fmt::format("is \"{}\", expected \"f32\" where kernels is \"{}\"",
                                                      to_string(lane.weights), to_string(lane.kernels)));
}

/// What a GPU does not do (yet) is refused before a run, not found out in it.
Result<void> check_gpu(const std::string& path, const LaneSpec& lane, const Device& device) {
    const auto refuse = [&](const char* field, const std::string& what) {
        return field_error(path + field,
                           fmt::format("{} for lane {} on {}", what, quote(lane.name), device.name()));
    };
    if (has_groups(lane.weights)) {
        return refuse(".weights", fmt::format("is \"{}\", expected \"f32\", \"f16\" or \"bf16\"",
                                              to_string(lane.weights)));
    }
    if (lane.kernels != Kernels::packed)
        return refuse(".kernels",
                      fmt::format("is \"{}\", which computes on the CPU alone, expected \"packed\"",
                                  to_string(lane.kernels)));
    if (lane.cache.kind == CacheKind::kivi)
        return refuse(".cache.kind", "is \"kivi\", which is stored on the CPU alone, expected another kind");
    if (!lane.faults.empty())
        return refuse(".faults", "is set, but deliberate faults are made on the CPU alone, expected none");
    return {};
}

Result<void> check_device_settings(const std::string& path, const LaneSpec& lane, const Device& device) {
    if (device.is_gpu()) DS_TRY(check_gpu(path, lane, device));
    const auto check = [&](const char* field, bool set, const std::string& why_not) -> Result<void> {
        if (!set || why_not.empty()) return {};
        return field_error(path + field, fmt::format("is true, but {}, expected false for lane {}", why_not,
                                                     quote(lane.name)));
    };
    DS_TRY(check(".cuda_graph", lane.cuda_graph, why_no_graph(lane, device)));
    return check(".tf32", lane.tf32, why_no_tf32(lane, device));
}

Result<void> check_cache_kind(const std::string& path, const LaneSpec& lane) {
    using enum CacheKind;
    switch (lane.mode) {
        case LaneMode::naive:
            if (lane.cache.kind == none) return {};
            return field_error(path + ".cache.kind", fmt::format("is \"{}\", but a naive lane has no cache",
                                                                 to_string(lane.cache.kind)));
        case LaneMode::cached:
            if (lane.batching == Batching::continuous) {
                // concat keeps all rows in one tensor, which no row can join or leave
                return expect_kind(path, lane, "a continuous batch", {static_, paged, window, int8, kivi});
            }
            return expect_kind(path, lane, "a cached lane", {concat, static_, paged, window, int8, kivi});
        case LaneMode::speculative:
            return expect_kind(path, lane, "a speculative lane",
                               {concat, static_, paged, window, int8, kivi});
        case LaneMode::beam: return expect_kind(path, lane, "a beam lane", {concat, static_, paged});
    }
    return {};
}

/// Settings that differ from their defaults although the cache has no such thing.
Result<void> check_foreign_settings(const std::string& path, const CacheSpec& cache) {
    using enum CacheKind;
    const CacheSpec plain;
    const auto refuse = [&](const char* name, const std::string& value, const char* owner) {
        return field_error(fmt::format("{}.cache.{}", path, name),
                           fmt::format("is {}, but only {}", value, owner));
    };
    if (cache.dtype != plain.dtype && !has_dtype(cache.kind)) {
        return refuse("dtype", fmt::format("\"{}\"", to_string(cache.dtype)),
                      "concat, static, paged and window caches have one");
    }
    if (cache.capacity != 0 && !has_capacity(cache.kind)) {
        return refuse("capacity", fmt::to_string(cache.capacity),
                      "static, paged, window, int8 and kivi caches have one");
    }
    if (cache.kind != paged) {
        const char* owner = "a paged cache has blocks";
        if (cache.block != plain.block) return refuse("block", fmt::to_string(cache.block), owner);
        if (cache.blocks != plain.blocks) return refuse("blocks", fmt::to_string(cache.blocks), owner);
        if (cache.share_prefixes) return refuse("share_prefixes", "true", "a paged cache can share");
    }
    if (cache.kind != kivi) {
        if (cache.bits != plain.bits) {
            return refuse("bits", fmt::to_string(cache.bits), "a kivi cache has a choice of them");
        }
        if (cache.group != plain.group) {
            return refuse("group", fmt::to_string(cache.group), "a kivi cache has groups");
        }
        if (cache.residual != plain.residual) {
            return refuse("residual", fmt::to_string(cache.residual), "a kivi cache has a residual window");
        }
    }
    return {};
}

Result<void> check_cache(const std::string& path, const LaneSpec& lane) {
    const CacheSpec& cache = lane.cache;
    DS_TRY(check_cache_kind(path, lane));
    DS_TRY(check_foreign_settings(path, cache));
    DS_TRY(check_range(path + ".cache.capacity", cache.capacity, 0, max_tokens));
    DS_TRY(check_range(path + ".cache.block", cache.block, 1, 4096));
    DS_TRY(check_range(path + ".cache.blocks", cache.blocks, 0, max_tokens));
    if (cache.bits != 2 && cache.bits != 4) {
        return field_error(path + ".cache.bits", fmt::format("is {}, expected 2 or 4", cache.bits));
    }
    if (cache.group < 8 || cache.group > 1024 || cache.group % 8 != 0) {
        return field_error(path + ".cache.group",
                           fmt::format("is {}, expected a multiple of 8 from 8 to 1024", cache.group));
    }
    return check_range(path + ".cache.residual", cache.residual, 0, max_tokens);
}

Result<void> check_window(const std::string& path, const LaneSpec& lane) {
    const Window& window = lane.window;
    if (window.size < 0) {
        return field_error(path + ".window.size", fmt::format("is {}, expected at least 1", window.size));
    }
    if (window.size > max_tokens) {
        return field_error(path + ".window.size",
                           fmt::format("is {}, expected at most {}", window.size, max_tokens));
    }
    DS_TRY(check_range(path + ".window.sinks", window.sinks, 0, max_tokens));
    if (window.size == 0 && window.sinks != 0) {
        return field_error(path + ".window.sinks",
                           fmt::format("is {}, but window.size is missing", window.sinks));
    }
    return {};
}

Result<void> check_budget(const std::string& path, const LaneSpec& lane, const Experiment& experiment) {
    DS_TRY(check_range(path + ".batch.budget", lane.budget, 0, max_tokens));
    if (lane.budget == 0) return {};
    const int block = lane.cache.kind == CacheKind::paged ? lane.cache.block : 1;
    for (std::size_t i = 0; i < experiment.prompts.size(); ++i) {
        const std::int64_t length = known_prompt_length(experiment.prompts[i]);
        if (length < 0) continue;
        std::int64_t tokens = length + experiment.new_tokens - 1;
        if (lane.cache.capacity > 0) tokens = std::min<std::int64_t>(tokens, lane.cache.capacity);
        if (lane.cache.kind == CacheKind::window && lane.window.size > 0)
            tokens = std::min<std::int64_t>(tokens, std::int64_t{lane.window.size} + lane.window.sinks);
        const std::int64_t needed = (tokens + block - 1) / block * block;
        if (lane.budget >= needed) continue;
        const std::string blocks = needed == tokens ? "" : fmt::format(" in blocks of {}", block);
        return field_error(
            path + ".batch.budget",
            fmt::format("is {}, expected at least {}: prompts[{}] and its answer have {} tokens{}",
                        lane.budget, needed, i, tokens, blocks));
    }
    return {};
}

Result<void> check_batching(const std::string& path, const LaneSpec& lane, const Experiment& experiment) {
    const std::string kind = path + ".batch.kind";
    if (lane.batching == Batching::continuous && lane.mode == LaneMode::naive) {
        return field_error(kind, "is \"continuous\", expected \"single\" or \"static\" for a naive lane");
    }
    if (lane.batching != Batching::single &&
        (lane.mode == LaneMode::speculative || lane.mode == LaneMode::beam)) {
        return field_error(kind, fmt::format("is \"{}\", expected \"single\" for a {} lane",
                                             to_string(lane.batching), to_string(lane.mode)));
    }
    if (lane.padding != Padding::left && lane.batching != Batching::static_) {
        return field_error(
            path + ".batch.padding",
            fmt::format("is \"{}\", but only a static batch is padded", to_string(lane.padding)));
    }
    if (lane.cache.kind == CacheKind::kivi && lane.batching == Batching::static_ &&
        lane.padding != Padding::none) {
        return field_error(path + ".batch.padding",
                           fmt::format("is \"{}\", but a kivi cache cannot hold pads, expected \"none\"",
                                       to_string(lane.padding)));
    }
    if (lane.cache.share_prefixes && lane.batching != Batching::continuous) {
        return field_error(
            kind, fmt::format("is \"{}\", expected \"continuous\" where cache.share_prefixes is true",
                              to_string(lane.batching)));
    }
    if (lane.batching == Batching::continuous) {
        DS_TRY(check_range(path + ".batch.max_rows", lane.max_rows, 0, 256));
        return check_budget(path, lane, experiment);
    }
    if (lane.max_rows != 0) {
        return field_error(path + ".batch.max_rows",
                           fmt::format("is {}, but only a continuous batch has one", lane.max_rows));
    }
    if (lane.budget != 0) {
        return field_error(path + ".batch.budget",
                           fmt::format("is {}, but only a continuous batch has one", lane.budget));
    }
    return {};
}

Result<void> check_prefill(const std::string& path, const LaneSpec& lane, const Experiment& experiment) {
    DS_TRY(check_range(path + ".prefill_chunk", lane.prefill_chunk, 0, max_tokens));
    if (lane.mode == LaneMode::naive && lane.prefill_chunk != 0) {
        return field_error(
            path + ".prefill_chunk",
            fmt::format("is {}, but a naive lane cannot prefill in chunks", lane.prefill_chunk));
    }
    const std::vector<int>& partition = lane.prefill_partition;
    if (partition.empty()) return {};
    const std::string field = path + ".prefill_partition";
    if (lane.mode == LaneMode::naive) {
        return field_error(field, "is set, but a naive lane cannot prefill in chunks");
    }
    if (lane.batching == Batching::continuous) {
        return field_error(field,
                           "is set, but batch.kind is \"continuous\", expected \"single\" or \"static\"");
    }
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < partition.size(); ++i) {
        DS_TRY(check_range(fmt::format("{}[{}]", field, i), partition[i], 1, max_tokens));
        sum += partition[i];
    }
    for (const PromptSpec& prompt : experiment.prompts) {
        const std::int64_t length = known_prompt_length(prompt);
        if (length >= 0 && sum != length)
            return field_error(field,
                               fmt::format("sums to {}, expected the prompt's {} tokens", sum, length));
    }
    return {};
}

Result<void> check_draft(const std::string& path, const LaneSpec& lane, const Experiment& experiment) {
    const DraftSpec& draft = lane.draft;
    const DraftSpec plain;
    const std::string field = path + ".draft";
    if (lane.mode != LaneMode::speculative) {
        if (draft == plain) return {};
        return field_error(field, "is set, but only a speculative lane drafts");
    }
    DS_TRY(check_range(field + ".tokens", draft.tokens, 1, 64));
    if (draft.layers != plain.layers && draft.kind != DraftKind::layers) {
        return field_error(field + ".layers", fmt::format("is {}, but draft.kind is \"{}\"", draft.layers,
                                                          to_string(draft.kind)));
    }
    DS_TRY(check_range(field + ".layers", draft.layers, 1, 10'000));
    if (draft.ngram != plain.ngram && draft.kind != DraftKind::ngram) {
        return field_error(field + ".ngram", fmt::format("is {}, but draft.kind is \"{}\"", draft.ngram,
                                                         to_string(draft.kind)));
    }
    DS_TRY(check_range(field + ".ngram", draft.ngram, 1, 16));
    if (draft.kind == DraftKind::model) {
        DS_TRY(check_model(field + ".model", draft.model));
    } else if (draft.model != plain.model) {
        return field_error(field + ".model",
                           fmt::format("is set, but draft.kind is \"{}\"", to_string(draft.kind)));
    }
    if (draft.acceptance == Acceptance::rejection) {
        if (experiment.sampling.kind != SamplingKind::sample) {
            return field_error(field + ".acceptance",
                               "is \"rejection\", but sampling.kind is \"greedy\", expected \"sample\"");
        }
        if (experiment.drive != Drive::free) {
            return field_error(field + ".acceptance",
                               fmt::format("is \"rejection\", but the drive is \"{}\", expected \"free\"",
                                           to_string(experiment.drive)));
        }
    }
    if (lane.cache.kind == CacheKind::kivi && lane.cache.residual < draft.tokens + 1) {
        return field_error(
            path + ".cache.residual",
            fmt::format("is {}, expected at least draft.tokens + 1 = {}, so that drafts can be taken back",
                        lane.cache.residual, draft.tokens + 1));
    }
    return {};
}

Result<void> check_beam(const std::string& path, const LaneSpec& lane, const Experiment& experiment) {
    if (lane.mode != LaneMode::beam) {
        if (lane.beams == LaneSpec{}.beams) return {};
        return field_error(path + ".beams", fmt::format("is {}, but only a beam lane has them", lane.beams));
    }
    DS_TRY(check_range(path + ".beams", lane.beams, 2, 64));
    if (experiment.drive != Drive::free) {
        return field_error(path + ".mode",
                           fmt::format("is \"beam\", but the drive is \"{}\", expected \"free\"",
                                       to_string(experiment.drive)));
    }
    if (experiment.sampling.kind != SamplingKind::greedy) {
        return field_error(path + ".mode",
                           "is \"beam\", but sampling.kind is \"sample\", expected \"greedy\"");
    }
    if (experiment.sampling.repetition_penalty != 1) {
        return field_error(path + ".mode",
                           fmt::format("is \"beam\", but sampling.repetition_penalty is {}, expected 1",
                                       experiment.sampling.repetition_penalty));
    }
    return {};
}

}  // namespace

std::string why_no_graph(const LaneSpec& lane, const Device& device) {
    if (!device.is_gpu()) return "a CUDA graph needs a GPU";
    if (lane.mode != LaneMode::cached)
        return fmt::format("the steps of a {} lane are not the same calls every time", to_string(lane.mode));
    switch (lane.cache.kind) {
        case CacheKind::static_: break;
        case CacheKind::concat:
            return "a concat cache moves its storage at every step, so that a captured graph would read "
                   "freed memory";
        case CacheKind::paged:
            return "a paged cache takes blocks as it grows, which a captured graph does not see";
        default:
            return fmt::format("only a static cache stays where it is, and this one is {}",
                               to_string(lane.cache.kind));
    }
    if (lane.batching == Batching::continuous)
        return "the rows of a continuous batch come and go, which a captured graph does not see";
    if (lane.allocation != AllocationPolicy::reused)
        return "buffers that are allocated afresh move at every step, so that a captured graph would write "
               "to freed memory";
    return {};
}

std::string why_no_tf32(const LaneSpec& lane, const Device& device) {
    if (!device.is_gpu()) return "TF32 needs a GPU";
    if (lane.weights != WeightType::f32)
        return fmt::format("products with {} weights are none of f32", to_string(lane.weights));
    return {};
}

Result<void> check_lane(const std::string& path, const LaneSpec& lane, const Experiment& experiment) {
    if (lane.name.empty()) return field_error(path + ".name", "is empty, expected a name");
    DS_TRY(check_name(path + ".name", lane.name));
    DS_TRY(check_weights(path, lane));
    DS_TRY(check_device_settings(path, lane, experiment.device_of(lane)));
    DS_TRY(check_cache(path, lane));
    DS_TRY(check_window(path, lane));
    DS_TRY(check_batching(path, lane, experiment));
    DS_TRY(check_prefill(path, lane, experiment));
    DS_TRY(check_draft(path, lane, experiment));
    DS_TRY(check_beam(path, lane, experiment));
    if (const auto faults = fault_set(lane); !faults)
        return Error{faults.error().kind, fmt::format("{}.faults{}.", path, faults.error().message)};
    return {};
}

}  // namespace decodescope
