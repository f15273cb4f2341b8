// SPDX-License-Identifier: GPL-3.0-or-later
#include "speed_case.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "engine/decode/sampler.h"
#include "engine/formats/model_source.h"
#include "engine/model/preset.h"

namespace decodescope::bench {

namespace {

ModelConfig llama135() {
    ModelConfig config = *preset_config("tiny-llama");
    config.name = "llama135";
    config.vocab = 49152;
    config.n_positions = 2048;
    config.d_model = 576;
    config.n_layer = 30;
    config.n_head = 9;
    config.n_kv_head = 3;
    config.head_dim = 64;
    config.d_ff = 1536;
    return config;
}

}  // namespace

int fail(const Error& error) {
    fmt::print(stderr, "{}\n", error.message);
    return exit_code(error.kind);
}

Result<std::shared_ptr<const Weights>> load_weights(const std::string& name,
                                                    std::shared_ptr<MemoryLedger> ledger) {
    if (name == "llama135") return random_weights(llama135(), 0, std::move(ledger));
    if (const auto config = preset_config(name)) return random_weights(*config, 0, std::move(ledger));
    const auto ref = parse_model_ref(name);
    if (!ref) return ref.error();
    auto model = load_model(*ref, std::move(ledger));
    if (!model) return model.error();
    return std::move(model->weights);
}

std::vector<SpeedCase> speed_cases(const SpeedChoice& choice, std::size_t n_product, int n_step) {
    std::vector<SpeedCase> cases;
    const auto add = [&](const SpeedCase& one) {
        const int needed = one.work == Work::prefill ? one.tokens : one.depth + n_warm_up + n_step;
        if (needed > choice.max_positions || std::find(cases.begin(), cases.end(), one) != cases.end())
            return;
        cases.push_back(one);
    };
    for (const int threads : choice.threads) {
        for (std::size_t product = 0; product < n_product; ++product) {
            const auto decode = [&](int batch, int depth, DType kv) {
                add({Work::decode, product, threads, 0, batch, depth, kv});
            };
            if (choice.decode) decode(1, 0, DType::f32);
            for (const int batch : batch_sizes) {
                if (choice.batch) decode(batch, 0, DType::f32);
            }
            for (const DType kv : kv_types) {
                for (const int depth : depths) {
                    if (choice.depth) decode(1, depth, kv);
                }
            }
            for (const int tokens : prefill_lengths) {
                if (choice.prefill) add({Work::prefill, product, threads, tokens, 1, 0, DType::f32});
            }
        }
    }
    for (std::size_t product = 0; product < n_product; ++product) {
        if (choice.busy) add({Work::busy, product, 2, 0, 1, 0, DType::f32});
    }
    return cases;
}

std::int32_t chosen_token(const ForwardOutput& output, std::size_t row, int n_vocab) {
    if (row < output.largest.size() && output.largest[row] >= 0) return output.largest[row];
    const auto vocab = static_cast<std::size_t>(n_vocab);
    return argmax(output.logits.subspan(row * vocab, vocab));
}

double prefill_flop(const ModelConfig& config, int tokens) {
    const double d = config.d_model;
    const double ff_matrices = config.gated_ff ? 3 : 2;
    const double layer = d * config.qkv_width() + d * config.q_width() + ff_matrices * d * config.d_ff;
    // Each query against half of the tokens on average: one product for the scores, one for the values.
    const double attention = 2.0 * config.q_width() * (tokens + 1) / 2;
    return 2 * (config.n_layer * (layer + attention) * tokens + d * config.vocab);
}

}  // namespace decodescope::bench
