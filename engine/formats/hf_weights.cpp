// SPDX-License-Identifier: GPL-3.0-or-later
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <unordered_map>
#include <utility>

#include "engine/core/dtype.h"
#include "engine/core/sha256.h"
#include "engine/formats/hf_folder.h"
#include "engine/formats/weight_loader.h"

namespace decodescope {

namespace {

constexpr std::size_t convert_bytes = std::size_t{1} << 20;  // stays in the second-level cache

/// Whether two stored tensors hold the same bytes.
Result<bool> same_bytes(const HfTensor& a, const HfTensor& b) {
    if (a.entry->dtype != b.entry->dtype || a.entry->shape != b.entry->shape) return false;
    std::vector<std::byte> left, right;
    for (std::uint64_t at = 0; at < a.entry->size(); at += convert_bytes) {
        const auto n = static_cast<std::size_t>(std::min<std::uint64_t>(convert_bytes, a.entry->size() - at));
        left.resize(n);
        right.resize(n);
        DS_TRY(a.file->read(*a.entry, at, left));
        DS_TRY(b.file->read(*b.entry, at, right));
        if (left != right) return false;
    }
    return true;
}

/// A head that the config ties away should be the embedding again; the reference ignores one that is not.
Result<void> compare_tied_head(const HfFolder& folder, std::string_view embedding_slot,
                               std::vector<std::string>& notes) {
    const HfTensor* head = nullptr;
    const HfTensor* embedding = nullptr;
    for (const HfTensor& tensor : folder.tensors) {
        if (tensor.slot.empty() && tensor.entry->name == "lm_head.weight") head = &tensor;
        if (tensor.slot == embedding_slot) embedding = &tensor;
    }
    if (head == nullptr || embedding == nullptr) return {};
    const auto same = same_bytes(*head, *embedding);
    if (!same) return same.error();
    if (!*same) {
        notes.push_back(
            fmt::format("{}: lm_head.weight differs from {} and is ignored, because config.json ties them.",
                        head->file->path().string(), embedding_slot));
    }
    return {};
}

/// One hash for a model: the file's own, or for shards the hash of their hashes in order.
std::string hash_files(const std::vector<std::shared_ptr<const SafetensorsFile>>& files) {
    Sha256 all;
    for (const auto& file : files) {
        const auto hash = file->sha256();
        if (!hash) return {};
        if (files.size() == 1) return *hash;
        all.update(std::as_bytes(std::span(*hash)));
    }
    return "sha256:" + all.finish();
}

}  // namespace

const GgmlTypeInfo* stored_type(DType dtype) {
    switch (dtype) {
        case DType::f32: return find_ggml_type(static_cast<std::uint32_t>(GgmlType::f32));
        case DType::f16: return find_ggml_type(static_cast<std::uint32_t>(GgmlType::f16));
        case DType::bf16: return find_ggml_type(static_cast<std::uint32_t>(GgmlType::bf16));
    }
    return nullptr;
}

Result<std::shared_ptr<const Weights>> load_hf_weights(const HfFolder& folder,
                                                       std::shared_ptr<MemoryLedger> ledger,
                                                       const LoadWatch& watch) {
    const std::vector<TensorSlot> slots = planned_slots(folder.config);
    std::set<std::string_view> input_major;
    for (const TensorSlot& slot : slots) {
        if (slot.conv1d) input_major.insert(slot.name);
    }
    std::vector<MapFile> files;
    std::unordered_map<const SafetensorsFile*, std::size_t> index_of;
    for (const auto& file : folder.files) {
        index_of.emplace(file.get(), files.size());
        files.push_back([file] { return file->map(); });
    }
    std::vector<StoredTensor> tensors;
    for (const HfTensor& tensor : folder.tensors) {
        if (tensor.slot.empty()) continue;
        tensors.push_back({tensor.slot, stored_type(*weight_dtype(tensor.entry->dtype)),
                           input_major.contains(tensor.slot),
                           [&tensor](std::uint64_t offset, std::span<std::byte> out) {
                               return tensor.file->read(*tensor.entry, offset, out);
                           },
                           index_of.at(tensor.file), tensor.file->offset_in_file(*tensor.entry)});
    }
    auto loaded = load_weights(folder.config, tensors, files, folder.path.string(), std::move(ledger), watch);
    if (!loaded) return loaded.error();
    const std::shared_ptr<Weights> weights = *std::move(loaded);
    std::vector<std::string> notes = folder.notes;
    DS_TRY(compare_tied_head(folder, slots.front().name, notes));  // the embedding comes first
    weights->notes.insert(weights->notes.begin(), notes.begin(), notes.end());
    weights->source = folder.path.string();
    if (folder.weight_file_bytes() <= hash_while_loading_bytes) {
        weights->hash = hash_files(folder.files);
    } else {
        weights->compute_hash = computed_once([files = folder.files] { return hash_files(files); });
    }
    return std::shared_ptr<const Weights>(weights);
}

}  // namespace decodescope
