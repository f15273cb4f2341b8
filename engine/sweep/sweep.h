// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <filesystem>
#include <set>
#include <stop_token>
#include <string>
#include <vector>

#include "engine/sweep/cell.h"
#include "engine/sweep/grid.h"

namespace decodescope {

/// A sweep over a grid of tests, as it is spread over machines and taken up again.
struct Sweep {
    CellSettings settings;
    std::vector<TestShape> points;
    int shard = 1;    ///< this part, from 1 ...
    int n_shard = 1;  ///< ... of so many; a part has every n-th point
    bool repeat_first = true;

    /// Names what is measured (model, lanes, points, repetitions, ...): equal for all parts, and what files
    /// are matched by.
    std::string id(const std::string& model_hash) const;
    /// Numbers of the points that belong to this part.
    std::vector<std::size_t> own_points() const;
};

/// One line of a sweep's file: a cell, and which sweep it is of.
struct SweepRow {
    std::string sweep;
    std::size_t n_point = 0;  ///< of the whole sweep
    std::size_t n_lane = 0;   ///< lines that each of its points has
    Cell cell;
    std::size_t begin = 0;  ///< where its line begins in the text it was read from
};
/// Reads rows (JSONL). A last line without an end is half-written: it is left out and its length put into
/// `half_written`. Every other line that is no row is an error that names its number.
Result<std::vector<SweepRow>> parse_sweep_rows(std::string_view text, std::size_t* half_written = nullptr);
Result<std::vector<SweepRow>> load_sweep(const std::filesystem::path& path);

/// The file that a sweep writes: one JSON object per line, on disk when `append` returns. One writer at a
/// time.
class SweepFile {
public:
    enum class Mode {
        create,  ///< the file must not hold anything yet
        resume,  ///< rows of the same sweep stay; a half-written last line is cut off
    };
    /// Fails with `io` or `bad_input` and one sentence: not writable, rows of another sweep, another writer.
    static Result<SweepFile> open(const std::filesystem::path& path, const std::string& sweep_id,
                                  std::size_t n_point, Mode mode);
    SweepFile(SweepFile&& other) noexcept;
    SweepFile& operator=(SweepFile&&) = delete;
    SweepFile(const SweepFile&) = delete;
    SweepFile& operator=(const SweepFile&) = delete;
    ~SweepFile();

    /// What the file holds.
    const std::vector<Cell>& cells() const { return cells_; }
    /// Whether a point (or its repetition at the end) is in the file.
    bool has(std::size_t point, bool repeat = false) const { return done_.contains({point, repeat}); }
    /// Adds the cells of a point, all or none: when that fails (no space left), the file is as it was before.
    Result<void> append(const std::vector<Cell>& cells);

private:
    SweepFile(std::filesystem::path path, int file, std::string sweep_id, std::size_t n_point)
        : path_(std::move(path)), file_(file), sweep_id_(std::move(sweep_id)), n_point_(n_point) {}
    Error failure(const char* what, int code) const;
    Result<void> take_up(Mode mode);

    std::filesystem::path path_;
    int file_ = -1;
    std::string sweep_id_;
    std::size_t n_point_ = 0;
    std::vector<Cell> cells_;
    std::set<std::pair<std::size_t, bool>> done_;
};

/// Runs the points of this part that `file` does not hold yet. A test that was stopped is not written, so
/// that it is made again. Returns when all is done, stopped, or the file cannot be written.
Result<void> run_sweep(const Sweep& sweep, const LoadedModel& model,
                       const std::shared_ptr<MemoryLedger>& ledger, SweepFile& file, GridSink& sink,
                       std::stop_token stop = {});

/// Files of one sweep put together.
struct MergedSweep {
    std::vector<SweepRow> rows;        ///< in the order of the points
    std::vector<std::string> remarks;  ///< one sentence each: points missing or twice
    std::vector<std::string>
        mixed;  ///< what is not the same on all machines: "cpu: A (12 cells), B (8 cells)"
};
/// Refuses files of different sweeps. Of a point that several files hold, the one of the file named first
/// counts.
Result<MergedSweep> merge_sweeps(const std::vector<std::filesystem::path>& files);
/// Rows as they stand in a file.
std::string sweep_jsonl(const std::vector<SweepRow>& rows);

}  // namespace decodescope
