// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/experiment/compare.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "engine/core/quote.h"
#include "engine/experiment/experiment_json.h"
#include "engine/verify/logit_comparison.h"

namespace decodescope {

namespace {

Error other_work(std::string_view field, const std::string& a, const std::string& b) {
    return {ErrorKind::bad_input,
            fmt::format("The records are not of the same work: {} is {} in A and {} in B.", field, a, b)};
}

template <class Value>
Result<void> same(std::string_view field, const Value& a, const Value& b) {
    if (a == b) return {};
    if constexpr (std::is_convertible_v<Value, std::string>)
        return other_work(field, quote(a), quote(b));
    else
        return other_work(field, fmt::format("{}", a), fmt::format("{}", b));
}

Result<void> same_model(const Record& a, const Record& b) {
    if (!a.model_hash.empty() && !b.model_hash.empty()) return same("model.hash", a.model_hash, b.model_hash);
    DS_TRY(same("model.name", a.model.name, b.model.name));
    DS_TRY(same("model.n_layer", a.model.n_layer, b.model.n_layer));
    DS_TRY(same("model.d_model", a.model.d_model, b.model.d_model));
    return same("model.n_parameter", a.model.n_parameter(), b.model.n_parameter());
}

Result<void> same_prompts(const Record& a, const Record& b) {
    DS_TRY(same("the number of prompts", a.prompts.size(), b.prompts.size()));
    for (std::size_t i = 0; i < a.prompts.size(); ++i) {
        const auto& mine = a.prompts[i].ids;
        const auto& theirs = b.prompts[i].ids;
        DS_TRY(same(fmt::format("the length of prompts[{}]", i), mine.size(), theirs.size()));
        const auto at = std::mismatch(mine.begin(), mine.end(), theirs.begin());
        if (at.first != mine.end()) {
            return other_work(fmt::format("token {} of prompts[{}]", at.first - mine.begin(), i),
                              std::to_string(*at.first), std::to_string(*at.second));
        }
        const PromptSpec& spec = a.experiment.prompts[i];
        const PromptSpec& other = b.experiment.prompts[i];
        DS_TRY(same(fmt::format("prompts[{}].isolation", i), spec.isolation, other.isolation));
        DS_TRY(same(fmt::format("prompts[{}].arrival_step", i), spec.arrival_step, other.arrival_step));
        DS_TRY(same(fmt::format("prompts[{}].cancel_after", i), spec.cancel_after, other.cancel_after));
    }
    return {};
}

Result<void> same_sampling(const Sampling& a, const Sampling& b) {
    DS_TRY(same("sampling.repetition_penalty", a.repetition_penalty, b.repetition_penalty));
    if (a.kind != b.kind) {
        const auto word = [](SamplingKind kind) {
            return kind == SamplingKind::greedy ? "greedy" : "sample";
        };
        return other_work("sampling.kind", word(a.kind), word(b.kind));
    }
    if (a.kind == SamplingKind::greedy) return {};
    DS_TRY(same("sampling.temperature", a.temperature, b.temperature));
    DS_TRY(same("sampling.top_k", a.top_k, b.top_k));
    DS_TRY(same("sampling.top_p", a.top_p, b.top_p));
    DS_TRY(same("sampling.min_p", a.min_p, b.min_p));
    return same("sampling.seed", a.seed, b.seed);
}

Result<void> same_work(const Record& a, const Record& b) {
    const Experiment& mine = a.experiment;
    const Experiment& theirs = b.experiment;
    if (mine.prompts.size() != a.prompts.size() || theirs.prompts.size() != b.prompts.size())
        return Error{ErrorKind::bad_input, "A record has other prompts than its experiment."};
    DS_TRY(same_model(a, b));
    DS_TRY(same_prompts(a, b));
    DS_TRY(same("new_tokens", mine.new_tokens, theirs.new_tokens));
    if (mine.drive != theirs.drive)
        return other_work("drive", to_string(mine.drive), to_string(theirs.drive));
    DS_TRY(same("fixed_ids", mine.fixed_ids, theirs.fixed_ids));
    DS_TRY(same_sampling(mine.sampling, theirs.sampling));
    DS_TRY(same("stop_at_eos", mine.stop_at_eos, theirs.stop_at_eos));
    return same("stop_ids", mine.stop_ids, theirs.stop_ids);
}

/// "FIELD: X in A, Y in B."
template <class Value>
void note_change(std::vector<std::string>& notes, std::string_view field, const Value& a, const Value& b) {
    if (a == b) return;
    const auto shown = [](const Value& value) {
        const std::string text = fmt::format("{}", value);
        return text.empty() || text == "0" ? std::string("not known") : text;
    };
    notes.push_back(fmt::format("{}: {} in A, {} in B.", field, shown(a), shown(b)));
}

std::string gpus_text(const Environment& environment) {
    std::string text;
    for (const GpuInfo& gpu : environment.gpus)
        text += fmt::format("{}{} ({})", text.empty() ? "" : ", ", gpu.name, gpu.device);
    return text.empty() ? "none" : text;
}

void note_environment(const Environment& a, const Environment& b, std::vector<std::string>& notes) {
    note_change(notes, "Program version", a.program_version, b.program_version);
    note_change(notes, "Commit", a.commit, b.commit);
    note_change(notes, "Compiler", a.compiler, b.compiler);
    note_change(notes, "Compiler flags", a.compiler_flags, b.compiler_flags);
    note_change(notes, "CPU", a.cpu_model, b.cpu_model);
    note_change(notes, "Physical cores", a.physical_cores, b.physical_cores);
    note_change(notes, "Governor", a.governor, b.governor);
    note_change(notes, "BLAS", a.blas, b.blas);
    note_change(notes, "Kernels", a.kernels, b.kernels);
    note_change(notes, "GPUs", gpus_text(a), gpus_text(b));
    note_change(notes, "CUDA driver", a.cuda_driver, b.cuda_driver);
    note_change(notes, "CUDA runtime", a.cuda_runtime, b.cuda_runtime);
    note_change(notes, "GPU precision", a.gpu_precision, b.gpu_precision);
    note_change(notes, "Operating system", a.os, b.os);
    note_change(notes, "Memory bytes", a.memory_bytes, b.memory_bytes);
    note_change(notes, "Threads", a.threads, b.threads);
    constexpr double bandwidth_limit = 0.1;
    const double low = std::min(a.read_bandwidth_gb_s, b.read_bandwidth_gb_s);
    const double high = std::max(a.read_bandwidth_gb_s, b.read_bandwidth_gb_s);
    if (low > 0 && high > (1 + bandwidth_limit) * low) {
        notes.push_back(fmt::format("Measured read bandwidth: {:.1f} GB/s in A, {:.1f} GB/s in B.",
                                    a.read_bandwidth_gb_s, b.read_bandwidth_gb_s));
    }
}

void note_measuring(const Record& a, const Record& b, std::vector<std::string>& notes) {
    const auto number = [&](std::string_view field, int mine, int theirs) {
        if (mine != theirs) notes.push_back(fmt::format("{}: {} in A, {} in B.", field, mine, theirs));
    };
    number("Warm-up passes", a.experiment.warmup, b.experiment.warmup);
    number("Lanes that took turns", static_cast<int>(a.lanes.size()), static_cast<int>(b.lanes.size()));
    note_change(notes, "Turns by", std::string(to_string(a.experiment.effective_interleave())),
                std::string(to_string(b.experiment.effective_interleave())));
    for (const auto& [name, record] : {std::pair("A", &a), std::pair("B", &b)}) {
        for (const std::string& doubt : doubts(*record)) notes.push_back(fmt::format("{}: {}", name, doubt));
        const Environment& environment = record->environment;
        const int cores = std::max(1, environment.logical_cores);
        if (environment.load_average > 0.5 * cores) {
            notes.push_back(fmt::format("{}: The load was {:.1f} on {} processors before the run.", name,
                                        environment.load_average, cores));
        }
        if (record->status != FinishReason::length)
            notes.push_back(fmt::format("{}: The run ended early ({}): {}", name, to_string(record->status),
                                        record->reason));
    }
}

/// Members of `a` and `b` that differ, in place under "outer.inner".
void differing(const OrderedJson& a, const OrderedJson& b, const std::string& path,
               std::vector<std::string>& out) {
    const auto member = [](const OrderedJson& object, const std::string& name) {
        const auto found = object.find(name);
        return found == object.end() ? OrderedJson(nullptr) : *found;
    };
    const auto text = [](const OrderedJson& value) {
        return value.is_null() ? std::string("not set") : dump_json_line(value);
    };
    std::vector<std::string> names;
    for (const auto& [name, unused] : a.items()) names.push_back(name);
    for (const auto& [name, unused] : b.items()) {
        if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    }
    for (const std::string& name : names) {
        const OrderedJson mine = member(a, name);
        const OrderedJson theirs = member(b, name);
        if (mine == theirs || (path.empty() && name == "name")) continue;
        const std::string field = path.empty() ? name : path + "." + name;
        if (mine.is_object() && theirs.is_object())
            differing(mine, theirs, field, out);
        else
            out.push_back(fmt::format("{}: {} in A, {} in B", field, text(mine), text(theirs)));
    }
}

/// The lane's settings with the device it computed on, whoever named it.
OrderedJson settings_of(const Record& record, std::size_t lane) {
    LaneSpec spec = record.lanes[lane].spec;
    spec.device = record.experiment.device_of(spec);
    return lane_json(spec);
}

bool complete(const RepetitionRecord& repetition) {
    return repetition.finish == FinishReason::length || repetition.finish == FinishReason::stop_token;
}

const RepetitionRecord* first_complete(const LaneRecord& lane) {
    const auto found = std::find_if(lane.repetitions.begin(), lane.repetitions.end(), complete);
    return found == lane.repetitions.end() ? nullptr : &*found;
}

/// `value(repetition)` of every complete repetition that has one.
template <class Value>
std::vector<double> samples_of(const LaneRecord& lane, Value value) {
    std::vector<double> samples;
    for (const RepetitionRecord& repetition : lane.repetitions) {
        if (!complete(repetition)) continue;
        if (const double sample = value(repetition); sample > 0) samples.push_back(sample);
    }
    return samples;
}

double ttft_ns(const RepetitionRecord& repetition) {
    std::vector<double> requests;
    for (std::size_t i = 0; i < std::max<std::size_t>(1, repetition.requests.size()); ++i) {
        if (const auto ns = repetition.ttft_ns(static_cast<int>(i)); ns > 0)
            requests.push_back(static_cast<double>(ns));
    }
    return median_of(requests);
}

double decode_tok_s(const RepetitionRecord& repetition) {
    const std::int64_t ns = repetition.decode_ns();
    return ns <= 0 ? 0 : static_cast<double>(repetition.n_decode_token()) * 1e9 / static_cast<double>(ns);
}

double most_bytes(const RepetitionRecord& repetition, std::int64_t StepEvent::*member) {
    std::int64_t most = 0;
    for (const StepEvent& step : repetition.steps) most = std::max(most, step.*member);
    return static_cast<double>(most);
}

void add_metrics(const LaneRecord& a, const LaneRecord& b, bool shown, std::vector<ComparedMetric>& metrics) {
    using Kind = ComparedMetric::Kind;
    const auto add = [&](const char* name, const char* key, Kind kind, auto value) {
        const auto mine = samples_of(a, value);
        const auto theirs = samples_of(b, value);
        if (mine.empty() && theirs.empty()) return;
        ComparedMetric& metric = metrics.emplace_back();
        metric.name = name;
        metric.key = key;
        metric.kind = kind;
        metric.a = summarize(mine);
        metric.b = summarize(theirs);
        if (mine.empty() || theirs.empty() || (!shown && kind != Kind::bytes)) return;
        metric.ratio = metric.b.median / metric.a.median;
        metric.interval = bootstrap_ratio(theirs, mine);
    };
    add("TTFT", "ttft_ns", Kind::time, ttft_ns);
    add("time per token", "tpot_ns", Kind::time, [](const auto& r) { return r.tpot_ns(); });
    add("tok/s", "decode_tok_s", Kind::rate, decode_tok_s);
    add("end to end", "e2e_ns", Kind::time, [](const auto& r) { return static_cast<double>(r.e2e_ns()); });
    add("KV live, most", "kv_bytes_live", Kind::bytes,
        [](const auto& r) { return most_bytes(r, &StepEvent::kv_bytes_live); });
    add("KV reserved, most", "kv_bytes_reserved", Kind::bytes,
        [](const auto& r) { return most_bytes(r, &StepEvent::kv_bytes_reserved); });
}

/// Where two lanes first chose different tokens for a request.
struct Difference {
    int request = 0;
    int index = 0;
};
std::optional<Difference> first_difference(const RepetitionRecord& a, const RepetitionRecord& b,
                                           int n_request) {
    for (int request = 0; request < n_request; ++request) {
        const auto mine = a.tokens(request);
        const auto theirs = b.tokens(request);
        const std::size_t n = std::min(mine.size(), theirs.size());
        for (std::size_t i = 0; i < n; ++i) {
            if (mine[i] != theirs[i]) return Difference{request, static_cast<int>(i)};
        }
    }
    return std::nullopt;
}

/// Whether the reference's two largest logits were as near to each other at this token as rounding may move
/// them, which is `limit`, as far as a record knows.
bool nearly_tied(const Record& record, const Difference& at, double limit) {
    for (const LaneRecord& lane : record.lanes) {
        for (const RepetitionRecord& repetition : lane.repetitions) {
            for (const TokenEvent& token : repetition.chosen) {
                if (token.request != at.request || token.index != at.index) continue;
                if (is_nearly_tied(token.comparison, limit)) return true;
            }
        }
    }
    return false;
}

/// Of one lane against its own record's reference.
std::string failed_comparison(const Record& record, std::size_t lane, const char* name) {
    const LaneRecord& mine = record.lanes[lane];
    if (lane == record.reference_index() || !approximation(record, lane).empty()) return {};
    if (first_complete(mine) == nullptr || mine.agrees_with(record.reference())) return {};
    return fmt::format("its output in {} differs from that of the reference lane {}", name,
                       quote(record.reference().spec.name));
}

std::string why_not_shown(const Record& a, const Record& b, const ComparedLane& lane,
                          std::vector<std::string>& notes) {
    for (const auto& [record, index, name] : {std::tuple(&a, lane.a, "A"), std::tuple(&b, lane.b, "B")}) {
        if (std::string why = failed_comparison(*record, index, name); !why.empty()) return why;
    }
    const RepetitionRecord* mine = first_complete(a.lanes[lane.a]);
    const RepetitionRecord* theirs = first_complete(b.lanes[lane.b]);
    if (mine == nullptr || theirs == nullptr)
        return fmt::format("no repetition of {} came to its end", mine == nullptr ? "A" : "B");
    if (mine->chosen.size() != theirs->chosen.size())
        return fmt::format("{} tokens in A, {} in B", mine->chosen.size(), theirs->chosen.size());
    if (!lane.approximation.empty()) return {};
    const auto difference = first_difference(*mine, *theirs, static_cast<int>(a.prompts.size()));
    if (!difference) return {};
    const std::string where =
        fmt::format("from new token {} of request {} on", difference->index, difference->request);
    const double limit =
        std::max(error_limit(a.lanes[lane.a].rounding()), error_limit(b.lanes[lane.b].rounding()));
    if (!nearly_tied(a, *difference, limit) && !nearly_tied(b, *difference, limit))
        return fmt::format("the outputs of A and B differ {}, and which is right is not known", where);
    notes.push_back(fmt::format("Lane {}: the outputs differ {}, where two tokens are as good as tied.",
                                quote(a.lanes[lane.a].spec.name), where));
    return {};
}

std::optional<std::size_t> lane_named(const Record& record, const std::string& name) {
    for (std::size_t i = 0; i < record.lanes.size(); ++i) {
        if (record.lanes[i].spec.name == name) return i;
    }
    return std::nullopt;
}

Result<std::vector<ComparedLane>> matched(const Record& a, const Record& b,
                                          const std::vector<LanePair>& pairs) {
    std::vector<ComparedLane> lanes;
    const auto add = [&](std::size_t mine, std::size_t theirs) {
        ComparedLane& lane = lanes.emplace_back();
        lane.a = mine;
        lane.b = theirs;
    };
    for (const LanePair& pair : pairs) {
        const auto mine = lane_named(a, pair.a);
        const auto theirs = lane_named(b, pair.b);
        if (!mine || !theirs) {
            return Error{ErrorKind::bad_input,
                         fmt::format("{} has no lane {}.", mine ? "B" : "A", quote(mine ? pair.b : pair.a))};
        }
        add(*mine, *theirs);
    }
    for (std::size_t i = 0; pairs.empty() && i < a.lanes.size(); ++i) {
        if (const auto theirs = lane_named(b, a.lanes[i].spec.name)) add(i, *theirs);
    }
    if (lanes.empty()) {
        return Error{ErrorKind::bad_input,
                     "The records have no lane of the same name: say which ones belong together."};
    }
    return lanes;
}

void note_unmatched(const Record& record, const char* name, const std::vector<std::size_t>& used,
                    std::vector<std::string>& out) {
    for (std::size_t i = 0; i < record.lanes.size(); ++i) {
        if (std::find(used.begin(), used.end(), i) != used.end()) continue;
        out.push_back(
            fmt::format("Lane {} of {} is compared with nothing.", quote(record.lanes[i].spec.name), name));
    }
}

}  // namespace

std::string ComparedMetric::result() const {
    if (ratio <= 0) return {};
    if (!interval.known) return "one sample, nothing can be said";
    if (interval.contains(1)) return "no difference";
    const bool more = ratio > 1;
    switch (kind) {
        case Kind::time: return more ? "B is slower" : "B is faster";
        case Kind::rate: return more ? "B is faster" : "B is slower";
        case Kind::bytes: return more ? "B holds more" : "B holds less";
    }
    return {};
}

bool RecordComparison::all_shown() const {
    return std::all_of(lanes.begin(), lanes.end(),
                       [](const ComparedLane& lane) { return lane.why_not.empty(); });
}

Result<RecordComparison> compare_records(const Record& a, const Record& b,
                                         const std::vector<LanePair>& pairs) {
    DS_TRY(same_work(a, b));
    auto lanes = matched(a, b, pairs);
    if (!lanes) return lanes.error();
    RecordComparison comparison;
    comparison.lanes = *std::move(lanes);
    note_environment(a.environment, b.environment, comparison.notes);
    note_measuring(a, b, comparison.notes);
    constexpr std::size_t few = 5;
    std::vector<std::size_t> used_a;
    std::vector<std::size_t> used_b;
    std::size_t fewest = few;
    for (ComparedLane& lane : comparison.lanes) {
        used_a.push_back(lane.a);
        used_b.push_back(lane.b);
        differing(settings_of(a, lane.a), settings_of(b, lane.b), "", lane.settings);
        lane.approximation = approximation(b.lanes[lane.b].spec, a.lanes[lane.a].spec, a.model.window);
        if (lane.approximation.empty()) lane.approximation = approximation(a, lane.a);
        if (lane.approximation.empty()) lane.approximation = approximation(b, lane.b);
        lane.why_not = why_not_shown(a, b, lane, comparison.notes);
        add_metrics(a.lanes[lane.a], b.lanes[lane.b], lane.why_not.empty(), lane.metrics);
        for (const ComparedMetric& metric : lane.metrics) fewest = std::min({fewest, metric.a.n, metric.b.n});
    }
    if (fewest < few) {
        comparison.notes.push_back(fmt::format(
            "Intervals are rough: of one lane there are {} samples, better are {} or more.", fewest, few));
    }
    note_unmatched(a, "A", used_a, comparison.unmatched);
    note_unmatched(b, "B", used_b, comparison.unmatched);
    return comparison;
}

}  // namespace decodescope
