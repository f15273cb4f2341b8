// SPDX-License-Identifier: GPL-3.0-or-later
// Decode and prefill on a GPU beside what its memory and its arithmetic allow, measured in the same process:
//   gpu_speed [--device N] [--steps N] [--quick] [MODEL:TYPE...]      e.g. gpt2-small:f32 gpt2-xl:bf16
// --quick: small probes, to see that it runs.
#include <fmt/format.h>

#include <charconv>
#include <cstdio>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include "engine/backend/cuda/cuda_backend.h"
#include "engine/cache/kv_cache.h"
#include "engine/core/clock.h"
#include "engine/measure/statistics.h"
#include "engine/model/forward.h"
#include "engine/model/preset.h"
#include "engine/plan/accounting.h"

using namespace decodescope;

namespace {

constexpr int prompt = 512;
constexpr int warm_up = 4;  // the first steps bring kernels and memory into place, and capture a graph
/// How large copies and products have to be to show what the device can do.
struct Probe {
    std::size_t bytes = std::size_t{1} << 29;
    int side = 4096;
};
constexpr Probe quick_probe{std::size_t{1} << 20, 64};

struct Options {
    int device = 0;
    int steps = 64;
    Probe probe;
    std::vector<std::string> cases;
};

/// Seconds by the device's own clock and by the processor's, medians.
struct Timed {
    double device = 0;
    double host = 0;
};

/// Decode and prefill of one model on one GPU.
class GpuSpeed {
public:
    GpuSpeed(Backend& backend, int steps)
        : backend_(backend), steps_(steps), ledger_(std::make_shared<MemoryLedger>(backend.memory())) {}

    /// Bytes read and written per second by copies within the device, best of several, in GB/s.
    Result<double> copy_gb_s(std::size_t probe_bytes) {
        auto from = Buffer::allocate(ledger_, Owner::workspace, probe_bytes);
        if (!from) return from.error();
        auto to = Buffer::allocate(ledger_, Owner::workspace, probe_bytes);
        if (!to) return to.error();
        double best = 0;
        for (int i = 0; i < 8; ++i) {
            backend_.memory()->trim();  // waits until the device is idle
            const std::int64_t start = now_ns();
            for (int copy = 0; copy < 8; ++copy) to->copy(0, *from, 0, probe_bytes);
            backend_.memory()->trim();
            best = std::max(best,
                            16.0 * static_cast<double>(probe_bytes) / static_cast<double>(now_ns() - start));
        }
        return best;
    }

    /// f32 arithmetic of a large square product through the library, best of several, in GFLOP/s.
    Result<double> peak_gflop_s(int probe_side) {
        const std::size_t n = static_cast<std::size_t>(probe_side) * static_cast<std::size_t>(probe_side);
        std::vector<Buffer> matrices;
        for (int i = 0; i < 3; ++i) {
            auto matrix = Buffer::floats(ledger_, Owner::workspace, n);
            if (!matrix) return matrix.error();
            matrices.push_back(*std::move(matrix));
        }
        const Linear w{matrices[0].f32(), nullptr, probe_side, probe_side, nullptr};
        double best = 0;
        for (int i = 0; i < 5; ++i) {
            backend_.memory()->trim();
            const std::int64_t start = now_ns();
            backend_.linear(matrices[1].f32(), probe_side, w, matrices[2].f32(), false);
            backend_.memory()->trim();
            best = std::max(
                best, 2.0 * probe_side * static_cast<double>(n) / static_cast<double>(now_ns() - start));
        }
        return best;
    }

    Result<void> load(const std::string& model, WeightType type) {
        const auto config = preset_config(model);
        if (!config) return config.error();
        const auto host = random_weights(*config, 1, std::make_shared<MemoryLedger>());
        if (!host) return host.error();
        auto prepared = backend_.prepare(*host, type, ledger_);
        if (!prepared) return prepared.error();
        weights_ = *std::move(prepared);
        capacity_ = std::min(prompt + warm_up + steps_, config->n_positions);
        return {};
    }
    const Weights& weights() const { return *weights_; }

    Result<Timed> decode(bool graph) {
        DS_TRY(start());
        workspace_->set_graph(graph);
        const int first = std::min(prompt, capacity_ / 2);
        const auto filled = run(first);
        if (!filled) return filled.error();
        std::vector<double> device, host;
        for (int i = 0; i < warm_up + steps_ && cache_->next_position() < capacity_; ++i) {
            const auto step = run(1);
            if (!step) return step.error();
            if (i < warm_up) continue;
            device.push_back(step->device);
            host.push_back(step->host);
        }
        return Timed{summarize(device).median, summarize(host).median};
    }

    Result<Timed> prefill(int tokens) {
        std::vector<double> device, host;
        for (int i = 0; i < 8; ++i) {
            DS_TRY(start());
            const auto call = run(tokens);
            if (!call) return call.error();
            if (i < 2) continue;
            device.push_back(call->device);
            host.push_back(call->host);
        }
        return Timed{summarize(device).median, summarize(host).median};
    }
    int capacity() const { return capacity_; }

private:
    Result<void> start() {
        cache_.reset();
        workspace_ = std::make_unique<Workspace>(ledger_);
        const ModelConfig& config = weights_->config;
        CacheSpec spec;
        spec.kind = CacheKind::static_;
        const KvShape shape{config.n_layer, 1, config.n_kv_head, config.head_dim};
        auto cache = make_cache(spec, shape, {capacity_, capacity_, 0, {}}, ledger_);
        if (!cache) return cache.error();
        cache_ = *std::move(cache);
        return reserve_room(*workspace_, *weights_, backend_, {1, capacity_, 1, capacity_});
    }

