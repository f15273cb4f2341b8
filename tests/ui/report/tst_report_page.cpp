// SPDX-License-Identifier: GPL-3.0-or-later
// The page Report: what is chosen there is what comes out, on the page and in every file.
#include <QApplication>
#include <QCheckBox>
#include <QClipboard>
#include <QImage>
#include <QLineEdit>
#include <QListWidget>
#include <QPainter>
#include <QPlainTextEdit>
#include <QPrinter>
#include <QPushButton>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>

#include "tests/patience.h"
#include "tests/ui/report/report_record.h"
#include "ui/chart/line_chart.h"
#include "ui/report/chart_picker.h"
#include "ui/report/html_report.h"
#include "ui/report/notes_html.h"
#include "ui/report/report_document.h"
#include "ui/report/report_page.h"
#include "ui/report/report_preview.h"
#include "ui/theme/theme.h"

using namespace decodescope;
using namespace decodescope::test;

namespace {

std::shared_ptr<const Record> shared(Record record = makeRecord()) {
    return std::make_shared<const Record>(std::move(record));
}

/// A page on the screen, with the report's record.
struct Fixture {
    explicit Fixture(std::shared_ptr<const Record> record = shared()) {
        if (record != nullptr) data.finish(record);
        page.resize(1100, 800);
        page.show();
    }
    QListWidget& list() const { return *page.picker()->list(); }
    void settle() { QTest::qWait(400); }
    QString pages() const { return page.preview()->document()->text(); }

    RunData data;
    ReportPage page{data};
};

/// Where each of `words` first is in `text`; -1 = nowhere.
QList<qsizetype> places(const QString& text, const QStringList& words) {
    QList<qsizetype> places;
    for (const QString& word : words) places << text.indexOf(word);
    return places;
}

int darkPixels(const QImage& image) {
    int n = 0;
    for (int y = 0; y < image.height(); ++y)
        for (int x = 0; x < image.width(); ++x) n += qGray(image.pixel(x, y)) < 160 ? 1 : 0;
    return n;
}

}  // namespace

class ReportPageTest : public QObject {
    Q_OBJECT

private slots:
    void initTestCase() {
        QApplication::setStyle(QStringLiteral("Fusion"));
        QApplication::setPalette(themePalette(false));
    }

    void saysWhatToDoFirst() {
        Fixture f(nullptr);
        QVERIFY(f.page.findChild<QWidget*>("reportEmpty")->isVisible());
        QVERIFY(!f.page.preview()->isVisible());
        QVERIFY(f.page.html().isEmpty() && f.page.pdf().isEmpty() && f.page.markdown().isEmpty());
        QSignalSpy run(&f.page, &ReportPage::runRequested);
        QSignalSpy open(&f.page, &ReportPage::openRequested);
        f.page.findChild<QPushButton*>("reportRun")->click();
        f.page.findChild<QPushButton*>("reportOpen")->click();
        QCOMPARE(run.size(), 1);
        QCOMPARE(open.size(), 1);
        f.data.finish(shared());
        QVERIFY(!f.page.findChild<QWidget*>("reportEmpty")->isVisible());
        QVERIFY(f.page.findChild<QPushButton*>("reportRun")->isEnabled());
        QTRY_VERIFY_WITH_TIMEOUT(f.page.preview()->document() != nullptr, test::patience);
    }

    void picksAndOrdersCharts() {
        Fixture f;
        f.settle();
        QCOMPARE(f.list().count(), 5);
        QVERIFY(!f.page.content().charts.has_value());
        for (int row = 0; row < 5; ++row) QVERIFY(!f.list().item(row)->icon().isNull());
        f.list().item(1)->setCheckState(Qt::Unchecked);  // total time
        f.list().item(2)->setCheckState(Qt::Unchecked);  // memory
        f.list().setCurrentRow(4);
        for (int i = 0; i < 4; ++i) f.page.findChild<QAbstractButton*>("reportChartUp")->click();
        QVERIFY(!f.page.findChild<QAbstractButton*>("reportChartUp")->isEnabled());
        QCOMPARE(*f.page.content().charts, QStringList({"logit_error", "latency", "kv_cache"}));
        f.settle();
        const QString html = QString::fromUtf8(f.page.html());
        const auto at = places(html, {"aria-label=\"Logit error", "aria-label=\"Latency per token\"",
                                      "aria-label=\"KV cache\""});
        QVERIFY(at[0] > 0 && at[0] < at[1] && at[1] < at[2]);
        QVERIFY(!html.contains("aria-label=\"Total time\"") && !html.contains("aria-label=\"Memory\""));
        QCOMPARE(html.count("<svg"), 3);
        // The preview is made from the same page.
        QVERIFY(f.page.preview()->document()->pageCount() >= 2);
        // The next record of the same kind is shown the same way.
        f.data.finish(shared());
        f.settle();
        QCOMPARE(*f.page.content().charts, QStringList({"logit_error", "latency", "kv_cache"}));
    }

