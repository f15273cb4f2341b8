// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/experiment/environment_json.h"

namespace decodescope {

namespace {

OrderedJson gpu_json(const GpuInfo& gpu) {
    return {{"device", gpu.device},
            {"name", text_or_null(gpu.name)},
            {"compute_capability", text_or_null(gpu.compute_capability)},
            {"memory_bytes", number_or_null(gpu.memory_bytes, std::uint64_t{0})},
            {"memory_gb_s", number_or_null(gpu.memory_gb_s, 0.0)},
            {"core_clock_khz", number_or_null(gpu.core_clock_khz, std::int64_t{-1})},
            {"memory_clock_khz", number_or_null(gpu.memory_clock_khz, std::int64_t{-1})}};
}

void read_gpu(JsonFields& fields, GpuInfo& gpu) {
    fields.require("device");
    fields.text("device", gpu.device);
    fields.text("name", gpu.name);
    fields.text("compute_capability", gpu.compute_capability);
    fields.integer("memory_bytes", gpu.memory_bytes);
    fields.real("memory_gb_s", gpu.memory_gb_s);
    fields.integer("core_clock_khz", gpu.core_clock_khz);
    fields.integer("memory_clock_khz", gpu.memory_clock_khz);
}

}  // namespace

OrderedJson environment_json(const Environment& environment) {
    OrderedJson json;
    json["program_version"] = text_or_null(environment.program_version);
    json["commit"] = text_or_null(environment.commit);
    json["compiler"] = text_or_null(environment.compiler);
    json["compiler_flags"] = text_or_null(environment.compiler_flags);
    json["cpu_model"] = text_or_null(environment.cpu_model);
    json["instruction_sets"] = environment.instruction_sets;
    json["physical_cores"] = number_or_null(environment.physical_cores, 0);
    json["logical_cores"] = number_or_null(environment.logical_cores, 0);
    json["governor"] = text_or_null(environment.governor);
    json["blas"] = text_or_null(environment.blas);
    json["kernels"] = text_or_null(environment.kernels);
    json["gpus"] = OrderedJson::array();
    for (const GpuInfo& gpu : environment.gpus) json["gpus"].push_back(gpu_json(gpu));
    json["cuda_driver"] = text_or_null(environment.cuda_driver);
    json["cuda_runtime"] = text_or_null(environment.cuda_runtime);
    json["gpu_precision"] = text_or_null(environment.gpu_precision);
    json["os"] = text_or_null(environment.os);
    json["memory_bytes"] = number_or_null(environment.memory_bytes, std::uint64_t{0});
    json["threads"] = number_or_null(environment.threads, 0);
    json["thread_reductions"] = number_or_null(environment.thread_reductions, std::int64_t{-1});
    json["thread_cpus"] = environment.thread_cpus;
    json["read_bandwidth_gb_s"] = number_or_null(environment.read_bandwidth_gb_s, 0.0);
    json["peak_gflop_s"] = number_or_null(environment.peak_gflop_s, 0.0);
    json["peak_instructions"] = text_or_null(environment.peak_instructions);
    json["load_average"] = number_or_null(environment.load_average, -1.0);
    json["cpu_share_others"] = number_or_null(environment.use.others, -1.0);
    json["cpu_share_stolen"] = number_or_null(environment.use.stolen, -1.0);
    json["cpu_mhz_before"] = number_or_null(environment.use.mhz_before, -1.0);
    json["cpu_mhz_after"] = number_or_null(environment.use.mhz_after, -1.0);
    return json;
}

void read_environment(JsonFields& fields, Environment& environment) {
    fields.text("program_version", environment.program_version);
    fields.text("commit", environment.commit);
    fields.text("compiler", environment.compiler);
    fields.text("compiler_flags", environment.compiler_flags);
    fields.text("cpu_model", environment.cpu_model);
    fields.texts("instruction_sets", environment.instruction_sets);
    fields.integer("physical_cores", environment.physical_cores);
    fields.integer("logical_cores", environment.logical_cores);
    fields.text("governor", environment.governor);
    fields.text("blas", environment.blas);
    fields.text("kernels", environment.kernels);
    fields.objects("gpus", [&](JsonFields& gpu) { read_gpu(gpu, environment.gpus.emplace_back()); });
    fields.text("cuda_driver", environment.cuda_driver);
    fields.text("cuda_runtime", environment.cuda_runtime);
    fields.text("gpu_precision", environment.gpu_precision);
    fields.text("os", environment.os);
    fields.integer("memory_bytes", environment.memory_bytes);
    fields.integer("threads", environment.threads);
    fields.integer("thread_reductions", environment.thread_reductions);
    fields.integers("thread_cpus", environment.thread_cpus);
    fields.real("read_bandwidth_gb_s", environment.read_bandwidth_gb_s);
    fields.real("peak_gflop_s", environment.peak_gflop_s);
    fields.text("peak_instructions", environment.peak_instructions);
    fields.real("load_average", environment.load_average);
    fields.real("cpu_share_others", environment.use.others);
    fields.real("cpu_share_stolen", environment.use.stolen);
    fields.real("cpu_mhz_before", environment.use.mhz_before);
    fields.real("cpu_mhz_after", environment.use.mhz_after);
}

}  // namespace decodescope
