// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <vector>

#include "engine/experiment/json_fields.h"
#include "engine/experiment/text_table.h"
#include "engine/measure/statistics.h"
#include "engine/sweep/cell.h"

namespace decodescope {

/// How a lane's time grows with the number of decode steps: log time against log n_gen. What the prompt costs
/// is taken off first (`ttft_ns`), as it does not depend on the steps.
struct Growth {
    std::string lane;
    TestShape shape;            ///< what is equal for all points; n_gen is the largest
    LineFit fit;                ///< slope: the exponent
    std::vector<double> steps;  ///< what was fitted: numbers of decode steps, ascending
    std::vector<double> ns;     ///< and their times
};
/// For every lane and shape with at least so many different numbers of decode steps; less than three say
/// nothing about an exponent.
std::vector<Growth> fit_growth(const std::vector<Cell>& cells, std::size_t least = 3);

/// How a decode step's time grows with the context: a line through the median step times of all cells of a
/// lane with the same requests and threads, against the tokens there were before the step.
struct DepthCost {
    std::string lane;
    int n_parallel = 1;
    int n_threads = 1;
    LineFit fit;  ///< slope: ns per token of context
    /// Slope x read bandwidth / bytes of the cache per token: how often a step would read the cache at the
    /// speed at which the machine reads. 1 = once and as fast as memory allows. 0 = not known, or no cache.
    double passes = 0;
    double passes_error = 0;
    std::vector<double> context;  ///< what was fitted: tokens before a step, ascending
    std::vector<double> ns;       ///< and the step's median time
};
/// For every lane whose contexts span at least 16 tokens.
std::vector<DepthCost> fit_depth(const std::vector<Cell>& cells);

/// From how many new tokens on a lane with a cache has taken less time in all than the naive lane beside it,
/// its prompt included.
struct BreakEven {
    std::string lane;
    std::string naive;
    TestShape shape;
    int new_tokens = 0;  ///< 0 = not within the tokens that were measured
};
/// For every test that has a naive lane and others, decodes, and whose outputs agree.
std::vector<BreakEven> find_break_even(const std::vector<Cell>& cells);

/// The three as tables; empty text where nothing could be fitted.
TextTable growth_table(const std::vector<Growth>& growth);
TextTable depth_table(const std::vector<DepthCost>& depth);
TextTable break_even_table(const std::vector<BreakEven>& found);
OrderedJson fits_json(const std::vector<Cell>& cells);

}  // namespace decodescope
