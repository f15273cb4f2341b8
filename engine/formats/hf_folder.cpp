// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/formats/hf_folder.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "engine/core/quote.h"
#include "engine/formats/hf_config.h"
#include "engine/formats/input_file.h"
#include "engine/formats/json_text.h"
#include "engine/formats/weight_loader.h"

namespace decodescope {

namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t max_config_bytes = std::uint64_t{1} << 20;
constexpr std::uint64_t max_index_bytes = std::uint64_t{16} << 20;
constexpr std::size_t max_shards = 1000;            // each stays open
constexpr std::size_t max_shard_tensors = 200'000;  // of all shards together; bounds memory

Error bad_input(std::string message) {
    return {ErrorKind::bad_input, std::move(message)};
}

Result<std::string> read_whole(const fs::path& path, std::uint64_t limit) {
    const auto file = InputFile::open(path);
    if (!file) return file.error();
    if (file->size() > limit) {
        return bad_input(
            fmt::format("{}: has {} bytes, expected at most {}.", path.string(), file->size(), limit));
    }
    std::string text(static_cast<std::size_t>(file->size()), '\0');
    const auto bytes = std::as_writable_bytes(std::span(text));
    DS_TRY(file->read_at(0, bytes));
    DS_TRY(refuse_impostor(path, bytes));
    return text;
}

/// The folder's own name; for the hub's cache layout "org/name" instead of a commit.
std::string model_name(const fs::path& path) {
    std::error_code ignored;
    fs::path folder = fs::absolute(path, ignored).lexically_normal();
    if (!folder.has_filename()) folder = folder.parent_path();
    const fs::path snapshots = folder.parent_path();
    std::string repository = snapshots.parent_path().filename().string();
    constexpr std::string_view prefix = "models--";
    if (snapshots.filename() != "snapshots" || !repository.starts_with(prefix)) {
        return folder.filename().string();
    }
    repository.erase(0, prefix.size());
    if (const auto dashes = repository.find("--"); dashes != repository.npos) {
        repository.replace(dashes, 2, "/");
    }
    return repository;
}

bool is_shard_name(std::string_view name) {
    return name.ends_with(".safetensors") && name.find_first_of(std::string_view("/\\:\0", 4)) == name.npos &&
           name.find("..") == name.npos;
}

/// Tensor name to shard, as `model.safetensors.index.json` says.
Result<std::map<std::string, std::string>> read_index(const fs::path& path) {
    const auto text = read_whole(path, max_index_bytes);
    if (!text) return text.error();
    const auto json = parse_json_object(*text, path.string());
    if (!json) return json.error();
    const auto found = json->find("weight_map");
    if (found == json->end() || !found->is_object()) {
        return bad_input(fmt::format(
            "{}: weight_map is missing, expected an object of tensor and file names.", path.string()));
    }
    std::map<std::string, std::string> index;
    for (const auto& [tensor, file] : found->items()) {
        if (!file.is_string() || !is_shard_name(file.get_ref<const std::string&>())) {
            return bad_input(fmt::format(
                "{}: weight_map places tensor {} in {}, expected the name of a .safetensors file beside it.",
                path.string(), quote(tensor),
                file.is_string() ? quote(file.get_ref<const std::string&>()) : "something that is no name"));
        }
        index.emplace(tensor, file.get<std::string>());
    }
    return index;
}

Result<void> open_shards(const fs::path& index_path, HfFolder& folder) {
    const auto index = read_index(index_path);
    if (!index) return index.error();
    std::set<std::string> names;
    for (const auto& [tensor, file] : *index) names.insert(file);
    if (names.size() > max_shards) {
        return bad_input(fmt::format("{}: weight_map names {} files, expected at most {}.",
                                     index_path.string(), names.size(), max_shards));
    }
    std::vector<std::string> missing;
    for (const std::string& name : names) {
        if (!is_there(folder.path / name)) missing.push_back(name);
    }
    if (!missing.empty()) {
        return Error{ErrorKind::io,
                     fmt::format("{}: {} of {} weight files are missing: {}.", index_path.string(),
                                 missing.size(), names.size(), quote_list(missing))};
    }
    std::vector<std::string> ignored;
    std::size_t n_tensor = 0;
    for (const std::string& name : names) {
        const auto file = SafetensorsFile::open(folder.path / name);
        if (!file) return file.error();
        folder.files.push_back(*file);
        n_tensor += (*file)->entries().size();
        if (n_tensor > max_shard_tensors) {
            return bad_input(fmt::format("{}: the weight files hold more than {} tensors.",
                                         index_path.string(), max_shard_tensors));
        }
        for (const SafetensorsEntry& entry : (*file)->entries()) {
            const auto place = index->find(entry.name);
            if (place != index->end() && place->second == name) {
                folder.tensors.push_back({file->get(), &entry, {}, {}});
            } else {
                ignored.push_back(entry.name);
            }
        }
    }
    std::set<std::string_view> found;
    for (const HfTensor& tensor : folder.tensors) found.insert(tensor.entry->name);
    for (const auto& [tensor, file] : *index) {
        if (!found.contains(tensor)) {
            return bad_input(fmt::format("{}: weight_map places tensor {} in {}, which does not hold it.",
                                         index_path.string(), quote(tensor), quote(file)));
        }
    }
    if (!ignored.empty()) {
        folder.notes.push_back(
            fmt::format("{}: tensors that the index places elsewhere or nowhere are ignored: {}.",
                        index_path.string(), quote_list(ignored)));
    }
    return {};
}

Result<void> open_weight_files(HfFolder& folder) {
    const fs::path single = folder.path / "model.safetensors";
    const fs::path index = folder.path / "model.safetensors.index.json";
    if (!is_there(single)) {
        if (is_there(index)) return open_shards(index, folder);
        if (is_there(folder.path / "pytorch_model.bin")) {
            return Error{ErrorKind::unsupported,
                         fmt::format("{}: is in PyTorch's own format, expected model.safetensors.",
                                     (folder.path / "pytorch_model.bin").string())};
        }
        return Error{ErrorKind::io, fmt::format("{}: there is no such file.", single.string())};
    }
    const auto file = SafetensorsFile::open(single);
    if (!file) return file.error();
    folder.files.push_back(*file);
    for (const SafetensorsEntry& entry : (*file)->entries()) {
        folder.tensors.push_back({file->get(), &entry, {}, {}});
    }
    if (is_there(index)) {
        folder.notes.push_back(
            fmt::format("{}: not used, because model.safetensors is there.", index.string()));
    }
    return {};
}

constexpr std::string_view head_name = "lm_head.weight";

/// What a family's files hold besides the tensors of `tensor_slots`.
struct FamilyNames {
    std::string_view base_prefix;             // of everything but the head, in files saved with the head
    std::string_view layer;                   // what numbered names start with
    std::array<std::string_view, 2> buffers;  // of a layer: constants that some programs stored
    std::string_view buffer_use;
    std::string_view example;
};

const FamilyNames& family_names(Family family) {
    static constexpr FamilyNames gpt2{
        "transformer.", "h.", {"attn.bias", "attn.masked_bias"}, "skipped: mask buffer", "h.0.ln_1.weight"};
    static constexpr FamilyNames llama{"model.",
                                       "layers.",
                                       {"self_attn.rotary_emb.inv_freq", ""},
                                       "skipped: rope buffer",
                                       "model.layers.0.input_layernorm.weight"};
    return family == Family::gpt2 ? gpt2 : llama;
}

/// Matches "<layer><number>.<rest>" and returns the rest, or nothing.
std::optional<std::string_view> inside_layer(std::string_view name, std::string_view layer) {
    if (!name.starts_with(layer)) return std::nullopt;
    name.remove_prefix(layer.size());
    const std::size_t digits = std::min(name.find_first_not_of("0123456789"), name.size());
    if (digits == 0 || digits == name.size() || name[digits] != '.') return std::nullopt;
    return name.substr(digits + 1);
}

bool is_buffer(std::string_view name, const FamilyNames& names) {
    const auto rest = inside_layer(name, names.layer);
    return rest && !rest->empty() &&
           std::find(names.buffers.begin(), names.buffers.end(), *rest) != names.buffers.end();
}

std::vector<std::uint64_t> stored_shape(const TensorSlot& slot) {
    const auto rows = static_cast<std::uint64_t>(slot.rows);
    const auto columns = static_cast<std::uint64_t>(slot.columns);
    if (slot.role == TensorRole::norm_weight || slot.role == TensorRole::bias) return {columns};
    return slot.conv1d ? std::vector{columns, rows} : std::vector{rows, columns};
}

Result<void> check_tensor(const HfTensor& tensor, const TensorSlot& slot) {
    const SafetensorsEntry& entry = *tensor.entry;
    if (const auto expected = stored_shape(slot); entry.shape != expected) {
        const bool turned = slot.conv1d && std::vector(entry.shape.rbegin(), entry.shape.rend()) == expected;
        return bad_input(fmt::format("{}: tensor {} has the shape [{}], expected [{}] from config.json{}.",
                                     tensor.file->path().string(), quote(entry.name),
                                     fmt::join(entry.shape, ", "), fmt::join(expected, ", "),
                                     turned ? " (GPT-2 keeps the input dimension first)" : ""));
    }
    if (!weight_dtype(entry.dtype)) {
        return Error{ErrorKind::unsupported,
                     fmt::format("{}: tensor {} has the dtype {}, expected F32, F16 or BF16.",
                                 tensor.file->path().string(), quote(entry.name), entry.dtype)};
    }
    return {};
}

/// Gives every tensor its use and checks that the model is complete.
class FolderMatcher {
public:
    explicit FolderMatcher(HfFolder& folder)
        : folder_(folder), names_(family_names(folder.config.family)), slots_(planned_slots(folder.config)) {
        for (const TensorSlot& slot : slots_) {
            slot_of_.emplace(slot.name, &slot);
            if (slot.role == TensorRole::token_embedding) embedding_ = slot.name;
        }
    }

