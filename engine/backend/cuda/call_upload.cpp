// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/backend/cuda/call_upload.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <span>

#include "engine/backend/cuda/cuda_check.h"

namespace decodescope::cuda {

namespace {

/// Lays arrays one behind the other: first to see how many bytes they take, then to fill them.
class Layout {
public:
    explicit Layout(std::byte* host = nullptr, std::byte* device = nullptr) : host_(host), device_(device) {}

    /// The next array of `n` elements: to fill in `host`, unless this is the first time; where it will lie in
    /// device memory.
    template <class T>
    T* add(std::int64_t n, std::span<T>& host) {
        const std::size_t at = bytes_;
        bytes_ += (static_cast<std::size_t>(n) * sizeof(T) + 15) / 16 * 16;
        if (host_ == nullptr) return nullptr;
        host = {reinterpret_cast<T*>(host_ + at), static_cast<std::size_t>(n)};
        return reinterpret_cast<T*>(device_ + at);
    }
    std::size_t bytes() const { return bytes_; }

private:
    std::byte* host_;
    std::byte* device_;
    std::size_t bytes_ = 0;
};

std::int64_t count_ranges(const AttentionPlan& plan) {
    std::int64_t n = 0;
    for (int b = 0; b < plan.batch(); ++b) {
        for (int q = 0; q < plan.n_query(b); ++q) n += std::ssize(plan.visible(b, q));
    }
    return n;
}

/// The arrays of a call as the processor fills them.
struct HostArrays {
    std::span<std::int32_t> tokens, positions, row_of, row_begin, slots, first_range, row_base, blocks,
        logit_rows, largest, drawn;
    std::span<SlotRange> ranges;
    std::span<TokenDraw> draws;
};

void fill(const ForwardCall& call, int block_stride, HostArrays& host) {
    const CallTokens& tokens = *call.tokens;
    const AttentionPlan& plan = *call.plan;
    std::copy(tokens.tokens().begin(), tokens.tokens().end(), host.tokens.begin());
    std::transform(call.positions.begin(), call.positions.end(), host.positions.begin(),
                   [](std::int32_t position) { return std::max(position, 0); });
    std::size_t n_range = 0;
    std::size_t query = 0;
    for (int b = 0; b < tokens.batch(); ++b) {
        const auto row = static_cast<std::size_t>(b);
        host.row_begin[row] = tokens.begin(b);
        std::fill(host.row_of.begin() + tokens.begin(b), host.row_of.begin() + tokens.end(b), b);
        if (call.cache == nullptr) host.row_base[row] = tokens.begin(b);
        for (int q = 0; q < plan.n_query(b); ++q) {
            host.first_range[query++] = static_cast<std::int32_t>(n_range);
            for (const SlotRange& range : plan.visible(b, q)) host.ranges[n_range++] = range;
        }
        if (block_stride == 0) continue;
        const std::span<const int> table = call.cache->block_table(b);
        const auto blocks = host.blocks.subspan(row * static_cast<std::size_t>(block_stride),
                                                static_cast<std::size_t>(block_stride));
        std::fill(blocks.begin(), blocks.end(), 0);
        std::copy_n(table.begin(), std::min(table.size(), blocks.size()), blocks.begin());
    }
    host.row_begin[static_cast<std::size_t>(tokens.batch())] = tokens.n_token();
    host.first_range[query] = static_cast<std::int32_t>(n_range);
    if (call.cache != nullptr)
        std::copy(call.cache->new_slots().begin(), call.cache->new_slots().end(), host.slots.begin());
    std::copy(call.logit_rows.begin(), call.logit_rows.end(), host.logit_rows.begin());
    std::copy(call.draws.begin(), call.draws.end(), host.draws.begin());
}

}  // namespace

Result<void> CallUpload::upload(const ForwardCall& call) {
    const CallTokens& tokens = *call.tokens;
    const std::int64_t n = tokens.n_token();
    const std::int64_t batch = tokens.batch();
    const auto n_logit = std::ssize(call.logit_rows);
    const auto n_draw = std::ssize(call.draws);
    arrays_ = {};
    arrays_.n_token = tokens.n_token();
    arrays_.batch = tokens.batch();
    arrays_.most_slots = std::max(call.most_slots(), 1);
    const auto layout = call.cache != nullptr ? call.cache->layout(0) : std::nullopt;
    if (layout && layout->block > 0)
        arrays_.block_stride = (arrays_.most_slots + layout->block - 1) / layout->block;
    const auto ranges = static_cast<std::uint64_t>(std::max(count_ranges(*call.plan), n));
    range_room_ = std::max(range_room_, static_cast<std::int64_t>(std::bit_ceil(ranges)));

    HostArrays host;
    const auto place = [&](Layout& list) {
        arrays_.tokens = list.add(n, host.tokens);
        arrays_.positions = list.add(n, host.positions);
        arrays_.row_of = list.add(n, host.row_of);
        arrays_.row_begin = list.add(batch + 1, host.row_begin);
        arrays_.first_range = list.add(n + 1, host.first_range);
        arrays_.ranges = list.add(range_room_, host.ranges);
        if (call.cache != nullptr)
            arrays_.slots = list.add(n, host.slots);
        else
            arrays_.row_base = list.add(batch, host.row_base);
        if (arrays_.block_stride > 0) arrays_.blocks = list.add(batch * arrays_.block_stride, host.blocks);
        logit_rows_ = list.add(n_logit, host.logit_rows);
        largest_ = list.add(n_logit, host.largest);
        draws_ = list.add(n_draw, host.draws);
        drawn_ = list.add(n_draw, host.drawn);
    };
    Layout count;
    place(count);
    DS_TRY(block_.reserve(count.bytes()));
    DS_TRY(host_.reserve(count.bytes()));
    Layout list(host_.data(), block_.data());
    place(list);
    std::memset(host_.data(), 0, list.bytes());
    fill(call, arrays_.block_stride, host);
    DS_CUDA(cudaMemcpyAsync(block_.data(), host_.data(), list.bytes(), cudaMemcpyHostToDevice,
                            memory_->stream()));
    shape_.assign({reinterpret_cast<std::uintptr_t>(block_.data()), static_cast<std::uintptr_t>(n),
                   static_cast<std::uintptr_t>(batch), static_cast<std::uintptr_t>(range_room_),
                   static_cast<std::uintptr_t>(arrays_.most_slots),
                   static_cast<std::uintptr_t>(arrays_.block_stride), static_cast<std::uintptr_t>(n_logit),
                   static_cast<std::uintptr_t>(n_draw)});
    return {};
}

}  // namespace decodescope::cuda
