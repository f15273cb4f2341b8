// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/experiment/reference_rows.h"

#include <algorithm>

namespace decodescope {

namespace {

// Beyond this the memory that a comparison takes would be what the run shows.
constexpr std::uint64_t most_kept_bytes = std::uint64_t{1} << 30;

}  // namespace

ReferenceRows::ReferenceRows(std::shared_ptr<MemoryLedger> ledger, int n_request, int new_tokens, int vocab)
    : ledger_(std::move(ledger)),
      new_tokens_(static_cast<std::size_t>(new_tokens)),
      vocab_(static_cast<std::size_t>(vocab)),
      tokens_(static_cast<std::size_t>(n_request)),
      has_logits_(static_cast<std::size_t>(n_request) * new_tokens_, 0) {}

void ReferenceRows::add(int request, int index, std::int32_t token, std::span<const float> logits,
                        bool keep_logits) {
    auto& known = tokens_[static_cast<std::size_t>(request)];
    if (known.size() != static_cast<std::size_t>(index)) return;
    known.push_back(token);
    if (!keep_logits || logits.empty() || refused_) return;
    if (logits_.empty()) {
        const std::uint64_t bytes = std::uint64_t{has_logits_.size()} * vocab_ * sizeof(float);
        auto rows = bytes > most_kept_bytes
                        ? Result<Buffer>(Error{ErrorKind::out_of_memory, "Too many logits to keep."})
                        : Buffer::floats(ledger_, Owner::logits, has_logits_.size() * vocab_);
        refused_ = !rows;  // then nothing is compared, and the record says so
        if (refused_) return;
        logits_ = *std::move(rows);
    }
    const std::size_t row = static_cast<std::size_t>(request) * new_tokens_ + static_cast<std::size_t>(index);
    std::copy(logits.begin(), logits.end(), logits_.f32() + row * vocab_);
    has_logits_[row] = 1;
}

std::span<const float> ReferenceRows::logits(int request, int index) const {
    const std::size_t row = static_cast<std::size_t>(request) * new_tokens_ + static_cast<std::size_t>(index);
    if (row >= has_logits_.size() || has_logits_[row] == 0) return {};
    return {logits_.f32() + row * vocab_, vocab_};
}

}  // namespace decodescope
