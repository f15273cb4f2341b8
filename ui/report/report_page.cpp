// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/report/report_page.h"

#include <QCheckBox>
#include <QClipboard>
#include <QGridLayout>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QStackedWidget>
#include <QVBoxLayout>

#include "ui/report/chart_picker.h"
#include "ui/report/html_report.h"
#include "ui/report/markdown_report.h"
#include "ui/report/report_document.h"
#include "ui/report/report_preview.h"
#include "ui/theme/card.h"
#include "ui/widgets/labels.h"
#include "ui/widgets/scrolling_column.h"
#include "ui/widgets/slim_scroll_bar.h"

namespace decodescope {

namespace {

constexpr int typingPauseMs = 300;
constexpr int choicesChars = 46;  // width of the left column

}  // namespace

ReportPage::ReportPage(RunData& run, QWidget* parent)
    : QWidget(parent), m_data(run), m_stack(new QStackedWidget(this)) {
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->addWidget(m_stack);
    m_stack->addWidget(buildEmpty());
    auto* report = new QWidget(this);
    auto* row = new QHBoxLayout(report);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(0);
    row->addWidget(buildChoices());
    row->addWidget(buildReport(), 1);
    m_stack->addWidget(report);

    m_pause.setSingleShot(true);
    connect(&m_pause, &QTimer::timeout, this, &ReportPage::updatePreview);
    connect(&run, &RunData::reset, this, &ReportPage::recordChanged);
    connect(&run, &RunData::notesEdited, this, [this] {
        if (!m_filling) recordChanged();
    });
}

ReportPage::~ReportPage() = default;

QWidget* ReportPage::buildEmpty() {
    const CardMetrics metrics(font());
    auto* page = new QWidget(this);
    page->setObjectName(QStringLiteral("reportEmpty"));
    auto* column = new QVBoxLayout(page);
    column->setSpacing(metrics.padding);
    m_emptyTitle = new QLabel(page);
    m_emptyTitle->setFont(metrics.title);
    m_emptyText = mutedLabel({}, page);
    m_emptyText->setWordWrap(true);
    m_emptyText->setFixedWidth(fontMetrics().averageCharWidth() * 60);
    for (QLabel* label : {m_emptyTitle, m_emptyText}) label->setAlignment(Qt::AlignHCenter | Qt::AlignTop);
    auto* buttons = new QHBoxLayout;
    const auto add = [&](const char* name, const QString& label, const QString& toolTip,
                         void (ReportPage::*signal)()) {
        auto* button = new QPushButton(label, page);
        button->setObjectName(QLatin1String(name));
        button->setToolTip(toolTip);
        connect(button, &QPushButton::clicked, this, signal);
        buttons->addWidget(button);
        m_emptyButtons << button;
    };
    buttons->addStretch(1);
    add("reportRun", tr("Run"), tr("Run the experiment in the panel"), &ReportPage::runRequested);
    add("reportOpen", tr("Open Record…"), tr("Show a run that was saved before"), &ReportPage::openRequested);
    buttons->addStretch(1);
    column->addStretch(2);
    column->addWidget(m_emptyTitle);
    column->addWidget(m_emptyText, 0, Qt::AlignHCenter);
    column->addLayout(buttons);
    column->addStretch(3);
    updateEmpty();
    return page;
}

void ReportPage::updateEmpty() {
    const bool live = m_data.isLive();
    m_emptyTitle->setText(live ? tr("The run goes on") : tr("No run to report yet"));
    m_emptyText->setText(live ? tr("Its report is put together here when it has ended.")
                              : tr("Run the experiment, or open a record. Its report is put together here: "
                                   "charts, numbers, notes, and where it was measured."));
    // Two lines, whichever it is, so that the buttons stay where they are.
    m_emptyText->setMinimumHeight(m_emptyText->fontMetrics().lineSpacing() * 2);
    for (QPushButton* button : m_emptyButtons) button->setEnabled(!live);
}

QWidget* ReportPage::buildChoices() {
    const CardMetrics metrics(font());
    auto* choices = new QWidget(this);
    choices->setFixedWidth(fontMetrics().averageCharWidth() * choicesChars);
    QVBoxLayout* column = scrollingColumn(choices);
    QWidget* body = column->parentWidget();

    auto* words = new Card(tr("Title and notes"), {}, body);
    m_title = new QLineEdit(words);
    m_title->setObjectName(QStringLiteral("reportTitle"));
    m_title->setAccessibleName(tr("Title"));
    m_title->setToolTip(tr("The title of the report; saved with the record"));
    m_notes = new QPlainTextEdit(words);
    m_notes->setObjectName(QStringLiteral("reportNotes"));
    m_notes->setAccessibleName(tr("Notes"));
    m_notes->setToolTip(
        tr("What you saw; saved with the record. Markdown: # heading, *emphasis*, - list, `code`"));
    m_notes->setPlaceholderText(tr("What was tried, and what came out (Markdown)"));
    m_notes->setTabChangesFocus(true);
    m_notes->setFixedHeight(metrics.line * 8);
    SlimScrollBar::install(m_notes);
    words->content()->addWidget(m_title);
    words->content()->addWidget(m_notes);
    column->addWidget(words);

    auto* charts = new Card(tr("Charts"), tr("in the order of the report"), body);
    m_picker = new ChartPicker(charts);
    charts->content()->addWidget(m_picker);
    column->addWidget(charts);

    auto* parts = new Card(tr("Parts"), {}, body);
    auto* grid = new QGridLayout;
    grid->setHorizontalSpacing(metrics.padding);
    grid->setVerticalSpacing(metrics.padding / 3);
    int at = 0;
    for (const ReportPart part : reportParts()) {
        auto* check = new QCheckBox(titleOf(part), parts);
        check->setObjectName(QStringLiteral("reportPart%1").arg(at));
        check->setToolTip(tr("Whether the report has the part “%1”").arg(titleOf(part)));
        check->setChecked(true);
        connect(check, &QCheckBox::toggled, this, [this] { changed(); });
        // The last one, with the longest name, has a line of its own.
        const bool last = part == reportParts().last();
        grid->addWidget(check, at / 2, at % 2, 1, last ? 2 : 1);
        m_parts[part] = check;
        ++at;
    }
    parts->content()->addLayout(grid);
    column->addWidget(parts);
    column->addStretch(1);

    connect(m_title, &QLineEdit::textChanged, this, &ReportPage::notesTyped);
    connect(m_notes, &QPlainTextEdit::textChanged, this, &ReportPage::notesTyped);
    connect(m_picker, &ChartPicker::changed, this, [this] { changed(); });
    connect(m_picker, &ChartPicker::notice, this, &ReportPage::notice);
    return choices;
}

QWidget* ReportPage::buildReport() {
    const CardMetrics metrics(font());
    auto* report = new QWidget(this);
    auto* column = new QVBoxLayout(report);
    column->setContentsMargins(0, metrics.spacing, 0, 0);
    column->setSpacing(metrics.spacing);
    auto* row = new QHBoxLayout;
    row->setContentsMargins(0, 0, metrics.spacing, 0);
    row->setSpacing(metrics.padding / 2);
    const auto add = [&](const char* name, const QString& text, const QString& toolTip) {
        auto* button = new QPushButton(text, report);
        button->setObjectName(QLatin1String(name));
        button->setToolTip(toolTip);
        row->addWidget(button);
        return button;
    };
    auto* files = add("reportExport", tr("Export…"), tr("Charts, reports and data into a folder"));
    auto* html = add("reportSaveHtml", tr("Save HTML…"), tr("Save the report as one HTML page"));
    auto* pdf = add("reportSavePdf", tr("Save PDF…"), tr("Save the report as A4 pages"));
    auto* markdown =
        add("reportCopyMarkdown", tr("Copy Markdown"), tr("Copy the report as Markdown, without its charts"));
    auto* print = add("reportPrint", tr("Print…"), tr("Print the report"));
    row->addStretch(1);
    column->addLayout(row);
    m_preview = new ReportPreview(report);
    m_preview->setObjectName(QStringLiteral("reportPreview"));
    column->addWidget(m_preview, 1);

    connect(files, &QPushButton::clicked, this, &ReportPage::exportRequested);
    connect(html, &QPushButton::clicked, this, [this] { emit saveRequested(QStringLiteral("html")); });
    connect(pdf, &QPushButton::clicked, this, [this] { emit saveRequested(QStringLiteral("pdf")); });
    connect(print, &QPushButton::clicked, this, &ReportPage::printRequested);
    connect(markdown, &QPushButton::clicked, this, [this] {
        QGuiApplication::clipboard()->setText(this->markdown());
        emit notice(tr("The report is on the clipboard as Markdown."));
    });
    return report;
}

void ReportPage::recordChanged() {
    m_stale = true;
    if (isVisible()) catchUp();
}

void ReportPage::showEvent(QShowEvent* event) {
    QWidget::showEvent(event);
    catchUp();
}

void ReportPage::catchUp() {
    if (m_stale) {
        m_stale = false;
        const auto record = m_data.finishedRecord();
        if (record != m_record) m_verdicts.clear();
        m_record = record;
        m_stack->setCurrentIndex(m_record == nullptr ? 0 : 1);
        updateEmpty();
        m_filling = true;
        const QString title = QString::fromStdString(m_data.notes().title);
        const QString notes = QString::fromStdString(m_data.notes().text);
        if (m_title->text() != title) m_title->setText(title);
        if (m_notes->toPlainText() != notes) m_notes->setPlainText(notes);
        if (m_record != nullptr) m_title->setPlaceholderText(titleOf(*m_record, {}));
        m_filling = false;
        chartsChanged();
    }
    if (m_pause.isActive() || (m_pagesStale && isVisible())) {
        m_pause.stop();
        updatePreview();
    }
}

void ReportPage::chartsChanged() {
    // The old ones are in the list until it is filled anew.
    std::vector<RecordChart> charts;
    if (m_record != nullptr) charts = makeRecordCharts(*m_record, m_compared.record.get(), m_compared.name);
    m_charts.swap(charts);
    m_picker->setCharts(m_charts);
    changed();
}

void ReportPage::notesTyped() {
    if (m_filling) return;
    m_filling = true;
    m_data.setNotes({m_title->text().toStdString(), m_notes->toPlainText().toStdString()});
    m_filling = false;
    changed(typingPauseMs);
}

void ReportPage::changed(int waitMs) {
    if (!m_filling) m_pause.start(waitMs);
}

void ReportPage::updatePreview() {
    // What nobody sees is made when somebody looks.
    m_pagesStale = !isVisible();
    if (m_pagesStale) return;
    for (RecordChart& chart : m_charts)
        if (chart.svg.isEmpty()) chart.svg = reportSvg(*chart.chart);
    m_preview->setDocument(
        m_record == nullptr ? nullptr : std::make_unique<ReportDocument>(*m_record, m_charts, content()));
}

void ReportPage::setCompared(const ComparedRun& compared) {
    if (compared == m_compared) return;
    m_compared = compared;
    recordChanged();
}

void ReportPage::addJudged(const std::shared_ptr<const Judged>& judged) {
    if (judged->record == nullptr || judged->record != m_data.finishedRecord()) return;
    if (m_record != judged->record) {
        m_record = judged->record;
        m_verdicts.clear();
        m_stale = true;
    }
    m_verdicts[judged->lane] = judged->judgement.verdict;
    changed();
}

ReportContent ReportPage::content() {
    if (m_stale) catchUp();
    ReportContent content;
    content.notes = m_data.notes();
    content.charts = m_picker->picked();
    for (const auto& [part, check] : m_parts)
        if (!check->isChecked()) content.leftOut.insert(part);
    content.compared = m_compared;
    content.verdicts = m_verdicts;
    return content;
}

QByteArray ReportPage::html() {
    const ReportContent wanted = content();
    return m_record == nullptr ? QByteArray() : htmlReport(*m_record, m_charts, wanted);
}

QByteArray ReportPage::pdf() {
    const ReportContent wanted = content();
    return m_record == nullptr ? QByteArray() : pdfReport(*m_record, m_charts, wanted);
}

QString ReportPage::markdown() {
    const ReportContent wanted = content();
    return m_record == nullptr ? QString() : QString::fromStdString(markdownReport(*m_record, wanted));
}

void ReportPage::print(QPagedPaintDevice& device, const std::function<void()>& newPage) {
    const ReportContent wanted = content();
    if (m_record != nullptr) ReportDocument(*m_record, m_charts, wanted).print(device, newPage);
}

}  // namespace decodescope
