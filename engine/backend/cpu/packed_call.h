// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/backend/backend.h"
#include "engine/backend/cpu/packed_product.h"

namespace decodescope {

/// A product with packed weights, shared out to workers. Few rows: every worker normalises and lays out all
/// rows for itself, so that nobody waits for anybody, and computes its panels. Many rows: they are laid out
/// together first. A result does not depend on who computes it.
class PackedCall {
public:
    /// `bests` grows to one per worker and row where the largest outputs are asked for.
    PackedCall(const ProductCall& call, int n_worker, std::vector<RowBest>& bests);

    /// Whether every worker prepares the rows for itself.
    static bool prepares_apart(int rows) { return rows <= most_own_rows; }
    /// Panels [begin, end), by a worker that prepares the rows for itself first.
    struct PanelRange {
        int begin = 0;
        int end = 0;
    };
    void run_panels(std::span<const PanelRange> ranges, int worker);

    /// Scratch floats of products of up to `rows` rows.
    static std::int64_t floats(std::int64_t rows, std::int64_t n_in, int n_worker);

    /// `split(n, grain, work, body)` calls body(begin, end, worker) for pieces of [0, n) that are worth
    /// `work` multiply-adds together: pieces of `grain`, to whoever is free, or with 0 one for every worker.
    template <class Split>
    void run(Split&& split) {
        const std::int64_t work = std::int64_t{call_.rows} * call_.w->n_in * call_.w->n_out;
        if (together_) {
            split(prepared_.n_block(), 0, std::int64_t{call_.rows} * call_.w->n_in * 8,
                  [this](std::int64_t begin, std::int64_t end, int worker) {
                      for (std::int64_t i = begin; i < end; ++i)
                          prepare(prepared_, static_cast<int>(i), worker);
                  });
        }
        // Workers are not equally fast where others want their cores; few rows are over before that shows.
        const std::int64_t grain = together_ ? prepared_.panels_at_once(*call_.w->packed) : 0;
        split(call_.w->packed->n_panel(), grain, work,
              [this](std::int64_t begin, std::int64_t end, int worker) {
                  const PanelRange range{static_cast<int>(begin), static_cast<int>(end)};
                  if (together_)
                      multiply(prepared_, range, worker);
                  else
                      run_panels({&range, 1}, worker);
              });
        if (call_.largest != nullptr) find_largest();
    }

private:
    static constexpr std::int64_t most_own_rows = 12;  // that every worker prepares for itself

    /// Scratch of one worker: rows that were normalised, then laid out.
    static std::int64_t own_floats(std::int64_t rows, std::int64_t n_in) {
        return rounded(rows * n_in) + rounded(PreparedRows::floats(rows, n_in));
    }
    /// Scratch of one worker when all prepare the rows together: rows that were normalised, later panels that
    /// were decoded.
    static std::int64_t shared_floats(std::int64_t n_in) {
        return rounded(std::max(most_block_rows * n_in, PreparedRows::decoded_floats(n_in)));
    }
    static std::int64_t rounded(std::int64_t floats) { return (floats + 15) / 16 * 16; }
    float* own_scratch(int worker) const;
    void prepare(PreparedRows& rows, int block, int worker);
    void multiply(const PreparedRows& rows, PanelRange range, int worker);
    void find_largest();

    const ProductCall& call_;
    int n_worker_;
    std::vector<RowBest>& bests_;
    bool together_;
    PreparedRows prepared_;
};

}  // namespace decodescope
