// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/report/html_report.h"

#include <QCoreApplication>
#include <QStringList>

#include <algorithm>
#include <cmath>

#include "ui/chart/export.h"
#include "ui/report/definitions.h"
#include "ui/theme/theme.h"

namespace decodescope {

namespace {

QString tr(const char* text) {
    return QCoreApplication::translate("decodescope::html_report", text);
}

QString html(const QString& text) {
    return text.toHtmlEscaped();
}

QString html(const std::string& text) {
    return html(QString::fromStdString(text));
}

QString orUnknown(const std::string& text) {
    return text.empty() ? tr("not known") : QString::fromStdString(text);
}

QString shortTime(double ns) {
    return formatMilliseconds(ns * 1e-6);
}

QString nameColor(const QColor& color) {
    return color.name();
}

/// Custom properties of one theme, used by the rules below.
QString cssVariables(const ThemeColors& c) {
    QString css;
    const auto add = [&](const char* name, const QColor& color) {
        css += QStringLiteral("--%1:%2;").arg(QLatin1String(name), nameColor(color));
    };
    add("window", c.window);
    add("card", c.card);
    add("border", c.border);
    add("text", c.text);
    add("muted", c.muted);
    add("accent", c.accent);
    add("good", c.good);
    add("warn", c.warn);
    add("warn-soft", c.warn_soft);
    add("bad", c.bad);
    add("bad-soft", c.bad_soft);
    for (std::size_t i = 0; i < c.lanes.size(); ++i) {
        css += QStringLiteral("--lane%1:%2;").arg(i).arg(nameColor(c.lanes[i]));
    }
    return css;
}

/// The charts are drawn once, in the light theme; their colours are swapped by rules that win over the
/// attributes of an SVG.
QString cssDarkCharts() {
    QString css;
    const std::vector<QColor> light = themeColors(false).all();
    const std::vector<QColor> dark = themeColors(true).all();
    for (std::size_t i = 0; i < light.size(); ++i) {
        for (const char* attribute : {"fill", "stroke"}) {
            css += QStringLiteral("svg [%1=\"%2\"]{%1:%3}\n")
                       .arg(QLatin1String(attribute), nameColor(light[i]), nameColor(dark[i]));
        }
    }
    return css;
}

QString styleSheet() {
    return QStringLiteral("<style>\n:root{color-scheme:light dark;") + cssVariables(themeColors(false)) +
           QStringLiteral("}\n@media (prefers-color-scheme: dark){\n:root{") +
           cssVariables(themeColors(true)) + QStringLiteral("}\n") + cssDarkCharts() +
           QStringLiteral(
               "}\n"
               "*{box-sizing:border-box}\n"
               "body{margin:0;background:var(--window);color:var(--text);"
               "font:15px/1.5 \"DejaVu Sans\",Verdana,sans-serif}\n"
               "main{max-width:1120px;margin:0 auto;padding:28px 20px 60px}\n"
               "h1{font-size:1.5em;margin:0 0 2px}\nh2{font-size:1.08em;margin:0 0 10px}\n"
               ".muted{color:var(--muted)}\n"
               ".card{background:var(--card);border:1px solid var(--border);border-radius:8px;padding:16px "
               "18px;"
               "margin-top:16px;overflow-x:auto}\n"
               ".chart{padding:8px}\n.chart .small{padding:2px 10px 6px}\n.chart "
               "svg{display:block;width:100%;height:auto}\n"
               ".status{border-left:4px solid var(--warn);background:var(--warn-soft)}\n"
               ".status.bad{border-left-color:var(--bad);background:var(--bad-soft)}\n"
               "table{border-collapse:collapse;width:100%;font-size:.93em}\n"
               "th{font-weight:normal;color:var(--muted);text-align:left;padding:5px 14px 5px "
               "0;vertical-align:top}\n"
               "td{padding:5px 14px 5px 0;vertical-align:top}\n"
               "table.strip td,table.strip th{text-align:right;white-space:nowrap;padding:7px 0 7px 18px}\n"
               "table.strip tr+tr td{border-top:1px solid var(--border)}\n"
               "table.strip td:first-child,table.strip th:first-child{text-align:left;padding-left:0}\n"
               "table.facts th{width:15em}\n"
               ".big{font-weight:bold;font-size:1.12em}\n"
               ".good{color:var(--good)}.warn{color:var(--warn)}.bad{color:var(--bad)}\n"
               ".small{font-size:.86em;color:var(--muted);display:block}\n"
               ".swatch{display:inline-block;width:.72em;height:.72em;border-radius:2px;margin-right:.5em}\n"
               ".prose{white-space:pre-wrap;overflow-wrap:anywhere;margin:4px 0 14px}\n"
               ".prose u{text-decoration-color:var(--bad);text-decoration-thickness:2px}\n"
               "dl{margin:0}dt{font-weight:bold;margin-top:10px}dd{margin:0}\n"
               "code{font-family:\"DejaVu Sans Mono\",Menlo,monospace;font-size:.9em;color:var(--muted)}\n"
               "@media print{body{background:#fff}.card{break-inside:avoid}}\n</style>\n");
}

QString card(const QString& title, const QString& content, const QString& classes = {}) {
    return QStringLiteral("<section class=\"card %1\">").arg(classes) +
           (title.isEmpty() ? QString() : QStringLiteral("<h2>%1</h2>\n").arg(html(title))) + content +
           QStringLiteral("</section>\n");
}

QString swatch(std::size_t lane) {
    return QStringLiteral("<span class=\"swatch\" style=\"background:var(--lane%1)\"></span>")
        .arg(lane % themeColors(false).lanes.size());
}

QString small_(const QString& text) {
    return QStringLiteral("<span class=\"small\">%1</span>").arg(html(text));
}

QString cell(const QString& content, const char* classes = "") {
    return QStringLiteral("<td class=\"%1\">%2</td>").arg(QLatin1String(classes), content);
}

/// Median with the spread below it, over repetitions.
QString spreadCell(const Summary& summary) {
    if (summary.n == 0) return cell(html(notMeasured()), "muted");
    QString text = html(shortTime(summary.median));
    if (summary.n > 1) {
        text += small_(tr("%1 to %2, IQR %3")
                           .arg(shortTime(summary.min), shortTime(summary.max), shortTime(summary.iqr())));
    }
    return cell(text);
}

QString speedUpCell(const Record& record, std::size_t lane) {
    if (lane == record.reference_index()) return cell(QStringLiteral("1×"), "muted");
    const SpeedUp result = speed_up(record, lane);
    if (!result.why_not.empty()) return cell(html(result.why_not), "muted");
    return cell(html(formatRatio(result.factor)), "big");
}

QString readRateCell(const Record& record, const LaneRecord& lane) {
    const double rate = lane.read_gb_s();
    if (!(rate > 0)) return cell(html(notMeasured()), "muted");
    const double limit = record.environment.read_bandwidth_gb_s;
    const QString share =
        limit > 0
            ? tr("%1 of %2").arg(formatPercent(rate / limit), formatValue(limit, Unit::gigabytes_per_second))
            : tr("limit not measured");
    return cell(html(formatValue(rate, Unit::gigabytes_per_second)) + small_(share));
}

QString exactCell(const Record& record, std::size_t index) {
    if (index == record.reference_index()) return cell(html(tr("reference")), "muted");
    const LaneRecord& lane = record.lanes[index];
    const int step = lane.first_different_token(record.reference());
    const double error = lane.max_relative_error();
    const QString error_text = std::isnan(error) ? tr("logits are not finite")
                               : error < 0       ? tr("logits not compared")
                                                 : tr("logit error %1").arg(formatError(error));
    if (step >= 0)
        return cell(html(tr("differs from token %1 on").arg(step + 1)) + small_(error_text), "bad");
    if (lane.agrees_with(record.reference())) return cell(html(tr("exact ✓")) + small_(error_text), "good");
    const bool any = std::any_of(lane.repetitions.begin(), lane.repetitions.end(),
                                 [](const RepetitionRecord& r) { return !r.steps.empty(); });
    if (!any) return cell(html(tr("did not run")), "muted");
    return cell(html(tr("same tokens, other logits")) + small_(error_text), "warn");
}

QString stripTable(const Record& record) {
    QString rows = QStringLiteral("<table class=\"strip\"><tr>");
    for (const QString& head : {tr("Lane"), tr("First token"), tr("Per token (TPOT)"), tr("Tokens / s"),
                                tr("Speed-up"), tr("Read rate"), tr("KV live"), tr("Exact?")}) {
        rows += QStringLiteral("<th>%1</th>").arg(html(head));
    }
    rows += QStringLiteral("</tr>\n");
    for (std::size_t i = 0; i < record.lanes.size(); ++i) {
        const LaneRecord& lane = record.lanes[i];
        const double rate = lane.decode_tok_s();
        const StepEvent* last = lane.repetitions.empty() || lane.repetitions.back().steps.empty()
                                    ? nullptr
                                    : &lane.repetitions.back().steps.back();
        rows += QStringLiteral("<tr>") + cell(swatch(i) + html(lane.spec.name)) + spreadCell(lane.ttft_ns()) +
                spreadCell(lane.tpot_ns()) +
                (rate > 0 ? cell(html(formatNumber(rate)), "big") : cell(html(notMeasured()), "muted")) +
                speedUpCell(record, i) + readRateCell(record, lane) +
                (last != nullptr ? cell(html(formatBytes(static_cast<double>(last->kv_bytes_live))))
                                 : cell(html(notMeasured()), "muted")) +
                exactCell(record, i) + QStringLiteral("</tr>\n");
    }
    return rows + QStringLiteral("</table>\n");
}

QString statusCard(const Record& record) {
    if (record.status == FinishReason::length) return {};
    const bool bad = record.status == FinishReason::failed || record.status == FinishReason::capacity;
    const QString text =
        tr("This run was not finished: %1.").arg(QString::fromLatin1(to_string(record.status)));
    QString content = QStringLiteral("<strong>%1</strong>").arg(html(text));
    if (!record.reason.empty()) content += QStringLiteral(" ") + html(record.reason);
    // A run that ended at the end-of-text token is whole, only shorter.
    if (record.status == FinishReason::stop_token) {
        content = html(record.reason.empty() ? tr("The run ended at the end-of-text token.")
                                             : QString::fromStdString(record.reason));
    }
    return card({}, content, bad ? QStringLiteral("status bad") : QStringLiteral("status"));
}

QString withoutProlog(const QByteArray& svg) {
    const QString text = QString::fromUtf8(svg);
    return text.mid(std::max<qsizetype>(0, text.indexOf(QLatin1String("<svg"))));
}

QString chartCards(const std::vector<RecordChart>& charts) {
    QString result;
    ExportOptions options;
    options.size = QSize(940, 350);
    options.dark = false;
    for (const RecordChart& entry : charts) {
        QString svg = withoutProlog(toSvg(*entry.chart, options));
        svg.replace(0, 4,
                    QStringLiteral("<svg role=\"img\" aria-label=\"%1\"").arg(html(entry.chart->title())));
        result += card({}, svg + small_(entry.chart->definition()), QStringLiteral("chart"));
    }
    return result;
}

/// The text with everything from the first difference to `reference` on underlined.
QString markedText(const QString& text, const QString& reference) {
    const auto pair = std::mismatch(text.begin(), text.end(), reference.begin(), reference.end());
    const qsizetype same = pair.first - text.begin();
    if (same == text.size()) return html(text);
    return html(text.left(same)) + QStringLiteral("<u>") + html(text.mid(same)) + QStringLiteral("</u>");
}

/// What a lane wrote for one request, behind its prompt.
QString proseOf(const Record& record, std::size_t request, const QString& text) {
    const auto& theirs = record.reference().texts;
    const QString reference = request < theirs.size() ? QString::fromStdString(theirs[request]) : QString();
    QString prompt =
        request < record.prompts.size() ? QString::fromStdString(record.prompts[request].text) : QString();
    if (record.prompts.size() > 1) prompt.prepend(QStringLiteral("%1. ").arg(request + 1));
    return QStringLiteral("<div class=\"prose\"><span class=\"muted\">%1</span>").arg(html(prompt)) +
           markedText(text, reference) + QStringLiteral("</div>\n");
}

QString textCard(const Record& record) {
    QString content;
    for (std::size_t i = 0; i < record.lanes.size(); ++i) {
        QString texts;
        for (std::size_t request = 0; request < record.lanes[i].texts.size(); ++request) {
            const QString text = QString::fromStdString(record.lanes[i].texts[request]);
            if (!text.isEmpty()) texts += proseOf(record, request, text);
        }
        if (texts.isEmpty()) continue;
        content += QStringLiteral("<div>") + swatch(i) + html(record.lanes[i].spec.name) +
                   QStringLiteral("</div>") + texts;
    }
    if (content.isEmpty())
        content = QStringLiteral("<p class=\"muted\">%1</p>").arg(html(tr("This model has no tokenizer.")));
    return card(tr("Text"), content);
}

class Facts {
public:
    void add(const QString& name, const QString& value) {
        m_rows += QStringLiteral("<tr><th>%1</th><td>%2</td></tr>\n").arg(html(name), html(value));
    }
    QString table() const {
        return QStringLiteral("<table class=\"facts\">") + m_rows + QStringLiteral("</table>\n");
    }

private:
    QString m_rows;
};

QString laneText(const LaneSpec& lane) {
    QStringList parts{QString::fromLatin1(to_string(lane.mode))};
    if (lane.mode == LaneMode::cached) {
        parts << tr("%1 cache").arg(QString::fromLatin1(to_string(lane.cache.kind)));
        if (lane.cache.capacity > 0) parts << tr("capacity %1").arg(formatCount(lane.cache.capacity));
    }
    if (lane.prefill_chunk > 0) parts << tr("prefill in chunks of %1").arg(lane.prefill_chunk);
    if (!lane.prefill_partition.empty()) {
        QStringList sizes;
        for (const int size : lane.prefill_partition) sizes << QString::number(size);
        parts << tr("prefill in chunks of %1").arg(sizes.join(QStringLiteral(" + ")));
    }
    parts << tr("%1 buffers").arg(QString::fromLatin1(to_string(lane.allocation)));
    for (const std::string& fault : lane.faults) parts << tr("fault %1").arg(QString::fromStdString(fault));
    return parts.join(QStringLiteral(", "));
}

/// "7 prompt tokens", "4 requests of 3 to 19 prompt tokens".
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

QString runCard(const Record& record) {
    const Experiment& experiment = record.experiment;
    const ModelConfig& model = record.model;
    Facts facts;
    // One call with every argument: a name with a percent sign in it must not be taken for a place.
    facts.add(tr("Model"),
              tr("%1: %2 family, %3 parameters, %4 layers, %5 heads, head dimension %6, stored as %7")
                  .arg(QString::fromStdString(model.name), QString::fromLatin1(to_string(model.family)),
                       formatCount(model.n_parameter()), QString::number(model.n_layer),
                       QString::number(model.n_head), QString::number(model.head_dim),
                       QString::fromLatin1(to_string(model.stored_dtype))));
    facts.add(tr("Weights"), tr("%1, %2").arg(formatBytes(static_cast<double>(record.weight_bytes)),
                                              orUnknown(record.model_source)));
    facts.add(tr("Model hash"), orUnknown(record.model_hash));
    facts.add(tr("Prompt"), promptsText(record));
    facts.add(tr("New tokens"), formatCount(experiment.new_tokens));
    const Sampling& sampling = experiment.sampling;
    facts.add(tr("Sampling"), sampling.kind == SamplingKind::greedy
                                  ? tr("greedy")
                                  : tr("temperature %1, top-k %2, seed %3")
                                        .arg(formatNumber(sampling.temperature),
                                             sampling.top_k == 0 ? tr("all") : formatCount(sampling.top_k))
                                        .arg(sampling.seed));
    facts.add(tr("Drive"), QString::fromLatin1(to_string(experiment.drive)));
    facts.add(tr("Warm-up, repetitions"), tr("%1, %2").arg(experiment.warmup).arg(experiment.repetitions));
    facts.add(tr("Lanes alternate by"), QString::fromLatin1(to_string(experiment.effective_interleave())));
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
        facts.add(tr("Lane %1").arg(QString::fromStdString(lane.spec.name)), text);
    }
    return card(tr("What was run"), facts.table());
}

QString environmentCard(const Environment& e) {
    Facts facts;
    QStringList sets;
    for (const std::string& set : e.instruction_sets) sets << QString::fromStdString(set);
    const auto count = [](int n) { return n > 0 ? formatCount(n) : tr("not known"); };
    facts.add(tr("Program"),
              tr("DecodeScope %1, commit %2").arg(orUnknown(e.program_version), orUnknown(e.commit)));
    facts.add(tr("Compiler"), orUnknown(e.compiler));
    facts.add(tr("Compiler flags"), orUnknown(e.compiler_flags));
    facts.add(tr("Processor"), orUnknown(e.cpu_model));
    facts.add(tr("Instruction sets"), sets.isEmpty() ? tr("not known") : sets.join(QStringLiteral(", ")));
    facts.add(tr("Cores"),
              tr("%1 physical, %2 logical").arg(count(e.physical_cores), count(e.logical_cores)));
    facts.add(tr("Threads used"), count(e.threads));
    facts.add(tr("Frequency governor"), orUnknown(e.governor));
    facts.add(tr("BLAS"), orUnknown(e.blas));
    facts.add(tr("Operating system"), orUnknown(e.os));
    facts.add(tr("Memory"),
              e.memory_bytes > 0 ? formatBytes(static_cast<double>(e.memory_bytes)) : tr("not known"));
    facts.add(tr("Read bandwidth"), e.read_bandwidth_gb_s > 0
                                        ? formatValue(e.read_bandwidth_gb_s, Unit::gigabytes_per_second)
                                        : notMeasured());
    facts.add(tr("Load before the run"),
              e.load_average >= 0 ? formatNumber(e.load_average) : tr("not known"));
    return card(tr("Where"), facts.table());
}

QString definitionsCard() {
    QString list = QStringLiteral("<dl>");
    for (const Definition& definition : definitions()) {
        list += QStringLiteral("<dt>%1 <code>%2</code></dt><dd>%3</dd>\n")
                    .arg(html(definition.title), html(definition.name), html(definition.text));
    }
    return card(tr("What the numbers mean"), list + QStringLiteral("</dl>\n"));
}

}  // namespace

