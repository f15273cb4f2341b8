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
};

/// Allocates the weights of `config` and fills them from `tensors`, which must name every slot once. The work
/// is spread over the processor's threads in pieces of at most 1 MiB. `label` is the model's path: a count of
/// NaN or infinite weights is noted under it.
Result<std::shared_ptr<Weights>> load_weights(const ModelConfig& config,
                                              const std::vector<StoredTensor>& tensors,
                                              const std::string& label, std::shared_ptr<MemoryLedger> ledger,
                                              const LoadWatch& watch);

/// Weight files of at most this size are hashed while loading: it takes about 50 ms. Larger ones on demand.
inline constexpr std::uint64_t hash_while_loading_bytes = std::uint64_t{16} << 20;

}  // namespace decodescope
