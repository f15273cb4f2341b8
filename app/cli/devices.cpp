// SPDX-License-Identifier: GPL-3.0-or-later
#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

#include "app/cli/commands.h"
#include "app/cli/output.h"
#include "engine/backend/cuda/cuda_backend.h"
#include "engine/backend/device.h"
#include "engine/core/text_file.h"
#include "engine/experiment/json_fields.h"
#include "engine/experiment/text_table.h"
#include "engine/measure/environment.h"
#include "engine/plan/memory_plan.h"

namespace decodescope::cli {

namespace {

/// One device as it is listed; what is not known is empty or 0.
struct Row {
    std::string device;
    std::string name;
    std::string computeCapability;
    std::uint64_t memoryBytes = 0;
    std::uint64_t freeBytes = 0;
    double memoryGbS = 0;
};

std::vector<Row> rowsOf(const CudaDevices& found) {
    const Environment machine = read_environment();
    const std::int64_t available = available_memory();
    std::vector<Row> rows{{.device = Device{}.name(),
                           .name = machine.cpu_model,
                           .computeCapability = {},
                           .memoryBytes = machine.memory_bytes,
                           .freeBytes = available > 0 ? static_cast<std::uint64_t>(available) : 0}};
    for (const CudaDevice& gpu : found.devices) {
        rows.push_back({Device{Device::Kind::cuda, gpu.index}.name(), gpu.name,
                        fmt::format("{}.{}", gpu.compute_major, gpu.compute_minor), gpu.memory_bytes,
                        gpu.free_bytes, gpu.memory_gb_s});
    }
    return rows;
}

OrderedJson jsonOf(const Row& row) {
    return {{"device", row.device},
            {"name", text_or_null(row.name)},
            {"compute_capability", text_or_null(row.computeCapability)},
            {"memory_bytes", number_or_null(row.memoryBytes, std::uint64_t{0})},
            {"free_bytes", number_or_null(row.freeBytes, std::uint64_t{0})},
            {"memory_gb_s", number_or_null(row.memoryGbS, 0.0)}};
}

TextTable csvOf(const std::vector<Row>& rows) {
    const auto number = [](auto value) { return value > 0 ? fmt::format("{}", value) : std::string(); };
    TextTable table;
    table.header = {"device", "name", "compute_capability", "memory_bytes", "free_bytes", "memory_gb_per_s"};
    for (const Row& row : rows) {
        table.rows.push_back({row.device, row.name, row.computeCapability, number(row.memoryBytes),
                              number(row.freeBytes), number(row.memoryGbS)});
    }
    return table;
}

TextTable tableOf(const std::vector<Row>& rows) {
    const auto bytes = [](std::uint64_t n) {
        return n == 0 ? std::string("not known") : human_bytes(static_cast<double>(n));
    };
    TextTable table;
    table.header = {"device", "name", "compute capability", "memory", "free", "read GB/s, as stated"};
    table.right = {false, false, true, true, true, true};
    for (const Row& row : rows) {
        table.rows.push_back({row.device, row.name.empty() ? "not known" : row.name,
                              row.computeCapability.empty() ? "-" : row.computeCapability,
                              bytes(row.memoryBytes), bytes(row.freeBytes),
                              row.memoryGbS > 0 ? fmt::format("{:.0f}", row.memoryGbS) : "-"});
    }
    return table;
}

std::string textOf(const CudaDevices& found, Format format) {
    const std::vector<Row> rows = rowsOf(found);
    switch (format) {
        case Format::json: {
            OrderedJson json = {{"schema", "decodescope.devices/1"}, {"devices", OrderedJson::array()}};
            for (const Row& row : rows) json["devices"].push_back(jsonOf(row));
            json["cuda_driver"] = text_or_null(found.driver);
            json["cuda_runtime"] = text_or_null(found.runtime);
            json["why_no_gpu"] = text_or_null(found.why_none);
            return dump_json(json);
        }
        case Format::jsonl: {
            std::string lines;
            for (const Row& row : rows) lines += dump_json_line(jsonOf(row)) + "\n";
            return lines;
        }
        case Format::csv: return csvOf(rows).csv();
        case Format::table:
        case Format::md: break;
    }
    if (found.devices.empty()) return cpu_only(found) + "\n";
    const TextTable table = tableOf(rows);
    return fmt::format("{}\nDriver for CUDA {}, runtime {}.\n",
                       format == Format::md ? table.markdown() : table.plain(),
                       found.driver.empty() ? "not known" : found.driver,
                       found.runtime.empty() ? "not known" : found.runtime);
}

}  // namespace

void addDevicesCommand(CLI::App& app, Session& session) {
    CLI::App* command =
        app.add_subcommand("devices", "List where lanes can compute: the CPU, and every GPU with its memory");
    auto output = std::make_shared<Output>();
    addOutputOptions(*command, *output);
    command->footer(
        "Example:\n"
        "  decodescope-cli devices --format json\n\n"
        "A machine without a GPU that can be used is one line, with the reason.\n\n"
        "Exit status: 0 done, 2 bad arguments.");
    command->callback([output, &session] {
        session.exitCode =
            writeResult(*output, textOf(find_cuda_devices_and_free_memory(), output->format()));
    });
}

}  // namespace decodescope::cli
