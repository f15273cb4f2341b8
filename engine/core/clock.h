// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <chrono>
#include <cstdint>
#include <ctime>

namespace decodescope {

/// Monotonic nanoseconds; only differences mean something.
inline std::int64_t now_ns() {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(
               std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

/// Processor time that the calling thread has had, in nanoseconds; -1 where the system does not tell.
inline std::int64_t thread_cpu_ns() {
#ifdef CLOCK_THREAD_CPUTIME_ID
    timespec time{};
    if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time) == 0)
        return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
#endif
    return -1;
}

}  // namespace decodescope