    void copiesACharts() {
        Fixture f;
        f.list().setCurrentRow(0);
        QSignalSpy notice(&f.page, &ReportPage::notice);
        f.page.findChild<QAbstractButton*>("reportCopyData")->click();
        QVERIFY(QGuiApplication::clipboard()->text().contains("naive"));
        f.page.findChild<QAbstractButton*>("reportCopyImage")->click();
        QVERIFY(!QGuiApplication::clipboard()->image().isNull());
        QCOMPARE(notice.size(), 2);
        QVERIFY(notice[0][0].toString().contains("Latency per token"));
    }

    void notesGoEverywhere() {
        Fixture f;
        QSignalSpy edited(&f.data, &RunData::notesEdited);
        f.page.findChild<QLineEdit*>("reportTitle")->setText("After <the> fix %1");
        f.page.findChild<QPlainTextEdit*>("reportNotes")
            ->setPlainText("It was the *window*.\n\n- one\n- two");
        QCOMPARE(edited.size(), 2);
        QVERIFY(f.data.notesChanged());
        QCOMPARE(f.data.notes().title, std::string("After <the> fix %1"));
        f.settle();
        QVERIFY(f.pages().startsWith("After <the> fix %1"));
        QVERIFY(f.pages().contains("It was the window."));
        const QString html = QString::fromUtf8(f.page.html());
        QVERIFY(html.contains("<h1>After &lt;the&gt; fix %1</h1>"));
        QVERIFY(html.contains("<title>After &lt;the&gt; fix %1</title>"));
        QVERIFY(html.contains("<p>It was the <em>window</em>.</p>\n<ul>\n<li>one</li>\n<li>two</li>\n</ul>"));
        f.page.findChild<QPushButton*>("reportCopyMarkdown")->click();
        const QString markdown = QGuiApplication::clipboard()->text();
        QVERIFY(markdown.startsWith(
            "# After <the> fix %1\n\nIt was the *window*.\n\n- one\n- two\n\n- **Model**"));
        // Kept with the record, and shown again.
        const auto again = parse_record(to_json(*f.data.finishedRecord(), f.data.notes()));
        QVERIFY2(again.ok(), again ? "" : again.error().message.c_str());
        Fixture other(shared(*again));
        QCOMPARE(other.page.findChild<QLineEdit*>("reportTitle")->text(), QString("After <the> fix %1"));
        QVERIFY(other.page.findChild<QPlainTextEdit*>("reportNotes")->toPlainText().startsWith("It was"));
        QVERIFY(!other.data.notesChanged());
        // The next run has none yet.
        f.data.finish(shared());
        QVERIFY(f.page.findChild<QLineEdit*>("reportTitle")->text().isEmpty());
        QCOMPARE(f.page.findChild<QLineEdit*>("reportTitle")->placeholderText(), QString("Decoding demo"));
        f.settle();
        QVERIFY(f.pages().startsWith("Decoding demo"));
    }

    void partsCanBeLeftOut_data() {
        QTest::addColumn<int>("part");
        QTest::addColumn<QString>("sign");
        QTest::addColumn<bool>("inMarkdown");
        QTest::newRow("lanes") << 0 << "7.00×" << false;
        QTest::newRow("cache") << 1 << "Formula against measured" << false;
        QTest::newRow("texts") << 3 << "a single man" << true;
        QTest::newRow("run") << 4 << "Warm-up, repetitions" << true;
        QTest::newRow("environment") << 5 << "Frequency governor" << true;
        QTest::newRow("definitions") << 6 << "tpot_ns" << true;
    }
    void partsCanBeLeftOut() {
        QFETCH(int, part);
        QFETCH(QString, sign);
        QFETCH(bool, inMarkdown);
        Fixture f;
        f.settle();
        const auto all = [&] {
            f.settle();
            return QStringList{QString::fromUtf8(f.page.html()), f.pages(), f.page.markdown()};
        };
        const QStringList before = all();
        QVERIFY(before[0].contains(sign) && before[1].contains(sign));
        QCOMPARE(before[2].contains(sign), inMarkdown);
        f.page.findChild<QCheckBox*>(QString("reportPart%1").arg(part))->setChecked(false);
        for (const QString& text : all()) QVERIFY2(!text.contains(sign), qPrintable(text.left(200)));
        f.page.findChild<QCheckBox*>(QString("reportPart%1").arg(part))->setChecked(true);
        QCOMPARE(all(), before);
    }

