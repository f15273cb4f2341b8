// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/report/report_facts.h"

#include <QStringList>

#include <algorithm>

#include "ui/chart/format.h"
#include "ui/experiment_panel/lane_kinds.h"
#include "ui/text.h"

namespace decodescope {

namespace {

QString orUnknown(const std::string& text) {
    return text.empty() ? tr("not known") : QString::fromStdString(text);
}

QString laneText(const LaneSpec& lane) {
    QString words = QString::fromLatin1(to_string(lane.mode)) + QStringLiteral(": ") + laneDescription(lane);
    for (const std::string& fault : lane.faults)
        words += QStringLiteral(" · ") + tr("fault %1").arg(QString::fromStdString(fault));
    return words;
}

QString samplingText(const Sampling& sampling) {
    QStringList parts;
    if (sampling.kind == SamplingKind::greedy) {
        parts << tr("greedy");
    } else {
        parts << tr("temperature %1").arg(formatNumber(sampling.temperature))
              << tr("top-k %1").arg(sampling.top_k == 0 ? tr("all") : formatCount(sampling.top_k));
        if (sampling.top_p < 1) parts << tr("top-p %1").arg(formatNumber(sampling.top_p));
        if (sampling.min_p > 0) parts << tr("min-p %1").arg(formatNumber(sampling.min_p));
        parts << tr("seed %1").arg(sampling.seed);
    }
    if (sampling.repetition_penalty != 1)
        parts << tr("repetition penalty %1").arg(formatNumber(sampling.repetition_penalty));
    return parts.join(QStringLiteral(", "));
}

QString gpuText(const GpuInfo& gpu, const Environment& e) {
    const auto megahertz = [](std::int64_t khz) {
        return khz < 0 ? tr("not known") : tr("%1 MHz").arg(formatCount(khz / 1000));
    };
    return tr("%1, compute capability %2, %3 of memory, driver for CUDA %4, runtime %5, products in %6, "
              "clocks at "
              "most %7 (cores) and %8 (memory)")
        .arg(orUnknown(gpu.name), orUnknown(gpu.compute_capability),
             gpu.memory_bytes > 0 ? formatBytes(static_cast<double>(gpu.memory_bytes)) : tr("not known"),
             orUnknown(e.cuda_driver), orUnknown(e.cuda_runtime), orUnknown(e.gpu_precision),
             megahertz(gpu.core_clock_khz), megahertz(gpu.memory_clock_khz));
}

}  // namespace

QString promptsText(const Record& record) {
    if (record.prompts.empty()) return tr("no prompt");
    std::size_t least = record.prompts.front().ids.size();
    std::size_t most = least;
    for (const PromptRecord& prompt : record.prompts) {
        least = std::min(least, prompt.ids.size());
        most = std::max(most, prompt.ids.size());
    }
    const auto count = [](std::size_t n) { return formatCount(static_cast<std::int64_t>(n)); };
    const QString tokens = most == 1 ? tr("1 prompt token") : tr("%1 prompt tokens").arg(count(most));
    if (record.prompts.size() == 1) return tokens;
    if (least == most) return tr("%1 requests of %2").arg(count(record.prompts.size()), tokens);
    return tr("%1 requests of %2 to %3").arg(count(record.prompts.size()), count(least), tokens);
}

QList<Fact> runFacts(const Record& record) {
    const Experiment& experiment = record.experiment;
    const ModelConfig& model = record.model;
    QList<Fact> facts;
    // One call with every argument: a name with a percent sign in it must not be taken for a place.
    facts.append(
        {tr("Model"), tr("%1: %2 family, %3 parameters, %4 layers, %5 heads, head dimension %6, stored as %7")
                          .arg(QString::fromStdString(model.name),
                               QString::fromLatin1(to_string(model.family)), formatCount(model.n_parameter()),
                               QString::number(model.n_layer), QString::number(model.n_head),
                               QString::number(model.head_dim), QString::fromStdString(model.stored_as))});
    QString weights = formatBytes(static_cast<double>(record.weight_bytes));
    if (record.weight_bytes_mapped > 0)
        weights +=
            tr(", %1 of them mapped").arg(formatBytes(static_cast<double>(record.weight_bytes_mapped)));
    facts.append({tr("Weights"), tr("%1, %2").arg(weights, orUnknown(record.model_source))});
    facts.append({tr("Model hash"), orUnknown(record.model_hash)});
    facts.append({tr("Prompt"), promptsText(record)});
    facts.append({tr("New tokens"), formatCount(experiment.new_tokens)});
    facts.append({tr("Sampling"), samplingText(experiment.sampling)});
    facts.append({tr("Drive"), QString::fromLatin1(to_string(experiment.drive))});
    facts.append(
        {tr("Warm-up, repetitions"), tr("%1, %2").arg(experiment.warmup).arg(experiment.repetitions)});
    facts.append(
        {tr("Lanes alternate by"), QString::fromLatin1(to_string(experiment.effective_interleave()))});
    for (const LaneRecord& lane : record.lanes) {
        QString text = laneText(lane.spec);
        if (lane.repetitions.empty()) {
            text += tr("; did not run");
        } else if (lane.finish() != FinishReason::length) {
            text += QStringLiteral("; ") + QString::fromLatin1(to_string(lane.finish()));
            if (!lane.repetitions.back().reason.empty()) {
                text += QStringLiteral(": ") + QString::fromStdString(lane.repetitions.back().reason);
            }
        }
        facts.append({tr("Lane %1").arg(QString::fromStdString(lane.spec.name)), text});
    }
    return facts;
}

QList<Fact> environmentFacts(const Environment& e) {
    QList<Fact> facts;
    QStringList sets;
    for (const std::string& set : e.instruction_sets) sets << QString::fromStdString(set);
    const auto count = [](int n) { return n > 0 ? formatCount(n) : tr("not known"); };
    facts.append({tr("Program"),
                  tr("DecodeScope %1, commit %2").arg(orUnknown(e.program_version), orUnknown(e.commit))});
    facts.append({tr("Compiler"), orUnknown(e.compiler)});
    facts.append({tr("Compiler flags"), orUnknown(e.compiler_flags)});
    facts.append({tr("Processor"), orUnknown(e.cpu_model)});
    facts.append(
        {tr("Instruction sets"), sets.isEmpty() ? tr("not known") : sets.join(QStringLiteral(", "))});
    facts.append(
        {tr("Cores"), tr("%1 physical, %2 logical").arg(count(e.physical_cores), count(e.logical_cores))});
    facts.append({tr("Threads used"), count(e.threads)});
    facts.append({tr("Frequency governor"), orUnknown(e.governor)});
    facts.append({tr("BLAS"), orUnknown(e.blas)});
    for (const GpuInfo& gpu : e.gpus)
        facts.append({tr("GPU %1").arg(QString::fromStdString(gpu.device)), gpuText(gpu, e)});
    facts.append({tr("Operating system"), orUnknown(e.os)});
    facts.append({tr("Memory"),
                  e.memory_bytes > 0 ? formatBytes(static_cast<double>(e.memory_bytes)) : tr("not known")});
    facts.append({tr("Read bandwidth"), e.read_bandwidth_gb_s > 0
                                            ? formatValue(e.read_bandwidth_gb_s, Unit::gigabytes_per_second)
                                            : notMeasured()});
    facts.append(
        {tr("Load before the run"), e.load_average >= 0 ? formatNumber(e.load_average) : tr("not known")});
    return facts;
}

}  // namespace decodescope
