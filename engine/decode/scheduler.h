// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

namespace decodescope {

/// Which requests of a continuous batch are served, and in which row. First come, first served: the request
/// at the head of the queue waits until a row is free and the tokens that all served requests may come to
/// retain fit the budget. So a request that was let in never has to be put out again.
class Scheduler {
public:
    struct Served {
        int request = -1;
        int tokens = 0;  ///< that it may come to retain
        int row = -1;
    };

    /// `budget`: tokens that may be retained together, 0 = no limit. Every request counts in whole blocks of
    /// `block` tokens.
    Scheduler(int n_row, std::int64_t budget, int block)
        : rows_(static_cast<std::size_t>(n_row), -1), budget_(budget), block_(block) {}

    /// Whether a request that may retain `tokens` can ever be served.
    bool can_ever_fit(int tokens) const { return budget_ == 0 || rounded(tokens) <= budget_; }
    /// Puts a request at the end of the queue.
    void add(int request, int tokens) { queue_.push_back({request, tokens, -1}); }
    /// Lets the request at the head of the queue in if it fits; its row.
    std::optional<int> admit();
    /// The request is done or cancelled, wherever it is. Returns the row it had, -1 if none.
    int release(int request);

    /// Request in each row, -1 = free.
    const std::vector<int>& rows() const { return rows_; }
    /// Those that are served, in the order in which they were let in.
    const std::vector<Served>& served() const { return served_; }
    int n_waiting() const { return static_cast<int>(queue_.size()); }
    /// Tokens that the served requests may come to retain, in whole blocks.
    std::int64_t retained() const { return retained_; }

private:
    std::int64_t rounded(int tokens) const { return (std::int64_t{tokens} + block_ - 1) / block_ * block_; }

    std::deque<Served> queue_;  // without rows
    std::vector<int> rows_;
    std::vector<Served> served_;
    std::int64_t budget_;
    int block_;
    std::int64_t retained_ = 0;
};

}  // namespace decodescope
