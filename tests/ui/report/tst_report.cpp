// SPDX-License-Identifier: GPL-3.0-or-later
#include <QApplication>
#include <QDir>
#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QProcess>
#include <QRegularExpression>
#include <QSet>
#include <QStandardPaths>
#include <QSvgRenderer>
#include <QTemporaryDir>
#include <QTest>
#include <QXmlStreamReader>
#include <sys/resource.h>

#include <cmath>
#include <csignal>

#include "engine/experiment/report_text.h"
#include "tests/patience.h"
#include "tests/ui/report/report_record.h"
#include "ui/chart/export.h"
#include "ui/report/definitions.h"
#include "ui/report/html_report.h"
#include "ui/report/memory_charts.h"
#include "ui/report/record_charts.h"
#include "ui/report/render.h"
#include "ui/report/report_document.h"
#include "ui/theme/theme.h"

using namespace decodescope;
using namespace decodescope::test;

namespace {

QString reportOf(const Record& record) {
    return QString::fromUtf8(htmlReport(record, makeRecordCharts(record)));
}

/// The visible text: no style, no SVG, no tags.
QString textOf(QString html) {
    html.remove(QRegularExpression(QStringLiteral("<style>.*?</style>"),
                                   QRegularExpression::DotMatchesEverythingOption));
    html.remove(
        QRegularExpression(QStringLiteral("<svg.*?</svg>"), QRegularExpression::DotMatchesEverythingOption));
    html.replace(QRegularExpression(QStringLiteral("<[^>]*>")), QStringLiteral(" "));
    return html.replace(QChar(QChar::Nbsp), QLatin1Char(' ')).simplified();
}

double cellOf(const LineChart& chart, std::size_t row, int column) {
    return chart.table(DataRange::all).rows.at(row).at(column).toDouble();
}

}  // namespace

class ReportTest : public QObject {
    Q_OBJECT

private slots:
    void initTestCase();
    void latencyIsTheMedian();
    void totalTimeIncludesThePrefill();
    void memoryAndCache();
    void logitErrors();
    void reportSaysTheNumbers();
    void reportIsSelfContained();
    void reportFollowsTheReadersTheme();
    void everyNumberIsDefined();
    void differentOutputHasNoSpeedUp();
    void severalRequests();
    void approximateLanes();
    void unfinishedRunsSaySo_data();
    void unfinishedRunsSaySo();
    void hostileTextsStayText();
    void emptyRecords();
    void renderWritesEverything();
    void everyFileOpensAgain();
    void pdfReportHasEverything();
    void onlyWhatWasAskedFor();
    void canBeLeftAtAnyTime();
    void fullDiskLeavesNoHalfFile();
    void renderFailures();
};

void ReportTest::initTestCase() {
    QApplication::setStyle(QStringLiteral("Fusion"));
    QApplication::setPalette(themePalette(false));
}

void ReportTest::latencyIsTheMedian() {
    LineChart chart;
    showLatency(chart, makeRecord());
    const Table table = chart.table(DataRange::all);
    QCOMPARE(table.columns.join(QLatin1Char(',')), QStringLiteral("token,naive_low_ms,naive_high_ms,naive_ms,"
                                                                  "cached_low_ms,cached_high_ms,cached_ms"));
    QCOMPARE(table.rows.size(), std::size_t{newTokens - 1});
    // Token 2 is decode step 1: 11, 12 and 13 ms in the three repetitions.
    QCOMPARE(table.rows[0].join(QLatin1Char(',')), QStringLiteral("2,11,13,12,2,4,3"));
    QCOMPARE(cellOf(chart, newTokens - 2, 3), 10.0 + newTokens - 1 + 1);
}

void ReportTest::totalTimeIncludesThePrefill() {
    LineChart chart;
    const Record record = makeRecord();
    showTotalTime(chart, record);
    QCOMPARE(cellOf(chart, 0, 0), 1.0);
    QVERIFY(std::abs(cellOf(chart, 0, 1) - 0.031) < 1e-12);
    const double all = static_cast<double>(record.lanes[0].repetitions[1].e2e_ns()) * 1e-9;
    QVERIFY(std::abs(cellOf(chart, newTokens - 1, 1) - all) < 1e-9);
}

