// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <string>

namespace decodescope {

/// What is measured in one test, in the words of llama-bench: `n_prompt` tokens are prefilled and then
/// `n_gen` decode steps are made, for each of `n_parallel` requests, on top of `n_depth` tokens whose prefill
/// is not part of the time. The token that the prompt itself gives is not one of the `n_gen`.
struct TestShape {
    int n_prompt = 0;  ///< 0 = decoding alone is measured ("tg")
    int n_gen = 0;     ///< 0 = the prefill alone is measured ("pp")
    int n_depth = 0;
    int n_parallel = 1;  ///< requests
    int n_threads = 1;

    /// "pp512", "tg128 @ d1024", "pp16+tg32 x4": depth where there is one, requests where there are several.
    std::string label() const;
    /// Tokens of a request before the first decode step. At least one: decoding goes on from something.
    int prompt_length() const;
    /// Tokens that a lane is asked for, the prompt's own included.
    int new_tokens() const { return n_gen + 1; }
    /// Tokens whose making is measured, of all requests.
    std::int64_t measured_tokens() const;

    friend bool operator==(const TestShape&, const TestShape&) = default;
};

}  // namespace decodescope
