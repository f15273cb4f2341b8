// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/sweep/calibration.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "engine/core/text_file.h"
#include "engine/core/timestamp.h"
#include "engine/core/user_folders.h"
#include "engine/experiment/experiment_json.h"
#include "engine/measure/environment.h"

namespace decodescope {

namespace {

constexpr const char* calibration_schema = "decodescope.calibration/1";
constexpr std::uint64_t max_calibration_bytes = 1 << 20;
constexpr int n_pass = 3;
constexpr double busy = 0.05;  // share that others may have before the limits are doubtful

bool is_doubtful(const MachineUse& use) {
    return use.others > busy || use.stolen > busy;
}

void read_entry(JsonFields& fields, Calibration& entry) {
    fields.text("cpu_model", entry.cpu_model);
    fields.integer("threads", entry.threads);
    fields.real("read_gb_s", entry.limits.read_gb_s);
    fields.real("peak_gflop_s", entry.limits.peak_gflop_s);
    fields.text("peak_instructions", entry.limits.peak_instructions);
    fields.text("measured_at", entry.measured_at);
    fields.real("cpu_share_others", entry.use.others);
    fields.real("cpu_share_stolen", entry.use.stolen);
    fields.ignore({"note"});
}

Result<std::vector<Calibration>> read_entries(const std::filesystem::path& file) {
    std::error_code missing;
    if (!std::filesystem::exists(file, missing)) return std::vector<Calibration>{};
    const auto text = read_text_file(file, max_calibration_bytes);
    if (!text) return text.error();
    const auto document = parse_json(*text);
    if (!document) return document.error();
    JsonReport report{.error = {}, .warnings = nullptr, .null_is_absent = true};
    JsonFields fields(*document, "", report);
    std::vector<Calibration> entries;
    read_schema(fields, calibration_schema);
    fields.objects("machines", [&](JsonFields& entry) { read_entry(entry, entries.emplace_back()); });
    if (report.error) return *report.error;
    return entries;
}

Result<void> write_entries(const std::vector<Calibration>& entries, const std::filesystem::path& file) {
    std::error_code failed;
    std::filesystem::create_directories(file.parent_path(), failed);
    OrderedJson json = {{"schema", calibration_schema}, {"machines", OrderedJson::array()}};
    for (const Calibration& entry : entries) json["machines"].push_back(calibration_json(entry));
    return write_file_atomically(file, dump_json(json));
}

MachineLimits best_limits(ThreadPool& pool, const std::shared_ptr<MemoryLedger>& ledger) {
    MachineLimits best;
    for (int pass = 0; pass < n_pass; ++pass) {
        MachineLimits now = measure_machine_limits(pool, ledger);
        best.read_gb_s = std::max(best.read_gb_s, now.read_gb_s);
        best.peak_gflop_s = std::max(best.peak_gflop_s, now.peak_gflop_s);
        best.peak_instructions = std::move(now.peak_instructions);
    }
    return best;
}

std::string doubt(const MachineUse& use) {
    if (!is_doubtful(use)) return {};
    return fmt::format(
        "It was measured while others had {:.0f} % of the machine, so the limits may be higher.",
        100 * (std::max(0.0, use.others) + std::max(0.0, use.stolen)));
}

}  // namespace

Result<std::filesystem::path> calibration_path() {
    auto folder = user_cache_folder();
    if (!folder) return folder.error();
    return *folder / "calibration.json";
}

Calibration calibrate(ThreadPool& pool, std::shared_ptr<MemoryLedger> ledger,
                      const std::filesystem::path& file, bool afresh) {
    const std::string cpu = read_environment().cpu_model;
    auto entries = read_entries(file);
    std::vector<Calibration> others;
    if (entries) {
        for (Calibration& entry : *entries) {
            if (entry.cpu_model != cpu || entry.threads != pool.size()) {
                others.push_back(std::move(entry));
            } else if (!afresh && !is_doubtful(entry.use) && entry.limits.read_gb_s > 0 &&
                       entry.limits.peak_gflop_s > 0) {
                entry.kept = true;
                return std::move(entry);
            }
        }
    }
    Calibration calibration;
    calibration.cpu_model = cpu;
    calibration.threads = pool.size();
    const MachineWatch watch;
    calibration.limits = best_limits(pool, ledger);
    calibration.use = watch.use();
    calibration.measured_at = utc_now();
    calibration.note = doubt(calibration.use);
    others.push_back(calibration);
    if (!entries) {
        calibration.note = fmt::format("It is not kept: {}", entries.error().message);
    } else if (const auto written = write_entries(others, file); !written) {
        calibration.note = fmt::format("It is not kept: {}", written.error().message);
    }
    return calibration;
}

std::string to_text(const Calibration& calibration) {
    const auto rate = [](double value, const char* unit) {
        return value > 0 ? fmt::format("{:.1f} {}", value, unit) : fmt::format("{} not measured", unit);
    };
    return fmt::format(
        "{} read, {} f32{} ({} thread{}, {} {})", rate(calibration.limits.read_gb_s, "GB/s"),
        rate(calibration.limits.peak_gflop_s, "GFLOP/s"),
        calibration.limits.peak_instructions.empty() ? "" : " with " + calibration.limits.peak_instructions,
        calibration.threads, calibration.threads == 1 ? "" : "s", calibration.kept ? "kept from" : "measured",
        calibration.measured_at);
}

OrderedJson calibration_json(const Calibration& calibration) {
    return {{"cpu_model", text_or_null(calibration.cpu_model)},
            {"threads", calibration.threads},
            {"read_gb_s", number_or_null(calibration.limits.read_gb_s, 0.0)},
            {"peak_gflop_s", number_or_null(calibration.limits.peak_gflop_s, 0.0)},
            {"peak_instructions", text_or_null(calibration.limits.peak_instructions)},
            {"measured_at", text_or_null(calibration.measured_at)},
            {"cpu_share_others", number_or_null(calibration.use.others, -1.0)},
            {"cpu_share_stolen", number_or_null(calibration.use.stolen, -1.0)},
            {"note", text_or_null(calibration.note)}};
}

}  // namespace decodescope