    Result<void> match() {
        if (folder_.tensors.empty()) {
            return bad_input(fmt::format("{}: holds no tensors, expected the weights of a {} model.", where(),
                                         to_string(folder_.config.family)));
        }
        DS_TRY(decide_prefix());
        std::vector<std::string> foreign;
        HfTensor* head = nullptr;
        for (HfTensor& tensor : folder_.tensors) {
            const std::string_view name = plain_name(*tensor.entry);
            if (is_buffer(name, names_)) {
                tensor.use = names_.buffer_use;
            } else if (name == head_name) {
                head = &tensor;
            } else if (slot_of_.contains(name)) {
                DS_TRY(use(tensor, name));
            } else {
                foreign.push_back(tensor.entry->name);
            }
        }
        if (!foreign.empty()) return refuse_foreign(foreign);
        DS_TRY(place_head(head));
        DS_TRY(check_complete());
        note_dtypes();
        return {};
    }

private:
    std::string where() const { return folder_.files.front()->path().string(); }
    std::string config_path() const { return (folder_.path / "config.json").string(); }

    Result<void> decide_prefix() {
        const std::string* with = nullptr;
        const std::string* without = nullptr;
        for (const HfTensor& tensor : folder_.tensors) {
            const std::string& name = tensor.entry->name;
            const bool has_prefix = name.starts_with(names_.base_prefix);
            const std::string_view plain =
                std::string_view(name).substr(has_prefix ? names_.base_prefix.size() : 0);
            if (plain == head_name || !(slot_of_.contains(plain) || is_buffer(plain, names_))) continue;
            (has_prefix ? with : without) = &name;
        }
        if (with != nullptr && without != nullptr) {
            return bad_input(
                fmt::format("{}: some tensor names start with {} and some do not ({} and {}), expected one "
                            "or the other.",
                            where(), quote(names_.base_prefix), quote(*with), quote(*without)));
        }
        prefixed_ = with != nullptr;
        return {};
    }

