// SPDX-License-Identifier: GPL-3.0-or-later
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <unordered_map>
#include <utility>

#include "engine/core/dtype.h"
#include "engine/core/sha256.h"
#include "engine/formats/hf_folder.h"

namespace decodescope {

namespace {

constexpr std::size_t piece_bytes = std::size_t{1} << 20;              // stays in the second-level cache
constexpr std::uint64_t hash_while_loading = std::uint64_t{16} << 20;  // about 50 ms

std::int64_t count_non_finite(std::span<const float> values) {
    constexpr std::uint32_t exponent = 0x7f800000u;
    std::int64_t count = 0;
    for (const float value : values) count += (std::bit_cast<std::uint32_t>(value) & exponent) == exponent;
    return count;
}

/// Writes `block` [n_row, n_column] as columns `first` .. `first + n_row` of `out` [n_column, stride]. Tiles
/// of 16 x 16 keep both sides within few cache lines.
void transpose_into(std::span<const float> block, std::size_t n_row, std::size_t n_column, std::size_t first,
                    std::size_t stride, float* out) {
    constexpr std::size_t tile = 16;
    for (std::size_t c0 = 0; c0 < n_column; c0 += tile) {
        const std::size_t c1 = std::min(c0 + tile, n_column);
        for (std::size_t r0 = 0; r0 < n_row; r0 += tile) {
            const std::size_t r1 = std::min(r0 + tile, n_row);
            for (std::size_t c = c0; c < c1; ++c) {
                for (std::size_t r = r0; r < r1; ++r) out[c * stride + first + r] = block[r * n_column + c];
            }
        }
    }
}

/// Copies stored tensors into their slots, piece by piece through two small buffers.
class TensorReader {
public:
    Result<void> read(const HfTensor& tensor, const TensorSlot& slot) {
        const auto rows = static_cast<std::size_t>(slot.rows);
        const auto columns = static_cast<std::size_t>(slot.columns);
        if (!slot.conv1d) return read_rows(tensor, 0, std::span(slot.data, rows * columns));
        // Stored as [n_in, n_out]: take as many whole input rows as fit a piece, in multiples of a tile.
        const std::size_t n_in = columns;
        const std::size_t n_out = rows;
        const std::size_t fit = piece_bytes / (n_out * sizeof(float)) / 16 * 16;
        const std::size_t step = std::max<std::size_t>(fit, 16);
        for (std::size_t first = 0; first < n_in; first += step) {
            const std::size_t n_row = std::min(step, n_in - first);
            floats_.resize(n_row * n_out);
            DS_TRY(read_rows(tensor, first * n_out, floats_));
            transpose_into(floats_, n_row, n_out, first, n_in, slot.data);
        }
        return {};
    }

    std::int64_t n_non_finite() const { return n_non_finite_; }

private:
    /// Fills `out` with the stored elements from index `first` on, in stored order.
    Result<void> read_rows(const HfTensor& tensor, std::size_t first, std::span<float> out) {
        const DType dtype = weight_dtype(tensor.entry->dtype).value_or(DType::f32);
        const std::size_t size = size_of(dtype);
        while (!out.empty()) {
            const std::span<float> piece = out.first(std::min(out.size(), piece_bytes / sizeof(float)));
            if (dtype == DType::f32) {
                DS_TRY(tensor.file->read(*tensor.entry, first * size, std::as_writable_bytes(piece)));
            } else {
                bytes_.resize(piece.size() * size);
                DS_TRY(tensor.file->read(*tensor.entry, first * size, bytes_));
                convert_to_f32(dtype, bytes_.data(), piece);
            }
            n_non_finite_ += count_non_finite(piece);
            first += piece.size();
            out = out.subspan(piece.size());
        }
        return {};
    }

    std::vector<std::byte> bytes_;
    std::vector<float> floats_;
    std::int64_t n_non_finite_ = 0;
};

/// Whether two stored tensors hold the same bytes.
Result<bool> same_bytes(const HfTensor& a, const HfTensor& b) {
    if (a.entry->dtype != b.entry->dtype || a.entry->shape != b.entry->shape) return false;
    std::vector<std::byte> left, right;
    for (std::uint64_t at = 0; at < a.entry->size(); at += piece_bytes) {
        const auto n = static_cast<std::size_t>(std::min<std::uint64_t>(piece_bytes, a.entry->size() - at));
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

Result<std::shared_ptr<const Weights>> load_hf_weights(const HfFolder& folder,
                                                       std::shared_ptr<MemoryLedger> ledger,
                                                       std::stop_token stop) {
    auto allocated = allocate_weights(folder.config, std::move(ledger));
    if (!allocated) return allocated.error();
    const std::shared_ptr<Weights> weights = *std::move(allocated);
    const std::vector<TensorSlot> slots = tensor_slots(*weights);
    std::unordered_map<std::string_view, const TensorSlot*> slot_of;
    for (const TensorSlot& slot : slots) slot_of.emplace(slot.name, &slot);

    TensorReader reader;
    for (const HfTensor& tensor : folder.tensors) {
        if (stop.stop_requested()) return Error{ErrorKind::cancelled, "Loading the model was stopped."};
        if (tensor.slot.empty()) continue;
        const auto slot = slot_of.find(tensor.slot);
        if (slot == slot_of.end()) {
            return Error{ErrorKind::internal,
                         fmt::format("Tensor \"{}\" has no place in the model.", tensor.slot)};
        }
        DS_TRY(reader.read(tensor, *slot->second));
    }
    weights->notes = folder.notes;
    DS_TRY(compare_tied_head(folder, slots.front().name, weights->notes));  // the embedding comes first
    if (const std::int64_t n = reader.n_non_finite(); n != 0) {
        weights->notes.push_back(
            fmt::format("{}: {} of the weights are NaN or infinite.", folder.path.string(), n));
    }
    weights->source = folder.path.string();
    if (folder.weight_file_bytes() <= hash_while_loading) {
        weights->hash = hash_files(folder.files);
    } else {
        weights->compute_hash = [files = folder.files] { return hash_files(files); };
    }
    return std::shared_ptr<const Weights>(weights);
}

}  // namespace decodescope
