// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QTest>

#include <initializer_list>

#include "tests/engine/decode/lane_fixture.h"

namespace decodescope::test {

/// Data rows "preset", "name", "chunk": every kind of lane, with the prompt whole and in chunks of 3.
inline void add_healthy_lanes(std::initializer_list<const char*> presets) {
    QTest::addColumn<QString>("preset");
    QTest::addColumn<QString>("name");
    QTest::addColumn<int>("chunk");
    for (const char* preset : presets) {
        for (const char* name :
             {"naive", "concat", "static", "paged", "window", "batch", "batch-right", "batch-packed",
              "naive-batch", "continuous", "speculative", "speculative-layers", "beam"}) {
            for (const int chunk : {0, 3}) {
                if (QByteArray(preset) == "one-block" && QByteArray(name) == "speculative-layers") continue;
                if (chunk == 0 || !QByteArray(name).startsWith("naive"))
                    QTest::addRow("%s, %s, chunk %d", preset, name, chunk) << preset << name << chunk;
            }
        }
    }
}

/// The lane of such a row.
inline LaneSpec healthy_lane(const QString& name, int chunk) {
    LaneSpec spec = named(name.toStdString());
    spec.prefill_chunk = chunk;
    if (spec.cache.kind == CacheKind::window) spec.window = {5, 1};
    return spec;
}

}  // namespace decodescope::test
