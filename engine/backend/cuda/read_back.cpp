// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/backend/cuda/read_back.h"

#include <cstring>

#include "engine/backend/cuda/cuda_check.h"

namespace decodescope::cuda {

void ReadBack::begin() {
    next_ = 0;
    wanted_.clear();
}

Result<const std::byte*> ReadBack::queue(const void* from, std::size_t bytes, bool copy) {
    if (next_ == blocks_.size()) blocks_.emplace_back();
    PinnedBlock& block = blocks_[next_++];
    DS_TRY(block.reserve(bytes));
    if (copy) DS_CUDA(cudaMemcpyAsync(block.data(), from, bytes, cudaMemcpyDeviceToHost, memory_->stream()));
    return static_cast<const std::byte*>(block.data());
}

Result<void> ReadBack::queue_for(const std::int32_t* from, std::int32_t* to, int n, bool copy) {
    const auto data = queue(from, static_cast<std::size_t>(n) * sizeof(std::int32_t), copy);
    if (!data) return data.error();
    wanted_.push_back({*data, to, n});
    return {};
}

void ReadBack::hand_over() {
    for (const Wanted& wanted : wanted_)
        std::memcpy(wanted.to, wanted.from, static_cast<std::size_t>(wanted.n) * sizeof(std::int32_t));
    wanted_.clear();
}

void ReadBack::add_places(std::vector<std::uintptr_t>& key) const {
    for (const PinnedBlock& block : blocks_) key.push_back(reinterpret_cast<std::uintptr_t>(block.data()));
}

}  // namespace decodescope::cuda
