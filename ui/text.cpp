// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/text.h"

#include <string>

namespace decodescope {

namespace {

// Marked for translation here, looked up below. In files and on the command line they stay as the engine
// writes them.
[[maybe_unused]] constexpr const char* words[] = {
    // what a step does
    QT_TRANSLATE_NOOP("Engine", "prefill"),
    QT_TRANSLATE_NOOP("Engine", "decode"),
    QT_TRANSLATE_NOOP("Engine", "mixed"),
    // cells of a mask
    QT_TRANSLATE_NOOP("Engine", "visible"),
    QT_TRANSLATE_NOOP("Engine", "future"),
    QT_TRANSLATE_NOOP("Engine", "padding"),
    QT_TRANSLATE_NOOP("Engine", "outside the window"),
    QT_TRANSLATE_NOOP("Engine", "empty slot"),
    QT_TRANSLATE_NOOP("Engine", "seen against the rule"),
    QT_TRANSLATE_NOOP("Engine", "hidden against the rule"),
    // owners of tensors
    QT_TRANSLATE_NOOP("Engine", "kv"),
    // parts of a plan, and whether a run agrees with it
    QT_TRANSLATE_NOOP("Engine", "weights"),
    QT_TRANSLATE_NOOP("Engine", "KV of one token"),
    QT_TRANSLATE_NOOP("Engine", "KV live"),
    QT_TRANSLATE_NOOP("Engine", "KV reserved"),
    QT_TRANSLATE_NOOP("Engine", "KV tables and positions"),
    QT_TRANSLATE_NOOP("Engine", "KV copied by growing"),
    QT_TRANSLATE_NOOP("Engine", "KV peak during an append"),
    QT_TRANSLATE_NOOP("Engine", "the same, all layers in one tensor"),
    QT_TRANSLATE_NOOP("Engine", "activations"),
    QT_TRANSLATE_NOOP("Engine", "logits"),
    QT_TRANSLATE_NOOP("Engine", "workspace"),
    QT_TRANSLATE_NOOP("Engine", "rest of huge pages"),
    QT_TRANSLATE_NOOP("Engine", "total"),
    QT_TRANSLATE_NOOP("Engine", "private memory"),
    QT_TRANSLATE_NOOP("Engine", "exact"),
    QT_TRANSLATE_NOOP("Engine", "differs"),
    QT_TRANSLATE_NOOP("Engine", "within the limit"),
    QT_TRANSLATE_NOOP("Engine", "beyond the limit"),
    // what a verdict rests on
    QT_TRANSLATE_NOOP("Engine", "replays"),
    QT_TRANSLATE_NOOP("Engine", "first divergence"),
    QT_TRANSLATE_NOOP("Engine", "position ids"),
    QT_TRANSLATE_NOOP("Engine", "cache lengths"),
    QT_TRANSLATE_NOOP("Engine", "padding masks"),
    QT_TRANSLATE_NOOP("Engine", "cache bytes"),
    QT_TRANSLATE_NOOP("Engine", "onset"),
    QT_TRANSLATE_NOOP("Engine", "course"),
    QT_TRANSLATE_NOOP("Engine", "rows"),
    QT_TRANSLATE_NOOP("Engine", "requests"),
    QT_TRANSLATE_NOOP("Engine", "neighbours"),
    QT_TRANSLATE_NOOP("Engine", "capacity"),
    QT_TRANSLATE_NOOP("Engine", "repeatability"),
    // no cache
    QT_TRANSLATE_NOOP("Engine", "none"),
    // the head of a sweep's table
    QT_TRANSLATE_NOOP("Engine", "test"),
    QT_TRANSLATE_NOOP("Engine", "lane"),
    QT_TRANSLATE_NOOP("Engine", "tok/s (95 %)"),
    QT_TRANSLATE_NOOP("Engine", "step ms (p99)"),
    QT_TRANSLATE_NOOP("Engine", "read GB/s"),
    QT_TRANSLATE_NOOP("Engine", "speed-up"),
    QT_TRANSLATE_NOOP("Engine", "status"),
};

}  // namespace

QString engineWord(std::string_view word) {
    return QCoreApplication::translate("Engine", std::string(word).c_str());
}

}  // namespace decodescope