void ReportTest::memoryAndCache() {
    const Record record = makeRecord();
    LineChart memory;
    showMemory(memory, record);
    QCOMPARE(memory.table(DataRange::all).columns.join(QLatin1Char(',')),
             QStringLiteral("time_s,weights_bytes,kv_bytes,activations_bytes,logits_bytes,workspace_bytes,"
                            "allocator_keeps_bytes,unaccounted_bytes,resident_rss_bytes"));
    QCOMPARE(cellOf(memory, 0, 1), 12e6);
    QCOMPARE(cellOf(memory, 0, 7), 40e6 - 12e6 - 500'000 - 8'000 - 4'000);
    QCOMPARE(cellOf(memory, 0, 8), 40e6);
    // The system told nothing about its allocator, and no cache copied: no such charts.
    QVERIFY(memory.table(DataRange::all).rows[0][6].isEmpty());
    for (const RecordChart& entry : makeRecordCharts(record))
        QVERIFY(!QStringList({"allocator", "page_faults", "kv_copied"}).contains(entry.name));
    // As shares of the resident memory they make 100 %.
    LineChart share;
    setUpMemoryChart(share, MemoryScale::share);
    for (const MemorySample& sample : memory_samples(record)) appendMemory(share, sample, MemoryScale::share);
    QCOMPARE(share.table(DataRange::all).columns[1], QStringLiteral("weights_percent"));
    QCOMPARE(cellOf(share, 0, 1), 100 * 12e6 / 40e6);
    double sum = 0;
    for (const int column : {1, 2, 3, 4, 5, 7}) sum += cellOf(share, 0, column);
    QVERIFY(std::abs(sum - 100) < 1e-9);
    LineChart kv;
    showKv(kv, record);
    QCOMPARE(kv.seriesCount(), 2);  // live and reserved of the one lane that has a cache
    QCOMPARE(cellOf(kv, 0, 1), 7 * 1024.0);
    QCOMPARE(cellOf(kv, 5, 2), 32 * 1024.0);
}

void ReportTest::logitErrors() {
    LineChart chart;
    showLogitError(chart, makeRecord());
    QCOMPARE(chart.seriesCount(), 1);
    QCOMPARE(cellOf(chart, 0, 1), 2.5e-6);
    QCOMPARE(cellOf(chart, 3, 1), 0.0);
}

void ReportTest::reportSaysTheNumbers() {
    const Record record = makeRecord();
    const QString text = textOf(reportOf(record));
    // TPOT of the cached lane: 2, 3 and 4 ms. Naive: 20, 21 and 22 ms.
    for (const char* expected :
         {"Decoding demo", "2026-01-02T03:04:05Z", "7 prompt tokens",
          "naive 31.0 ms 30.0 ms to 32.0 ms, IQR 1.00 ms", "21.0 ms 20.0 ms to 22.0 ms, IQR 1.00 ms",
          "3.00 ms 2.00 ms to 4.00 ms, IQR 1.00 ms", "333", "7.00×", "of 20.0 GB/s", "reference",
          "exact ✓ logit error 2.5e-6", "26.0 KiB", "Test CPU", "not known",
          "It is a truth universally acknowledged, that a single man"}) {
        QVERIFY2(text.contains(QString::fromUtf8(expected)), expected);
    }
    QVERIFY(!text.contains(QStringLiteral("not finished")));
}

void ReportTest::reportIsSelfContained() {
    const QString html = reportOf(makeRecord());
    QVERIFY(html.startsWith(QStringLiteral("<!DOCTYPE html>")));
    QVERIFY(!html.contains(QRegularExpression(QStringLiteral("(src|href)=\"(?!#|data:)"))));
    QVERIFY(!html.contains(QStringLiteral("<script")));
    QVERIFY(!html.contains(QStringLiteral("@import")) && !html.contains(QStringLiteral("url(")));
    // Five charts, each a whole SVG that can be drawn.
    const QRegularExpression svg(QStringLiteral("<svg .*?</svg>"),
                                 QRegularExpression::DotMatchesEverythingOption);
    int n = 0;
    for (auto it = svg.globalMatch(html); it.hasNext(); ++n) {
        QVERIFY(QSvgRenderer(it.next().captured().toUtf8()).isValid());
    }
    QCOMPARE(n, 5);
}

void ReportTest::reportFollowsTheReadersTheme() {
    const QString html = reportOf(makeRecord());
    const qsizetype dark = html.indexOf(QStringLiteral("prefers-color-scheme: dark"));
    QVERIFY(dark > 0);
    const QString rule = QStringLiteral("svg [stroke=\"%1\"]{stroke:%2}")
                             .arg(themeColors(false).lanes[0].name(), themeColors(true).lanes[0].name());
    QVERIFY(html.indexOf(rule) > dark);
    // Every colour of the charts has such a rule.
    const QRegularExpression color(QStringLiteral("(?:fill|stroke)=\"(#[0-9a-f]{6})\""));
    const QString charts = html.mid(html.indexOf(QStringLiteral("<svg")));
    for (auto it = color.globalMatch(charts); it.hasNext();) {
        const QString name = it.next().captured(1);
        QVERIFY2(html.contains(QStringLiteral("=\"%1\"]{").arg(name)) || name == QLatin1String("#000000"),
                 qPrintable(name));
    }
}

void ReportTest::everyNumberIsDefined() {
    const QString text = textOf(reportOf(makeRecord()));
    QVERIFY(definitions().size() >= 12);
    for (const Definition& definition : definitions()) {
        QVERIFY2(text.contains(definition.text), qPrintable(definition.name));
        QVERIFY(definition.text.endsWith(QLatin1Char('.')));
    }
    for (const RecordChart& entry : makeRecordCharts(makeRecord()))
        QVERIFY(!entry.chart->definition().isEmpty());
}

void ReportTest::differentOutputHasNoSpeedUp() {
    Record record = makeRecord();
    record.lanes[1].repetitions[1].chosen[4].token = 7;
    record.lanes[1].texts = {" a single woman"};
    const QString html = reportOf(record);
    const QString text = textOf(html);
    QVERIFY(text.contains(QStringLiteral("differs from token 5 on")));
    QVERIFY(!text.contains(QStringLiteral("7.00×")));
    QVERIFY(text.contains(QStringLiteral("not shown: output differs")));
    QVERIFY(html.contains(QStringLiteral(" a single <u>woman</u>")));
}

void ReportTest::severalRequests() {
    Record record = makeRecord();
    record.prompts.push_back({{1, 2, 3}, "My dear"});
    record.experiment.prompts.resize(2);
    record.lanes[1].spec.batching = Batching::continuous;
    for (LaneRecord& lane : record.lanes) {
        lane.texts.push_back(" Mr. Bennet");
        for (RepetitionRecord& repetition : lane.repetitions) {
            for (StepEvent& step : repetition.steps) step.n_token = step.n_row = 2;
            const auto first = repetition.chosen;
            for (TokenEvent token : first) {
                token.request = 1;
                repetition.chosen.push_back(token);
            }
            RequestRecord request;
            request.arrived_ns = 5 * ms;
            request.started_ns = 9 * ms;
            request.first_token_ns = 30 * ms;
            repetition.requests = {request, request};
        }
    }
    const QString text = textOf(reportOf(record));
    for (const char* expected : {"2 requests of 3 to 7 prompt tokens",
                                 "1. It is a truth universally acknowledged, that a single man",
                                 "2. My dear Mr. Bennet", "Queue wait", "With prefill", "4.00 ms"})
        QVERIFY2(text.contains(QString::fromUtf8(expected)), expected);
    LineChart chart;
    showTotalTime(chart, record);
    QCOMPARE(cellOf(chart, 0, 0), 2.0);  // two tokens after the first step
    LineChart errors;
    showLogitError(errors, record);
    QCOMPARE(errors.table(DataRange::all).rows.size(), std::size_t{newTokens});
}

void ReportTest::approximateLanes() {
    Record record = makeRecord();
    record.lanes[1].spec.cache = {.kind = CacheKind::kivi, .bits = 2};
    record.experiment.lanes[1] = record.lanes[1].spec;
    for (RepetitionRecord& repetition : record.lanes[1].repetitions) {
        for (TokenEvent& token : repetition.chosen) {
            token.comparison.kl_divergence = 3e-4;
            token.comparison.relative_error = 0.2;
        }
    }
    const QString text = textOf(reportOf(record));
    for (const char* expected :
         {"2-bit entries logit error 2e-1", "7.00× 2-bit entries", "Distance", "KL 3e-4 top-1 100 %, Δp 0"})
        QVERIFY2(text.contains(QString::fromUtf8(expected)), expected);
    QVERIFY(!text.contains(QStringLiteral("other logits")));
}

void ReportTest::unfinishedRunsSaySo_data() {
    QTest::addColumn<FinishReason>("status");
    QTest::addColumn<QString>("text");
    QTest::newRow("cancelled") << FinishReason::cancelled
                               << "This run was not finished: cancelled. Stopped by the user.";
    QTest::newRow("capacity") << FinishReason::capacity
                              << "This run was not finished: capacity. Stopped by the user.";
    QTest::newRow("end of text") << FinishReason::stop_token << "Stopped by the user.";
}

void ReportTest::unfinishedRunsSaySo() {
    QFETCH(FinishReason, status);
    QFETCH(QString, text);
    Record record = makeRecord();
    record.status = status;
    record.reason = "Stopped by the user.";
    const QString report = textOf(reportOf(record));
    QVERIFY(report.contains(text));
    QCOMPARE(report.contains(QStringLiteral("not finished")), status != FinishReason::stop_token);
}

void ReportTest::hostileTextsStayText() {
    Record record = makeRecord();
    record.model.name = "<script>alert(1)</script> %1 %3";
    record.prompts[0].text = "<b>&amp; %2";
    record.lanes[0].spec.name = "\"quoted\" <i>";
    record.lanes[0].texts = record.lanes[1].texts = {"</div><img src=x> %1"};
    const QString html = reportOf(record);
    for (const char* raw : {"<script", "<b>", "<i>", "<img"})
        QVERIFY2(!html.contains(QLatin1String(raw)), raw);
    QVERIFY(html.contains(QStringLiteral("&lt;script&gt;alert(1)&lt;/script&gt; %1 %3: gpt2 family")));
    QVERIFY(html.contains(QStringLiteral("&lt;b&gt;&amp;amp; %2")));
    QVERIFY(html.contains(QStringLiteral("&lt;img src=x&gt; %1")));
}

void ReportTest::emptyRecords() {
    Record record = makeRecord();
    record.status = FinishReason::failed;
    record.reason = "The first step had a logit that is not a number.";
    for (LaneRecord& lane : record.lanes) {
        lane.repetitions.clear();
        lane.texts.clear();
    }
    QVERIFY(makeRecordCharts(record).empty());
    const QString text = textOf(reportOf(record));
    QVERIFY(text.contains(QStringLiteral("did not run")));
    QVERIFY(text.contains(QStringLiteral("not measured")));
    QVERIFY(text.contains(QStringLiteral("not a number")));
}

void ReportTest::renderWritesEverything() {
    QTemporaryDir dir;
    const QString out = dir.filePath(QStringLiteral("a/b"));
    const Result<QStringList> files = renderRecord(makeRecord(), out);
    QVERIFY2(files.ok(), files ? "" : files.error().message.c_str());
    QCOMPARE(QFileInfo(files->first()).fileName(), QStringLiteral("report.html"));
    QCOMPARE(QDir(out).entryList(QDir::Files).size(), files->size());
    QCOMPARE(files->size(), 5 * 4 + 6);
    for (const QString& file : *files) QVERIFY2(QFileInfo(file).size() > 40, qPrintable(file));
    QCOMPARE(QImage(QDir(out).filePath(QStringLiteral("latency.png"))).size(), QSize(1920, 840));
    // A second time over the first works as well.
    QVERIFY(renderRecord(makeRecord(), out).ok());
    QCOMPARE(QDir(out).entryList(QDir::Files).size(), files->size());
}

void ReportTest::everyFileOpensAgain() {
    QTemporaryDir dir;
    const Record record = makeRecord();
    QVERIFY(renderRecord(record, dir.path()).ok());
    const auto content = [&](const char* name) {
        QFile file(dir.filePath(QLatin1String(name)));
        return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
    };
    // What the command line prints for the same record.
    QCOMPARE(content("record.json"), QByteArray::fromStdString(to_json(record)));
    QVERIFY(QJsonDocument::fromJson(content("record.json")).isObject());
    QVERIFY(content("summary.md").startsWith(QByteArray::fromStdString(to_markdown(record))));
    QVERIFY(content("summary.md").contains("![Latency per token](latency.svg)"));
    QCOMPARE(content("steps.csv"), QByteArray::fromStdString(to_csv(record)));
    const QJsonObject trace = QJsonDocument::fromJson(content("chrome_trace.json")).object();
    QVERIFY(trace.value(QStringLiteral("traceEvents")).toArray().size() >= 2 * repetitions * newTokens);
    for (const char* name : {"latency", "total_time", "memory", "kv_cache", "logit_error"}) {
        const QString stem = dir.filePath(QLatin1String(name));
        const QImage image(stem + QStringLiteral(".png"));
        QCOMPARE(image.size(), QSize(1920, 840));
        QSet<QRgb> colors;
        for (int y = 0; y < image.height(); y += 5)
            for (int x = 0; x < image.width(); x += 5) colors.insert(image.pixel(x, y));
        QVERIFY2(colors.size() > 5, name);
        QVERIFY(QSvgRenderer(stem + QStringLiteral(".svg")).isValid());
        QVERIFY(content(qPrintable(QLatin1String(name) + QStringLiteral(".pdf"))).startsWith("%PDF-1."));
        QVERIFY(content(qPrintable(QLatin1String(name) + QStringLiteral(".csv"))).count('\n') >
                newTokens / 2);
    }
}

void ReportTest::pdfReportHasEverything() {
    const Record record = makeRecord();
    const auto charts = makeRecordCharts(record);
    QApplication::setPalette(themePalette(true));  // a report is light, whatever the window is
    const QByteArray pdf = pdfReport(record, charts);
    QApplication::setPalette(themePalette(false));
    QVERIFY(pdf.startsWith("%PDF-1."));
    QVERIFY(pdf.trimmed().endsWith("%%EOF"));
    const auto count = QRegularExpression(QStringLiteral("/Count (\\d+)")).match(QString::fromLatin1(pdf));
    QVERIFY(count.captured(1).toInt() >= 3);
    const QString tool = QStandardPaths::findExecutable(QStringLiteral("pdftotext"));
    if (tool.isEmpty()) QSKIP("pdftotext (poppler-utils) is not here to read the text");
    QTemporaryDir dir;
    QFile file(dir.filePath(QStringLiteral("report.pdf")));
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write(pdf);
    file.close();
    QProcess reader;
    reader.start(tool, {QStringLiteral("-layout"), file.fileName(), QStringLiteral("-")});
    QVERIFY(reader.waitForFinished(test::patience));
    const QString text = QString::fromUtf8(reader.readAllStandardOutput())
                             .replace(QChar(QChar::Nbsp), QLatin1Char(' '))
                             .simplified();
    for (const char* expected : {"Decoding demo", "naive", "7.00×", "exact ✓", "Latency per token",
                                 "Logit error against the reference", "Test CPU", "What was run",
                                 "It is a truth universally acknowledged", "What the numbers mean"}) {
        QVERIFY2(text.contains(QString::fromUtf8(expected)), expected);
    }
    for (const Definition& definition : definitions())
        QVERIFY2(text.contains(definition.name), qPrintable(definition.name));
}

void ReportTest::onlyWhatWasAskedFor() {
    QTemporaryDir dir;
    RenderOptions options;
    options.png = options.svg = options.pdf = options.steps = options.json = false;
    options.trace = options.html = options.report = false;
    options.visible.insert(QStringLiteral("token"), {5, 9});
    const auto files = renderRecord(makeRecord(), dir.path(), options);
    QVERIFY(files.ok());
    QCOMPARE(files->size(), 5 + 1);
    QFile latency(dir.filePath(QStringLiteral("latency.csv")));
    QVERIFY(latency.open(QIODevice::ReadOnly));
    QCOMPARE(latency.readAll().count('\n'), 1 + 5);
    QFile memory(dir.filePath(QStringLiteral("memory.csv")));
    QVERIFY(memory.open(QIODevice::ReadOnly));
    QVERIFY(memory.readAll().count('\n') > 2 * newTokens);  // over another axis: everything
}

void ReportTest::canBeLeftAtAnyTime() {
    QTemporaryDir dir;
    {
        RecordExport files(std::make_shared<const Record>(makeRecord()), dir.path());
        QCOMPARE(files.count(), 5 * 4 + 6);
        QCOMPARE(files.nextName(), QStringLiteral("latency.png"));
        for (int i = 0; i < 3; ++i) QVERIFY(files.writeNext().ok());
        QCOMPARE(files.done(), 3);
        QCOMPARE(files.nextName(), QStringLiteral("latency.csv"));
    }
    QCOMPARE(QDir(dir.path()).entryList(QDir::Files | QDir::Hidden).size(), 3);
}

// A limit on the size of files stands for the disk that is full: writing fails half way.
void ReportTest::fullDiskLeavesNoHalfFile() {
    QTemporaryDir dir;
    RecordExport files(std::make_shared<const Record>(makeRecord()), dir.path());
    rlimit before{};
    QCOMPARE(getrlimit(RLIMIT_FSIZE, &before), 0);
    const auto handler = std::signal(SIGXFSZ, SIG_IGN);
    rlimit small = before;
    small.rlim_cur = 6000;
    QCOMPARE(setrlimit(RLIMIT_FSIZE, &small), 0);
    Result<void> result;
    int failures = 0;
    QString message;
    while (!files.isDone() && result.ok()) result = files.writeNext();
    if (!result.ok()) {
        ++failures;
        message = QString::fromStdString(result.error().message);
    }
    RenderOptions text;
    text.png = text.svg = text.pdf = text.csv = text.json = text.trace = text.markdown = false;
    text.html = text.report = false;
    const auto steps = renderRecord(makeRecord(), dir.path(), text);
    setrlimit(RLIMIT_FSIZE, &before);
    std::signal(SIGXFSZ, handler);
    QCOMPARE(failures, 1);
    for (const QString& sentence : {message, QString::fromStdString(steps.error().message)}) {
        QVERIFY2(sentence.contains(QStringLiteral("cannot be written")) &&
                     sentence.endsWith(QLatin1Char('.')) && !sentence.contains(QLatin1Char('\n')),
                 qPrintable(sentence));
    }
    QCOMPARE(QDir(dir.path()).entryList(QDir::Files | QDir::Hidden).size(), files.done());
}

void ReportTest::renderFailures() {
    QTemporaryDir dir;
    QFile file(dir.filePath(QStringLiteral("file")));
    QVERIFY(file.open(QIODevice::WriteOnly));
    const Result<QStringList> result = renderRecord(makeRecord(), dir.filePath(QStringLiteral("file/below")));
    QVERIFY(!result.ok());
    QCOMPARE(result.error().kind, ErrorKind::io);
    // Nobody may write there, not even root.
    const Result<QStringList> readOnly = renderRecord(makeRecord(), QStringLiteral("/proc"));
    QVERIFY(!readOnly.ok());
    QVERIFY(readOnly.error().message.find("cannot be written") != std::string::npos);
    QVERIFY(!renderRecord(Record{}, dir.path()).ok());
}

QTEST_MAIN(ReportTest)
#include "tst_report.moc"