QByteArray htmlReport(const Record& record, const std::vector<RecordChart>& charts) {
    const QString model = QString::fromStdString(record.model.name);
    QString page = QStringLiteral(
                       "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                       "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                       "<meta name=\"generator\" content=\"DecodeScope\">\n<title>%1</title>\n")
                       .arg(html(tr("Decoding %1").arg(model)));
    page += styleSheet() + QStringLiteral("</head>\n<body>\n<main>\n");
    page += QStringLiteral("<h1>%1</h1>\n<div class=\"muted\">%2</div>\n")
                .arg(html(tr("Decoding %1").arg(model)),
                     html(tr("%1 · %2 · %3 new tokens · %4 · DecodeScope")
                              .arg(record.started_at.empty() ? tr("time not known")
                                                             : QString::fromStdString(record.started_at),
                                   promptsText(record), QString::number(record.experiment.new_tokens),
                                   record.experiment.repetitions == 1
                                       ? tr("1 repetition")
                                       : tr("%1 repetitions").arg(record.experiment.repetitions))));
    page += statusCard(record);
    page += card({}, stripTable(record));
    page += chartCards(charts);
    page += textCard(record);
    page += runCard(record);
    page += environmentCard(record.environment);
    page += definitionsCard();
    page += QStringLiteral("</main>\n</body>\n</html>\n");
    return page.toUtf8();
}

}  // namespace decodescope
