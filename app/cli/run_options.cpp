// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/run_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <limits>

#include "app/cli/options.h"
#include "engine/core/quote.h"
#include "engine/core/text_file.h"
#include "engine/formats/model_source.h"

namespace decodescope::cli {

namespace {

constexpr std::uint64_t maxPromptBytes = std::uint64_t{64} << 20;
constexpr int maxTokens = 1 << 24;
constexpr const char* defaultPrompt = "It is a truth universally acknowledged, that";

/// A file, or the name of a bundled experiment; an existing file wins.
Result<std::filesystem::path> experimentPath(const std::string& text) {
    std::error_code code;
    if (std::filesystem::exists(text, code)) return std::filesystem::path(text);
    const bool isName = !text.empty() && text.find_first_of("/.") == std::string::npos;
    if (isName) {
        if (auto bundled = bundled_file("experiments/" + text + ".json")) return bundled;
    }
    return Error{ErrorKind::io,
                 fmt::format("--experiment: {} is neither a file nor a bundled experiment.", quote(text))};
}

}  // namespace

RunOptions::RunOptions(CLI::App& command) : command_(command) {
    const auto range = [](std::int64_t lowest, std::int64_t highest) { return wholeNumber(lowest, highest); };
    command
        .add_option("-e,--experiment", experiment_,
                    "Experiment file, or the name of a bundled one (demo); other options change it")
        ->option_text("FILE");
    addModelOption(command, model_);
    auto* prompt = command.add_option("-p,--prompt", prompt_, "Prompt as text")->option_text("TEXT");
    auto* file =
        command
            .add_option("--prompt-file", promptFile_, "Prompt from a file, byte for byte; - = standard input")
            ->option_text("FILE");
    auto* ids = command.add_option("--ids", ids_, "Prompt as token ids")->option_text("ID,ID,...");
    auto* random = command.add_option("--random-prompt", randomPrompt_, "Prompt of random token ids")
                       ->option_text("LENGTH[,seed=N]");
    prompt->excludes(file)->excludes(ids)->excludes(random);
    file->excludes(ids)->excludes(random);
    ids->excludes(random);
    command.add_option("-n,--tokens", tokens_, "New tokens of each lane")
        ->option_text("N [64]")
        ->check(range(1, maxTokens));
    command.add_option("-l,--lanes", lanes_, "Lanes: naive, concat, static")
        ->option_text("LANE,... [naive,concat,static]");
    command.add_option("--reference", reference_, "Lane that the others are compared with")
        ->option_text("LANE [the first]");
    command
        .add_option(
            "--drive", drive_,
            "What lanes are fed: the reference's tokens (forced), their own (free), or --fixed-ids (fixed)")
        ->option_text("DRIVE [forced]")
        ->check(oneOf({"forced", "free", "fixed"}));
    command.add_option("--fixed-ids", fixedIds_, "Tokens fed after the prompt, one fewer than --tokens")
        ->option_text("ID,ID,...");
    command
        .add_option("--temperature", temperature_, "Sample at this temperature; 0 = take the largest logit")
        ->option_text("T [0]")
        ->check(numberFrom(0, 100));
    command.add_option("--top-k", topK_, "Sample among the K largest logits; 0 = all")
        ->option_text("K [0]")
        ->check(range(0, maxTokens));
    command.add_option("--seed", seed_, "Seed of the sampling")->option_text("N [0]")->check(seedNumber());
    command.add_option("-t,--threads", threads_, "Compute threads; 0 = all physical cores")
        ->option_text("N [0]")
        ->check(range(0, 1024));
    command.add_option("--warmup", warmup_, "Untimed passes of each lane before the timed ones")
        ->option_text("N [1]")
        ->check(range(0, 10'000));
    command.add_option("-r,--repetitions", repetitions_, "Timed repetitions")
        ->option_text("N [1]")
        ->check(range(1, 10'000));
    command
        .add_option("--prefill-chunk", prefillChunk_,
                    "Prompt tokens per call of cached lanes; 0 = all at once")
        ->option_text("N [0]")
        ->check(range(0, maxTokens));
    command.add_option("--capacity", capacity_, "Tokens a static cache holds; 0 = as many as the run needs")
        ->option_text("N [0]")
        ->check(range(0, maxTokens));
}

Result<Experiment> RunOptions::experiment(std::vector<std::string>& warnings) const {
    auto experiment = base(warnings);
    if (!experiment) return experiment;
    if (given("--model")) {
        auto model = parse_model_ref(model_);
        if (!model) return model.error();
        experiment->model = *model;
    }
    DS_TRY(applyPrompt(*experiment));
    if (given("--tokens")) experiment->new_tokens = tokens_;
    DS_TRY(applyLanes(*experiment));
    DS_TRY(applyDrive(*experiment));
    applySampling(*experiment);
    if (given("--threads")) experiment->threads = threads_;
    if (given("--warmup")) experiment->warmup = warmup_;
    if (given("--repetitions")) experiment->repetitions = repetitions_;
    DS_TRY(experiment->validate());
    return experiment;
}

Result<Experiment> RunOptions::base(std::vector<std::string>& warnings) const {
    if (given("--experiment")) {
        const auto path = experimentPath(experiment_);
        if (!path) return path.error();
        return load_experiment(*path, &warnings);
    }
    Experiment experiment;
    experiment.prompt.text = defaultPrompt;
    experiment.new_tokens = tokens_;
    experiment.warmup = warmup_;
    experiment.repetitions = repetitions_;
    return experiment;
}

Result<void> RunOptions::applyPrompt(Experiment& experiment) const {
    PromptSpec prompt;
    if (given("--prompt")) {
        if (prompt_.empty()) return Error{ErrorKind::bad_input, "--prompt: is empty, expected a text."};
        prompt.text = prompt_;
    } else if (given("--prompt-file")) {
        auto text = promptFile_ == "-" ? readStandardInput() : read_text_file(promptFile_, maxPromptBytes);
        if (!text) return text.error();
        if (text->empty()) {
            return Error{ErrorKind::bad_input,
                         fmt::format("--prompt-file: {} is empty, expected a text.", quote(promptFile_))};
        }
        prompt.text = *std::move(text);
    } else if (given("--ids")) {
        auto ids = idsFromText("--ids", ids_);
        if (!ids) return ids.error();
        prompt.kind = PromptSpec::Kind::ids;
        prompt.ids = *std::move(ids);
    } else if (given("--random-prompt")) {
        const auto random = randomPromptFromText("--random-prompt", randomPrompt_);
        if (!random) return random.error();
        prompt.kind = PromptSpec::Kind::random;
        prompt.length = random->length;
        prompt.seed = random->seed;
    } else {
        return {};
    }
    experiment.prompt = std::move(prompt);
    return {};
}

Result<void> RunOptions::applyLanes(Experiment& experiment) const {
    if (given("--lanes") || !given("--experiment")) {
        const auto names = listFromText("--lanes", lanes_);
        if (!names) return names.error();
        experiment.lanes.clear();
        for (const std::string& name : *names) {
            auto lane = lane_from_name(name);
            if (!lane) return Error{lane.error().kind, "--lanes: " + lane.error().message};
            experiment.lanes.push_back(*std::move(lane));
        }
        const auto named = [&](const LaneSpec& lane) { return lane.name == experiment.reference; };
        if (std::none_of(experiment.lanes.begin(), experiment.lanes.end(), named))
            experiment.reference.clear();
    }
    const auto refuse = [](const char* option, const char* lane) {
        return Error{ErrorKind::bad_input,
                     fmt::format("{}: there is no {} lane to apply it to.", option, lane)};
    };
    bool anyCached = false;
    bool anyStatic = false;
    for (LaneSpec& lane : experiment.lanes) {
        if (lane.mode != LaneMode::cached) continue;
        anyCached = true;
        if (given("--prefill-chunk")) {
            lane.prefill_chunk = prefillChunk_;
            lane.prefill_partition.clear();
        }
        if (lane.cache.kind != CacheKind::static_) continue;
        anyStatic = true;
        if (given("--capacity")) lane.cache.capacity = capacity_;
    }
    if (given("--prefill-chunk") && !anyCached) return refuse("--prefill-chunk", "cached");
    if (given("--capacity") && !anyStatic) return refuse("--capacity", "static");
    if (given("--reference")) {
        const auto named = [&](const LaneSpec& lane) { return lane.name == reference_; };
        if (std::none_of(experiment.lanes.begin(), experiment.lanes.end(), named)) {
            return Error{ErrorKind::bad_input,
                         fmt::format("--reference: there is no lane {}.", quote(reference_))};
        }
        experiment.reference = reference_;
    }
    return {};
}

Result<void> RunOptions::applyDrive(Experiment& experiment) const {
    if (given("--drive")) {
        experiment.drive = drive_ == "free" ? Drive::free : drive_ == "fixed" ? Drive::fixed : Drive::forced;
        if (experiment.drive != Drive::fixed) experiment.fixed_ids.clear();
    }
    if (given("--fixed-ids")) {
        if (experiment.drive != Drive::fixed) {
            return Error{ErrorKind::bad_input, "--fixed-ids: needs --drive fixed."};
        }
        auto ids = idsFromText("--fixed-ids", fixedIds_);
        if (!ids) return ids.error();
        experiment.fixed_ids = *std::move(ids);
    }
    if (experiment.drive == Drive::fixed &&
        experiment.fixed_ids.size() + 1 != static_cast<std::size_t>(experiment.new_tokens)) {
        return Error{ErrorKind::bad_input,
                     fmt::format("--fixed-ids: holds {} ids, expected --tokens - 1 = {}.",
                                 experiment.fixed_ids.size(), experiment.new_tokens - 1)};
    }
    return {};
}

void RunOptions::applySampling(Experiment& experiment) const {
    Sampling& sampling = experiment.sampling;
    if (given("--temperature") || given("--top-k")) sampling.kind = SamplingKind::sample;
    if (given("--temperature")) sampling.temperature = temperature_;
    if (given("--top-k")) sampling.top_k = topK_;
    if (given("--seed")) sampling.seed = seed_;
    if (given("--temperature") && temperature_ == 0) sampling = {};
}

}  // namespace decodescope::cli
