// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/decode/scheduler.h"

#include <algorithm>

namespace decodescope {

std::optional<int> Scheduler::admit() {
    const auto row = std::find(rows_.begin(), rows_.end(), -1);
    if (queue_.empty() || row == rows_.end()) return std::nullopt;
    const Entry head = queue_.front();
    if (budget_ != 0 && retained_ + rounded(head.tokens) > budget_) return std::nullopt;
    queue_.pop_front();
    *row = head.request;
    served_.push_back(head);
    retained_ += rounded(head.tokens);
    return static_cast<int>(row - rows_.begin());
}

int Scheduler::release(int request) {
    std::erase_if(queue_, [&](const Entry& entry) { return entry.request == request; });
    const auto mine = std::find_if(served_.begin(), served_.end(),
                                   [&](const Entry& entry) { return entry.request == request; });
    if (mine == served_.end()) return -1;
    retained_ -= rounded(mine->tokens);
    served_.erase(mine);
    const auto row = std::find(rows_.begin(), rows_.end(), request);
    *row = -1;
    return static_cast<int>(row - rows_.begin());
}

}  // namespace decodescope
