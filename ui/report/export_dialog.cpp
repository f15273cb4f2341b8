// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/report/export_dialog.h"

#include <QCheckBox>
#include <QCloseEvent>
#include <QComboBox>
#include <QDir>
#include <QFileDialog>
#include <QFormLayout>
#include <QGridLayout>
#include <QGroupBox>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QProgressBar>
#include <QPushButton>
#include <QVBoxLayout>

#include <algorithm>

#include "ui/theme/card.h"
#include "ui/theme/theme.h"

namespace decodescope {

namespace {

QGroupBox* group(const QString& title, std::initializer_list<QWidget*> widgets, QWidget* parent) {
    auto* box = new QGroupBox(title, parent);
    auto* column = new QVBoxLayout(box);
    for (QWidget* widget : widgets) column->addWidget(widget);
    column->addStretch(1);
    return box;
}

}  // namespace

ExportDialog::ExportDialog(std::shared_ptr<const Record> record, ReportContent content, const QString& folder,
                           const QHash<QString, std::pair<double, double>>& visible, QWidget* parent)
    : QDialog(parent),
      m_record(std::move(record)),
      m_content(std::move(content)),
      m_visible(visible),
      m_job(new ExportJob(this)) {
    setObjectName(QStringLiteral("exportDialog"));
    setWindowTitle(tr("Export this run"));
    setAttribute(Qt::WA_DeleteOnClose);
    const CardMetrics metrics(font());
    auto* column = new QVBoxLayout(this);
    column->setSpacing(metrics.spacing);

    m_png = addCheck(tr("PNG"), "exportPng", tr("Each chart as a picture made of pixels"));
    m_svg =
        addCheck(tr("SVG"), "exportSvg", tr("Each chart as vectors, for the web and for drawing programs"));
    m_pdf = addCheck(tr("PDF"), "exportPdf", tr("Each chart as vectors on a page of its size"));
    m_csv = addCheck(tr("CSV"), "exportCsv", tr("The numbers that each chart draws, with units"));
    m_html = addCheck(tr("HTML"), "exportHtml", tr("One page with everything; needs no network"));
    m_report = addCheck(tr("PDF"), "exportReport", tr("The same report on A4 pages"));
    m_json = addCheck(tr("Record, JSON"), "exportJson", tr("Everything measured; opens here again"));
    m_steps =
        addCheck(tr("Every step, CSV"), "exportSteps", tr("One row per step, units in the column names"));
    m_trace = addCheck(tr("Chrome trace, JSON"), "exportTrace", tr("Opens in Perfetto and chrome://tracing"));
    m_markdown = addCheck(tr("Summary, Markdown"), "exportMarkdown", tr("The table of the lanes"));
    auto* groups = new QHBoxLayout;
    groups->addWidget(group(tr("Each chart as"), {m_png, m_svg, m_pdf, m_csv}, this), 1);
    groups->addWidget(group(tr("Report as"), {m_html, m_report}, this), 1);
    groups->addWidget(group(tr("Data"), {m_json, m_steps, m_trace, m_markdown}, this), 1);
    column->addLayout(groups);

    auto* form = new QFormLayout;
    const auto combo = [&](const char* name, const QString& label, const QStringList& entries) {
        auto* box = new QComboBox(this);
        box->setObjectName(QLatin1String(name));
        box->setAccessibleName(label);
        box->setToolTip(label);
        box->addItems(entries);
        form->addRow(label, box);
        return box;
    };
    m_scale =
        combo("exportScale", tr("Size of a PNG"),
              {tr("1× (960 × 420)"), tr("2× (1920 × 840)"), tr("3× (2880 × 1260)"), tr("4× (3840 × 1680)")});
    m_scale->setCurrentIndex(1);
    m_colors = combo("exportColors", tr("Colours of the charts"), {tr("light"), tr("dark")});
    m_range = combo("exportRange", tr("Part of the run"), {tr("all of it"), tr("what the charts show now")});
    m_range->setEnabled(!m_visible.isEmpty());
    m_folder = new QLineEdit(QDir::toNativeSeparators(folder), this);
    m_folder->setObjectName(QStringLiteral("exportFolder"));
    m_folder->setAccessibleName(tr("Folder"));
    m_folder->setToolTip(tr("Where the files go; made if it is missing"));
    m_folder->setMinimumWidth(metrics.line * 16);
    m_browse = new QPushButton(tr("Choose…"), this);
    m_browse->setObjectName(QStringLiteral("exportBrowse"));
    m_browse->setToolTip(tr("Choose the folder"));
    m_browse->setAutoDefault(false);
    auto* row = new QHBoxLayout;
    row->addWidget(m_folder, 1);
    row->addWidget(m_browse);
    form->addRow(tr("Folder"), row);
    column->addLayout(form);

    m_progress = new QProgressBar(this);
    m_progress->setObjectName(QStringLiteral("exportProgress"));
    m_progress->setAccessibleName(tr("Progress of the export"));
    m_progress->setTextVisible(false);
    m_progress->setMaximum(1);
    column->addWidget(m_progress);
    m_state = new QLabel(this);
    m_state->setObjectName(QStringLiteral("exportState"));
    m_state->setWordWrap(true);
    m_state->setTextFormat(Qt::PlainText);
    m_state->setTextInteractionFlags(Qt::TextSelectableByMouse);
    m_state->setMinimumHeight(2 * m_state->fontMetrics().lineSpacing());
    m_state->setAlignment(Qt::AlignTop | Qt::AlignLeft);
    column->addWidget(m_state);
    auto* buttons = new QHBoxLayout;
    m_start = new QPushButton(tr("Export"), this);
    m_start->setObjectName(QStringLiteral("exportStart"));
    m_start->setToolTip(tr("Write the files"));
    m_start->setDefault(true);
    m_cancel = new QPushButton(this);
    m_cancel->setObjectName(QStringLiteral("exportCancel"));
    m_cancel->setAutoDefault(false);
    buttons->addStretch(1);
    buttons->addWidget(m_cancel);
    buttons->addWidget(m_start);
    column->addLayout(buttons);

    connect(m_browse, &QPushButton::clicked, this, &ExportDialog::browse);
    connect(m_start, &QPushButton::clicked, this, &ExportDialog::start);
    connect(m_cancel, &QPushButton::clicked, this, [this] {
        if (m_job->isRunning())
            m_job->cancel();
        else
            close();
    });
    connect(m_folder, &QLineEdit::textChanged, this, &ExportDialog::updateState);
    connect(m_job, &ExportJob::progress, this, [this](int n, int total, const QString& next) {
        m_progress->setMaximum(total);
        m_progress->setValue(n);
        m_state->setText(next.isEmpty() ? QString()
                                        : tr("Writing %1, %2 of %3").arg(next).arg(n + 1).arg(total));
    });
    connect(m_job, &ExportJob::finished, this, [this](const QStringList& files) {
        ended(tr("%1 files were written to %2.").arg(files.size()).arg(m_folder->text()), true);
    });
    connect(m_job, &ExportJob::cancelled, this, [this](int written) {
        ended(tr("Cancelled: %1 files were written before, and are complete.").arg(written), true);
    });
    connect(m_job, &ExportJob::failed, this,
            [this](const QString& sentence, int) { ended(sentence, false); });
    updateState();
}

QCheckBox* ExportDialog::addCheck(const QString& text, const char* name, const QString& toolTip) {
    auto* check = new QCheckBox(text, this);
    check->setObjectName(QLatin1String(name));
    check->setToolTip(toolTip);
    check->setAccessibleDescription(toolTip);
    check->setChecked(true);
    connect(check, &QCheckBox::toggled, this, &ExportDialog::updateState);
    m_checks << check;
    return check;
}

RenderOptions ExportDialog::options() const {
    RenderOptions options;
    options.png = m_png->isChecked();
    options.svg = m_svg->isChecked();
    options.pdf = m_pdf->isChecked();
    options.csv = m_csv->isChecked();
    options.steps = m_steps->isChecked();
    options.json = m_json->isChecked();
    options.trace = m_trace->isChecked();
    options.markdown = m_markdown->isChecked();
    options.html = m_html->isChecked();
    options.report = m_report->isChecked();
    options.scale = m_scale->currentIndex() + 1;
    options.dark = m_colors->currentIndex() == 1;
    if (m_range->currentIndex() == 1) options.visible = m_visible;
    options.content = m_content;
    return options;
}

void ExportDialog::browse() {
    const QString folder =
        QFileDialog::getExistingDirectory(this, tr("Export to a Folder"), m_folder->text());
    if (!folder.isEmpty()) m_folder->setText(QDir::toNativeSeparators(folder));
}

void ExportDialog::start() {
    if (m_job->isRunning()) return;
    const QString folder = QDir::fromNativeSeparators(m_folder->text());
    emit folderChosen(folder);
    m_job->start(std::make_unique<RecordExport>(m_record, folder, options()));
    updateState();
}

void ExportDialog::ended(const QString& sentence, bool good) {
    m_state->setText(sentence);
    if (!good) m_progress->setValue(0);
    updateState();
    emit done(sentence, good);
}

void ExportDialog::updateState() {
    const bool running = m_job->isRunning();
    const bool any = std::any_of(m_checks.begin(), m_checks.end(),
                                 [](const QCheckBox* check) { return check->isChecked(); });
    m_start->setEnabled(!running && any && !m_folder->text().trimmed().isEmpty());
    m_cancel->setText(running ? tr("Cancel") : tr("Close"));
    m_cancel->setToolTip(running ? tr("Begin no further file") : tr("Close this dialog"));
    for (QWidget* widget :
         {static_cast<QWidget*>(m_folder), static_cast<QWidget*>(m_browse), static_cast<QWidget*>(m_colors)})
        widget->setEnabled(!running);
    for (QCheckBox* check : m_checks) check->setEnabled(!running);
    m_scale->setEnabled(!running && m_png->isChecked());
    m_range->setEnabled(!running && !m_visible.isEmpty());
}

void ExportDialog::keyPressEvent(QKeyEvent* event) {
    if (event->key() == Qt::Key_Escape && m_job->isRunning())
        m_job->cancel();
    else
        QDialog::keyPressEvent(event);
}

void ExportDialog::closeEvent(QCloseEvent* event) {
    m_job->cancel();
    QDialog::closeEvent(event);
}

}  // namespace decodescope
