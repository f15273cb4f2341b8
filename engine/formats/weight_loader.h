// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/core/mapped_file.h"
#include "engine/core/memory.h"
#include "engine/core/result.h"
#include "engine/formats/ggml_types.h"
#include "engine/formats/load_watch.h"
#include "engine/model/weights.h"

namespace decodescope {

/// A tensor of a file, whose shape has been checked, and where in the model its values belong.
struct StoredTensor {
    std::string_view slot;               ///< name of the `TensorSlot`
    const GgmlTypeInfo* type = nullptr;  ///< how its elements are stored; readable
    bool input_major = false;            ///< stored as [n_in, n_out]: transposed on the way
    /// Copies its stored bytes from `offset`; called from several threads.
    std::function<Result<void>(std::uint64_t offset, std::span<std::byte> out)> read;
    std::size_t file = 0;              ///< which of the model's files holds it
    std::uint64_t offset_in_file = 0;  ///< of its first byte
};

/// Maps one file of a model.
using MapFile = std::function<Result<MappedFile>()>;

/// Whether a tensor can be used where it lies in a mapped file: little-endian F32 on a machine that keeps
/// floats so, at a multiple of 4 bytes, not to be transposed, and not a part of a larger tensor of the
/// engine.
bool fits_in_place(const TensorSlot& slot, const GgmlTypeInfo& type, bool input_major,
                   std::uint64_t offset_in_file);

/// Makes the weights of `config` from `tensors`, which must name every slot once and lie in `files`. Those
/// that fit are used where they lie, with their file mapped; the others are copied. The work is spread over
/// the processor's threads in pieces of at most 1 MiB. `label` is the model's path: a count of NaN or
/// infinite weights is noted under it.
Result<std::shared_ptr<Weights>> load_weights(const ModelConfig& config,
                                              const std::vector<StoredTensor>& tensors,
                                              const std::vector<MapFile>& files, const std::string& label,
                                              std::shared_ptr<MemoryLedger> ledger, const LoadWatch& watch);

/// Weight files of at most this size are hashed while loading: it takes about 50 ms. Larger ones on demand.
inline constexpr std::uint64_t hash_while_loading_bytes = std::uint64_t{16} << 20;

}  // namespace decodescope
