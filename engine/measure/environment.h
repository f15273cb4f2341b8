// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/measure/machine_use.h"

namespace decodescope {

/// One GPU that a run computed on, as its driver describes it. What is not known is as in `Environment`.
struct GpuInfo {
    std::string device;  ///< as lanes name it, e.g. "cuda:0"
    std::string name;
    std::string compute_capability;  ///< e.g. "9.0"
    std::uint64_t memory_bytes = 0;
    double memory_gb_s = 0;            ///< most it can read, as stated: not measured
    std::int64_t core_clock_khz = -1;  ///< highest; -1 = not known
    std::int64_t memory_clock_khz = -1;

    bool operator==(const GpuInfo&) const = default;
};

/// Where and with what a record was made. Empty strings and 0 mean "not known" and are written as null.
struct Environment {
    std::string program_version;
    std::string commit;  ///< of the source tree at build time
    std::string compiler;
    std::string compiler_flags;
    std::string cpu_model;
    std::vector<std::string> instruction_sets;  ///< those present that matter here: avx2, avx512f, neon, ...
    int physical_cores = 0;
    int logical_cores = 0;
    std::string governor;       ///< cpufreq governor of cpu0, if readable
    std::string blas;           ///< library, version and core type in use
    std::string kernels;        ///< products and SIMD in use, as the backend describes itself
    std::vector<GpuInfo> gpus;  ///< those that lanes computed on
    std::string cuda_driver;    ///< newest CUDA version that the driver can do; empty without a GPU in use
    std::string cuda_runtime;   ///< CUDA version that the program runs with
    std::string gpu_precision;  ///< of products on GPUs where a lane does not name another type
    std::string os;
    std::uint64_t memory_bytes = 0;
    int threads = 0;  ///< compute threads of this run
    std::int64_t thread_reductions =
        -1;  ///< how often a thread was left out because its core was busy; -1 = not known
    std::vector<int>
        thread_cpus;  ///< logical CPU that each ran on at the end; -1 = was left out, or not known
    double read_bandwidth_gb_s = 0;  ///< measured with the run's threads at start-up; 0 = not measured
    double peak_gflop_s = 0;         ///< most f32 arithmetic with the run's threads; 0 = not measured
    std::string peak_instructions;   ///< of what `peak_gflop_s` was measured with
    double load_average = -1;        ///< one-minute load before the run; -1 = not known
    MachineUse use;                  ///< who else had the machine during the run
};

/// What makes numbers of this run doubtful, one sentence each: other programs, a hypervisor, a clock that
/// fell, threads that were left out. Empty when nothing was noticed.
std::vector<std::string> doubts(const Environment& environment);

/// What `device` ("cpu", "cuda:0") can read at most, GB/s: measured for the processor, stated for a GPU; 0 =
/// not known.
double read_limit_gb_s(const Environment& environment, std::string_view device);
/// Most arithmetic of `device`, GFLOP/s; 0 = not measured, as for every GPU.
double peak_limit_gflop_s(const Environment& environment, std::string_view device);

/// Reads what does not depend on the run: not its threads, what was measured for it, and who else was busy.
Environment read_environment();
/// Physical cores this process may use (at least 1).
int physical_core_count();

/// OpenBLAS core type that this machine should be given in OPENBLAS_CORETYPE before the program starts, or
/// empty when OpenBLAS chose well by itself or the user has set it. OpenBLAS falls back to its slowest
/// kernels on processors that are newer than itself, which makes products several times slower than the
/// machine allows.
std::string better_blas_core();
/// The rule behind it: `chosen` by OpenBLAS, on a machine with `instruction_sets` (as in `Environment`).
std::string better_blas_core(std::string_view chosen, const std::vector<std::string>& instruction_sets);

}  // namespace decodescope
