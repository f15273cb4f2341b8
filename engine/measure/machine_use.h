// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>

namespace decodescope {

/// How much of the machine somebody else had during a stretch of time. Shares are of all logical processors
/// together; -1 = the system does not tell.
struct MachineUse {
    double others = -1;      ///< taken by other programs, the system's own work included
    double stolen = -1;      ///< taken by the hypervisor for other virtual machines
    double mhz_before = -1;  ///< mean clock frequency of the processors at the beginning,
    double mhz_after = -1;   ///< and at the end
};

/// Shares from which on the numbers of a run are doubtful.
inline constexpr double doubtful_others = 0.05;
inline constexpr double doubtful_stolen = 0.02;

/// Watches the machine from its construction on (/proc/stat, getrusage, /proc/cpuinfo). Reading takes some
/// 0.1 ms, so it belongs before and after what is timed. Resolution is that of the system's ticks, 10 ms.
class MachineWatch {
public:
    MachineWatch();
    /// What happened since.
    MachineUse use() const;

private:
    struct Ticks {
        std::int64_t total = 0;  // of all processors together; 0 = not known
        std::int64_t idle = 0;
        std::int64_t stolen = 0;
        double own_s = 0;  // processor time of this process
    };
    static Ticks read();

    Ticks start_;
    double mhz_;
};

}  // namespace decodescope
