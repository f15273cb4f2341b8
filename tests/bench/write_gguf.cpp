// SPDX-License-Identifier: GPL-3.0-or-later
// Writes a model as a GGUF file, so that another program can be measured with the same one:
// write_gguf MODEL f32|f16|bf16|int8|int4 FILE. MODEL: as bench_speed takes it.
#include <fmt/format.h>

#include <memory>

#include "gguf_writer.h"
#include "speed_case.h"

using namespace decodescope;

int main(int argc, char** argv) {
    const auto type = argc == 4 ? weight_type(argv[2]) : std::nullopt;
    if (!type) {
        fmt::print(stderr, "Usage: write_gguf MODEL f32|f16|bf16|int8|int4 FILE\n");
        return 2;
    }
    const auto weights = bench::load_weights(argv[1], std::make_shared<MemoryLedger>());
    if (!weights) return bench::fail(weights.error());
    if (const auto written = bench::write_gguf(**weights, *type, argv[3]); !written) {
        return bench::fail(written.error());
    }
    return 0;
}
