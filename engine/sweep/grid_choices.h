// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/core/result.h"
#include "engine/sweep/cell.h"
#include "engine/sweep/grid.h"

namespace decodescope {

/// What a person says about a grid of tests, lists as typed: "16,128,512"; "100..500+100" counts up,
/// "16..1024*2" multiplies, both ends included.
struct GridChoices {
    std::string prompts = "16,64";
    std::string generations = "16,32,64";
    std::string depths = "0";
    std::string parallel = "1";
    std::string threads;  ///< empty = physical cores
    int repetitions = 5;  ///< at least
    double interval = 2;  ///< percent; 0 = as often as `repetitions` says
    double seconds = 30;  ///< no test is repeated for longer; 0 = as often as `repetitions` says
    int warmup = 1;
    std::uint64_t seed = 1;
    double memory = 0;   ///< GiB; 0 = most of what is available
    std::string prefix;  ///< before the name of a list in errors: "--" on the command line
};

/// The numbers of a list. `name` begins the sentence of an error.
Result<std::vector<int>> numbers_from_text(std::string_view name, std::string_view text, int lowest,
                                           int highest);

/// The values to be combined. Errors name the list.
Result<Grid> grid_of(const GridChoices& choices);
/// How the tests are run; model, lanes and reference are left to the caller.
CellSettings cell_settings_of(const GridChoices& choices);

}  // namespace decodescope
