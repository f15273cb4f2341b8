// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/measure/environment.h"

#include <cblas.h>
#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>
#include <string_view>
#include <thread>
#include <utility>

#if defined(__linux__)
#include <sched.h>
#endif

#include "engine/measure/build_commit.h"
#include "engine/measure/build_info.h"

namespace decodescope {

namespace {

std::string first_line(const std::string& path) {
    std::ifstream file(path);
    std::string line;
    std::getline(file, line);
    return line;
}

/// Value of the first line of `path` that begins with `key` and has `separator` behind it; empty if there is
/// none.
std::string value_of(const std::string& path, std::string_view key, char separator) {
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) {
        const std::size_t at = line.find(separator);
        if (at == std::string::npos) continue;
        std::string_view name(line.data(), at);
        name = name.substr(0, name.find_last_not_of(" \t") + 1);
        if (name != key) continue;
        std::string_view value(line);
        value.remove_prefix(std::min(value.size(), value.find_first_not_of(" \t\"", at + 1)));
        return std::string(value.substr(0, value.find_last_not_of(" \t\"") + 1));
    }
    return {};
}

std::vector<std::string> read_instruction_sets() {
    // As the kernel spells them, and as people know them.
    static constexpr std::array<std::pair<std::string_view, const char*>, 15> known{{
        {"sse4_2", "sse4.2"},
        {"avx", "avx"},
        {"f16c", "f16c"},
        {"fma", "fma"},
        {"avx2", "avx2"},
        {"avx512f", "avx512f"},
        {"avx512bw", "avx512bw"},
        {"avx512_vnni", "avx512_vnni"},
        {"avx512_bf16", "avx512_bf16"},
        {"amx_bf16", "amx_bf16"},
        {"asimd", "neon"},
        {"asimddp", "dotprod"},
        {"i8mm", "i8mm"},
        {"bf16", "bf16"},
        {"sve", "sve"},
    }};
    std::string flags = value_of("/proc/cpuinfo", "flags", ':');
    if (flags.empty()) flags = value_of("/proc/cpuinfo", "Features", ':');
    std::istringstream words(flags);
    std::set<std::string> present;
    for (std::string word; words >> word;) present.insert(word);
    std::vector<std::string> sets;
    for (const auto& [kernel_name, name] : known) {
        if (present.contains(std::string(kernel_name))) sets.emplace_back(name);
    }
    return sets;
}

std::string read_os() {
    utsname system{};
    if (uname(&system) != 0) return {};
    const std::string kernel = fmt::format("{} {} {}", system.sysname, system.release, system.machine);
    const std::string name = value_of("/etc/os-release", "PRETTY_NAME", '=');
    return name.empty() ? kernel : fmt::format("{}, {}", name, kernel);
}

std::uint64_t read_memory_bytes() {
    const long pages = sysconf(_SC_PHYS_PAGES);
    const long page = sysconf(_SC_PAGESIZE);
    if (pages <= 0 || page <= 0) return 0;
    return static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(page);
}

std::string read_blas() {
    // "OpenBLAS 0.3.21 NO_LAPACKE DYNAMIC_ARCH NO_AFFINITY Haswell MAX_THREADS=64"
    std::istringstream config(openblas_get_config());
    std::string name;
    std::string version;
    config >> name >> version;
    static constexpr std::array threading{"sequential", "pthreads", "OpenMP"};
    const auto parallel = static_cast<std::size_t>(openblas_get_parallel());
    return fmt::format("{} {} ({}, {})", name, version, openblas_get_corename(),
                       parallel < threading.size() ? threading[parallel] : "unknown threading");
}

/// CPUs that the container's quota pays for; 0 without a quota.
int quota_cpus() {
    std::istringstream line(first_line("/sys/fs/cgroup/cpu.max"));
    double quota = 0;
    double period = 0;
    if (!(line >> quota >> period) || period <= 0) return 0;
    return std::max(1, static_cast<int>(std::ceil(quota / period)));
}

}  // namespace

