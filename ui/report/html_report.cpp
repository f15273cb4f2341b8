// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/report/html_report.h"

#include <QStringList>

#include <algorithm>
#include <cmath>
#include <functional>

#include "ui/chart/export.h"
#include "ui/exactness/verdict_words.h"
#include "ui/memory/cache_table.h"
#include "ui/race/lane_summary.h"
#include "ui/report/definitions.h"
#include "ui/report/notes_html.h"
#include "ui/report/report_facts.h"
#include "ui/text.h"
#include "ui/theme/theme.h"

namespace decodescope {

namespace {

QString html(const QString& text) {
    return text.toHtmlEscaped();
}

QString html(const std::string& text) {
    return html(QString::fromStdString(text));
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

QString htmlStyle() {
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
               "table.strip .small{white-space:normal}\n"
               "table.strip tr+tr td{border-top:1px solid var(--border)}\n"
               "table.strip td:first-child,table.strip th:first-child{text-align:left;padding-left:0}\n"
               "table.facts th{width:15em}\n"
               ".big{font-weight:bold;font-size:1.12em}\n"
               ".notes>:first-child{margin-top:0}.notes>:last-child{margin-bottom:0}\n"
               ".notes h2,.notes h3,.notes h4{font-size:1.08em;margin:14px 0 6px}.notes p,.notes ul,.notes ol"
               "{margin:6px 0}\n"
               ".notes td,.notes th{padding:3px 14px 3px 0}.notes pre,.notes blockquote{margin:8px "
               "0;padding:2px 0 "
               "2px 12px;border-left:3px solid var(--border);overflow-x:auto}\n.compared{margin:0}\n"
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
    const QString ratio = html(formatRatio(result.factor));
    return cell(
        result.approximation.empty() ? ratio : ratio + small_(QString::fromStdString(result.approximation)),
        "big");
}

QString readRateCell(const Record& record, const LaneRecord& lane) {
    const double rate = lane.read_gb_s();
    if (!(rate > 0)) return cell(html(notMeasured()), "muted");
    const double limit = read_limit_gb_s(record.environment, record.experiment.device_of(lane.spec).name());
    const QString share =
        limit > 0
            ? tr("%1 of %2").arg(formatPercent(rate / limit), formatValue(limit, Unit::gigabytes_per_second))
            : tr("limit not measured");
    return cell(html(formatValue(rate, Unit::gigabytes_per_second)) + small_(share));
}

QString exactCell(const LaneSummary& lane) {
    const QString error = std::isnan(lane.maxError) ? tr("logits are not finite")
                          : lane.maxError < 0       ? tr("logits not compared")
                                                    : tr("logit error %1").arg(formatError(lane.maxError));
    switch (lane.agreement) {
        case Agreement::reference: return cell(html(tr("reference")), "muted");
        case Agreement::exact: return cell(html(tr("exact ✓")) + small_(error), "good");
        case Agreement::approximate: return cell(html(lane.approximation) + small_(error));
        case Agreement::close: return cell(html(tr("same tokens, other logits")) + small_(error), "warn");
        case Agreement::differs:
            return cell(html(tr("differs from token %1 on").arg(lane.firstDifferent)) + small_(error), "bad");
        case Agreement::unknown: break;
    }
    return cell(html(lane.firstTokenNs < 0 ? tr("did not run") : tr("not compared")), "muted");
}

QString timeCell(double ns) {
    return ns < 0 ? cell(html(notMeasured()), "muted") : cell(html(shortTime(ns)));
}

QString rateCell(double rate, const char* classes) {
    return rate > 0 ? cell(html(formatNumber(rate)), classes) : cell(html(notMeasured()), "muted");
}

QString draftsCell(const LaneSummary& lane) {
    if (lane.tokensPerCheck < 0) return cell(QStringLiteral("–"), "muted");
    QStringList shares;
    for (const LaneRecord::DraftCount& count : lane.drafts)
        shares << QString::number(100.0 * static_cast<double>(count.accepted) /
                                      static_cast<double>(std::max<std::int64_t>(1, count.drafted)),
                                  'f', 0);
    return cell(html(tr("%1 per step").arg(formatNumber(lane.tokensPerCheck))) +
                small_(tr("kept: %1 %").arg(shares.join(QLatin1Char(' ')))));
}

QString qualityCell(const LaneSummary& lane) {
    if (lane.agreement != Agreement::approximate || lane.quality.n == 0)
        return cell(QStringLiteral("–"), "muted");
    return cell(html(tr("KL %1").arg(formatError(lane.quality.mean_kl))) +
                small_(tr("top-1 %1, Δp %2")
                           .arg(formatPercent(lane.quality.top1_agreement),
                                formatError(lane.quality.rms_probability_change))));
}

/// One column of the strip: its head and what stands in it.
struct StripColumn {
    QString head;
    std::function<QString(std::size_t lane)> cell;
};

std::vector<StripColumn> stripColumns(const Record& record, const std::vector<LaneSummary>& lanes) {
    const auto any = [&](auto&& wanted) { return std::any_of(lanes.begin(), lanes.end(), wanted); };
    const auto continuous = [](const LaneRecord& lane) { return lane.spec.batching == Batching::continuous; };
    std::vector<StripColumn> columns;
    columns.push_back({tr("Lane"), [&](std::size_t i) { return cell(swatch(i) + html(lanes[i].name)); }});
    if (std::any_of(record.lanes.begin(), record.lanes.end(), continuous))
        columns.push_back({tr("Queue wait"), [&](std::size_t i) { return timeCell(lanes[i].queueNs); }});
    columns.push_back(
        {tr("First token"), [&](std::size_t i) { return spreadCell(record.lanes[i].ttft_ns()); }});
    columns.push_back(
        {tr("Per token (TPOT)"), [&](std::size_t i) { return spreadCell(record.lanes[i].tpot_ns()); }});
    columns.push_back(
        {tr("Tokens / s"), [&](std::size_t i) { return rateCell(lanes[i].tokensPerSecond, "big"); }});
    if (record.prompts.size() > 1)
        columns.push_back(
            {tr("With prefill"), [&](std::size_t i) { return rateCell(lanes[i].totalTokensPerSecond, ""); }});
    columns.push_back({tr("Speed-up"), [&](std::size_t i) { return speedUpCell(record, i); }});
    if (any([](const LaneSummary& lane) { return lane.tokensPerCheck >= 0; }))
        columns.push_back({tr("Drafts kept"), [&](std::size_t i) { return draftsCell(lanes[i]); }});
    columns.push_back(
        {tr("Read rate"), [&](std::size_t i) { return readRateCell(record, record.lanes[i]); }});
    columns.push_back({tr("KV live"), [&](std::size_t i) {
                           const std::int64_t bytes = lanes[i].kvBytesLive;
                           return bytes < 0 ? cell(html(notMeasured()), "muted")
                                            : cell(html(formatBytes(static_cast<double>(bytes))));
                       }});
    if (any([](const LaneSummary& lane) { return lane.agreement == Agreement::approximate; }))
        columns.push_back({tr("Distance"), [&](std::size_t i) { return qualityCell(lanes[i]); }});
    columns.push_back({tr("Exact?"), [&](std::size_t i) { return exactCell(lanes[i]); }});
    return columns;
}

QString stripTable(const Record& record) {
    const std::vector<LaneSummary> lanes = summarizeLanes(record);
    const std::vector<StripColumn> columns = stripColumns(record, lanes);
    QString rows = QStringLiteral("<table class=\"strip\"><tr>");
    for (const StripColumn& column : columns) rows += QStringLiteral("<th>%1</th>").arg(html(column.head));
    rows += QStringLiteral("</tr>\n");
    for (std::size_t i = 0; i < lanes.size(); ++i) {
        rows += QStringLiteral("<tr>");
        for (const StripColumn& column : columns) rows += column.cell(i);
        rows += QStringLiteral("</tr>\n");
    }
    return rows + QStringLiteral("</table>\n");
}

/// Where each cache's bytes were and what a decode step allocated: the table of the Memory screen.
QString cacheCard(const Record& record) {
    CacheTableModel model;
    model.setRecord(record);
    const auto textAt = [&](int row, int column) {
        return row < 0 ? model.headerData(column, Qt::Horizontal, Qt::DisplayRole)
                             .toString()
                             .section(QChar(0x9c), 0, 0)
                       : model.index(row, column).data().toString();
    };
    QString rows = QStringLiteral("<table class=\"strip\">");
    for (int row = -1; row < model.rowCount(); ++row) {
        rows += QStringLiteral("<tr>");
        for (int column = 0; column < model.columnCount(); ++column) {
            const QString text = html(textAt(row, column));
            rows += row < 0 ? QStringLiteral("<th>%1</th>").arg(text)
                            : cell(column == 0 ? swatch(static_cast<std::size_t>(row)) + text : text);
        }
        rows += QStringLiteral("</tr>\n");
    }
    return card(titleOf(ReportPart::cache),
                rows + QStringLiteral("</table>\n") +
                    small_(tr("Formula against measured, at each lane's fullest step; buffers, "
                              "allocations and page faults are medians over decode steps.")));
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

/// With the title once more: the letters of a drawing cannot be searched in every format.
QString caption(const LineChart& chart) {
    return QStringLiteral("<span class=\"small\"><strong>%1.</strong> %2</span>")
        .arg(html(chart.title()), html(chart.definition()));
}

QString chartCards(const std::vector<RecordChart>& charts, const ReportContent& content) {
    QString result;
    for (const RecordChart* picked : pickedCharts(charts, content)) {
        const RecordChart& entry = *picked;
        QString svg = withoutProlog(entry.svg.isEmpty() ? reportSvg(*entry.chart) : entry.svg);
        svg.replace(0, 4,
                    QStringLiteral("<svg role=\"img\" aria-label=\"%1\"").arg(html(entry.chart->title())));
        result += card({}, svg + caption(*entry.chart), QStringLiteral("chart"));
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
    return card(titleOf(ReportPart::texts), content);
}

QString factsCard(ReportPart part, const QList<Fact>& facts) {
    QString rows;
    for (const Fact& fact : facts)
        rows += QStringLiteral("<tr><th>%1</th><td>%2</td></tr>\n").arg(html(fact.name), html(fact.value));
    return card(titleOf(part),
                QStringLiteral("<table class=\"facts\">") + rows + QStringLiteral("</table>\n"));
}

QString definitionsCard() {
    QString list = QStringLiteral("<dl>");
    for (const Definition& definition : definitions()) {
        list += QStringLiteral("<dt>%1 <code>%2</code></dt><dd>%3</dd>\n")
                    .arg(html(definition.title), html(definition.name), html(definition.text));
    }
    return card(titleOf(ReportPart::definitions), list + QStringLiteral("</dl>\n"));
}

QString notesCard(const RecordNotes& notes) {
    const QString content = notesHtml(QString::fromStdString(notes.text));
    return content.isEmpty() ? QString() : card({}, content, QStringLiteral("notes"));
}

QString comparedCard(const ComparedRun& compared) {
    return compared.record == nullptr
               ? QString()
               : card({}, QStringLiteral("<p class=\"compared\">%1</p>\n").arg(html(compared.sentence)));
}

/// What each lane was found to be, and why.
QString verdictsCard(const Record& record, const std::map<int, Verdict>& verdicts) {
    QString content;
    for (const auto& [lane, verdict] : verdicts) {
        const auto i = static_cast<std::size_t>(lane);
        if (lane < 0 || i >= record.lanes.size()) continue;
        const VerdictLook look = lookOf(verdict.word);
        const char* tone = look.tone == ColorRef::Role::good   ? "good"
                           : look.tone == ColorRef::Role::bad  ? "bad"
                           : look.tone == ColorRef::Role::warn ? "warn"
                                                               : "";
        content +=
            QStringLiteral("<div>") + swatch(i) + html(record.lanes[i].spec.name) +
            QStringLiteral(" · <strong class=\"%1\">%2 %3</strong> <span class=\"muted\">%4</span></div>\n")
                .arg(QLatin1String(tone), look.symbol, html(headlineOf(verdict)),
                     html(certaintyText(verdict.certainty)));
        content += QStringLiteral("<p>%1</p>\n").arg(html(verdict.summary));
        QString evidence;
        for (const VerdictEvidence& each : verdict.evidence) {
            evidence += QStringLiteral("<li>%1 %2</li>\n")
                            .arg(each.held ? QStringLiteral("✓") : QStringLiteral("✗"), html(each.text));
        }
        if (!evidence.isEmpty()) content += QStringLiteral("<ul>\n%1</ul>\n").arg(evidence);
        if (!verdict.next.empty()) content += QStringLiteral("<p>%1</p>\n").arg(html(verdict.next));
    }
    return content.isEmpty() ? QString() : card(titleOf(ReportPart::verdicts), content);
}

}  // namespace

QByteArray reportSvg(LineChart& chart) {
    ExportOptions options;
    options.size = QSize(940, 350);
    options.dark = false;
    return toSvg(chart, options);
}

QByteArray htmlReport(const Record& record, const std::vector<RecordChart>& charts,
                      const ReportContent& content) {
    const QString title = html(titleOf(record, content));
    QString page = QStringLiteral(
                       "<!DOCTYPE html>\n<html lang=\"%2\">\n<head>\n<meta charset=\"utf-8\">\n"
                       "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                       "<meta name=\"generator\" content=\"DecodeScope\">\n<title>%1</title>\n")
                       .arg(title, tr("en"));
    page += htmlStyle() + QStringLiteral("</head>\n<body>\n<main>\n");
    page +=
        QStringLiteral("<h1>%1</h1>\n<div class=\"muted\">%2</div>\n")
            .arg(title, html(tr("%1 · %2 · %3 new tokens · %4 · DecodeScope")
                                 .arg(record.started_at.empty() ? tr("time not known")
                                                                : QString::fromStdString(record.started_at),
                                      promptsText(record), QString::number(record.experiment.new_tokens),
                                      record.experiment.repetitions == 1
                                          ? tr("1 repetition")
                                          : tr("%1 repetitions").arg(record.experiment.repetitions))));
    page += statusCard(record);
    page += notesCard(content.notes);
    if (content.has(ReportPart::lanes)) page += card({}, stripTable(record));
    page += comparedCard(content.compared);
    if (content.has(ReportPart::cache)) page += cacheCard(record);
    page += chartCards(charts, content);
    if (content.has(ReportPart::verdicts)) page += verdictsCard(record, content.verdicts);
    if (content.has(ReportPart::texts)) page += textCard(record);
    if (content.has(ReportPart::run)) page += factsCard(ReportPart::run, runFacts(record));
    if (content.has(ReportPart::environment))
        page += factsCard(ReportPart::environment, environmentFacts(record.environment));
    if (content.has(ReportPart::definitions)) page += definitionsCard();
    page += QStringLiteral("</main>\n</body>\n</html>\n");
    return page.toUtf8();
}

}  // namespace decodescope
