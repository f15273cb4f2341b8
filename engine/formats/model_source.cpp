// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/formats/model_source.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <new>
#include <system_error>
#include <utility>

#include "engine/core/quote.h"
#include "engine/core/user_folders.h"
#include "engine/formats/gguf_file.h"
#include "engine/formats/gguf_tokenizer.h"
#include "engine/formats/gguf_weights.h"
#include "engine/formats/hf_folder.h"
#include "engine/formats/hf_tokenizer.h"
#include "engine/formats/input_file.h"
#include "engine/model/preset.h"

namespace decodescope {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view preset_prefix = "preset:";

std::vector<fs::path> resource_roots() {
    std::vector<fs::path> roots;
    if (const char* set = std::getenv("DECODESCOPE_DATA"); set != nullptr && *set != '\0')
        roots.emplace_back(set);
    std::error_code ignored;
    if (const fs::path program = fs::read_symlink("/proc/self/exe", ignored); !program.empty()) {
        roots.push_back(program.parent_path().parent_path() / "share" / "decodescope");
        roots.push_back(program.parent_path().parent_path().parent_path().parent_path() / "resources");
    }
    roots.emplace_back(DECODESCOPE_SOURCE_RESOURCES);
    return roots;
}

bool is_plain_name(std::string_view name) {
    return !name.empty() && name.front() != '.' &&
           name.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-") ==
               name.npos;
}

/// The folder's tokenizer and chat template. Ids the model has no row for are refused. What the tokenizer's
/// files say about the model is added to `folder`.
Result<HfTokenizer> load_folder_tokenizer(HfFolder& folder) {
    auto read = load_hf_tokenizer(folder.path);
    if (!read) return read;
    std::vector<std::string>& notes = folder.notes;
    notes.insert(notes.end(), read->notes.begin(), read->notes.end());
    if (read->tokenizer == nullptr) return read;
    const int n_token = read->tokenizer->n_token();
    if (n_token > folder.config.vocab) {
        return Error{ErrorKind::bad_input,
                     fmt::format("{}: the tokenizer has ids up to {}, but vocab_size is {}.",
                                 folder.path.string(), n_token - 1, folder.config.vocab)};
    }
    if (n_token < folder.config.vocab) {
        notes.push_back(fmt::format("{}: vocab_size is {}, of which the tokenizer names {}.",
                                    folder.path.string(), folder.config.vocab, n_token));
    }
    std::vector<std::int32_t>& eos = folder.config.eos_ids;
    if (read->eos_id && std::find(eos.begin(), eos.end(), *read->eos_id) == eos.end()) {
        eos.push_back(*read->eos_id);
    }
    return read;
}

/// The only GGUF file of a folder that has no config.json; nothing when it holds none.
Result<std::optional<fs::path>> gguf_file_in(const fs::path& folder) {
    if (is_there(folder / "config.json")) return std::optional<fs::path>();
    std::vector<std::string> names;
    std::error_code error;
    for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
        if (entry->path().extension() == ".gguf") names.push_back(entry->path().filename().string());
    }
    if (names.size() > 1) {
        std::sort(names.begin(), names.end());
        return Error{ErrorKind::bad_input,
                     fmt::format("{}: holds {} GGUF files, expected one; name the file: {}.", folder.string(),
                                 names.size(), quote_list(names))};
    }
    if (names.empty()) return std::optional<fs::path>();
    return std::optional<fs::path>(folder / names.front());
}

Result<ModelSummary> summarize_gguf(const fs::path& path) {
    auto source = open_gguf(path);
    if (!source) return source.error();
    GgufModel& model = source->model;
    ModelSummary summary;
    summary.architecture = std::move(model.architecture);
    summary.config = std::move(model.config);
    summary.config_is_complete = !model.obstacle;
    summary.tied_head = model.tied_head;
    summary.n_parameter = model.n_parameter;
    summary.notes = std::move(model.notes);
    if (auto tokenizer = read_gguf_tokenizer(source->file->header(), path.string(), summary.config.vocab)) {
        summary.has_tokenizer = tokenizer->tokenizer != nullptr;
        summary.chat_template = std::move(tokenizer->chat_template);
        summary.notes.insert(summary.notes.end(), tokenizer->notes.begin(), tokenizer->notes.end());
    } else if (!model.obstacle) {
        model.obstacle = tokenizer.error();
    }
    if (model.obstacle) {
        std::string why = model.obstacle->message;
        why.pop_back();
        summary.notes.push_back(why + "; the model can be inspected, but not run.");
    }
    summary.file_bytes = source->file->file_size();
    for (const GgufTensorUse& one : source->tensors) {
        const GgufTensor& tensor = *one.tensor;
        summary.tensors.push_back(
            {tensor.name, std::string(tensor.type->name), tensor.shape, tensor.bytes, one.use});
    }
    return summary;
}

