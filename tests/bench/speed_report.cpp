// SPDX-License-Identifier: GPL-3.0-or-later
#include "speed_report.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <functional>
#include <optional>
#include <set>

#include "engine/measure/environment.h"

namespace decodescope::bench {

namespace {

using Json = nlohmann::ordered_json;
using Value = std::function<std::optional<double>(std::size_t repetition)>;

std::optional<double> measured(double value) {
    return value >= 0 ? std::optional(value) : std::nullopt;
}

Figure figure_of(std::string name, std::size_t n, const Value& value) {
    std::vector<double> values;
    for (std::size_t i = 0; i < n; ++i) {
        if (const auto one = value(i)) values.push_back(*one);
    }
    return {std::move(name), summarize(values)};
}

/// The samples of a case; none when it was not measured.
const std::vector<SpeedSample>* find(const std::vector<CaseResult>& results, const SpeedCase& one) {
    const auto found = std::find_if(results.begin(), results.end(),
                                    [&](const CaseResult& result) { return result.one == one; });
    return found == results.end() || found->samples.empty() ? nullptr : &found->samples;
}

class RowMaker {
public:
    RowMaker(const SpeedRig& rig, const std::vector<CaseResult>& results, const CaseResult& result)
        : rig_(rig), results_(results), result_(result), row_{result.one, {}} {}

    SpeedRow make() {
        switch (result_.one.work) {
            case Work::decode: decode(); break;
            case Work::prefill: prefill(); break;
            case Work::busy: busy(); break;
        }
        return std::move(row_);
    }

private:
    void add(std::string name, const Value& value) {
        row_.figures.push_back(figure_of(std::move(name), result_.samples.size(), value));
    }
    /// tok/s over that of another case in the same repetition.
    void add_ratio(std::string name, const SpeedCase& to) {
        const auto* other = find(results_, to);
        add(std::move(name), [&](std::size_t i) {
            if (other == nullptr || to == result_.one || i >= other->size()) return std::optional<double>();
            return std::optional(at(i).tok_s / (*other)[i].tok_s);
        });
    }
    const SpeedSample& at(std::size_t i) const { return result_.samples[i]; }

    void decode() {
        const SpeedCase& one = result_.one;
        const double bytes = static_cast<double>(rig_.products()[one.product].weights->bytes_read_per_step());
        const auto gb_s = [&](std::size_t i) { return at(i).tok_s / one.batch * bytes / 1e9; };
        add("tok_s", [&](std::size_t i) { return at(i).tok_s; });
        add("tok_s_of_all", [&](std::size_t i) { return at(i).tok_s_of_all; });
        add("gb_s", gb_s);
        add("share_of_read", [&](std::size_t i) { return gb_s(i) / at(i).read_gb_s; });
        SpeedCase other = one;
        other.batch = 1;
        add_ratio("against_batch_1", other);
        other = one;
        other.depth = 0;
        add_ratio("kept", other);
        const auto* shallow = find(results_, other);
        add("passes", [&](std::size_t i) {
            if (shallow == nullptr || one.depth == 0) return std::optional<double>();
            const double extra = 1 / at(i).tok_s - 1 / (*shallow)[i].tok_s;
            const double read = (at(i).read_gb_s + (*shallow)[i].read_gb_s) / 2;
            return std::optional(depth_passes(extra, read, one.depth, rig_.config(), one.kv));
        });
        add("faults", [&](std::size_t i) { return measured(at(i).faults); });
        add("allocations", [&](std::size_t i) { return measured(at(i).allocations); });
    }

    void prefill() {
        const SpeedCase& one = result_.one;
        const Product& product = rig_.products()[one.product].product;
        const auto gflop_s = [&](std::size_t i) {
            return at(i).tok_s / one.tokens * prefill_flop(rig_.config(), one.tokens) / 1e9;
        };
        add("tok_s", [&](std::size_t i) { return at(i).tok_s; });
        add("tok_s_of_all", [&](std::size_t i) { return at(i).tok_s_of_all; });
        add("gflop_s", gflop_s);
        add("share_of_peak", [&](std::size_t i) {
            return product.is_f32() ? std::optional(gflop_s(i) / at(i).peak_gflop_s) : std::nullopt;
        });
        SpeedCase reference = one;
        for (reference.product = 0; reference.product < rig_.products().size(); ++reference.product) {
            if (!rig_.products()[reference.product].product.packed) break;
        }
        add_ratio("against_openblas", reference);
    }

    void busy() {
        static constexpr const char* names[] = {"alone_1", "alone_2", "beside_1", "beside_2"};
        for (std::size_t s = 0; s < 4; ++s) {
            add(names[s], [&](std::size_t i) { return at(i).busy[s]; });
        }
        add("beside_2_over_alone_1", [&](std::size_t i) { return at(i).busy[3] / at(i).busy[0]; });
        add("beside_2_over_beside_1", [&](std::size_t i) { return at(i).busy[3] / at(i).busy[2]; });
    }

