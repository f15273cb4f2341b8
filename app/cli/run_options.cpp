// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/run_options.h"

#include <fmt/format.h>

#include <filesystem>
#include <utility>

#include "app/cli/options.h"
#include "engine/core/quote.h"
#include "engine/core/text_file.h"
#include "engine/experiment/field_check.h"
#include "engine/formats/model_source.h"

namespace decodescope::cli {

namespace {

constexpr std::uint64_t maxPromptBytes = std::uint64_t{64} << 20;
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

RunOptions::RunOptions(CLI::App& command) : command_(command), laneOptions_(command) {
    const auto range = [](std::int64_t lowest, std::int64_t highest) { return wholeNumber(lowest, highest); };
    command
        .add_option("-e,--experiment", experiment_,
                    "Experiment file, or the name of a bundled one (demo); other options change it")
        ->option_text("FILE");
    addModelOption(command, model_);
    auto* prompt = command.add_option("-p,--prompt", prompts_, "Prompt as text; again for another request")
                       ->option_text("TEXT")
                       ->allow_extra_args(false);
    auto* file =
        command
            .add_option("--prompt-file", promptFile_, "Prompt from a file, byte for byte; - = standard input")
            ->option_text("FILE");
    auto* ids = command.add_option("--ids", ids_, "Prompt as token ids; again for another request")
                    ->option_text("ID,ID,...")
                    ->allow_extra_args(false);
    auto* random = command
                       .add_option("--random-prompt", randomPrompts_,
                                   "Prompt of random token ids; again for another request")
                       ->option_text("LENGTH[,seed=N]")
                       ->allow_extra_args(false);
    command.add_flag("--control", control_,
                     "Take control tokens such as <|im_start|> in text prompts as such");
    prompt->excludes(file)->excludes(ids)->excludes(random);
    file->excludes(ids)->excludes(random);
    ids->excludes(random);
    command.add_option("-n,--tokens", tokens_, "New tokens of each request")
        ->option_text("N [64]")
        ->check(range(1, max_tokens));
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
        ->check(range(0, max_tokens));
    command
        .add_option("--top-p", topP_, "Sample among the fewest tokens whose probabilities reach P; 1 = all")
        ->option_text("P [1]")
        ->check(numberFrom(0, 1));
    command
        .add_option("--min-p", minP_,
                    "Sample among tokens at least P times as likely as the likeliest; 0 = all")
        ->option_text("P [0]")
        ->check(numberFrom(0, 1));
    command
        .add_option("--repetition-penalty", repetitionPenalty_,
                    "Divide the logits of tokens that came already, multiply negative ones; 1 = off")
        ->option_text("X [1]")
        ->check(numberFrom(0, 10));
    command.add_option("--stop-ids", stopIds_, "A request that chooses one of these tokens ends")
        ->option_text("ID,ID,...");
    command.add_option("--seed", seed_, "Seed of the sampling")->option_text("N [0]")->check(seedNumber());
    addDeviceOption(command, device_);
    command.add_option("-t,--threads", threads_, "Compute threads; 0 = all physical cores")
        ->option_text("N [0]")
        ->check(range(0, 1024));
    command.add_option("--warmup", warmup_, "Untimed passes of each lane before the timed ones")
        ->option_text("N [1]")
        ->check(range(0, 10'000));
    command
        .add_option(
            "--interval", interval_,
            "Go on repeating until the 95 % interval of every lane's median is at most +- this many percent")
        ->option_text("PERCENT")
        ->check(numberFrom(0, 99));
    command.add_option("--seconds", seconds_, "Go on repeating for at most so long")
        ->option_text("S [60 with --interval]")
        ->check(numberFrom(0, 1e6));
    command.add_option("-r,--repetitions", repetitions_, "Timed repetitions, at least")
        ->option_text("N [1]")
        ->check(range(1, 10'000));
    command
        .add_option(
            "--interleave", interleave_,
            "What lanes take turns with: one step, or one repetition; automatic = steps where lanes match")
        ->option_text("WHAT [automatic]")
        ->check(oneOf({"automatic", "step", "repetition"}));
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
    if (control_) {
        bool any = false;
        for (PromptSpec& prompt : experiment->prompts) {
            prompt.control = prompt.kind == PromptSpec::Kind::text;
            any = any || prompt.control;
        }
        if (!any) return Error{ErrorKind::bad_input, "--control: there is no text prompt to apply it to."};
    }
    if (given("--tokens")) experiment->new_tokens = tokens_;
    DS_TRY(laneOptions_.apply(*experiment, !given("--experiment")));
    DS_TRY(applyDrive(*experiment));
    DS_TRY(applySampling(*experiment));
    if (given("--interleave")) {
        experiment->interleave = interleave_ == "step"         ? Interleave::step
                                 : interleave_ == "repetition" ? Interleave::repetition
                                                               : Interleave::automatic;
    }
    if (given("--device")) {
        const auto device = deviceFromText(device_);
        if (!device) return device.error();
        experiment->device = *device;
    }
    if (given("--threads")) experiment->threads = threads_;
    if (given("--warmup")) experiment->warmup = warmup_;
    if (given("--repetitions")) experiment->repetitions = repetitions_;
    if (given("--interval")) experiment->precision = {interval_ / 100, seconds_};
    if (given("--seconds")) experiment->precision.seconds = seconds_;
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
    experiment.prompts[0].text = defaultPrompt;
    experiment.new_tokens = tokens_;
    experiment.warmup = warmup_;
    experiment.repetitions = repetitions_;
    return experiment;
}

Result<void> RunOptions::applyPrompt(Experiment& experiment) const {
    std::vector<PromptSpec> prompts;
    if (given("--prompt")) {
        for (const std::string& text : prompts_) {
            if (text.empty()) return Error{ErrorKind::bad_input, "--prompt: is empty, expected a text."};
            prompts.push_back({.text = text});
        }
    } else if (given("--prompt-file")) {
        auto text = promptFile_ == "-" ? readStandardInput() : read_text_file(promptFile_, maxPromptBytes);
        if (!text) return text.error();
        if (text->empty()) {
            return Error{ErrorKind::bad_input,
                         fmt::format("--prompt-file: {} is empty, expected a text.", quote(promptFile_))};
        }
        prompts.push_back({.text = *std::move(text)});
    } else if (given("--ids")) {
        for (const std::string& text : ids_) {
            auto ids = idsFromText("--ids", text);
            if (!ids) return ids.error();
            prompts.push_back({.kind = PromptSpec::Kind::ids, .ids = *std::move(ids)});
        }
    } else if (given("--random-prompt")) {
        for (const std::string& text : randomPrompts_) {
            const auto random = randomPromptFromText("--random-prompt", text);
            if (!random) return random.error();
            prompts.push_back(
                {.kind = PromptSpec::Kind::random, .length = random->length, .seed = random->seed});
        }
    } else {
        return {};
    }
    experiment.prompts = std::move(prompts);
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

Result<void> RunOptions::applySampling(Experiment& experiment) const {
    Sampling& sampling = experiment.sampling;
    if (given("--temperature") || given("--top-k") || given("--top-p") || given("--min-p")) {
        sampling.kind = SamplingKind::sample;
    }
    if (given("--temperature")) sampling.temperature = temperature_;
    if (given("--top-k")) sampling.top_k = topK_;
    if (given("--top-p")) sampling.top_p = topP_;
    if (given("--min-p")) sampling.min_p = minP_;
    if (given("--seed")) sampling.seed = seed_;
    if (given("--repetition-penalty")) sampling.repetition_penalty = repetitionPenalty_;
    if (given("--temperature") && temperature_ == 0) {
        sampling = {.repetition_penalty = sampling.repetition_penalty};
    }
    if (given("--stop-ids")) {
        auto ids = idsFromText("--stop-ids", stopIds_);
        if (!ids) return ids.error();
        experiment.stop_ids = *std::move(ids);
    }
    return {};
}

}  // namespace decodescope::cli
