// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/experiment_panel/lane_kinds.h"

#include <QCoreApplication>
#include <QStringList>

#include <algorithm>
#include <string_view>

#include "engine/experiment/experiment.h"
#include "ui/text.h"

namespace decodescope {

namespace {

struct Entry {
    const char* word;  // of `lane_from_name`
    const char* group;
    const char* title;
    const char* toolTip;
};

constexpr const char* noCache = QT_TRANSLATE_NOOP("decodescope", "Without a cache");
constexpr const char* exact = QT_TRANSLATE_NOOP("decodescope", "Cache, full precision");
constexpr const char* small = QT_TRANSLATE_NOOP("decodescope", "Cache, smaller entries");
constexpr const char* part = QT_TRANSLATE_NOOP("decodescope", "Part of the context");
constexpr const char* requests = QT_TRANSLATE_NOOP("decodescope", "Several requests at once");
constexpr const char* tokens = QT_TRANSLATE_NOOP("decodescope", "Several tokens at once");

constexpr Entry entries[] = {
    {"naive", noCache, QT_TRANSLATE_NOOP("decodescope", "naive"),
     QT_TRANSLATE_NOOP("decodescope", "Every step runs the whole text again")},
    {"naive-batch", noCache, QT_TRANSLATE_NOOP("decodescope", "naive batch"),
     QT_TRANSLATE_NOOP("decodescope", "All requests in one call; every step runs their whole texts again")},
    {"static", exact, QT_TRANSLATE_NOOP("decodescope", "static"),
     QT_TRANSLATE_NOOP("decodescope", "Keys and values are written into memory reserved at the start")},
    {"concat", exact, QT_TRANSLATE_NOOP("decodescope", "concat"),
     QT_TRANSLATE_NOOP("decodescope", "Every step copies all keys and values into a larger block")},
    {"paged", exact, QT_TRANSLATE_NOOP("decodescope", "paged"),
     QT_TRANSLATE_NOOP("decodescope",
                       "Keys and values lie in small blocks of a pool, found through a table")},
    {"f16", small, QT_TRANSLATE_NOOP("decodescope", "static f16"),
     QT_TRANSLATE_NOOP("decodescope", "Entries of 16 bits, 11 of them precision")},
    {"bf16", small, QT_TRANSLATE_NOOP("decodescope", "static bf16"),
     QT_TRANSLATE_NOOP("decodescope", "Entries of 16 bits with the range of f32 and 8 bits of precision")},
    {"int8", small, QT_TRANSLATE_NOOP("decodescope", "int8"),
     QT_TRANSLATE_NOOP("decodescope", "Entries of 8 bits, one scale per token and head")},
    {"kivi4", small, QT_TRANSLATE_NOOP("decodescope", "kivi 4 bits"),
     QT_TRANSLATE_NOOP("decodescope", "Keys per channel, values per token; the newest tokens stay in f32")},
    {"kivi2", small, QT_TRANSLATE_NOOP("decodescope", "kivi 2 bits"),
     QT_TRANSLATE_NOOP("decodescope", "Keys per channel, values per token; the newest tokens stay in f32")},
    {"window", part, QT_TRANSLATE_NOOP("decodescope", "window"),
     QT_TRANSLATE_NOOP("decodescope",
                       "Only the newest tokens and a few first ones are kept; the rest is "
                       "forgotten")},
    {"batch", requests, QT_TRANSLATE_NOOP("decodescope", "batch left"),
     QT_TRANSLATE_NOOP("decodescope", "All requests in one call; shorter prompts have pads in front")},
    {"batch-right", requests, QT_TRANSLATE_NOOP("decodescope", "batch right"),
     QT_TRANSLATE_NOOP("decodescope", "All requests in one call; shorter prompts have pads behind")},
    {"batch-packed", requests, QT_TRANSLATE_NOOP("decodescope", "batch packed"),
     QT_TRANSLATE_NOOP("decodescope", "All requests in one call, each with its own tokens only: no pads")},
    {"continuous", requests, QT_TRANSLATE_NOOP("decodescope", "continuous"),
     QT_TRANSLATE_NOOP("decodescope", "Requests join when there is room and leave when they are done")},
    {"speculative", tokens, QT_TRANSLATE_NOOP("decodescope", "n-gram drafts"),
     QT_TRANSLATE_NOOP("decodescope",
                       "What followed the same words earlier is guessed and checked in one call")},
    {"speculative-layers", tokens, QT_TRANSLATE_NOOP("decodescope", "layer drafts"),
     QT_TRANSLATE_NOOP("decodescope", "The model's own first layers guess, the whole model checks")},
    {"speculative-model", tokens, QT_TRANSLATE_NOOP("decodescope", "model drafts"),
     QT_TRANSLATE_NOOP("decodescope", "A smaller model with the same vocabulary guesses, the model checks")},
    {"beam", tokens, QT_TRANSLATE_NOOP("decodescope", "beam search"),
     QT_TRANSLATE_NOOP("decodescope", "The likeliest continuations side by side")},
};

LaneSpec laneOf(std::string_view word) {
    const bool draftModel = word == "speculative-model";
    const Result<LaneSpec> lane = lane_from_name(draftModel ? "speculative" : word);
    LaneSpec made = lane ? *lane : LaneSpec();
    if (draftModel) {
        made.name = word;
        made.draft.kind = DraftKind::model;
        made.draft.model.path = "demo";
    }
    return made;
}

int kindNamed(std::string_view word) {
    const auto& kinds = laneKinds();
    const auto found = std::find_if(kinds.begin(), kinds.end(),
                                    [&](const LaneKind& kind) { return kind.lane.name == word; });
    return found == kinds.end() ? 0 : static_cast<int>(found - kinds.begin());
}

QString cacheWords(const LaneSpec& spec) {
    const CacheSpec& cache = spec.cache;
    QString words;
    switch (cache.kind) {
        case CacheKind::none: return {};
        case CacheKind::concat: words = tr("concat cache, copied each step"); break;
        case CacheKind::static_: words = tr("static cache"); break;
        case CacheKind::paged: words = tr("paged cache, blocks of %1").arg(cache.block); break;
        case CacheKind::window: words = tr("cache that forgets"); break;
        case CacheKind::int8: words = tr("int8 cache"); break;
        case CacheKind::kivi:
            words = tr("kivi cache of %1 bits, newest %2 in f32").arg(cache.bits).arg(cache.residual);
            break;
    }
    if (cache.dtype != DType::f32)
        words += QStringLiteral(", ") + QString::fromLatin1(to_string(cache.dtype));
    if (cache.share_prefixes) words += tr(", equal prefixes shared");
    return words;
}

QString batchWords(const LaneSpec& spec) {
    switch (spec.batching) {
        case Batching::single: return {};
        case Batching::static_:
            return spec.padding == Padding::left    ? tr("one batch, pads in front")
                   : spec.padding == Padding::right ? tr("one batch, pads behind")
                                                    : tr("one batch without pads");
        case Batching::continuous: break;
    }
    QString words =
        spec.max_rows > 0 ? tr("continuous batch of up to %1").arg(spec.max_rows) : tr("continuous batch");
    if (spec.budget > 0) words += tr(" and %1 tokens").arg(spec.budget);
    return words;
}

QString draftWords(const LaneSpec& spec) {
    const DraftSpec& draft = spec.draft;
    switch (draft.kind) {
        case DraftKind::ngram:
            return tr("%1 drafts after %2 equal tokens").arg(draft.tokens).arg(draft.ngram);
        case DraftKind::layers: return tr("%1 drafts from %2 layers").arg(draft.tokens).arg(draft.layers);
        case DraftKind::model:
            return tr("%1 drafts from %2").arg(QString::number(draft.tokens), modelRefText(draft.model));
    }
    return {};
}

}  // namespace

const QVector<LaneKind>& laneKinds() {
    static const QVector<LaneKind> kinds = [] {
        QVector<LaneKind> all;
        for (const Entry& entry : entries)
            all.append({tr(entry.group), tr(entry.title), tr(entry.toolTip), laneOf(entry.word)});
        return all;
    }();
    return kinds;
}

int laneKindOf(const LaneSpec& lane) {
    switch (lane.mode) {
        case LaneMode::naive: return kindNamed(lane.batching == Batching::single ? "naive" : "naive-batch");
        case LaneMode::speculative:
            return kindNamed(lane.draft.kind == DraftKind::ngram    ? "speculative"
                             : lane.draft.kind == DraftKind::layers ? "speculative-layers"
                                                                    : "speculative-model");
        case LaneMode::beam: return kindNamed("beam");
        case LaneMode::cached: break;
    }
    if (lane.batching == Batching::continuous) return kindNamed("continuous");
    if (lane.batching == Batching::static_)
        return kindNamed(lane.padding == Padding::left    ? "batch"
                         : lane.padding == Padding::right ? "batch-right"
                                                          : "batch-packed");
    switch (lane.cache.kind) {
        case CacheKind::none:
        case CacheKind::static_:
            return kindNamed(lane.cache.dtype == DType::f16    ? "f16"
                             : lane.cache.dtype == DType::bf16 ? "bf16"
                                                               : "static");
        case CacheKind::concat: return kindNamed("concat");
        case CacheKind::paged: return kindNamed("paged");
        case CacheKind::window: return kindNamed("window");
        case CacheKind::int8: return kindNamed("int8");
        case CacheKind::kivi: return kindNamed(lane.cache.bits == 2 ? "kivi2" : "kivi4");
    }
    return 0;
}

LaneSpec asKind(const LaneSpec& lane, int kind) {
    LaneSpec made = laneKinds().at(kind).lane;
    made.name = lane.name;
    made.faults = lane.faults;
    made.allocation = lane.allocation;
    made.device = lane.device;
    made.cuda_graph = lane.cuda_graph;
    made.tf32 = lane.tf32;
    made.weights = lane.weights;
    made.kernels = lane.kernels;
    // A window that a forgetting cache needed is no wish for other caches.
    const bool leaves = lane.cache.kind == CacheKind::window && made.cache.kind != CacheKind::window;
    if (lane.window.size > 0 && !leaves) made.window = lane.window;
    made.prefill_chunk = lane.prefill_chunk;
    made.prefill_partition = lane.prefill_partition;
    made.cache.capacity = lane.cache.capacity;
    made.cache.block = lane.cache.block;
    made.cache.blocks = lane.cache.blocks;
    made.cache.share_prefixes = lane.cache.share_prefixes;
    made.cache.group = lane.cache.group;
    made.cache.residual = lane.cache.residual;
    made.max_rows = lane.max_rows;
    made.budget = lane.budget;
    made.draft.tokens = lane.draft.tokens;
    made.draft.acceptance = lane.draft.acceptance;
    if (lane.mode == LaneMode::beam) made.beams = lane.beams;
    dropForeignSettings(made);
    return made;
}

std::vector<CacheKind> cacheKindsFor(const LaneSpec& lane) {
    using enum CacheKind;
    if (lane.mode == LaneMode::naive) return {none};
    if (lane.mode == LaneMode::beam) return {static_, concat, paged};
    if (lane.batching == Batching::continuous) return {paged, static_, window, int8, kivi};
    return {static_, concat, paged, window, int8, kivi};
}

void dropForeignSettings(LaneSpec& lane) {
    using enum CacheKind;
    const CacheSpec plain;
    const LaneSpec plainLane;
    if (lane.kernels == Kernels::openblas) lane.weights = plainLane.weights;
    CacheSpec& cache = lane.cache;
    if (!has_dtype(cache.kind)) cache.dtype = plain.dtype;
    if (!has_capacity(cache.kind)) cache.capacity = plain.capacity;
    if (cache.kind != paged) {
        cache.block = plain.block;
        cache.blocks = plain.blocks;
    }
    if (cache.kind != paged || lane.batching != Batching::continuous) cache.share_prefixes = false;
    if (cache.kind != kivi) {
        cache.bits = plain.bits;
        cache.group = plain.group;
        cache.residual = plain.residual;
    }
    if (cache.kind == window && lane.window.size == 0) lane.window = {.size = 64, .sinks = 4};
    if (lane.window.size == 0) lane.window.sinks = 0;
    if (lane.batching != Batching::static_) lane.padding = plainLane.padding;
    if (lane.batching != Batching::continuous) lane.max_rows = lane.budget = 0;
    if (lane.batching != Batching::single || lane.mode == LaneMode::naive) lane.prefill_partition.clear();
    if (lane.mode == LaneMode::naive) lane.prefill_chunk = 0;
    const DraftSpec plainDraft;
    if (lane.mode != LaneMode::speculative) {
        lane.draft = plainDraft;
    } else {
        if (lane.draft.kind != DraftKind::layers) lane.draft.layers = plainDraft.layers;
        if (lane.draft.kind != DraftKind::ngram) lane.draft.ngram = plainDraft.ngram;
        if (lane.draft.kind != DraftKind::model) lane.draft.model = plainDraft.model;
    }
    if (lane.mode != LaneMode::beam) lane.beams = plainLane.beams;
    // By the lane's kind alone: the device may be the experiment's, and the buffers may become what they
    // were.
    LaneSpec onGpu = lane;
    onGpu.allocation = AllocationPolicy::reused;
    if (!why_no_graph(onGpu, Device{Device::Kind::cuda, 0}).empty()) lane.cuda_graph = false;
    if (!why_no_tf32(onGpu, Device{Device::Kind::cuda, 0}).empty()) lane.tf32 = false;
}

QString laneDescription(const LaneSpec& spec) {
    QStringList parts;
    if (spec.mode == LaneMode::naive) parts << tr("whole text every step");
    if (spec.mode == LaneMode::speculative) parts << draftWords(spec);
    if (spec.mode == LaneMode::beam) parts << tr("%1 beams").arg(spec.beams);
    parts << batchWords(spec) << cacheWords(spec);
    if (spec.window.size > 0) {
        parts << (spec.window.sinks > 0
                      ? tr("sees %1 tokens and the first %2").arg(spec.window.size).arg(spec.window.sinks)
                      : tr("sees %1 tokens").arg(spec.window.size));
    }
    if (spec.cache.capacity > 0) parts << tr("capacity %1").arg(spec.cache.capacity);
    if (!spec.prefill_partition.empty() || spec.prefill_chunk > 0)
        parts << tr("prefill in chunks of %1").arg(prefillText(spec));
    if (spec.weights != WeightType::f32) parts << tr("%1 weights").arg(engineWord(to_string(spec.weights)));
    if (spec.kernels == Kernels::openblas) parts << tr("products by OpenBLAS");
    if (spec.device) parts << tr("on %1").arg(QString::fromStdString(spec.device->name()));
    if (spec.cuda_graph) parts << tr("CUDA graph");
    if (spec.tf32) parts << tr("products in TF32");
    if (spec.allocation == AllocationPolicy::fresh) parts << tr("fresh buffers every step");
    parts.removeAll(QString());
    return parts.join(QStringLiteral(" · "));
}

QString prefillText(const LaneSpec& spec) {
    if (!spec.prefill_partition.empty()) {
        QStringList sizes;
        for (const int size : spec.prefill_partition) sizes << QString::number(size);
        // One explicit chunk is not the same as a chunk size.
        return sizes.join(QStringLiteral(", ")) + (sizes.size() == 1 ? QStringLiteral(",") : QString());
    }
    return spec.prefill_chunk > 0 ? QString::number(spec.prefill_chunk) : QString();
}

bool setPrefill(LaneSpec& spec, const QString& text) {
    std::vector<int> sizes;
    for (const QString& chunk : text.split(QLatin1Char(','), Qt::SkipEmptyParts)) {
        bool ok = false;
        const int size = chunk.trimmed().toInt(&ok);
        if (!ok || size < 1) return false;
        sizes.push_back(size);
    }
    const bool partition = text.contains(QLatin1Char(','));
    spec.prefill_chunk = partition || sizes.empty() ? 0 : sizes.front();
    spec.prefill_partition = partition ? sizes : std::vector<int>();
    return true;
}

QString modelRefText(const ModelRef& ref) {
    if (ref.preset.empty()) return QString::fromStdString(ref.path);
    const QString preset = QStringLiteral("preset:") + QString::fromStdString(ref.preset);
    return ref.seed == 0 ? preset : preset + QStringLiteral(",seed=%1").arg(ref.seed);
}

}  // namespace decodescope
