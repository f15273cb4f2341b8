// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/model/workspace.h"

namespace decodescope {

namespace {

Result<void> grow(Buffer& buffer, const std::shared_ptr<MemoryLedger>& ledger, Owner owner,
                  std::int64_t floats) {
    if (buffer.size_bytes() >= static_cast<std::size_t>(floats) * sizeof(float)) return {};
    buffer.release();  // contents are scratch: free first, so that old and new never exist together
    auto larger = Buffer::floats(ledger, owner, static_cast<std::size_t>(floats));
    if (!larger) return larger.error();
    buffer = *std::move(larger);
    return {};
}

}  // namespace

Result<void> Workspace::ensure(const ModelConfig& config, std::int64_t rows, std::int64_t logit_rows,
                               std::int64_t scores) {
    const std::int64_t d = config.d_model;
    const std::int64_t qkv_width = std::int64_t{config.n_head + 2 * config.n_kv_head} * config.head_dim;
    DS_TRY(grow(residual_, ledger_, Owner::activations, rows * d));
    DS_TRY(grow(normed_, ledger_, Owner::activations, rows * d));
    DS_TRY(grow(qkv_, ledger_, Owner::activations, rows * qkv_width));
    DS_TRY(grow(mixed_, ledger_, Owner::activations, rows * std::int64_t{config.n_head} * config.head_dim));
    DS_TRY(grow(ff_, ledger_, Owner::activations, rows * config.d_ff));
    DS_TRY(grow(logits_, ledger_, Owner::logits, logit_rows * config.vocab));
    return grow(scores_, ledger_, Owner::workspace, scores);
}

void Workspace::release() {
    for (Buffer* buffer : {&residual_, &normed_, &qkv_, &mixed_, &ff_, &logits_, &scores_}) buffer->release();
}

}  // namespace decodescope
