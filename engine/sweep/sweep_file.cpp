// SPDX-License-Identifier: GPL-3.0-or-later
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "engine/core/quote.h"
#include "engine/core/text_file.h"
#include "engine/sweep/cell_json.h"
#include "engine/sweep/sweep.h"

namespace decodescope {

namespace {

constexpr std::uint64_t max_sweep_bytes = std::uint64_t{4} << 30;

std::string line_of(const SweepRow& row) {
    OrderedJson json = cell_json(row.cell);
    json["sweep"] = row.sweep;
    json["n_points"] = row.n_point;
    json["n_lanes"] = row.n_lane;
    return dump_json_line(json) + '\n';
}

Result<SweepRow> parse_row(std::string_view line) {
    const auto document = parse_json(line);
    if (!document) return document.error();
    auto cell = cell_from_json(*document);
    if (!cell) return cell.error();
    SweepRow row;
    row.cell = *std::move(cell);
    JsonReport report{.error = {}, .warnings = nullptr, .null_is_absent = true};
    JsonFields fields(*document, "", report);
    fields.require("sweep");
    fields.require("n_points");
    fields.require("n_lanes");
    fields.text("sweep", row.sweep);
    fields.integer("n_points", row.n_point);
    fields.integer("n_lanes", row.n_lane);
    if (!report.error && row.cell.point >= row.n_point)
        fields.fail("point",
                    fmt::format("is {}, expected less than n_points = {}", row.cell.point, row.n_point));
    if (report.error) return *report.error;
    return row;
}

}  // namespace

Result<std::vector<SweepRow>> parse_sweep_rows(std::string_view text, std::size_t* half_written) {
    std::vector<SweepRow> rows;
    if (half_written != nullptr) *half_written = 0;
    std::size_t number = 0;
    const std::size_t size = text.size();
    while (!text.empty()) {
        ++number;
        const std::size_t end = text.find('\n');
        if (end == std::string_view::npos) {
            if (half_written != nullptr) *half_written = text.size();
            break;
        }
        const std::string_view line = text.substr(0, end);
        const std::size_t begin = size - text.size();
        text.remove_prefix(end + 1);
        if (line.empty()) continue;
        auto row = parse_row(line);
        if (!row) return Error{row.error().kind, fmt::format("line {}: {}", number, row.error().message)};
        row->begin = begin;
        rows.push_back(*std::move(row));
    }
    return rows;
}

Result<std::vector<SweepRow>> load_sweep(const std::filesystem::path& path) {
    const auto text = read_text_file(path, max_sweep_bytes);
    if (!text) return text.error();
    auto rows = parse_sweep_rows(*text);
    if (!rows) return Error{rows.error().kind, fmt::format("{}: {}", path.string(), rows.error().message)};
    return rows;
}

std::string sweep_jsonl(const std::vector<SweepRow>& rows) {
    std::string text;
    for (const SweepRow& row : rows) text += line_of(row);
    return text;
}

Error SweepFile::failure(const char* what, int code) const {
    return {ErrorKind::io,
            fmt::format("{} {}: {}.", path_.string(), what, std::generic_category().message(code))};
}

Result<SweepFile> SweepFile::open(const std::filesystem::path& path, const std::string& sweep_id,
                                  std::size_t n_point, Mode mode) {
    const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (file < 0) {
        return Error{ErrorKind::io, fmt::format("{} cannot be opened for writing: {}.", path.string(),
                                                std::generic_category().message(errno))};
    }
    SweepFile opened(path, file, sweep_id, n_point);
    if (flock(file, LOCK_EX | LOCK_NB) != 0) {
        return Error{
            ErrorKind::io,
            fmt::format("{} is being written by another sweep, expected a file of its own.", path.string())};
    }
    DS_TRY(opened.take_up(mode));
    return opened;
}

Result<void> SweepFile::take_up(Mode mode) {
    std::error_code unknown;
    const auto size = std::filesystem::file_size(path_, unknown);
    if (unknown) return failure("cannot be looked at", unknown.value());
    if (size == 0) return {};
    if (mode == Mode::create) {
        return Error{
            ErrorKind::bad_input,
            fmt::format("{} is not empty: --resume goes on with it, or name another file.", path_.string())};
    }
    const auto text = read_text_file(path_, max_sweep_bytes);
    if (!text) return text.error();
    std::size_t half_written = 0;
    auto rows = parse_sweep_rows(*text, &half_written);
    if (!rows) return Error{rows.error().kind, fmt::format("{}: {}", path_.string(), rows.error().message)};
    for (const SweepRow& row : *rows) {
        if (row.sweep != sweep_id_) {
            return Error{
                ErrorKind::bad_input,
                fmt::format("{} belongs to sweep {}, but {} was asked for: model, lanes, grid or repetitions "
                            "are not the same.",
                            path_.string(), row.sweep, sweep_id_)};
        }
    }
    // The last point may have been cut off between two of its lines.
    std::size_t whole = text->size() - half_written;
    const auto same_point = [](const SweepRow& a, const SweepRow& b) {
        return a.cell.point == b.cell.point && a.cell.repeat == b.cell.repeat;
    };
    std::size_t n_last = 0;
    while (n_last < rows->size() && same_point((*rows)[rows->size() - 1 - n_last], rows->back())) ++n_last;
    if (n_last > 0 && n_last < rows->back().n_lane) {
        whole = (*rows)[rows->size() - n_last].begin;
        rows->resize(rows->size() - n_last);
    }
    for (const SweepRow& row : *rows) {
        cells_.push_back(row.cell);
        done_.insert({row.cell.point, row.cell.repeat});
    }
    if (whole < text->size() && ftruncate(file_, static_cast<off_t>(whole)) != 0)
        return failure("cannot be repaired", errno);
    return {};
}

SweepFile::SweepFile(SweepFile&& other) noexcept
    : path_(std::move(other.path_)),
      file_(std::exchange(other.file_, -1)),
      sweep_id_(std::move(other.sweep_id_)),
      n_point_(other.n_point_),
      cells_(std::move(other.cells_)),
      done_(std::move(other.done_)) {}

SweepFile::~SweepFile() {
    if (file_ >= 0) close(file_);
}

Result<void> SweepFile::append(const std::vector<Cell>& cells) {
    std::string text;
    for (const Cell& cell : cells) text += line_of({sweep_id_, n_point_, cells.size(), cell, 0});
    const off_t before = lseek(file_, 0, SEEK_END);
    if (before < 0) return failure("cannot be written", errno);
    std::string_view rest = text;
    while (!rest.empty()) {
        const ssize_t n = write(file_, rest.data(), rest.size());
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) {
            const int code = n < 0 ? errno : ENOSPC;
            // Half a line would be repaired by the next --resume; better that it never needs to be.
            if (ftruncate(file_, before) != 0) return failure("is damaged: half a line is left in it", errno);
            return failure("cannot be written; what was there before is kept", code);
        }
        rest.remove_prefix(static_cast<std::size_t>(n));
    }
    if (fsync(file_) != 0 && errno != EINVAL) return failure("cannot be brought to the disk", errno);
    for (const Cell& cell : cells) {
        cells_.push_back(cell);
        done_.insert({cell.point, cell.repeat});
    }
    return {};
}

}  // namespace decodescope
