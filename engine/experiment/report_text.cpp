// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/experiment/report_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "engine/experiment/memory_text.h"
#include "engine/experiment/precision.h"
#include "engine/experiment/record_json.h"
#include "engine/experiment/token_times.h"

namespace decodescope {

namespace {

/// Milliseconds with three significant digits, never in exponent form.
std::string milliseconds(double ns) {
    const double ms = ns / 1e6;
    return fmt::format("{:.{}f}", ms, ms >= 100 ? 0 : ms >= 10 ? 1 : ms >= 1 ? 2 : ms >= 0.1 ? 3 : 4);
}

std::string spread(const Summary& summary) {
    if (summary.n == 0) return "not measured";
    if (summary.n == 1) return milliseconds(summary.median);
    return fmt::format("{} ({}..{}, IQR {})", milliseconds(summary.median), milliseconds(summary.min),
                       milliseconds(summary.max), milliseconds(summary.iqr()));
}

std::string plain_number(double value) {
    if (!(value > 0)) return "not measured";
    return fmt::format("{:.{}f}", value, value >= 100 ? 0 : value >= 10 ? 1 : 2);
}

std::string read_rate(const Record& record, const LaneRecord& lane) {
    const double rate = lane.read_gb_s();
    const double limit = read_limit_gb_s(record.environment, record.experiment.device_of(lane.spec).name());
    if (!(rate > 0) || !(limit > 0)) return plain_number(rate);
    return fmt::format("{} ({:.0f} % of {:.1f}{})", plain_number(rate), 100 * rate / limit, limit,
                       compute_bound(lane) ? ", compute-bound" : "");
}

std::string speed_up_text(const Record& record, std::size_t lane) {
    const SpeedUp result = speed_up(record, lane);
    if (!result.why_not.empty()) return result.why_not;
    std::string text = fmt::format("{:.2f}x", result.factor);
    if (result.interval.known)
        text += fmt::format(" [{:.2f}..{:.2f}]", result.interval.low, result.interval.high);
    return result.approximation.empty() ? text : fmt::format("{} ({})", text, result.approximation);
}

std::string quality_text(const LaneRecord& lane) {
    const Quality quality = lane.quality();
    if (quality.n == 0) return "not compared";
    return fmt::format("KL {:.1e}, top-1 {:.1f} %, p {:.1e}", quality.mean_kl, 100 * quality.top1_agreement,
                       quality.rms_probability_change);
}

/// "3.2 per step: 90 60 41 %": tokens per verify call, and how often each position of a draft was kept.
std::string acceptance_text(const LaneRecord& lane) {
    const auto counts = lane.acceptance();
    if (counts.empty()) return lane.spec.mode == LaneMode::speculative ? "no drafts" : "";
    std::string text = fmt::format("{:.2f} per step:", lane.tokens_per_step());
    for (const auto& count : counts) {
        text += fmt::format(" {:.0f}",
                            100.0 * static_cast<double>(count.accepted) / static_cast<double>(count.drafted));
    }
    return text + " %";
}

std::string weights_text(const Record& record, const LaneRecord& lane) {
    const std::string words = weights_words(record.experiment, lane.spec);
    if (lane.weight_bytes == 0) return words;
    return fmt::format("{}, {}", words, human_bytes(static_cast<double>(lane.weight_bytes)));
}

std::string error_text(const LaneRecord& lane) {
    const double error = lane.max_relative_error();
    return error < 0 ? "not compared" : fmt::format("{:.1e}", error);
}

std::string difference_text(const Record& record, std::size_t lane) {
    if (lane == record.reference_index()) return "the reference";
    const int step = record.lanes[lane].first_different_token(record.reference());
    return step < 0 ? "none" : fmt::format("token {}", step);
}

const StepEvent* last_step(const LaneRecord& lane) {
    if (lane.repetitions.empty() || lane.repetitions.back().steps.empty()) return nullptr;
    return &lane.repetitions.back().steps.back();
}

std::string kv_text(const LaneRecord& lane, std::int64_t StepEvent::*member) {
    const StepEvent* step = last_step(lane);
    if (step == nullptr) return "not measured";
    return human_bytes(static_cast<double>(step->*member));
}

/// Median over all decode steps of a count that a step has, or may not have been able to measure.
std::string per_step(const LaneRecord& lane, std::int64_t StepEvent::*member) {
    std::vector<double> samples;
    for (const RepetitionRecord& repetition : lane.repetitions) {
        for (const StepEvent& step : repetition.steps) {
            if (step.phase != Phase::prefill && step.*member >= 0)
                samples.push_back(static_cast<double>(step.*member));
        }
    }
    return samples.empty() ? "not measured" : fmt::format("{:.0f}", median_of(samples));
}

/// The process at the lane's last step.
std::string memory_text(const LaneRecord& lane, std::int64_t ProcessMemory::*member) {
    const StepEvent* step = last_step(lane);
    if (step == nullptr || step->memory.*member < 0) return "not measured";
    return human_bytes(static_cast<double>(step->memory.*member));
}

std::string finish_text(const LaneRecord& lane) {
    return lane.repetitions.empty() ? "did not run" : to_string(lane.finish());
}

std::string counted(std::int64_t n, const char* thing) {
    return fmt::format("{} {}{}", n, thing, n == 1 ? "" : "s");
}

std::string sampling_text(const Sampling& sampling) {
    const std::string penalty = sampling.repetition_penalty == 1.0
                                    ? ""
                                    : fmt::format(", repetition penalty {}", sampling.repetition_penalty);
    if (sampling.kind == SamplingKind::greedy) return "greedy" + penalty;
    std::string text = fmt::format("temperature {}, top-k {}", sampling.temperature,
                                   sampling.top_k == 0 ? "all" : std::to_string(sampling.top_k));
    if (sampling.top_p < 1) text += fmt::format(", top-p {}", sampling.top_p);
    if (sampling.min_p > 0) text += fmt::format(", min-p {}", sampling.min_p);
    return text + penalty + fmt::format(", seed {}", sampling.seed);
}

/// "44 prompt tokens", or for several requests "4 requests of 3 to 19 prompt tokens".
std::string prompts_text(const Record& record) {
    if (record.prompts.empty()) return "no prompt";
    const auto shorter = [](const PromptRecord& a, const PromptRecord& b) {
        return a.ids.size() < b.ids.size();
    };
    const auto [least, most] = std::minmax_element(record.prompts.begin(), record.prompts.end(), shorter);
    const auto length = static_cast<std::int64_t>(most->ids.size());
    if (record.prompts.size() == 1) return counted(length, "prompt token");
    if (least->ids.size() == most->ids.size())
        return fmt::format("{} requests of {}", record.prompts.size(), counted(length, "prompt token"));
    return fmt::format("{} requests of {} to {}", record.prompts.size(), least->ids.size(),
                       counted(length, "prompt token"));
}

/// "NVIDIA H200 (9.0), 139.8 GiB, driver 13.0, CUDA 13.0, f32, TF32 off".
std::string gpu_text(const GpuInfo& gpu, const Environment& environment) {
    const auto known = [](const std::string& text) { return text.empty() ? "not known" : text; };
    return fmt::format("{} ({}), {}, driver {}, CUDA {}, {}", known(gpu.name), known(gpu.compute_capability),
                       gpu.memory_bytes == 0 ? std::string("memory not known")
                                             : human_bytes(static_cast<double>(gpu.memory_bytes)),
                       known(environment.cuda_driver), known(environment.cuda_runtime),
                       environment.gpu_precision.empty() ? "precision not known" : environment.gpu_precision);
}

/// What was run, in lines of "name: value".
std::vector<std::pair<std::string, std::string>> headline(const Record& record) {
    const ModelConfig& model = record.model;
    const Experiment& experiment = record.experiment;
    const Environment& environment = record.environment;
    std::string mapped;
    if (record.weight_bytes_mapped > 0) {
        mapped =
            fmt::format(", {} of them mapped", human_bytes(static_cast<double>(record.weight_bytes_mapped)));
    }
    std::vector<std::pair<std::string, std::string>> lines;
    lines.emplace_back(
        "Model", fmt::format("{} ({}, {}, {} parameters, {} weights{})", model.name, to_string(model.family),
                             counted(model.n_layer, "layer"), model.n_parameter(),
                             human_bytes(static_cast<double>(record.weight_bytes)), mapped));
    lines.emplace_back("Run", fmt::format("{}, {} new, {}, drive {}, warm-up {}, {}, alternating by {}",
                                          prompts_text(record), experiment.new_tokens,
                                          sampling_text(experiment.sampling), to_string(experiment.drive),
                                          experiment.warmup, counted(experiment.repetitions, "repetition"),
                                          to_string(experiment.effective_interleave())));
    lines.emplace_back(
        "Machine",
        fmt::format("{}, {}, {}", environment.cpu_model.empty() ? "unknown CPU" : environment.cpu_model,
                    environment.threads > 0 ? counted(environment.threads, "thread") : "threads not known",
                    environment.blas.empty() ? "BLAS not known" : environment.blas));
    for (const GpuInfo& gpu : environment.gpus) {
        lines.emplace_back("GPU", fmt::format("{}: {}", gpu.device, gpu_text(gpu, environment)));
    }
    if (record.status != FinishReason::length) {
        lines.emplace_back("Status", record.reason.empty()
                                         ? to_string(record.status)
                                         : fmt::format("{}: {}", to_string(record.status), record.reason));
    }
    if (const std::string sentence = achieved_precision(record).sentence; !sentence.empty())
        lines.emplace_back("Doubt", sentence);
    for (const std::string& doubt : doubts(record)) lines.emplace_back("Doubt", doubt);
    return lines;
}

/// Lanes with the same text share it.
struct Text {
    std::string lanes;
    int request = 0;  ///< from 1; 0 = the only one
    std::string text;

