// SPDX-License-Identifier: GPL-3.0-or-later
#include <fmt/format.h>

#include <memory>

#include "app/cli/commands.h"
#include "app/cli/options.h"
#include "app/cli/output.h"
#include "app/cli/plan_text.h"
#include "engine/core/quote.h"
#include "engine/experiment/field_check.h"
#include "engine/formats/model_source.h"
#include "engine/plan/plan_choices.h"
#include "engine/plan/shape_reader.h"

namespace decodescope::cli {

namespace {

struct PlanOptions {
    std::string model = "demo";
    PlanChoices choices;
    std::string window;
    std::int64_t parameters = 0;
    bool list = false;
    Output output;
};

int plan(const PlanOptions& options, Session& session) {
    const Format format = options.output.format();
    if (options.list) {
        const auto models = load_known_models();
        if (!models) return reportError(models.error());
        return writeResult(options.output, knownModelsText(*models, format));
    }
    auto shape = read_shape(options.model);
    if (!shape) return reportError(shape.error());
    if (options.parameters > 0) {
        if (const auto stated = state_parameters(*shape, options.parameters, "--"); !stated)
            return reportError(stated.error());
    }
    PlanChoices choices = options.choices;
    choices.prefix = "--";
    if (!options.window.empty()) {
        const auto window = windowFromText("--window", options.window);
        if (!window) return reportError(window.error());
        choices.window = *window;
    }
    auto request = plan_request(*shape, choices);
    if (!request) return reportError(request.error());
    auto made = plan_memory(*shape, *request);
    if (!made) return reportError(made.error());
    PlanReport report{*std::move(shape), *std::move(request), *std::move(made), {}};
    if (!choices.check) return writeResult(options.output, planText(report, format));

    if (!report.shape.loadable) {
        return reportError(
            Error{ErrorKind::bad_input,
                  fmt::format("--check: {} is a configuration without weights that this program "
                              "could run.",
                              quote(options.model))});
    }
    const auto ref = parse_model_ref(options.model);
    if (!ref) return reportError(ref.error());
    auto check = check_plan(*ref, report.shape, report.request, session.stop);
    if (!check) return reportError(check.error());
    report.plan = check->plan;
    report.check = *std::move(check);
    const int written = writeResult(options.output, planText(report, format));
    return written != 0 ? written : report.check->holds() ? 0 : 1;
}

}  // namespace

void addPlanCommand(CLI::App& app, Session& session) {
    CLI::App* command = app.add_subcommand(
        "plan", "Say how much memory a model and its cache need, what fits, and whether a real run agrees");
    auto options = std::make_shared<PlanOptions>();
    command
        ->add_option("-m,--model,model", options->model,
                     "Model: a folder, a config.json, a GGUF file, a bundled name, preset:NAME, or a known "
                     "configuration, see --list")
        ->option_text("MODEL [demo]");
    command->add_flag("--list", options->list, "List the known configurations and their sources");
    command
        ->add_option("-c,--context", options->choices.context,
                     "Tokens of each request that are stored in the end")
        ->option_text("N [the model's positions, at most 4096]")
        ->check(wholeNumber(1, max_tokens));
    command->add_option("-b,--batch", options->choices.batch, "Requests side by side")
        ->option_text("N [1]")
        ->check(wholeNumber(1, 65536));
    command
        ->add_option("-n,--tokens", options->choices.tokens,
                     "New tokens of each request; the rest of the context is prompt")
        ->option_text("N [16]")
        ->check(wholeNumber(1, max_tokens));
    command->add_option("--prefill-chunk", options->choices.chunk, "Prompt tokens per call; 0 = all at once")
        ->option_text("N [0]")
        ->check(wholeNumber(0, max_tokens));
    command
        ->add_option("--cache", options->choices.cache,
                     "Kind of cache: concat, static, f16, bf16, paged, window, int8, kivi4 or kivi2; with "
                     "what the matrices "
                     "are computed with as in the name of a lane, static+weights-int8 or static+openblas")
        ->option_text("KIND [static]");
    command
        ->add_option(
            "--kv-type", options->choices.kv_type,
            "Type of the entries: f32, f16 or bf16 [f32 for models that can be loaded here, else f16]")
        ->option_text("TYPE")
        ->check(oneOf({"f32", "f16", "bf16"}));
    command->add_option("--window", options->window, "Window of caches of kind window")
        ->option_text("SIZE[,sinks=N] [the model's]");
    command->add_option("--block", options->choices.block, "Tokens per block of paged caches")
        ->option_text("N [16]")
        ->check(wholeNumber(1, 4096));
    command
        ->add_option("--residual", options->choices.residual,
                     "Newest tokens that kivi caches keep in f32, at least")
        ->option_text("N [32]")
        ->check(wholeNumber(0, max_tokens));
    command
        ->add_option("--weights-type", options->choices.weights_type,
                     "Type of the weights: engine (as this program holds them), f32, f16, bf16, int8, int4, "
                     "Q4_K, ... [engine for models that can be loaded here, else the file's]")
        ->option_text("TYPE");
    command
        ->add_option("--parameters", options->parameters,
                     "Number of parameters, where the configuration does not tell")
        ->option_text("N")
        ->check(wholeNumber(1, 100'000'000'000'000));
    command
        ->add_option("--memory", options->choices.memory,
                     "Memory to plan with, e.g. 16G (1024-based) or 24GB")
        ->option_text("SIZE [what is available here]");
    command->add_option("--reserve", options->choices.reserve, "Part of the memory that is not to be used")
        ->option_text("SIZE [0]");
    command
        ->add_option("-t,--threads", options->choices.threads,
                     "Threads that compute; each has attention scratch")
        ->option_text("N [physical cores]")
        ->check(wholeNumber(1, 1024));
    command->add_flag("--check", options->choices.check,
                      "Load the model, run it as planned, and print plan and measurement side by side");
    addOutputOptions(*command, options->output);
    command->footer(
        "Every factor is read from the model's files: heads of keys, their width, windows, the latent of "
        "MLA. What "
        "a file leaves to the program that wrote it is told in a note.\n\n"
        "Capacity = (memory - reserve - weights - work) / KV of one request. Work is what this program needs "
        "for "
        "one call.\n\n"
        "--check: KV, activations, logits and workspace must be exact. Private memory (pages written to and "
        "mapped "
        "model files, with free heap given back, less a baseline taken before loading) must be within 5 % or "
        "512 KiB of the plan, and as much of the resident set may stay unexplained.\n\n"
        "Mistakes that this keeps away: query heads or hidden size / heads taken for the file's own numbers, "
        "f32 taken for "
        "granted, weights forgotten; the resident set taken for the cache (it is compared part by part); the "
        "size at the "
        "end taken for the peak (a growing cache shows both).\n\n"
        "Example:\n"
        "  decodescope-cli plan --model llama-3-70b --context 4096 --memory 160G\n"
        "  decodescope-cli plan --model path/to/config.json --cache int8 --weights-type Q4_K\n"
        "  decodescope-cli plan --model demo --check\n\n"
        "Exit status: 0 done (and agreed), 1 the run did not agree with the plan, 2 bad arguments or "
        "unreadable "
        "input, 3 could not run.");
    command->callback([options, &session] { session.exitCode = plan(*options, session); });
}

}  // namespace decodescope::cli
