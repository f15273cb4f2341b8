// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/sweep/test_shape.h"

#include <fmt/format.h>

#include <algorithm>

namespace decodescope {

std::string TestShape::label() const {
    std::string text;
    if (n_prompt > 0) text = fmt::format("pp{}", n_prompt);
    if (n_gen > 0) text += fmt::format("{}tg{}", text.empty() ? "" : "+", n_gen);
    if (n_depth > 0) text += fmt::format(" @ d{}", n_depth);
    if (n_parallel > 1) text += fmt::format(" x{}", n_parallel);
    return text;
}

int TestShape::prompt_length() const {
    return std::max(1, n_depth + n_prompt);
}

std::int64_t TestShape::measured_tokens() const {
    return (std::int64_t{n_prompt} + n_gen) * n_parallel;
}

}  // namespace decodescope
