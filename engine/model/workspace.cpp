// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/model/workspace.h"

namespace decodescope {

namespace {

Owner owner_of(Temporary temporary) {
    if (temporary == Temporary::logits) return Owner::logits;
    const bool scratch = temporary == Temporary::scores || temporary == Temporary::products;
    return scratch ? Owner::workspace : Owner::activations;
}

}  // namespace

Result<void> Workspace::reserve(const ModelConfig& config, int batch, std::int64_t rows,
                                std::int64_t logit_rows, std::int64_t scores, std::int64_t products,
                                int n_slot) {
    if (policy_ == AllocationPolicy::fresh) return {};
    const auto make_room = [&](Temporary temporary, std::int64_t floats) -> Result<void> {
        const auto taken = take(temporary, floats);
        return taken ? Result<void>() : Result<void>(taken.error());
    };
    DS_TRY(make_room(Temporary::residual, rows * config.d_model));
    DS_TRY(make_room(Temporary::picked, logit_rows * config.d_model));
    DS_TRY(make_room(Temporary::qkv, rows * config.qkv_width()));
    DS_TRY(make_room(Temporary::mixed, rows * config.q_width()));
    DS_TRY(make_room(Temporary::ff, rows * config.d_ff));
    DS_TRY(make_room(Temporary::products, products));
    if (config.rotary) DS_TRY(make_room(Temporary::turns, rows * config.head_dim));
    DS_TRY(make_room(Temporary::logits, logit_rows * config.vocab));
    DS_TRY(make_room(Temporary::scores, scores));
    largest_.reserve(static_cast<std::size_t>(logit_rows));
    drawn_.reserve(static_cast<std::size_t>(logit_rows));
    plan_.reserve(batch, static_cast<int>(rows), n_slot);
    return {};
}

Result<float*> Workspace::take(Temporary temporary, std::int64_t floats) {
    Buffer& buffer = buffers_[static_cast<std::size_t>(temporary)];
    const auto count = static_cast<std::size_t>(floats);
    const bool reused = policy_ == AllocationPolicy::reused;
    if (reused && buffer.size_bytes() >= count * sizeof(float)) return buffer.f32();
    buffer.release();  // contents are scratch: free first, so that old and new never exist together
    auto made =
        Buffer::floats(ledger_, owner_of(temporary), count, reused ? BufferSource::best : BufferSource::heap);
    if (!made) return made.error();
    buffer = *std::move(made);
    return buffer.f32();
}

std::array<const float*, n_temporary> Workspace::places() const {
    std::array<const float*, n_temporary> places{};
    for (std::size_t i = 0; i < n_temporary; ++i) places[i] = buffers_[i].f32();
    return places;
}

void Workspace::release() {
    for (Buffer& buffer : buffers_) buffer.release();
    plan_ = {};
}

}  // namespace decodescope
