// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/measure/machine_use.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>

namespace decodescope {

namespace {

double seconds(const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

double read_mhz() {
    std::ifstream file("/proc/cpuinfo");
    double sum = 0;
    int n = 0;
    for (std::string line; std::getline(file, line);) {
        if (line.compare(0, 7, "cpu MHz") != 0) continue;
        const std::size_t colon = line.find(':');
        if (colon == std::string::npos) continue;
        std::istringstream value(line.substr(colon + 1));
        if (double mhz = 0; value >> mhz) {
            sum += mhz;
            ++n;
        }
    }
    return n == 0 ? -1 : sum / n;
}

}  // namespace

MachineWatch::Ticks MachineWatch::read() {
    Ticks ticks;
    std::ifstream file("/proc/stat");
    std::string word;
    // user nice system idle iowait irq softirq steal
    std::int64_t fields[8] = {};
    if (file >> word && word == "cpu") {
        bool all = true;
        for (std::int64_t& field : fields) all = all && static_cast<bool>(file >> field);
        if (all) {
            for (const std::int64_t field : fields) ticks.total += field;
            ticks.idle = fields[3] + fields[4];
            ticks.stolen = fields[7];
        }
    }
    rusage usage{};
    if (getrusage(RUSAGE_SELF, &usage) == 0) ticks.own_s = seconds(usage.ru_utime) + seconds(usage.ru_stime);
    return ticks;
}

MachineWatch::MachineWatch() : start_(read()), mhz_(read_mhz()) {}

MachineUse MachineWatch::use() const {
    MachineUse use{.mhz_before = mhz_, .mhz_after = read_mhz()};
    const Ticks now = read();
    const long ticks_per_second = sysconf(_SC_CLK_TCK);
    const auto total = static_cast<double>(now.total - start_.total);
    if (now.total == 0 || start_.total == 0 || total <= 0 || ticks_per_second <= 0) return use;
    const auto stolen = static_cast<double>(now.stolen - start_.stolen);
    const auto idle = static_cast<double>(now.idle - start_.idle);
    const double own = (now.own_s - start_.own_s) * static_cast<double>(ticks_per_second);
    use.stolen = stolen / total;
    use.others = std::clamp((total - idle - stolen - own) / total, 0.0, 1.0);
    return use;
}

}  // namespace decodescope