void describe(ModelSummary& summary, const ModelConfig& config) {
    summary.config = config;
    summary.architecture = to_string(config.family);
    summary.tied_head = config.tied_head;
    summary.n_parameter = static_cast<std::uint64_t>(config.n_parameter());
}

Result<ModelSummary> summarize_preset(const ModelRef& ref) {
    const auto config = preset_config(ref.preset);
    if (!config) return config.error();
    ModelSummary summary;
    describe(summary, *config);
    for (const TensorSlot& slot : planned_slots(*config)) {
        const auto rows = static_cast<std::uint64_t>(slot.rows);
        const auto columns = static_cast<std::uint64_t>(slot.columns);
        auto shape = slot.rows == 1 ? std::vector{columns} : std::vector{rows, columns};
        summary.tensors.push_back(
            {slot.name, "F32", std::move(shape), rows * columns * sizeof(float), "random weights"});
    }
    return summary;
}

Result<ModelSummary> summarize(HfFolder& folder) {
    const auto tokenizer = load_folder_tokenizer(folder);
    if (!tokenizer) return tokenizer.error();
    ModelSummary summary;
    describe(summary, folder.config);
    summary.notes = folder.notes;
    summary.has_tokenizer = tokenizer->tokenizer != nullptr;
    summary.chat_template = tokenizer->chat_template;
    summary.file_bytes = folder.weight_file_bytes();
    for (const HfTensor& tensor : folder.tensors) {
        const SafetensorsEntry& entry = *tensor.entry;
        summary.tensors.push_back({entry.name, entry.dtype, entry.shape, entry.size(), tensor.use});
    }
    return summary;
}

Result<LoadedModel> load_folder(const fs::path& path, std::shared_ptr<MemoryLedger> ledger,
                                const LoadWatch& watch) {
    auto folder = open_hf_folder(path);
    if (!folder) return folder.error();
    // The tokenizer is small and may be refused, so it comes before the weights.
    auto tokenizer = load_folder_tokenizer(*folder);
    if (!tokenizer) return tokenizer.error();
    auto weights = load_hf_weights(*folder, std::move(ledger), watch);
    if (!weights) return weights.error();
    return LoadedModel{*std::move(weights), std::move(tokenizer->tokenizer),
                       std::move(tokenizer->chat_template)};
}

Result<LoadedModel> load_gguf(const fs::path& path, std::shared_ptr<MemoryLedger> ledger,
                              const LoadWatch& watch) {
    auto source = open_gguf(path);
    if (!source) return source.error();
    if (source->model.obstacle) return *source->model.obstacle;
    // The tokenizer is small and may be refused, so it comes before the weights.
    auto tokenizer = read_gguf_tokenizer(source->file->header(), path.string(), source->model.config.vocab);
    if (!tokenizer) return tokenizer.error();
    std::vector<std::string>& notes = source->model.notes;
    notes.insert(notes.end(), tokenizer->notes.begin(), tokenizer->notes.end());
    auto weights = load_gguf_weights(*source, std::move(ledger), watch);
    if (!weights) return weights.error();
    return LoadedModel{*std::move(weights), std::move(tokenizer->tokenizer),
                       std::move(tokenizer->chat_template)};
}

Result<LoadedModel> load(const ModelRef& ref, std::shared_ptr<MemoryLedger> ledger, const LoadWatch& watch) {
    if (!ref.preset.empty()) {
        const auto config = preset_config(ref.preset);
        if (!config) return config.error();
        auto weights = random_weights(*config, ref.seed, std::move(ledger));
        if (!weights) return weights.error();
        return LoadedModel{*std::move(weights), nullptr, {}};
    }
    const auto path = resolve_model_path(ref.path);
    if (!path) return path.error();
    return is_gguf_file(*path) ? load_gguf(*path, std::move(ledger), watch)
                               : load_folder(*path, std::move(ledger), watch);
}

/// Runs `body`; what the standard library throws ends here.
template <class Body>
auto without_exceptions(Body&& body) -> decltype(body()) {
    try {
        return body();
    } catch (const std::bad_alloc&) {
        return Error{ErrorKind::out_of_memory, "No memory left to open the model."};
    } catch (const std::exception& error) {
        return Error{ErrorKind::internal, fmt::format("The model could not be opened: {}.", error.what())};
    }
}

}  // namespace

bool is_gguf_file(const fs::path& path) {
    std::error_code ignored;
    if (fs::is_directory(path, ignored) || !is_there(path)) return false;
    if (path.extension() == ".gguf") return true;
    const auto file = InputFile::open(path);
    std::array<std::byte, 4> head{};
    return file && file->size() >= head.size() && file->read_at(0, head) && is_gguf(head);
}