    const SpeedRig& rig_;
    const std::vector<CaseResult>& results_;
    const CaseResult& result_;
    SpeedRow row_;
};

std::string text(const Summary& over, int digits) {
    if (over.n == 0) return "-";
    return fmt::format("{:.{}f}", over.median, digits);
}
/// Median and, in brackets, least and most.
std::string spread(const Summary& over, int digits) {
    if (over.n == 0) return "-";
    return fmt::format("{:.{}f} [{:.{}f}, {:.{}f}]", over.median, digits, over.min, digits, over.max, digits);
}

/// The limits of the machine over everything that was measured with so many threads.
struct LimitsNow {
    Summary read;
    Summary peak;
};
LimitsNow limits_now(const std::vector<CaseResult>& results, int threads) {
    std::vector<double> read;
    std::vector<double> peak;
    for (const CaseResult& result : results) {
        if (result.one.threads != threads) continue;
        for (const SpeedSample& sample : result.samples) {
            if (sample.read_gb_s > 0) read.push_back(sample.read_gb_s);
            if (sample.peak_gflop_s > 0) peak.push_back(sample.peak_gflop_s);
        }
    }
    return {summarize(read), summarize(peak)};
}

class Table {
public:
    Table(const SpeedRig& rig, const std::vector<CaseResult>& results)
        : rig_(rig), rows_(speed_rows(rig, results)) {}

    void print(const std::vector<CaseResult>& results) const {
        for (const ReadyProduct& ready : rig_.products()) {
            if (!ready.weights) fmt::print("{}: not measured: {}\n", ready.product.name(), ready.reason);
        }
        std::set<int> thread_counts;
        for (const CaseResult& result : results) thread_counts.insert(result.one.threads);
        for (const int threads : thread_counts) {
            const LimitsNow now = limits_now(results, threads);
            if (now.read.n == 0) continue;
            fmt::print("{} thread{}: read {} GB/s", threads, threads == 1 ? "" : "s", spread(now.read, 1));
            if (now.peak.n > 0) {
                fmt::print(", FMA {} GFLOP/s ({})", spread(now.peak, 0), rig_.peak_instructions());
            }
            fmt::print("\n");
        }
        decode();
        batches();
        depth();
        prefill();
        busy();
    }

private:
    template <class Wanted, class Line>
    void section(const std::string& head, Wanted wanted, Line line) const {
        bool first = true;
        for (const SpeedRow& row : rows_) {
            if (!wanted(row.one)) continue;
            if (first) fmt::print("\n{}\n", head);
            first = false;
            fmt::print("{:9} {}  {}\n", rig_.products()[row.one.product].product.name(), row.one.threads,
                       line(row));
        }
    }

    void decode() const {
        section(
            fmt::format("decode, batch 1\n{:9} T  {:>24} {:>7} {:>24} {:>8} {:>8}", "weights", "tok/s",
                        "GB/s", "share of read", "faults", "allocs"),
            [](const SpeedCase& one) {
                return one.work == Work::decode && one.batch == 1 && one.depth == 0 && one.kv == DType::f32;
            },
            [](const SpeedRow& row) {
                return fmt::format("{:>24} {:>7} {:>24} {:>8} {:>8}", spread(row.figure("tok_s"), 1),
                                   text(row.figure("gb_s"), 1), spread(row.figure("share_of_read"), 2),
                                   text(row.figure("faults"), 1), text(row.figure("allocations"), 1));
            });
    }
    void batches() const {
        section(
            fmt::format("decode of several rows\n{:9} T  {:>5} {:>24} {:>24} {:>7} {:>6}", "weights", "batch",
                        "tok/s", "over batch 1", "GB/s", "share"),
            [](const SpeedCase& one) { return one.work == Work::decode && one.batch > 1; },
            [](const SpeedRow& row) {
                return fmt::format("{:>5} {:>24} {:>24} {:>7} {:>6}", row.one.batch,
                                   spread(row.figure("tok_s"), 1), spread(row.figure("against_batch_1"), 2),
                                   text(row.figure("gb_s"), 1), text(row.figure("share_of_read"), 2));
            });
    }
    void depth() const {
        section(
            fmt::format("decode behind cached entries\n{:9} T  {:>4} {:>6} {:>24} {:>20} {:>22}", "weights",
                        "KV", "depth", "tok/s", "kept of depth 0", "passes over the KV"),
            [&](const SpeedCase& one) { return one.work == Work::decode && one.batch == 1 && one.depth > 0; },
            [](const SpeedRow& row) {
                return fmt::format("{:>4} {:>6} {:>24} {:>20} {:>22}", to_string(row.one.kv), row.one.depth,
                                   spread(row.figure("tok_s"), 1), spread(row.figure("kept"), 2),
                                   spread(row.figure("passes"), 2));
            });
    }
    void prefill() const {
        section(
            fmt::format("prefill\n{:9} T  {:>6} {:>26} {:>8} {:>20} {:>22}", "weights", "tokens", "tok/s",
                        "GFLOP/s", "share of FMA peak", "over openblas"),
            [](const SpeedCase& one) { return one.work == Work::prefill; },
            [](const SpeedRow& row) {
                return fmt::format("{:>6} {:>26} {:>8} {:>20} {:>22}", row.one.tokens,
                                   spread(row.figure("tok_s"), 0), text(row.figure("gflop_s"), 0),
                                   spread(row.figure("share_of_peak"), 2),
                                   spread(row.figure("against_openblas"), 2));
            });
    }
    void busy() const {
        section(
            fmt::format("decode while another process keeps a core\n{:9} T  {:>7} {:>7} {:>9} {:>9} "
                        "{:>22} {:>22}",
                        "weights", "1T", "2T", "1T beside", "2T beside", "2T beside / 1T",
                        "2T beside / 1T beside"),
            [](const SpeedCase& one) { return one.work == Work::busy; },
            [](const SpeedRow& row) {
                return fmt::format("{:>7} {:>7} {:>9} {:>9} {:>22} {:>22}", text(row.figure("alone_1"), 1),
                                   text(row.figure("alone_2"), 1), text(row.figure("beside_1"), 1),
                                   text(row.figure("beside_2"), 1),
                                   spread(row.figure("beside_2_over_alone_1"), 2),
                                   spread(row.figure("beside_2_over_beside_1"), 2));
            });
    }

