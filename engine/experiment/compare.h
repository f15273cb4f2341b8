// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "engine/core/result.h"
#include "engine/experiment/record.h"
#include "engine/measure/statistics.h"

namespace decodescope {

/// One number of a lane in two records; a sample is one repetition that came to its end.
struct ComparedMetric {
    enum class Kind { time, rate, bytes };
    const char* name = "";  ///< for people: "TTFT"
    const char* key = "";   ///< as in records: "ttft_ns"
    Kind kind = Kind::time;
    Summary a;
    Summary b;
    double ratio = 0;   ///< median of B / median of A; 0 = not shown, or nothing to divide
    Interval interval;  ///< 95 %, of the ratio

    /// "no difference", "B is faster", "B holds more", ...; empty when no ratio is shown.
    std::string result() const;
};

/// A lane of A beside one of B.
struct ComparedLane {
    std::size_t a = 0;  ///< index in its record
    std::size_t b = 0;
    std::vector<std::string> settings;  ///< in which the two lanes differ: "cache.dtype: f32 in A, f16 in B"
    std::string approximation;          ///< why one of them is not meant to compute what its reference does
    /// Why no times are held against each other: the output of one failed its comparison, the outputs differ,
    /// or they made other tokens. Empty when they are.
    std::string why_not;
    std::vector<ComparedMetric> metrics;
};

/// What two records say about the same work.
struct RecordComparison {
    /// One sentence each: what else differs (machine, build, threads, how it was measured), and what makes
    /// either record doubtful. These may be the point of the comparison, or its mistake.
    std::vector<std::string> notes;
    std::vector<std::string> unmatched;  ///< one sentence each: lanes that have no counterpart
    std::vector<ComparedLane> lanes;

    bool all_shown() const;
};

/// Names of a lane of A and of the lane of B it is held against.
struct LanePair {
    std::string a;
    std::string b;
};

/// Compares two records of the same work. Lanes are matched by name, or as `pairs` say. Other work is an
/// error that names the field: model, prompts, new tokens, drive, sampling, stop tokens. Lanes, threads,
/// machine, build, warm-up and order may differ; that is said.
Result<RecordComparison> compare_records(const Record& a, const Record& b,
                                         const std::vector<LanePair>& pairs = {});

/// What A and B are called in the texts below, their file names say.
struct ComparedNames {
    std::string a;
    std::string b;
};
std::string to_plain_text(const RecordComparison& comparison, const Record& a, const Record& b,
                          const ComparedNames& names);
std::string to_markdown(const RecordComparison& comparison, const Record& a, const Record& b,
                        const ComparedNames& names);
/// One row per lane and number.
std::string to_csv(const RecordComparison& comparison, const Record& a, const Record& b);
/// `decodescope.comparison/1`.
std::string to_json(const RecordComparison& comparison, const Record& a, const Record& b,
                    const ComparedNames& names);
/// One `decodescope.compared_lane/1` per line.
std::string to_jsonl(const RecordComparison& comparison, const Record& a, const Record& b,
                     const ComparedNames& names);

}  // namespace decodescope
