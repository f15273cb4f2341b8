// SPDX-License-Identifier: GPL-3.0-or-later
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <memory>
#include <optional>

#include "app/cli/commands.h"
#include "app/cli/options.h"
#include "app/cli/output.h"
#include "app/cli/plan_text.h"
#include "engine/core/quote.h"
#include "engine/experiment/experiment.h"
#include "engine/formats/model_source.h"
#include "engine/measure/environment.h"
#include "engine/plan/shape_reader.h"

namespace decodescope::cli {

namespace {

constexpr std::int64_t maxTokens = 1 << 24;
constexpr std::int64_t usualContext = 4096;
constexpr std::int64_t usualNewTokens = 16;

struct PlanOptions {
    std::string model = "demo";
    std::int64_t context = 0;
    int batch = 1;
    std::int64_t tokens = 0;
    std::string cache = "static";
    std::string kvType;
    std::string weightsType;
    std::string window;
    std::string memory;
    std::string reserve = "0";
    std::int64_t parameters = 0;
    int block = 0;
    int residual = -1;
    int chunk = 0;
    int threads = 0;
    bool list = false;
    bool check = false;
    Output output;
};

Error optionError(const char* option, const std::string& what) {
    return {ErrorKind::bad_input, fmt::format("{}: {}.", option, what)};
}

/// "16G", "16GiB" (1024-based), "16GB" (1000-based), "1.5T" or bytes.
Result<std::int64_t> sizeFromText(const char* option, const std::string& text) {
    double number = 0;
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
    std::string unit(static_cast<const char*>(end), text.data() + text.size());
    for (char& c : unit) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    const auto fail = [&] {
        return optionError(option, fmt::format("{} is not a size such as 16G, 24GB or 800M", quote(text)));
    };
    if (code != std::errc() || !(number >= 0)) return fail();
    double factor = 1;
    if (!unit.empty() && unit != "B") {
        const auto power = std::string_view("KMGT").find(unit.front());
        const std::string_view rest = std::string_view(unit).substr(1);
        if (power == std::string_view::npos || (!rest.empty() && rest != "B" && rest != "IB")) return fail();
        factor = std::pow(rest == "B" ? 1000.0 : 1024.0, static_cast<double>(power + 1));
    }
    const double bytes = number * factor;
    if (!(bytes < 9e18)) return fail();
    return static_cast<std::int64_t>(bytes);
}

Result<CacheSpec> cacheOf(const PlanOptions& options, bool loadable) {
    const auto lane = lane_from_name(options.cache);
    const bool cached = lane && lane->mode == LaneMode::cached && lane->batching == Batching::single &&
                        lane->faults.empty() && lane->cache.kind != CacheKind::none;
    if (!cached) {
        return optionError("--cache",
                           fmt::format("{} is not one of concat, static, f16, bf16, paged, window, "
                                       "int8, kivi4, kivi2",
                                       quote(options.cache)));
    }
    CacheSpec cache = lane->cache;
    if (!options.kvType.empty()) {
        if (!has_dtype(cache.kind)) {
            return optionError("--kv-type",
                               fmt::format("a cache of kind {} has a type of its own", options.cache));
        }
        cache.dtype = options.kvType == "f32"   ? DType::f32
                      : options.kvType == "f16" ? DType::f16
                                                : DType::bf16;
    } else if (!loadable && has_dtype(cache.kind) && cache.dtype == DType::f32) {
        cache.dtype = DType::f16;
    }
    if (options.block > 0) {
        if (cache.kind != CacheKind::paged) return optionError("--block", "only paged caches have blocks");
        cache.block = options.block;
    }
    if (options.residual >= 0) {
        if (cache.kind != CacheKind::kivi)
            return optionError("--residual", "only kivi caches have a residual");
        cache.residual = options.residual;
    }
    return cache;
}

/// The type of the planned weights; none = as this program holds them.
Result<std::optional<WeightType>> weightsOf(const PlanOptions& options, const PlanShape& shape) {
    if (options.weightsType == "engine" || (options.weightsType.empty() && shape.loadable))
        return std::optional<WeightType>();
    std::string name = options.weightsType;
    if (name.empty())
        name = shape.stored_as == "float32" ? "f32" : shape.stored_as == "float16" ? "f16" : "bf16";
    auto type = weight_type(name);
    if (!type) return optionError("--weights-type", type.error().message);
    return std::optional(*std::move(type));
}

Result<PlanRequest> requestOf(const PlanOptions& options, const PlanShape& shape) {
    PlanRequest request;
    auto cache = cacheOf(options, shape.loadable);
    if (!cache) return cache.error();
    request.cache = *cache;
    auto weights = weightsOf(options, shape);
    if (!weights) return weights.error();
    request.weights = *std::move(weights);
    if (options.weightsType.empty() && !shape.loadable)
        request.file_weights = static_cast<std::int64_t>(shape.file_tensor_bytes);
    if (!options.window.empty()) {
        auto window = windowFromText("--window", options.window);
        if (!window) return window.error();
        request.window = *window;
    }
    if (options.check && options.window.empty() && shape.window > 0) request.window = {shape.window, 0};
    request.batch = options.batch;
    const std::int64_t most = shape.n_positions > 0 ? shape.n_positions : usualContext;
    request.context = options.context > 0 ? options.context : std::min(most, usualContext);
    request.new_tokens = options.tokens > 0 ? options.tokens : std::min(usualNewTokens, request.context);
    request.prefill_chunk = options.chunk;
    request.threads = options.threads > 0 ? options.threads : physical_core_count();
    request.huge_pages = shape.loadable && huge_pages_offered();  // other programs have their own ways
    if (options.memory.empty()) {
        request.memory = available_memory();
    } else {
        auto memory = sizeFromText("--memory", options.memory);
        if (!memory) return memory.error();
        if (*memory == 0) return optionError("--memory", "0 bytes are nothing to plan with");
        request.memory = *memory;
    }
    auto reserve = sizeFromText("--reserve", options.reserve);
    if (!reserve) return reserve.error();
    request.reserve = *reserve;
    return request;
}

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
        if (shape->tensors_known && shape->n_parameter() != options.parameters) {
            return reportError(optionError(
                "--parameters", fmt::format("{} has {} parameters", shape->name, shape->n_parameter())));
        }
        shape->stated_parameters = options.parameters;
    }
    auto request = requestOf(options, *shape);
    if (!request) return reportError(request.error());
    auto made = plan_memory(*shape, *request);
    if (!made) return reportError(made.error());
    PlanReport report{*std::move(shape), *std::move(request), *std::move(made), {}};
    if (!options.check) return writeResult(options.output, planText(report, format));

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
    command->add_option("-c,--context", options->context, "Tokens of each request that are stored in the end")
        ->option_text("N [the model's positions, at most 4096]")
        ->check(wholeNumber(1, maxTokens));
    command->add_option("-b,--batch", options->batch, "Requests side by side")
        ->option_text("N [1]")
        ->check(wholeNumber(1, 65536));
    command
        ->add_option("-n,--tokens", options->tokens,
                     "New tokens of each request; the rest of the context is prompt")
        ->option_text("N [16]")
        ->check(wholeNumber(1, maxTokens));
    command->add_option("--prefill-chunk", options->chunk, "Prompt tokens per call; 0 = all at once")
        ->option_text("N [0]")
        ->check(wholeNumber(0, maxTokens));
    command
        ->add_option("--cache", options->cache,
                     "Kind of cache: concat, static, f16, bf16, paged, window, int8, kivi4 or kivi2")
        ->option_text("KIND [static]");
    command
        ->add_option(
            "--kv-type", options->kvType,
            "Type of the entries: f32, f16 or bf16 [f32 for models that can be loaded here, else f16]")
        ->option_text("TYPE")
        ->check(oneOf({"f32", "f16", "bf16"}));
    command->add_option("--window", options->window, "Window of caches of kind window")
        ->option_text("SIZE[,sinks=N] [the model's]");
    command->add_option("--block", options->block, "Tokens per block of paged caches")
        ->option_text("N [16]")
        ->check(wholeNumber(1, 4096));
    command
        ->add_option("--residual", options->residual, "Newest tokens that kivi caches keep in f32, at least")
        ->option_text("N [32]")
        ->check(wholeNumber(0, maxTokens));
    command
        ->add_option("--weights-type", options->weightsType,
                     "Type of the weights: engine (as this program holds them), f32, f16, bf16, int8, int4, "
                     "Q4_K, ... [engine for models that can be loaded here, else the file's]")
        ->option_text("TYPE");
    command
        ->add_option("--parameters", options->parameters,
                     "Number of parameters, where the configuration does not tell")
        ->option_text("N")
        ->check(wholeNumber(1, 100'000'000'000'000));
    command->add_option("--memory", options->memory, "Memory to plan with, e.g. 16G (1024-based) or 24GB")
        ->option_text("SIZE [what is available here]");
    command->add_option("--reserve", options->reserve, "Part of the memory that is not to be used")
        ->option_text("SIZE [0]");
    command->add_option("-t,--threads", options->threads, "Threads that compute; each has attention scratch")
        ->option_text("N [physical cores]")
        ->check(wholeNumber(1, 1024));
    command->add_flag("--check", options->check,
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