    const SpeedRig& rig_;
    std::vector<SpeedRow> rows_;
};

Json summary_json(const Summary& over) {
    if (over.n == 0) return nullptr;
    return {{"n", over.n}, {"median", over.median}, {"min", over.min}, {"max", over.max}};
}

}  // namespace

Summary SpeedRow::figure(std::string_view name) const {
    const auto found = std::find_if(figures.begin(), figures.end(),
                                    [&](const Figure& figure) { return figure.name == name; });
    return found == figures.end() ? Summary{} : found->over;
}

double depth_passes(double extra_seconds, double read_gb_s, int entries, const ModelConfig& config,
                    DType kv) {
    const double bytes = static_cast<double>(config.kv_bytes_per_token(kv)) * entries;
    return extra_seconds * read_gb_s * 1e9 / bytes;
}

std::vector<SpeedRow> speed_rows(const SpeedRig& rig, const std::vector<CaseResult>& results) {
    std::vector<SpeedRow> rows;
    for (const CaseResult& result : results) {
        if (!result.samples.empty()) rows.push_back(RowMaker(rig, results, result).make());
    }
    return rows;
}

void print_table(const SpeedRig& rig, const std::vector<CaseResult>& results) {
    const Environment environment = read_environment();
    fmt::print("{}; {} cores; {}; {}\n", environment.cpu_model, environment.logical_cores, rig.kernels(),
               environment.compiler);
    fmt::print("{}: {:.1f} million parameters; medians [least, most] of the repetitions\n", rig.config().name,
               static_cast<double>(rig.config().n_parameter()) / 1e6);
    Table(rig, results).print(results);
}

void print_json(const SpeedRig& rig, const std::vector<CaseResult>& results) {
    const Environment environment = read_environment();
    Json json = {{"cpu", environment.cpu_model}, {"cores", environment.logical_cores},
                 {"kernels", rig.kernels()},     {"compiler", environment.compiler},
                 {"commit", environment.commit}, {"shape", rig.config().name},
                 {"steps", rig.n_step()}};
    for (const ReadyProduct& ready : rig.products()) {
        if (!ready.weights) json["not_measured"][ready.product.name()] = ready.reason;
    }
    json["cases"] = Json::array();
    static constexpr const char* works[] = {"prefill", "decode", "busy"};
    for (const SpeedRow& row : speed_rows(rig, results)) {
        const auto& samples = *find(results, row.one);
        const auto limit = [&](double SpeedSample::*member) {
            return summary_json(figure_of({}, samples.size(), [&](std::size_t i) {
                                    const double value = samples[i].*member;
                                    return value > 0 ? std::optional(value) : std::nullopt;
                                }).over);
        };
        Json one = {{"work", works[static_cast<std::size_t>(row.one.work)]},
                    {"weights", rig.products()[row.one.product].product.name()},
                    {"threads", row.one.threads},
                    {"read_gb_s", limit(&SpeedSample::read_gb_s)}};
        if (row.one.work == Work::prefill) {
            one["tokens"] = row.one.tokens;
            one["peak_gflop_s"] = limit(&SpeedSample::peak_gflop_s);
        } else {
            one["batch"] = row.one.batch;
            one["depth"] = row.one.depth;
            one["kv"] = to_string(row.one.kv);
        }
        for (const Figure& figure : row.figures) one[figure.name] = summary_json(figure.over);
        json["cases"].push_back(std::move(one));
    }
    fmt::print("{}\n", json.dump(2));
}

}  // namespace decodescope::bench