    std::string title() const {
        return request == 0 ? fmt::format("Text of {}", lanes) : fmt::format("Text {} of {}", request, lanes);
    }
};

/// A model may choose any byte, and a terminal may obey some of them: control characters are shown, not sent.
std::string harmless(std::string_view text) {
    std::string out;
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if ((byte < 0x20 && c != '\n' && c != '\t') || byte == 0x7F) {
            out += fmt::format("\\x{:02x}", byte);
        } else {
            out += c;
        }
    }
    return out;
}

/// Without line ends and spaces behind its last word.
std::string_view trimmed(std::string_view text) {
    return text.substr(0, text.find_last_not_of(" \t\r\n") + 1);
}

std::string one_line(std::string text) {
    std::replace(text.begin(), text.end(), '\n', ' ');
    return text;
}

std::vector<Text> texts_of(const Record& record) {
    std::vector<Text> texts;
    for (std::size_t i = 0; i < record.prompts.size(); ++i) {
        const int number = record.prompts.size() == 1 ? 0 : static_cast<int>(i) + 1;
        for (const LaneRecord& lane : record.lanes) {
            if (i >= lane.texts.size() || lane.texts[i].empty()) continue;
            const std::string shown = harmless(lane.texts[i]);
            const auto same = std::find_if(texts.begin(), texts.end(), [&](const Text& t) {
                return t.text == shown && t.request == number;
            });
            if (same == texts.end()) {
                texts.push_back({lane.spec.name, number, shown});
            } else {
                same->lanes += ", " + lane.spec.name;
            }
        }
    }
    return texts;
}

std::string cell(std::int64_t value, std::int64_t unknown) {
    return value == unknown ? std::string() : std::to_string(value);
}

std::vector<std::string> csv_header() {
    return {"lane",
            "repetition",
            "step",
            "phase",
            "request",
            "token_id",
            "tokens",
            "rows",
            "step_ns",
            "start_ns",
            "positions_forwarded",
            "padding_forwarded",
            "draft_positions_forwarded",
            "drafts_verified",
            "drafts_accepted",
            "score_cells_allowed",
            "score_cells_computed",
            "cache_length_tokens",
            "cache_forgotten_tokens",
            "kv_live_bytes",
            "kv_scales_bytes",
            "kv_residual_bytes",
            "kv_padding_bytes",
            "kv_shared_bytes",
            "kv_reserved_bytes",
            "kv_meta_bytes",
            "kv_copied_bytes",
            "moved_bytes",
            "weights_bytes",
            "kv_bytes",
            "activations_bytes",
            "logits_bytes",
            "workspace_bytes",
            "rss_bytes",
            "heap_in_use_bytes",
            "heap_free_bytes",
            "heap_mapped_bytes",
            "minor_faults",
            "tensor_allocations",
            "heap_allocations",
            "relative_error",
            "max_abs_error",
            "same_argmax",
            "top2_margin",
            "kl_divergence_nats",
            "weight_type",
            "kernels",
            "device",
            "device_ns"};
}

std::vector<std::string> csv_row(const LaneSpec& lane, const Device& device, std::size_t repetition,
                                 const StepEvent& step) {
    constexpr std::int64_t unknown = ProcessMemory::not_measured;
    std::vector<std::string> row = {lane.name,
                                    std::to_string(repetition),
                                    std::to_string(step.step),
                                    to_string(step.phase),
                                    std::to_string(step.request),
                                    cell(step.token, -1),
                                    std::to_string(step.n_token),
                                    std::to_string(step.n_row),
                                    std::to_string(step.end_ns - step.start_ns),
                                    std::to_string(step.start_ns),
                                    std::to_string(step.positions_forwarded),
                                    std::to_string(step.padding_forwarded),
                                    std::to_string(step.draft_positions_forwarded),
                                    std::to_string(step.n_drafted),
                                    std::to_string(step.n_accepted),
                                    std::to_string(step.score_cells_allowed),
                                    std::to_string(step.score_cells_computed),
                                    std::to_string(step.cache_length),
                                    std::to_string(step.cache_forgotten),
                                    std::to_string(step.kv_bytes_live),
                                    std::to_string(step.kv_bytes_scales),
                                    std::to_string(step.kv_bytes_residual),
                                    std::to_string(step.kv_bytes_padding),
                                    std::to_string(step.kv_bytes_shared),
                                    std::to_string(step.kv_bytes_reserved),
                                    std::to_string(step.kv_bytes_meta),
                                    std::to_string(step.kv_bytes_copied),
                                    std::to_string(step.bytes_moved)};
    for (const std::uint64_t bytes : step.tensor_bytes) row.push_back(std::to_string(bytes));
    for (const std::int64_t value : {step.memory.rss, step.memory.heap_in_use, step.memory.heap_free,
                                     step.memory.heap_mapped, step.minor_faults_step}) {
        row.push_back(cell(value, unknown));
    }
    row.push_back(std::to_string(step.tensor_allocations));
    row.push_back(cell(step.heap_allocations, unknown));
    const LogitComparison& comparison = step.comparison;
    if (comparison.compared) {
        row.push_back(fmt::format("{}", comparison.relative_error));
        row.push_back(fmt::format("{}", comparison.max_abs_error));
        row.push_back(comparison.same_argmax ? "1" : "0");
        row.push_back(fmt::format("{}", comparison.top2_margin));
        row.push_back(fmt::format("{}", comparison.kl_divergence));
    } else {
        row.resize(row.size() + 5);
    }
    row.emplace_back(to_string(lane.weights));
    row.emplace_back(to_string(lane.kernels));
    row.push_back(device.name());
    row.push_back(cell(step.device_ns, unknown));
    return row;
}

}  // namespace