    void verdictsAreReported() {
        Fixture f;
        Judged judged;
        judged.record = f.data.finishedRecord();
        judged.lane = 1;
        judged.judgement.verdict.word = VerdictWord::equal;
        judged.judgement.verdict.summary = "Every call agrees.";
        judged.judgement.verdict.evidence = {{"logits", "The largest error is <2e-6>.", true}};
        f.page.addJudged(std::make_shared<const Judged>(judged));
        f.settle();
        const QString html = QString::fromUtf8(f.page.html());
        for (const char* part : {"Verdicts", "Every call agrees.", "The largest error is &lt;2e-6&gt;."})
            QVERIFY2(html.contains(part), part);
        QVERIFY(f.pages().contains("Every call agrees."));
        QVERIFY(f.page.markdown().contains("- **cached**: ✓ Equal"));
        f.page.findChild<QCheckBox*>("reportPart2")->setChecked(false);
        QVERIFY(!f.page.html().contains("Every call agrees."));
        QVERIFY(!f.page.markdown().contains("Every call agrees."));
        // Of another record it says nothing.
        judged.record = shared();
        judged.lane = 0;
        f.page.addJudged(std::make_shared<const Judged>(judged));
        QVERIFY(!f.page.content().verdicts.contains(0));
        f.data.finish(shared());
        QVERIFY(f.page.content().verdicts.empty());
    }

    void comparedRunIsDashedEverywhere() {
        Fixture f;
        Record earlier = makeRecord();
        for (RepetitionRecord& repetition : earlier.lanes[1].repetitions)
            for (StepEvent& step : repetition.steps) step.end_ns += 3 * ms;
        const auto compared = compareRuns(shared(earlier), *f.data.finishedRecord(), "before");
        QVERIFY2(compared.ok(), compared ? "" : compared.error().message.c_str());
        QVERIFY2(compared->sentence.contains("Against before (dashed)."), qPrintable(compared->sentence));
        f.page.setCompared(*compared);
        f.settle();
        const QString html = QString::fromUtf8(f.page.html());
        QVERIFY(html.contains("Against before (dashed)."));
        QVERIFY(f.pages().contains("Against before (dashed)."));
        QVERIFY(f.page.markdown().contains("Against before (dashed)."));
        for (const RecordChart& chart : makeReportCharts(*f.data.finishedRecord(), f.page.content())) {
            const QStringList columns = chart.chart->table(DataRange::all).columns;
            const QString joined = columns.join(' ');
            const bool overTime =
                QStringList({"memory", "allocator", "page_faults", "kv_copied"}).contains(chart.name);
            QCOMPARE(joined.contains("before"), !overTime);
            QVERIFY2(overTime || joined.contains("cached_before"), qPrintable(joined));
        }
        // Other work cannot be compared.
        Record other = makeRecord();
        other.experiment.new_tokens = 7;
        QVERIFY(!compareRuns(shared(other), *f.data.finishedRecord(), "x").ok());
        f.page.setCompared({});
        f.settle();
        QVERIFY(!f.page.html().contains("before (dashed)"));
    }

    void pdfIsThePreview() {
        Fixture f;
        f.page.findChild<QLineEdit*>("reportTitle")->setText("A title of its own");
        f.settle();
        const QByteArray pdf = f.page.pdf();
        QVERIFY(pdf.startsWith("%PDF-1.") && pdf.trimmed().endsWith("%%EOF"));
        const int pages = f.page.preview()->document()->pageCount();
        QVERIFY(pages >= 3);
        QVERIFY(pdf.contains("/Count " + QByteArray::number(pages)));
        // Every page has something on it, inside its margins.
        for (int page = 0; page < pages; ++page) {
            QImage image(ReportDocument::pageSize(), QImage::Format_RGB32);
            image.fill(Qt::white);
            QPainter painter(&image);
            f.page.preview()->document()->drawPage(painter, page);
            painter.end();
            QVERIFY2(darkPixels(image) > 300, qPrintable(QString::number(page)));
            QCOMPARE(darkPixels(image.copy(0, 0, 40, image.height())), 0);
            QCOMPARE(darkPixels(image.copy(image.width() - 40, 0, 40, image.height())), 0);
        }
        // The same pages on a printer of another resolution.
        QTemporaryDir dir;
        QPrinter printer(QPrinter::HighResolution);
        printer.setFullPage(true);
        printer.setOutputFormat(QPrinter::PdfFormat);
        printer.setOutputFileName(dir.filePath("printed.pdf"));
        f.page.print(printer, [&] { printer.newPage(); });
        QFile file(dir.filePath("printed.pdf"));
        QVERIFY(file.open(QIODevice::ReadOnly));
        QVERIFY(file.readAll().contains("/Count " + QByteArray::number(pages)));
    }

