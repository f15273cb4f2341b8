// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/formats/gguf_weights.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <span>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "engine/core/quote.h"
#include "engine/formats/ggml_types.h"
#include "engine/formats/weight_loader.h"

namespace decodescope {

namespace {

constexpr std::string_view rope_divisors = "rope_freqs.weight";

/// A part of a model as slots and as GGUF files call it.
struct PartName {
    std::string_view slot, gguf;
};

std::span<const PartName> part_names(Family family) {
    static constexpr PartName gpt2[] = {
        {"wte", "token_embd"},          {"wpe", "position_embd"}, {"ln_f", "output_norm"},
        {"lm_head", "output"},          {"ln_1", "attn_norm"},    {"attn.c_attn", "attn_qkv"},
        {"attn.c_proj", "attn_output"}, {"ln_2", "ffn_norm"},     {"mlp.c_fc", "ffn_up"},
        {"mlp.c_proj", "ffn_down"},
    };
    static constexpr PartName llama[] = {
        {"embed_tokens", "token_embd"},
        {"norm", "output_norm"},
        {"lm_head", "output"},
        {"input_layernorm", "attn_norm"},
        {"self_attn.q_proj", "attn_q"},
        {"self_attn.k_proj", "attn_k"},
        {"self_attn.v_proj", "attn_v"},
        {"self_attn.o_proj", "attn_output"},
        {"post_attention_layernorm", "ffn_norm"},
        {"mlp.gate_proj", "ffn_gate"},
        {"mlp.up_proj", "ffn_up"},
        {"mlp.down_proj", "ffn_down"},
    };
    return family == Family::gpt2 ? std::span<const PartName>(gpt2) : std::span<const PartName>(llama);
}

/// "layers.3.mlp.up_proj.weight" as "blk.3.ffn_up.weight".
std::string gguf_name(std::string_view slot, Family family) {
    const std::string_view layer = family == Family::gpt2 ? "h." : "layers.";
    std::string prefix;
    if (slot.starts_with(layer)) {
        const std::size_t end = slot.find('.', layer.size());
        prefix = fmt::format("blk.{}.", slot.substr(layer.size(), end - layer.size()));
        slot.remove_prefix(end + 1);
    }
    const std::size_t dot = slot.rfind('.');
    for (const PartName& part : part_names(family)) {
        if (slot.substr(0, dot) == part.slot)
            return fmt::format("{}{}{}", prefix, part.gguf, slot.substr(dot));
    }
    return {};
}

bool is_rope_buffer(std::string_view name) {
    return name.starts_with("blk.") && name.ends_with(".attn_rot_embd.weight");
}

/// Gives every tensor its use and checks that the model is complete.
class GgufMatcher {
public:
    explicit GgufMatcher(GgufSource& source)
        : source_(source), config_(source.model.config), slots_(planned_slots(config_)) {
        for (const TensorSlot& slot : slots_) slot_of_.emplace(gguf_name(slot.name, config_.family), &slot);
    }