TextTable summary_table(const Record& record) {
    TextTable table;
    const auto add = [&](const char* name, bool right, auto&& value) {
        table.header.push_back(name);
        table.right.push_back(right);
        for (std::size_t i = 0; i < record.lanes.size(); ++i)
            table.rows[i].push_back(value(record.lanes[i], i));
    };
    table.rows.resize(record.lanes.size());
    const auto any = [&](auto&& wanted) {
        return std::any_of(record.lanes.begin(), record.lanes.end(), wanted);
    };
    const bool several = record.prompts.size() > 1;
    using Lane = const LaneRecord&;
    add("lane", false, [](Lane lane, std::size_t) { return lane.spec.name; });
    if (any([&](Lane lane) {
            return weights_words(record.experiment, lane.spec) != to_string(WeightType::f32);
        }))
        add("weights", false, [&](Lane lane, std::size_t) { return weights_text(record, lane); });
    if (any([](Lane lane) { return lane.spec.batching == Batching::continuous; }))
        add("queue [ms]", true, [](Lane lane, std::size_t) { return spread(lane.queue_ns()); });
    add("TTFT [ms]", true, [](Lane lane, std::size_t) { return spread(lane.ttft_ns()); });
    add("step [ms]", true, [](Lane lane, std::size_t) { return spread(lane.step_ns()); });
    if (any([](Lane lane) { return lane.device_ns().n > 0; }))
        add("device [ms]", true, [](Lane lane, std::size_t) { return spread(lane.device_ns()); });
    // Where a step is not one token of one request, its time is not what a request waits.
    if (several || any([](Lane lane) { return lane.spec.mode == LaneMode::speculative; }))
        add("token [ms]", true, [](Lane lane, std::size_t) { return spread(token_ns(lane)); });
    add("tok/s", true, [](Lane lane, std::size_t) { return plain_number(lane.decode_tok_s()); });
    if (several)
        add("total tok/s", true, [](Lane lane, std::size_t) { return plain_number(lane.total_tok_s()); });
    if (any([](Lane lane) { return lane.spec.mode == LaneMode::speculative; }))
        add("drafts kept", true, [](Lane lane, std::size_t) { return acceptance_text(lane); });
    add("read [GB/s]", true, [&](Lane lane, std::size_t) { return read_rate(record, lane); });
    add("speed-up", true, [&](Lane, std::size_t i) { return speed_up_text(record, i); });
    add("logit error", true, [](Lane lane, std::size_t) { return error_text(lane); });
    if (any_approximation(record))
        add("quality", false, [](Lane lane, std::size_t) { return quality_text(lane); });
    add("first difference", false, [&](Lane, std::size_t i) { return difference_text(record, i); });
    add("KV live", true, [](Lane lane, std::size_t) { return kv_text(lane, &StepEvent::kv_bytes_live); });
    add("KV reserved", true,
        [](Lane lane, std::size_t) { return kv_text(lane, &StepEvent::kv_bytes_reserved); });
    add("KV copied", true, [](Lane lane, std::size_t) { return kv_text(lane, &StepEvent::kv_bytes_copied); });
    const auto add_bytes = [&](const char* name, std::int64_t StepEvent::*member) {
        const auto has = [&](Lane lane) {
            return last_step(lane) != nullptr && last_step(lane)->*member != 0;
        };
        if (any(has)) add(name, true, [&](Lane lane, std::size_t) { return kv_text(lane, member); });
    };
    if (any([](Lane lane) { return lane.spec.cache.kind == CacheKind::paged; })) {
        add_bytes("KV slack", &StepEvent::kv_bytes_slack);
        add_bytes("KV kept", &StepEvent::kv_bytes_kept);
        add_bytes("KV shared", &StepEvent::kv_bytes_shared);
    }
    if (any([](Lane lane) { return last_step(lane) != nullptr && last_step(lane)->cache_forgotten > 0; })) {
        add("forgotten", true, [](Lane lane, std::size_t) {
            const StepEvent* step = last_step(lane);
            return step == nullptr ? "not measured" : counted(step->cache_forgotten, "token");
        });
    }
    add_bytes("KV scales", &StepEvent::kv_bytes_scales);
    add_bytes("KV residual", &StepEvent::kv_bytes_residual);
    add_bytes("KV padding", &StepEvent::kv_bytes_padding);
    if (any([](Lane lane) { return lane.spec.allocation == AllocationPolicy::fresh; })) {
        add("tensors/step", true,
            [](Lane lane, std::size_t) { return per_step(lane, &StepEvent::tensor_allocations); });
        add("faults/step", true,
            [](Lane lane, std::size_t) { return per_step(lane, &StepEvent::minor_faults_step); });
        add("RSS", true, [](Lane lane, std::size_t) { return memory_text(lane, &ProcessMemory::rss); });
        add("heap in use", true,
            [](Lane lane, std::size_t) { return memory_text(lane, &ProcessMemory::heap_in_use); });
        add("heap free", true,
            [](Lane lane, std::size_t) { return memory_text(lane, &ProcessMemory::heap_free); });
    }
    add("finish", false, [](Lane lane, std::size_t) { return finish_text(lane); });
    return table;
}