    std::string_view plain_name(const SafetensorsEntry& entry) const {
        std::string_view name = entry.name;
        if (prefixed_ && name.starts_with(names_.base_prefix)) name.remove_prefix(names_.base_prefix.size());
        return name;
    }

    Result<void> use(HfTensor& tensor, std::string_view slot_name) {
        const TensorSlot& slot = *slot_of_.at(slot_name);
        DS_TRY(check_tensor(tensor, slot));
        tensor.slot = slot_name;
        tensor.use = fits_in_place(slot, *stored_type(*weight_dtype(tensor.entry->dtype)), slot.conv1d,
                                   tensor.file->offset_in_file(*tensor.entry))
                         ? "used in place"
                         : "used";
        filled_.insert(slot_of_.find(slot_name)->first);
        return {};
    }

    Error refuse_foreign(const std::vector<std::string>& names) const {
        if (names.front().starts_with("_orig_mod.")) {
            return {ErrorKind::unsupported,
                    fmt::format(
                        "{}: tensor names start with \"_orig_mod.\" (a compiled module was saved), expected "
                        "names such as {}.",
                        where(), quote(names_.example))};
        }
        return {ErrorKind::unsupported,
                fmt::format("{}: {} not part of a {} model with n_layer = {}: {}.", where(),
                            names.size() == 1 ? "one tensor is" : fmt::format("{} tensors are", names.size()),
                            to_string(folder_.config.family), folder_.config.n_layer, quote_list(names))};
    }