int physical_core_count() {
    int count = 0;
#if defined(__linux__)
    cpu_set_t allowed;
    CPU_ZERO(&allowed);
    if (sched_getaffinity(0, sizeof allowed, &allowed) == 0) {
        // Hardware threads of one core name the same set of siblings.
        std::set<std::string> cores;
        for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
            if (!CPU_ISSET(cpu, &allowed)) continue;
            const std::string siblings =
                first_line(fmt::format("/sys/devices/system/cpu/cpu{}/topology/thread_siblings_list", cpu));
            cores.insert(siblings.empty() ? fmt::format("cpu {}", cpu) : siblings);
        }
        count = static_cast<int>(cores.size());
    }
#endif
    if (count == 0) count = static_cast<int>(std::thread::hardware_concurrency());
    if (const int quota = quota_cpus(); quota > 0) count = std::min(count, quota);
    return std::max(1, count);
}

std::string better_blas_core() {
    if (std::getenv("OPENBLAS_CORETYPE") != nullptr) return {};
    return better_blas_core(openblas_get_corename(), read_instruction_sets());
}

std::string better_blas_core(std::string_view chosen, const std::vector<std::string>& instruction_sets) {
    // The cores without AVX: one of them on a machine with AVX2 means that OpenBLAS did not know the
    // processor.
    static constexpr std::array<std::string_view, 12> without_avx{
        "Katmai", "Coppermine", "Northwood", "Prescott",     "Banias",    "Core2",
        "Penryn", "Dunnington", "Nehalem",   "Opteron_SSE3", "Barcelona", "Generic"};
    const auto is_chosen = [&](std::string_view name) {
        return std::equal(name.begin(), name.end(), chosen.begin(), chosen.end(), [](char a, char b) {
            return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
        });
    };
    const auto has = [&](std::string_view name) {
        return std::find(instruction_sets.begin(), instruction_sets.end(), name) != instruction_sets.end();
    };
    if (std::none_of(without_avx.begin(), without_avx.end(), is_chosen)) return {};
    if (has("avx512f") && has("avx512bw") && has("fma")) return "SkylakeX";
    if (has("avx2") && has("fma")) return "Haswell";
    return {};
}

std::vector<std::string> doubts(const Environment& environment) {
    constexpr double clock_limit = 0.9;
    const MachineUse& use = environment.use;
    std::vector<std::string> found;
    if (use.others > doubtful_others) {
        found.push_back(fmt::format(
            "Other programs took {:.0f} % of the machine's processors during the run.", 100 * use.others));
    }
    if (use.stolen > doubtful_stolen) {
        found.push_back(fmt::format("The hypervisor took {:.0f} % of the processor time away during the run.",
                                    100 * use.stolen));
    }
    if (use.mhz_before > 0 && use.mhz_after > 0 && use.mhz_after < clock_limit * use.mhz_before) {
        found.push_back(fmt::format("The processors' clock fell from {:.0f} to {:.0f} MHz during the run.",
                                    use.mhz_before, use.mhz_after));
    }
    if (environment.thread_reductions > 0) {
        found.push_back(fmt::format("A thread was left out {} time{} because its core was busy.",
                                    environment.thread_reductions,
                                    environment.thread_reductions == 1 ? "" : "s"));
    }
    return found;
}

double read_limit_gb_s(const Environment& environment, std::string_view device) {
    if (device == "cpu") return environment.read_bandwidth_gb_s;
    for (const GpuInfo& gpu : environment.gpus) {
        if (gpu.device == device) return gpu.memory_gb_s;
    }
    return 0;
}

double peak_limit_gflop_s(const Environment& environment, std::string_view device) {
    return device == "cpu" ? environment.peak_gflop_s : 0;
}

Environment read_environment() {
    Environment environment;
    environment.program_version = DECODESCOPE_VERSION;
    environment.commit = DECODESCOPE_COMMIT;
    environment.compiler = DECODESCOPE_COMPILER;
    environment.compiler_flags = DECODESCOPE_COMPILER_FLAGS;
    environment.cpu_model = value_of("/proc/cpuinfo", "model name", ':');
    environment.instruction_sets = read_instruction_sets();
    environment.physical_cores = physical_core_count();
    environment.logical_cores = static_cast<int>(std::thread::hardware_concurrency());
    environment.governor = first_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
    environment.blas = read_blas();
    environment.os = read_os();
    environment.memory_bytes = read_memory_bytes();
    if (std::array<double, 1> load{}; getloadavg(load.data(), 1) == 1) environment.load_average = load[0];
    return environment;
}

}  // namespace decodescope
