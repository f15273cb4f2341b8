// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/decode/scheduler.h"

#include <algorithm>

namespace decodescope {

std::optional<int> Scheduler::admit() {
    const auto row = std::find(rows_.begin(), rows_.end(), -1);
    if (queue_.empty() || row == rows_.end()) return std::nullopt;
    Served head = queue_.front();
    if (budget_ != 0 && retained_ + rounded(head.tokens) > budget_) return std::nullopt;
    queue_.pop_front();
    *row = head.request;
    head.row = static_cast<int>(row - rows_.begin());
    served_.push_back(head);
    retained_ += rounded(head.tokens);
    return head.row;
}

int Scheduler::release(int request) {
    std::erase_if(queue_, [&](const Served& entry) { return entry.request == request; });
    const auto mine = std::find_if(served_.begin(), served_.end(),
                                   [&](const Served& entry) { return entry.request == request; });
    if (mine == served_.end()) return -1;
    const int row = mine->row;
    retained_ -= rounded(mine->tokens);
    served_.erase(mine);
    rows_[static_cast<std::size_t>(row)] = -1;
    return row;
}

}  // namespace decodescope
