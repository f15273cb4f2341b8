// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/backend/cpu/packed_call.h"

#include "engine/backend/cpu/vector_math.h"

namespace decodescope {

PackedCall::PackedCall(const ProductCall& call, int n_worker, std::vector<RowBest>& bests)
    : call_(call),
      n_worker_(n_worker),
      bests_(bests),
      together_(call.rows > most_own_rows),
      prepared_(call.w->packed->type(), call.rows, call.w->n_in, call.scratch) {
    if (call.largest == nullptr) return;
    bests_.resize(static_cast<std::size_t>(n_worker) * static_cast<std::size_t>(call.rows));
    for (RowBest& best : bests_) best.clear();
}

std::int64_t PackedCall::floats(std::int64_t rows, std::int64_t n_in, int n_worker) {
    const std::int64_t apart = n_worker * own_floats(std::min(rows, most_own_rows), n_in);
    if (rows <= most_own_rows) return apart;
    const std::int64_t shared = rounded(PreparedRows::floats(rows, n_in)) + n_worker * shared_floats(n_in);
    return std::max(apart, shared);
}

float* PackedCall::own_scratch(int worker) const {
    const std::int64_t n_in = call_.w->n_in;
    if (!together_) return call_.scratch + worker * own_floats(call_.rows, n_in);
    return call_.scratch + rounded(PreparedRows::floats(call_.rows, n_in)) + worker * shared_floats(n_in);
}

void PackedCall::prepare(PreparedRows& rows, int block, int worker) {
    const auto [begin, end] = rows.block_rows(block);
    const std::int64_t n_in = call_.w->n_in;
    const float* x = call_.x + begin * n_in;
    if (call_.norm != nullptr) {
        float* normed = own_scratch(worker);
        for (int row = begin; row < end; ++row, x += n_in, normed += n_in) {
            if (call_.norm_kind == NormKind::rms_norm)
                vector_math::rms_norm(x, n_in, call_.norm->weight, call_.eps, normed);
            else
                vector_math::layer_norm(x, n_in, call_.norm->weight, call_.norm->bias, call_.eps, normed);
        }
        x = own_scratch(worker);
    }
    if (rows.as_they_are())
        rows.use(x);
    else
        rows.prepare(block, x, n_in);
}

void PackedCall::run_panels(std::span<const PanelRange> ranges, int worker) {
    const std::int64_t n_in = call_.w->n_in;
    PreparedRows own(call_.w->packed->type(), call_.rows, call_.w->n_in,
                     own_scratch(worker) + rounded(call_.rows * n_in));
    // Blocks of few rows are normalised into the same place, one after the other.
    for (int block = 0; block < own.n_block(); ++block) prepare(own, block, worker);
    for (const PanelRange range : ranges) multiply(own, range, worker);
}

void PackedCall::multiply(const PreparedRows& rows, PanelRange range, int worker) {
    TileFinish finish;
    finish.bias = call_.w->bias;
    finish.y = call_.y;
    finish.n_out = call_.w->n_out;
    finish.accumulate = call_.accumulate;
    if (call_.gate == nullptr) finish.activation = call_.activation;
    RowBest* best =
        call_.largest != nullptr ? bests_.data() + static_cast<std::ptrdiff_t>(worker) * call_.rows : nullptr;
    if (call_.gate == nullptr) finish.best = best;
    float* decoded = together_ ? own_scratch(worker) : nullptr;
    rows.multiply(*call_.w->packed, range.begin, range.end, finish, decoded);
    if (call_.gate == nullptr) return;
    finish.bias = call_.gate->bias;
    finish.activation = call_.activation;
    finish.multiply = true;
    finish.best = best;
    rows.multiply(*call_.gate->packed, range.begin, range.end, finish, decoded);
}

void PackedCall::find_largest() {
    for (int row = 0; row < call_.rows; ++row) {
        RowBest& best = bests_[static_cast<std::size_t>(row)];
        for (int worker = 1; worker < n_worker_; ++worker)
            best.merge(bests_[static_cast<std::size_t>(worker * call_.rows + row)]);
        call_.largest[row] = best.index();
    }
}

}  // namespace decodescope