std::string to_plain_text(const Record& record) {
    std::string out;
    if (!record.notes.title.empty()) out += harmless(record.notes.title) + "\n\n";
    if (!record.notes.text.empty()) out += harmless(trimmed(record.notes.text)) + "\n\n";
    for (const auto& [name, value] : headline(record)) out += fmt::format("{:<8}{}\n", name, value);
    out += '\n' + summary_table(record).plain();
    if (const auto memory = memory_lines(record); !memory.empty()) {
        out += "\nMemory:\n";
        for (const auto& [name, value] : memory) out += fmt::format("{:<12}{}\n", name, value);
        out += '\n' + memory_table(record).plain();
        if (const TextTable gpu = gpu_memory_table(record); !gpu.rows.empty()) out += '\n' + gpu.plain();
    }
    for (const Text& text : texts_of(record)) out += fmt::format("\n{}:\n{}\n", text.title(), text.text);
    return out;
}

std::string to_markdown(const Record& record, const RecordNotes& notes, MarkdownParts parts) {
    std::string out;
    if (!notes.title.empty()) out += fmt::format("# {}\n\n", one_line(harmless(notes.title)));
    if (!notes.text.empty()) out += harmless(trimmed(notes.text)) + "\n\n";
    for (const auto& [name, value] : headline(record)) out += fmt::format("- **{}**: {}\n", name, value);
    if (parts.lanes) out += '\n' + summary_table(record).markdown();
    if (const auto memory = memory_lines(record); parts.lanes && !memory.empty()) {
        out += "\nMemory:\n\n";
        for (const auto& [name, value] : memory) out += fmt::format("- **{}**: {}\n", name, value);
        out += '\n' + memory_table(record).markdown();
        if (const TextTable gpu = gpu_memory_table(record); !gpu.rows.empty()) out += '\n' + gpu.markdown();
    }
    if (!parts.texts) return out;
    for (const Text& text : texts_of(record)) {
        out += fmt::format("\n{}:\n\n", text.title());
        std::string_view rest = text.text;
        while (!rest.empty()) {
            const std::size_t end = std::min(rest.find('\n'), rest.size());
            out += fmt::format("> {}\n", rest.substr(0, end));
            rest.remove_prefix(std::min(end + 1, rest.size()));
        }
    }
    return out;
}