    void previewShowsPages_data() {
        QTest::addColumn<bool>("dark");
        QTest::addColumn<int>("width");
        for (const bool dark : {false, true})
            for (const int width : {760, 1100, 1900}) QTest::addRow("%d %d", dark, width) << dark << width;
    }
    void previewShowsPages() {
        QFETCH(bool, dark);
        QFETCH(int, width);
        QApplication::setPalette(themePalette(dark));
        Fixture f;
        f.page.resize(width, 700);
        f.settle();
        const QImage image = f.page.preview()->grab().toImage();
        QApplication::setPalette(themePalette(false));
        QVERIFY(darkPixels(image) > 2000);
        int white = 0;
        for (int x = 0; x < image.width(); ++x)
            white += image.pixelColor(x, image.height() / 2).lightness() > 240 ? 1 : 0;
        QVERIFY2(white > image.width() / 3, qPrintable(QString::number(white)));
        const QPixmap before = f.page.preview()->grab();
        QTest::keyClick(f.page.preview(), Qt::Key_End);
        QVERIFY(f.page.preview()->grab().toImage() != before.toImage());
        QTest::keyClick(f.page.preview(), Qt::Key_Home);
        QCOMPARE(f.page.preview()->grab().toImage(), before.toImage());
        QVERIFY(f.page.preview()->accessibleDescription().contains("Test CPU"));
    }

    // A hidden page does not draw; it catches up.
    void hiddenPagesWait() {
        Fixture f;
        f.settle();
        f.page.hide();
        f.data.finish(shared());
        f.page.findChild<QLineEdit*>("reportTitle")->setText("Meanwhile");
        f.settle();
        QVERIFY(!f.pages().startsWith("Meanwhile"));
        f.page.show();
        f.settle();
        // The title was typed for a record that the page had not taken over yet.
        QCOMPARE(QString::fromStdString(f.data.notes().title),
                 f.page.findChild<QLineEdit*>("reportTitle")->text());
        QVERIFY(f.pages().startsWith(titleOf(*f.data.finishedRecord(), f.page.content())));
    }

    void notesAsHtml_data() {
        QTest::addColumn<QString>("markdown");
        QTest::addColumn<QString>("html");
        QTest::newRow("nothing") << ""
                                 << "";
        QTest::newRow("blanks") << " \n\n "
                                << "";
        QTest::newRow("two paragraphs") << "a\n\nb"
                                        << "<p>a</p>\n<p>b</p>\n";
        QTest::newRow("emphasis") << "a **b** *c* `d` ~~e~~"
                                  << "<p>a <strong>b</strong> <em>c</em> <code>d</code> <s>e</s></p>\n";
        QTest::newRow("headings") << "# A\n\n### B"
                                  << "<h2>A</h2>\n<h4>B</h4>\n";
        QTest::newRow("numbers") << "1. a\n2. b\n"
                                 << "<ol>\n<li>a</li>\n<li>b</li>\n</ol>\n";
        QTest::newRow("nested") << "- a\n  - b\n- c"
                                << "<ul>\n<li>a<ul>\n<li>b</li>\n</ul>\n</li>\n<li>c</li>\n</ul>\n";
        QTest::newRow("code") << "```\nint a;\n<b>\n```\n\nafter"
                              << "<pre>int a;\n&lt;b&gt;</pre>\n<p>after</p>\n";
        QTest::newRow("table")
            << "| a | b |\n|---|---|\n| 1 | 2 |"
            << "<table>\n<tr><th>a</th><th>b</th></tr>\n<tr><td>1</td><td>2</td></tr>\n</table>\n";
        QTest::newRow("link") << "[x](https://example.org/?a=1&b=2)"
                              << "<p><a href=\"https://example.org/?a=1&amp;b=2\">x</a></p>\n";
        QTest::newRow("script link") << "[x](javascript:alert(1))"
                                     << "<p>x</p>\n";
        QTest::newRow("file link") << "[x](file:///etc/passwd)"
                                   << "<p>x</p>\n";
        QTest::newRow("html") << "a <script>b</script>"
                              << "<p>a &lt;script&gt;b&lt;/script&gt;</p>\n";
        QTest::newRow("entities") << "1 < 2 & \"3\""
                                  << "<p>1 &lt; 2 &amp; &quot;3&quot;</p>\n";
    }
    void notesAsHtml() {
        QFETCH(QString, markdown);
        QFETCH(QString, html);
        QCOMPARE(notesHtml(markdown), html);
    }

    void notesLoadNothing() {
        const QString html = notesHtml("![a chart](https://example.org/x.png) <img src=\"y\">");
        QVERIFY2(!html.contains("<img") && html.contains("a chart"), qPrintable(html));
    }
};

QTEST_MAIN(ReportPageTest)
#include "tst_report_page.moc"
