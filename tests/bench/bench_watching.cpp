// SPDX-License-Identifier: GPL-3.0-or-later
// What it costs to look for taps that nobody has asked for, and to measure a step, against steps that nothing
// watches: the budget is 1 % of a step. Exits with 1 when more than twice that is certain.
#include <fmt/format.h>

#include <memory>

#include "engine/model/preset.h"
#include "engine/sweep/self_test.h"

using namespace decodescope;

int main(int argc, char** argv) {
    const auto config = preset_config(argc > 1 ? argv[1] : "gpt2-small");
    const auto ledger = std::make_shared<MemoryLedger>();
    const auto weights = config ? random_weights(*config, 0, ledger) : config.error();
    if (!weights) {
        fmt::print(stderr, "{}\n", weights.error().message);
        return 2;
    }
    const auto test = run_self_test({*weights, nullptr}, ledger, 1);
    if (!test) {
        fmt::print(stderr, "{}\n", test.error().message);
        return 3;
    }
    bool good = true;
    for (const SelfTest::Way& way : test->ways) {
        const bool over = way.interval.known && way.interval.low > 1 + 2 * SelfTest::limit;
        good = good && !over;
        fmt::print("{:10} step {:8.3f} ms  ratio {:.4f} ({:.4f} to {:.4f}){}\n", way.name, way.step_ns / 1e6,
                   way.ratio, way.interval.low, way.interval.high, over ? "  OVER" : "");
    }
    return good ? 0 : 1;
}