std::string to_csv(const Record& record) {
    TextTable table;
    table.header = csv_header();
    for (const LaneRecord& lane : record.lanes) {
        for (std::size_t r = 0; r < lane.repetitions.size(); ++r) {
            for (const StepEvent& step : lane.repetitions[r].steps) {
                table.rows.push_back(csv_row(lane.spec, record.experiment.device_of(lane.spec), r, step));
            }
        }
    }
    return table.csv();
}

std::string to_jsonl(const Record& record) {
    std::string out;
    for (std::size_t i = 0; i < record.lanes.size(); ++i) {
        const LaneRecord& lane = record.lanes[i];
        std::size_t n_prompt = 0;
        for (const PromptRecord& prompt : record.prompts) n_prompt = std::max(n_prompt, prompt.ids.size());
        const std::string type = entry_type(lane.spec);
        OrderedJson json;
        json["schema"] = "decodescope.lane/1";
        json["lane"] = lane.spec.name;
        json["mode"] = to_string(lane.spec.mode);
        json["cache"] = to_string(lane.spec.cache.kind);
        json["model"] = record.model.name;
        json["model_hash"] = record.model_hash;
        json["test_time"] = record.started_at;
        json["n_prompt"] = n_prompt;
        json["n_gen"] = record.experiment.new_tokens;
        json["n_depth"] = 0;
        json["n_parallel"] = record.prompts.size();
        json["n_batch"] = lane.spec.prefill_chunk > 0 ? std::size_t(lane.spec.prefill_chunk) : n_prompt;
        json["n_threads"] = record.environment.threads;
        json["type_k"] = text_or_null(type);
        json["type_v"] = json["type_k"];
        json["type_w"] = to_string(lane.spec.weights);
        json["kernels"] = to_string(lane.spec.kernels);
        json["device"] = record.experiment.device_of(lane.spec).name();
        json["samples_ns"] = OrderedJson::array();
        for (const RepetitionRecord& repetition : lane.repetitions)
            json["samples_ns"].push_back(repetition.e2e_ns());
        json["status"] = to_string(record.status);
        const SpeedUp faster = speed_up(record, i);
        json["speed_up"] = faster.why_not.empty() ? OrderedJson(faster.factor) : OrderedJson(nullptr);
        json.update(summary_json(record, i));
        out += dump_json_line(json) + '\n';
    }
    return out;
}

}  // namespace decodescope
