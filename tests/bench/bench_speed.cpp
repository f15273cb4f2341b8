// SPDX-License-Identifier: GPL-3.0-or-later
// How near decoding and prefill come to what the machine can do: for every type of weights and for OpenBLAS,
// with the machine's limits measured between the cases. Every repetition visits all cases, each time from
// another one on. Judges nothing.
#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <memory>

#include "engine/backend/cpu/instructions.h"
#include "speed_report.h"

using namespace decodescope;
using namespace decodescope::bench;

namespace {

struct Options {
    std::string model = "gpt2-small";
    std::vector<int> threads{1, 2};
    int repetitions = 5;
    int steps = 20;
    std::vector<std::string> only;
    std::vector<std::string> types{"openblas", "f32", "bf16", "f16", "int8", "int4"};
    std::string format = "table";
    bool quick = false;
};

int measure_all(const Options& options) {
    const auto ledger = std::make_shared<MemoryLedger>();
    const auto weights = load_weights(options.model, ledger);
    if (!weights) return bench::fail(weights.error());
    std::vector<Product> products;
    for (const std::string& name : options.types) {
        const auto type = weight_type(name);
        if (!type && name != "openblas") {
            return bench::fail(
                {ErrorKind::bad_input, fmt::format("--types has \"{}\", expected openblas, f32, bf16, "
                                                   "f16, int8 or int4.",
                                                   name)});
        }
        products.push_back({type});
    }
    const auto wanted = [&](const char* group) {
        return options.only.empty() ||
               std::find(options.only.begin(), options.only.end(), group) != options.only.end();
    };
    const SpeedChoice choice{wanted("decode"),
                             wanted("batch"),
                             wanted("depth"),
                             wanted("prefill"),
                             wanted("busy"),
                             options.threads,
                             (*weights)->config.n_positions};
    std::vector<int> pools = options.threads;
    if (choice.busy) pools.insert(pools.end(), {1, 2});
    const auto rig = SpeedRig::make(*weights, ledger, products, pools, options.steps);
    if (!rig) return bench::fail(rig.error());

    std::vector<CaseResult> results;
    for (const SpeedCase& one : speed_cases(choice, products.size(), options.steps)) {
        if ((*rig)->products()[one.product].weights) results.push_back({one, {}});
    }
    for (int repetition = 0; repetition < options.repetitions; ++repetition) {
        const std::size_t first = results.size() * static_cast<std::size_t>(repetition) /
                                  static_cast<std::size_t>(options.repetitions);
        for (std::size_t i = 0; i < results.size(); ++i) {
            CaseResult& result = results[(first + i) % results.size()];
            const auto sample = (*rig)->measure(result.one);
            if (!sample) return bench::fail(sample.error());
            result.samples.push_back(*sample);
            if (isatty(fileno(stderr)) != 0) {
                fmt::print(stderr, "\rrepetition {} of {}: {} of {} ", repetition + 1, options.repetitions,
                           i + 1, results.size());
            }
        }
    }
    if (isatty(fileno(stderr)) != 0) fmt::print(stderr, "\r{:50}\r", "");
    options.format == "json" ? print_json(**rig, results) : print_table(**rig, results);
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc > 1 && argv[1] == busy_argument) keep_busy();
    Options options;
    CLI::App app("Measures decode and prefill beside the limits of this machine.");
    app.add_option("--shape,--model", options.model,
                   "llama135, a preset's name (random weights), or a folder, a GGUF file or a bundled name")
        ->capture_default_str();
    app.add_option("--threads", options.threads, "Numbers of threads, e.g. 1,2")
        ->delimiter(',')
        ->check(CLI::Range(1, 256));
    app.add_option("--repetitions", options.repetitions, "Visits of every case")
        ->capture_default_str()
        ->check(CLI::Range(1, 1000));
    app.add_option("--steps", options.steps, "Decode steps that are timed in each visit")
        ->capture_default_str()
        ->check(CLI::Range(1, 10'000));
    app.add_option("--only", options.only, "Groups of cases")
        ->delimiter(',')
        ->check(CLI::IsMember({"decode", "batch", "depth", "prefill", "busy"}));
    app.add_option("--types", options.types, "Weight types, and openblas")->delimiter(',');
    app.add_option("--format", options.format, "table or json")
        ->capture_default_str()
        ->check(CLI::IsMember({"table", "json"}));
    app.add_flag("--quick", options.quick,
                 "2 repetitions of 6 steps, without the group busy: about a minute");
    CLI11_PARSE(app, argc, argv);
    if (options.quick) {
        options.repetitions = 2;
        if (options.only.empty()) options.only = {"decode", "batch", "depth", "prefill"};
        options.steps = 6;
    }
    if (const auto chosen = choose_instructions(); !chosen) return bench::fail(chosen.error());
    return measure_all(options);
}
