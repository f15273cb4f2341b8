// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "engine/core/memory.h"

namespace decodescope {

/// What the reference lane chose in the first repetition, and the logits it chose from: what the other lanes
/// are fed and compared with. Logits are only kept when lanes do not run side by side.
class ReferenceRows {
public:
    ReferenceRows(std::shared_ptr<MemoryLedger> ledger, int n_request, int new_tokens, int vocab);

    /// Notes new token `index` of `request`, unless it is known. `logits` [vocab] are kept when `keep_logits`
    /// and there is memory for them.
    void add(int request, int index, std::int32_t token, std::span<const float> logits, bool keep_logits);

    const std::vector<std::int32_t>& tokens(int request) const {
        return tokens_[static_cast<std::size_t>(request)];
    }
    /// Logits of one token; empty when they are not kept.
    std::span<const float> logits(int request, int index) const;

private:
    std::shared_ptr<MemoryLedger> ledger_;
    std::size_t new_tokens_;
    std::size_t vocab_;
    std::vector<std::vector<std::int32_t>> tokens_;  // [requests]
    std::vector<char> has_logits_;                   // [requests, new_tokens]
    Buffer logits_;                                  // [requests, new_tokens, vocab]
    bool refused_ = false;
};

}  // namespace decodescope