    /// One call of `n` tokens, appended to the cache.
    Result<Timed> run(int n) {
        const int vocab = weights_->config.vocab;
        call_.clear();
        for (int t = 0; t < n; ++t) call_.add((t * 7 + 1) % vocab, cache_->next_position() + t);
        call_.end_row();
        const std::int32_t last = n - 1;
        const std::int64_t start = now_ns();
        const auto output =
            forward(*weights_, call_, std::span(&last, 1), cache_.get(), {}, *workspace_, backend_);
        if (!output) return output.error();
        const double host = static_cast<double>(now_ns() - start) / 1e9;
        return Timed{backend_.device_seconds().value_or(0), host};
    }

    Backend& backend_;
    int steps_;
    std::shared_ptr<MemoryLedger> ledger_;
    std::shared_ptr<const Weights> weights_;
    std::unique_ptr<Workspace> workspace_;
    std::unique_ptr<KvCache> cache_;
    CallTokens call_;
    int capacity_ = 0;
};

int fail(const Error& error) {
    fmt::print(stderr, "gpu_speed: {}\n", error.message);
    return exit_code(error.kind);
}

Result<int> number(std::string_view option, std::string_view text) {
    int value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || value < 0) {
        return Error{ErrorKind::bad_input,
                     fmt::format("{} is \"{}\", expected a number that is not negative.", option, text)};
    }
    return value;
}

Result<Options> read_options(std::span<char* const> arguments) {
    Options options;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        const std::string_view word = arguments[i];
        if (word == "--device" || word == "--steps") {
            const auto value = number(word, i + 1 < arguments.size() ? arguments[++i] : "");
            if (!value) return value.error();
            (word == "--device" ? options.device : options.steps) = *value;
        } else if (word == "--quick") {
            options.probe = quick_probe;
        } else {
            options.cases.emplace_back(word);
        }
    }
    options.steps = std::max(options.steps, 1);
    if (options.cases.empty()) options.cases = {"gpt2-small:f32", "gpt2-small:bf16"};
    return options;
}

Result<void> measure(GpuSpeed& speed, const std::string& word, double gb_s, double peak) {
    const std::size_t colon = word.find(':');
    const auto type =
        weight_type(colon == std::string::npos ? "f32" : std::string_view(word).substr(colon + 1));
    if (!type)
        return Error{ErrorKind::bad_input,
                     fmt::format("\"{}\" is not MODEL:TYPE, e.g. gpt2-small:f32.", word)};
    DS_TRY(speed.load(word.substr(0, colon), *type));
    const ModelConfig& config = speed.weights().config;
    const auto bytes = static_cast<double>(speed.weights().bytes_read_per_step());
    for (const bool graph : {false, true}) {
        const auto timed = speed.decode(graph);
        if (!timed) return timed.error();
        fmt::print("| {} | decode{} | {:.0f} us ({:.0f}) | {:.0f} GB/s | {:.2f} |\n", word,
                   graph ? ", graph" : "", timed->host * 1e6, timed->device * 1e6, bytes / timed->host / 1e9,
                   bytes / timed->host / 1e9 / gb_s);
    }
    const int tokens = std::min(prompt, speed.capacity());
    const auto timed = speed.prefill(tokens);
    if (!timed) return timed.error();
    const auto flop = static_cast<double>(product_flops(config, tokens, 1)) +
                      static_cast<double>(attention_flops(config, std::int64_t{tokens} * (tokens + 1) / 2));
    fmt::print("| {} | prefill {} | {:.0f} us ({:.0f}) | {:.0f} GFLOP/s | {} |\n", word, tokens,
               timed->host * 1e6, timed->device * 1e6, flop / timed->host / 1e9,
               *type == WeightType::f32 ? fmt::format("{:.2f}", flop / timed->host / 1e9 / peak)
                                        : std::string("not measured"));
    return {};
}

}  // namespace

int main(int argc, char** argv) {
    const auto options = read_options(std::span(argv + 1, static_cast<std::size_t>(std::max(argc - 1, 0))));
    if (!options) return fail(options.error());
    const auto backend = make_cuda_backend(options->device, 1);
    if (!backend) return fail(backend.error());
    GpuSpeed speed(**backend, options->steps);
    const auto gb_s = speed.copy_gb_s(options->probe.bytes);
    if (!gb_s) return fail(gb_s.error());
    const auto peak = speed.peak_gflop_s(options->probe.side);
    if (!peak) return fail(peak.error());
    fmt::print("{}\n\ncopies within the device {:.0f} GB/s, f32 products {:.0f} GFLOP/s\n\n",
               (*backend)->description(), *gb_s, *peak);
    fmt::print(
        "| weights | work | time of a call (by the GPU's clock) | reached | share "
        "|\n|---|---|---|---|---|\n");
    for (const std::string& word : options->cases) {
        if (const auto done = measure(speed, word, *gb_s, *peak); !done) return fail(done.error());
    }
    return 0;
}