Result<ModelRef> parse_model_ref(std::string_view text) {
    ModelRef ref;
    if (text.empty()) return Error{ErrorKind::bad_input, "The model is empty, expected a folder or a name."};
    if (!text.starts_with(preset_prefix)) {
        ref.path = text;
        return ref;
    }
    const std::string_view rest = text.substr(preset_prefix.size());
    const std::size_t comma = std::min(rest.find(','), rest.size());
    ref.preset = rest.substr(0, comma);
    if (ref.preset.empty()) {
        return Error{ErrorKind::bad_input,
                     fmt::format("Model {}: the preset's name is missing, expected one of {}.", quote(text),
                                 fmt::join(preset_names(), ", "))};
    }
    if (comma == rest.size()) return ref;
    std::string_view seed = rest.substr(comma + 1);
    constexpr std::string_view key = "seed=";
    const bool named = seed.starts_with(key);
    if (named) seed.remove_prefix(key.size());
    const auto [end, error] = std::from_chars(seed.data(), seed.data() + seed.size(), ref.seed);
    if (!named || error != std::errc() || end != seed.data() + seed.size()) {
        return Error{
            ErrorKind::bad_input,
            fmt::format("Model {}: expected preset:NAME or preset:NAME,seed=N with a whole number N.",
                        quote(text))};
    }
    return ref;
}

Result<fs::path> bundled_file(const std::string& relative_path) {
    std::vector<std::string> tried;
    for (const fs::path& root : resource_roots()) {
        fs::path path = root / relative_path;
        std::error_code ignored;
        if (fs::exists(path, ignored)) return path;
        tried.push_back(path.string());
    }
    return Error{ErrorKind::io, fmt::format("The bundled {} was not found; looked for {}.", relative_path,
                                            fmt::join(tried, ", "))};
}

Result<fs::path> resolve_model_path(const std::string& path_or_name) {
    if (path_or_name.empty()) {
        return Error{ErrorKind::bad_input, "The model is empty, expected a folder or a name."};
    }
    const fs::path path(path_or_name);
    std::error_code ignored;
    const fs::file_status status = fs::status(path, ignored);
    if (fs::is_directory(status)) {
        const auto inside = gguf_file_in(path);
        if (!inside) return inside.error();
        return inside->value_or(path);
    }
    if (is_gguf_file(path)) return path;
    if (fs::exists(status)) {
        return Error{ErrorKind::bad_input,
                     fmt::format("{}: is a file, expected a GGUF file or a folder with config.json and "
                                 "model.safetensors.",
                                 path_or_name)};
    }
    if (is_plain_name(path_or_name)) {
        if (auto bundled = bundled_file("models/" + path_or_name)) return bundled;
        // Where "decodescope-cli get" puts models.
        const auto own = user_data_folder();
        if (own && fs::is_directory(*own / "models" / path_or_name, ignored))
            return resolve_model_path((*own / "models" / path_or_name).string());
    }
    return Error{ErrorKind::io,
                 fmt::format("{} is neither a folder, nor a GGUF file, nor the name of a bundled or fetched "
                             "model (\"decodescope-cli get\" lists what can be fetched).",
                             quote(path_or_name, 400))};
}

Result<LoadedModel> load_model(const ModelRef& ref, std::shared_ptr<MemoryLedger> ledger,
                               const LoadWatch& watch) {
    return without_exceptions([&] { return load(ref, std::move(ledger), watch); });
}

Result<std::shared_ptr<const Tokenizer>> load_tokenizer(const ModelRef& ref) {
    return without_exceptions([&]() -> Result<std::shared_ptr<const Tokenizer>> {
        if (!ref.preset.empty()) {
            return Error{ErrorKind::bad_input,
                         fmt::format("The preset {} has no tokenizer.", quote(ref.preset))};
        }
        const auto path = resolve_model_path(ref.path);
        if (!path) return path.error();
        std::shared_ptr<const Tokenizer> tokenizer;
        std::vector<std::string> notes;
        if (is_gguf_file(*path)) {
            const auto file = GgufFile::open(*path);
            if (!file) return file.error();
            auto read = read_gguf_tokenizer((*file)->header(), path->string(), 0);
            if (!read) return read.error();
            tokenizer = std::move(read->tokenizer);
            notes = std::move(read->notes);
        } else {
            auto read = load_hf_tokenizer(*path);
            if (!read) return read.error();
            tokenizer = std::move(read->tokenizer);
            notes = std::move(read->notes);
        }
        if (tokenizer != nullptr) return tokenizer;
        return Error{ErrorKind::bad_input, notes.back()};
    });
}

Result<ModelSummary> inspect_model(const ModelRef& ref) {
    return without_exceptions([&]() -> Result<ModelSummary> {
        if (!ref.preset.empty()) return summarize_preset(ref);
        const auto path = resolve_model_path(ref.path);
        if (!path) return path.error();
        if (is_gguf_file(*path)) return summarize_gguf(*path);
        auto folder = open_hf_folder(*path);
        if (!folder) return folder.error();
        return summarize(*folder);
    });
}

}  // namespace decodescope