    Result<void> match() {
        std::vector<std::string> foreign;
        for (GgufTensorUse& one : source_.tensors) {
            const std::string& name = one.tensor->name;
            if (const auto slot = slot_of_.find(name); slot != slot_of_.end()) {
                DS_TRY(check(*one.tensor, *slot->second));
                one.slot = slot->second->name;
                one.use = fits_in_place(*slot->second, *one.tensor->type, false,
                                        source_.file->offset_in_file(*one.tensor))
                              ? "used in place"
                              : "used";
                slot_of_.erase(slot);
            } else if (name == rope_divisors && config_.rotary) {
                DS_TRY(read_divisors(*one.tensor));
                one.use = "used";
            } else if (is_rope_buffer(name) && config_.rotary) {
                one.use = "skipped: rope buffer";
            } else {
                foreign.push_back(name);
            }
        }
        if (!foreign.empty()) {
            return fail(ErrorKind::unsupported,
                        fmt::format("{} not part of a {} model of {} blocks: {}",
                                    foreign.size() == 1 ? "one tensor is"
                                                        : fmt::format("{} tensors are", foreign.size()),
                                    source_.model.architecture, config_.n_layer, quote_list(foreign)));
        }
        if (slot_of_.empty()) return {};
        std::vector<std::string> missing;
        for (const auto& [name, slot] : slot_of_) missing.push_back(name);
        return fail(ErrorKind::bad_input,
                    fmt::format("{} of the {} tensors that the metadata asks for are missing: {}",
                                missing.size(), slots_.size(), quote_list(missing)));
    }

private:
    Error fail(ErrorKind kind, const std::string& what) const {
        return {kind, fmt::format("{}: {}.", source_.file->path().string(), what)};
    }
    Result<void> check_shape(const GgufTensor& tensor, const std::vector<std::uint64_t>& expected) const {
        if (tensor.shape == expected) return {};
        return fail(
            ErrorKind::bad_input,
            fmt::format("tensor {} has the shape [{}], expected [{}] from the metadata", quote(tensor.name),
                        fmt::join(tensor.shape, ", "), fmt::join(expected, ", ")));
    }
    Result<void> check(const GgufTensor& tensor, const TensorSlot& slot) const {
        const auto rows = static_cast<std::uint64_t>(slot.rows);
        const auto columns = static_cast<std::uint64_t>(slot.columns);
        const bool is_vector = slot.role == TensorRole::norm_weight || slot.role == TensorRole::bias;
        DS_TRY(check_shape(tensor, is_vector ? std::vector{columns} : std::vector{rows, columns}));
        if (tensor.type->readable) return {};
        return fail(ErrorKind::unsupported,
                    fmt::format("tensor {} is of type {}, which this version cannot read", quote(tensor.name),
                                tensor.type->name));
    }
    Result<void> read_divisors(const GgufTensor& tensor) {
        DS_TRY(check_shape(tensor, {static_cast<std::uint64_t>(config_.head_dim) / 2}));
        if (static_cast<GgmlType>(tensor.type->id) != GgmlType::f32) {
            return fail(ErrorKind::bad_input, fmt::format("tensor {} is of type {}, expected F32",
                                                          quote(tensor.name), tensor.type->name));
        }
        std::vector<float>& divisors = config_.rotary->divisors;
        divisors.resize(static_cast<std::size_t>(config_.head_dim) / 2);
        DS_TRY(source_.file->read(tensor, 0, std::as_writable_bytes(std::span(divisors))));
        if (const auto valid = config_.validate(); !valid) {
            return Error{valid.error().kind,
                         fmt::format("{}: {}", source_.file->path().string(), valid.error().message)};
        }
        return {};
    }

    GgufSource& source_;
    ModelConfig& config_;
    std::vector<TensorSlot> slots_;
    std::map<std::string, const TensorSlot*, std::less<>> slot_of_;  // by their names in GGUF; not filled yet
};

}  // namespace

Result<GgufSource> open_gguf(const std::filesystem::path& path) {
    auto file = GgufFile::open(path);
    if (!file) return file.error();
    auto model = read_gguf_model((*file)->header(), path.string());
    if (!model) return model.error();
    GgufSource source{*std::move(file), *std::move(model), {}};
    source.model.config.name = path.stem().string();
    for (const GgufTensor& tensor : source.file->header().tensors)
        source.tensors.push_back({&tensor, {}, {}});
    if (!source.model.obstacle) {
        if (const auto matched = GgufMatcher(source).match(); !matched) {
            if (matched.error().kind == ErrorKind::io) return matched.error();
            source.model.obstacle = matched.error();
        }
    }
    if (source.model.obstacle) {
        for (GgufTensorUse& one : source.tensors) {
            one.slot.clear();
            one.use = one.tensor->type->readable ? "not loaded" : "not loaded: type cannot be read";
        }
    }
    return source;
}

Result<std::shared_ptr<const Weights>> load_gguf_weights(const GgufSource& source,
                                                         std::shared_ptr<MemoryLedger> ledger,
                                                         const LoadWatch& watch) {
    if (source.model.obstacle) return *source.model.obstacle;
    std::vector<StoredTensor> tensors;
    for (const GgufTensorUse& one : source.tensors) {
        if (one.slot.empty()) continue;
        tensors.push_back(
            {one.slot, one.tensor->type, false,
             [&file = *source.file, tensor = one.tensor](std::uint64_t offset, std::span<std::byte> out) {
                 return file.read(*tensor, offset, out);
             },
             0, source.file->offset_in_file(*one.tensor)});
    }
    const std::string label = source.file->path().string();
    auto loaded = load_weights(source.model.config, tensors, {[&] { return source.file->map(); }}, label,
                               std::move(ledger), watch);
    if (!loaded) return loaded.error();
    const std::shared_ptr<Weights> weights = *std::move(loaded);
    weights->notes.insert(weights->notes.begin(), source.model.notes.begin(), source.model.notes.end());
    weights->source = label;
    const auto hash = [file = source.file] {
        const auto computed = file->sha256();
        return computed ? *computed : std::string();
    };
    if (source.file->file_size() <= hash_while_loading_bytes) {
        weights->hash = hash();
    } else {
        weights->compute_hash = computed_once(hash);
    }
    return std::shared_ptr<const Weights>(weights);
}

}  // namespace decodescope