    /// Who provides the output projection, and the embedding where only the other name of a shared pair was
    /// stored.
    Result<void> place_head(HfTensor* head) {
        const bool tied = folder_.config.tied_head;
        const bool embedded = filled_.contains(embedding_);
        if (head == nullptr) {
            if (tied) return {};
            return bad_input(
                fmt::format("{}: tie_word_embeddings is false, but the weights hold no {}; set it to "
                            "true to load the model with a tied output projection.",
                            config_path(), head_name));
        }
        if (!tied) return use(*head, head_name);
        if (!embedded) {
            DS_TRY(use(*head, embedding_));
            head->use = fmt::format("used as {} (tied)", embedding_);
            folder_.notes.push_back(fmt::format("{}: {} is not there; the tied {} is used for both.", where(),
                                                embedding_, head_name));
            return {};
        }
        head->use = fmt::format("skipped: tied to {}", embedding_);
        return {};
    }

    Result<void> check_complete() const {
        std::vector<std::string> missing;
        for (const TensorSlot& slot : slots_) {
            if (!filled_.contains(slot.name)) missing.push_back(slot.name);
        }
        if (missing.empty()) return {};
        return bad_input(fmt::format("{}: {} of the {} tensors that config.json asks for are missing: {}.",
                                     where(), missing.size(), slots_.size(), quote_list(missing)));
    }

    void note_dtypes() {
        std::map<std::string, std::uint64_t> bytes;
        for (const HfTensor& tensor : folder_.tensors) {
            if (!tensor.slot.empty()) bytes[tensor.entry->dtype] += tensor.entry->size();
        }
        std::uint64_t most = 0;
        for (const HfTensor& tensor : folder_.tensors) {
            if (tensor.slot.empty() || bytes[tensor.entry->dtype] <= most) continue;
            most = bytes[tensor.entry->dtype];
            folder_.config.stored_as = to_string(*weight_dtype(tensor.entry->dtype));
        }
        if (bytes.size() < 2) return;
        std::vector<std::string> parts;
        for (const auto& [dtype, n] : bytes) parts.push_back(fmt::format("{} {} bytes", dtype, n));
        folder_.notes.push_back(
            fmt::format("{}: the weights mix dtypes: {}.", where(), fmt::join(parts, ", ")));
    }

    HfFolder& folder_;
    const FamilyNames& names_;
    std::vector<TensorSlot> slots_;
    std::string_view embedding_;                                       // a view into slots_
    std::unordered_map<std::string_view, const TensorSlot*> slot_of_;  // views into slots_
    std::set<std::string_view> filled_;                                // the same
    bool prefixed_ = false;
};

}  // namespace

std::optional<DType> weight_dtype(std::string_view name) {
    if (name == "F32") return DType::f32;
    if (name == "F16") return DType::f16;
    if (name == "BF16") return DType::bf16;
    return std::nullopt;
}

std::uint64_t HfFolder::weight_file_bytes() const {
    std::uint64_t sum = 0;
    for (const auto& file : files) sum += file->file_size();
    return sum;
}

Result<std::string> read_settings(const fs::path& path) {
    return read_whole(path, max_config_bytes);
}

Result<HfFolder> open_hf_folder(const fs::path& path) {
    HfFolder folder;
    folder.path = path;
    const fs::path config_path = path / "config.json";
    const auto config_text = read_settings(config_path);
    if (!config_text) return config_text.error();
    auto config = parse_hf_config(*config_text, config_path.string(), &folder.notes);
    if (!config) return config.error();
    folder.config = *std::move(config);
    folder.config.name = model_name(path);
    if (const fs::path generation = path / "generation_config.json"; is_there(generation)) {
        const auto text = read_settings(generation);
        if (!text) return text.error();
        DS_TRY(add_generation_config(*text, generation.string(), folder.config, &folder.notes));
    }
    DS_TRY(open_weight_files(folder));
    DS_TRY(FolderMatcher(folder).match());
    return folder;
}

}  // namespace decodescope
