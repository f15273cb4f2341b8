// SPDX-License-Identifier: GPL-3.0-or-later
// Decodes greedily with a static cache, for scripts/steadycheck to watch from outside: after a prompt and
// some steps it writes "begin" to the standard output, makes the steps, and writes "end"; each is one system
// call. steady_decode MODEL TYPE THREADS STEPS. MODEL: as bench_speed takes it. Exit code 3: the type is
// refused.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <numeric>
#include <string_view>

#include "engine/model/forward.h"
#include "speed_case.h"

using namespace decodescope;

namespace {

constexpr int prompt_length = 16;
constexpr int n_warm_up = 16;
constexpr int refused_type = 4;

Result<void> decode(const Weights& weights, Backend& backend, const std::shared_ptr<MemoryLedger>& ledger,
                    int n_step) {
    const ModelConfig& config = weights.config;
    const int capacity = std::min(config.n_positions, prompt_length + n_warm_up + n_step);
    CacheSpec spec;
    spec.kind = CacheKind::static_;
    auto made = make_cache(spec, {config.n_layer, 1, config.n_kv_head, config.head_dim},
                           {capacity, prompt_length, 0, {}}, ledger);
    if (!made) return made.error();
    KvCache& cache = **made;
    Workspace workspace(ledger);
    DS_TRY(reserve_room(workspace, weights, backend, {1, prompt_length, 1, capacity}));
    CallTokens call;
    call.reserve(1, prompt_length);
    std::int32_t logit_row = prompt_length - 1;
    const auto step = [&]() -> Result<std::int32_t> {
        const auto output = forward(weights, call, std::span(&logit_row, 1), &cache,
                                    effective_window({}, config.window), workspace, backend);
        if (!output) return output.error();
        return bench::chosen_token(*output, 0, config.vocab);
    };
    std::vector<std::int32_t> prompt(prompt_length);
    std::iota(prompt.begin(), prompt.end(), 1);
    call.add_row(prompt, 0);
    auto token = step();
    logit_row = 0;
    for (int i = 0; token && cache.next_position() < capacity; ++i) {
        if (i == n_warm_up && write(STDOUT_FILENO, "begin\n", 6) != 6) break;
        call.clear();
        call.add(*token, cache.next_position());
        call.end_row();
        token = step();
    }
    if (!token) return token.error();
    if (write(STDOUT_FILENO, "end\n", 4) != 4) return Error{ErrorKind::io, "The end could not be marked."};
    return {};
}

}  // namespace

int main(int argc, char** argv) {
    const auto type = argc == 5 ? weight_type(argv[2]) : std::nullopt;
    if (!type) {
        fmt::print(stderr, "Usage: steady_decode MODEL f32|f16|bf16|int8|int4 THREADS STEPS\n");
        return 2;
    }
    const auto ledger = std::make_shared<MemoryLedger>();
    const auto weights = bench::load_weights(argv[1], ledger);
    if (!weights) return bench::fail(weights.error());
    const auto backend = make_cpu_backend(std::clamp(std::atoi(argv[3]), 1, 256));
    const auto prepared = backend->prepare(*weights, *type, ledger);
    if (!prepared) {
        bench::fail(prepared.error());
        return prepared.error().kind == ErrorKind::unsupported ? refused_type : 2;
    }
    if (const auto done = decode(**prepared, *backend, ledger, std::clamp(std::atoi(argv[4]), 1, 1'000'000));
        !done) {
        return bench::fail(done.error());
    }
    return 0;
}
