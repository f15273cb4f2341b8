// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/sweep/sweep.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <span>
#include <utility>

#include "engine/core/sha256.h"
#include "engine/experiment/experiment_json.h"

namespace decodescope {

namespace {

/// "A (12 cells), B (8 cells)"; empty when all cells agree.
template <class Value>
std::string mixture(const std::vector<SweepRow>& rows, const char* what, Value value) {
    std::map<std::string, int> counts;
    for (const SweepRow& row : rows) ++counts[value(row.cell)];
    if (counts.size() < 2) return {};
    std::string text;
    for (const auto& [name, n] : counts) {
        text += fmt::format("{}{} ({} cell{})", text.empty() ? "" : ", ", name.empty() ? "unknown" : name, n,
                            n == 1 ? "" : "s");
    }
    return fmt::format("{}: {}", what, text);
}

std::string numbers_text(const std::vector<std::size_t>& numbers) {
    constexpr std::size_t most = 10;
    std::string text;
    for (std::size_t i = 0; i < std::min(most, numbers.size()); ++i)
        text += fmt::format("{}{}", i == 0 ? "" : ", ", numbers[i]);
    return numbers.size() > most ? text + ", ..." : text;
}

}  // namespace

std::string Sweep::id(const std::string& model_hash) const {
    OrderedJson json;
    json["model_hash"] = model_hash;
    json["reference"] = settings.reference;
    json["seed"] = settings.seed;
    json["warmup"] = settings.warmup;
    json["repetitions"] = settings.repetitions;
    json["interval"] = settings.precision.interval;
    json["seconds"] = settings.precision.seconds;
    json["lanes"] = OrderedJson::array();
    for (const LaneSpec& lane : settings.lanes) json["lanes"].push_back(lane_json(lane));
    json["points"] = OrderedJson::array();
    for (const TestShape& p : points)
        json["points"].push_back({p.n_prompt, p.n_gen, p.n_depth, p.n_parallel, p.n_threads});
    const std::string text = dump_json_line(json);
    Sha256 hash;
    hash.update(std::as_bytes(std::span(text)));
    constexpr std::size_t digits = 16;
    return hash.finish().substr(0, digits);
}

std::vector<std::size_t> Sweep::own_points() const {
    std::vector<std::size_t> own;
    for (std::size_t i = 0; i < points.size(); ++i) {
        if (static_cast<int>(i % static_cast<std::size_t>(n_shard)) == shard - 1) own.push_back(i);
    }
    return own;
}

Result<void> run_sweep(const Sweep& sweep, const LoadedModel& model,
                       const std::shared_ptr<MemoryLedger>& ledger, SweepFile& file, GridSink& sink,
                       std::stop_token stop) {
    const auto own = sweep.own_points();
    std::vector<std::pair<std::size_t, bool>> to_do;
    for (const std::size_t point : own) {
        if (!file.has(point)) to_do.emplace_back(point, false);
    }
    if (sweep.repeat_first && own.size() > 1 && !file.has(own.front(), true))
        to_do.emplace_back(own.front(), true);
    for (std::size_t i = 0; i < to_do.size(); ++i) {
        if (stop.stop_requested()) break;
        const auto [point, repeat] = to_do[i];
        sink.test_started(i, to_do.size(), sweep.points[point]);
        auto cells = measure_cells(sweep.points[point], sweep.settings, model, ledger, sink, stop);
        const auto cancelled = [](const Cell& cell) { return cell.status == CellStatus::cancelled; };
        if (stop.stop_requested() && std::any_of(cells.begin(), cells.end(), cancelled)) break;
        for (Cell& cell : cells) {
            cell.point = point;
            cell.repeat = repeat;
        }
        DS_TRY(file.append(cells));
        if (!sink.test_done(cells)) break;
    }
    return {};
}

Result<MergedSweep> merge_sweeps(const std::vector<std::filesystem::path>& files) {
    MergedSweep merged;
    std::string sweep;
    std::size_t n_point = 0;
    // By point and whether it is the repetition: the rows, and the file they came from.
    std::map<std::pair<std::size_t, bool>, std::pair<std::vector<SweepRow>, std::size_t>> points;
    std::vector<std::size_t> twice;
    for (std::size_t i = 0; i < files.size(); ++i) {
        auto rows = load_sweep(files[i]);
        if (!rows) return rows.error();
        for (SweepRow& row : *rows) {
            if (sweep.empty()) {
                sweep = row.sweep;
                n_point = row.n_point;
            }
            if (row.sweep != sweep || row.n_point != n_point) {
                return Error{
                    ErrorKind::bad_input,
                    fmt::format("{} holds sweep {}, but {} holds sweep {}: only parts of one sweep can be "
                                "merged.",
                                files[i].string(), row.sweep, files.front().string(), sweep)};
            }
            // Every part repeats its own first point.
            auto& place = points[{row.cell.point, row.cell.repeat}];
            if (place.first.empty()) place.second = i;
            if (place.second != i) {
                if (!row.cell.repeat && (twice.empty() || twice.back() != row.cell.point))
                    twice.push_back(row.cell.point);
                continue;
            }
            place.first.push_back(std::move(row));
        }
    }
    for (auto& [key, place] : points) {
        for (SweepRow& row : place.first) merged.rows.push_back(std::move(row));
    }
    if (merged.rows.empty()) return Error{ErrorKind::bad_input, "The files hold no cells."};
    std::vector<std::size_t> missing;
    for (std::size_t point = 0; point < n_point; ++point) {
        if (!points.contains({point, false})) missing.push_back(point);
    }
    if (!missing.empty()) {
        merged.remarks.push_back(
            fmt::format("{} of {} points are missing: {}.", missing.size(), n_point, numbers_text(missing)));
    }
    if (!twice.empty()) {
        merged.remarks.push_back(fmt::format(
            "Points that are in several files were taken from the first: {}.", numbers_text(twice)));
    }
    const auto note = [&](const char* what, auto value) {
        if (std::string text = mixture(merged.rows, what, value); !text.empty())
            merged.mixed.push_back(std::move(text));
    };
    note("processor", [](const Cell& cell) { return cell.environment.cpu_model; });
    note("commit", [](const Cell& cell) { return cell.environment.commit; });
    note("program version", [](const Cell& cell) { return cell.environment.program_version; });
    note("compiler flags", [](const Cell& cell) { return cell.environment.compiler_flags; });
    note("BLAS", [](const Cell& cell) { return cell.environment.blas; });
    note("operating system", [](const Cell& cell) { return cell.environment.os; });
    return merged;
}

}  // namespace decodescope
