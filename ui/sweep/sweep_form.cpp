// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/sweep/sweep_form.h"

#include <QGridLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QSpinBox>

#include "ui/experiment_panel/form_fields.h"
#include "ui/widgets/labels.h"

namespace decodescope {

namespace {

constexpr int gridColumns = 6;
constexpr int mostRepetitions = 10'000;
constexpr double mostSeconds = 1e6;

}  // namespace

SweepForm::SweepForm(QWidget* parent) : Card(parent) {
    const CardMetrics metrics(font());
    const GridChoices usual;
    const QString lists = tr("Numbers separated by commas; 16..1024*2 doubles, 100..500+100 adds");
    const auto list = [&](const char* name, const QString& title, const QString& meaning,
                          const std::string& text) {
        QLineEdit* edit = lineEdit(this, name, title, meaning + QStringLiteral(". ") + lists);
        edit->setText(QString::fromStdString(text));
        connect(edit, &QLineEdit::textEdited, this, &SweepForm::edited);
        return edit;
    };
    m_prompts = list("sweepPrompts", tr("Prompt tokens"), tr("Tokens to prefill; 0 = none"), usual.prompts);
    m_generations =
        list("sweepSteps", tr("Decode steps"), tr("Steps after the prompt; 0 = none"), usual.generations);
    m_depths =
        list("sweepDepths", tr("Context before"),
             tr("Tokens that are there before what is measured begins; their prefill is not in the time"),
             usual.depths);
    m_parallel = list("sweepRequests", tr("Requests"), tr("Requests side by side"), usual.parallel);
    m_threads = list("sweepThreads", tr("Threads"), tr("Compute threads"), usual.threads);
    m_threads->setPlaceholderText(tr("all cores"));
    m_repetitions = spinBox(this, "sweepRepetitions", tr("Repetitions"), tr("Timed repetitions, at least"), 1,
                            mostRepetitions);
    m_repetitions->setValue(usual.repetitions);
    m_interval = realBox(this, "sweepInterval", tr("Interval, %"),
                         tr("Repeat until the 95 % interval of every median is at most ± this many percent; "
                            "0 = do not"),
                         0, 99, 1);
    m_interval->setValue(usual.interval);
    m_seconds =
        realBox(this, "sweepSeconds", tr("Seconds"),
                tr("No test is repeated for longer than this; 0 = only as often as said"), 0, mostSeconds, 5);
    m_seconds->setValue(usual.seconds);
    m_file = lineEdit(this, "sweepFile", tr("File"),
                      tr("Every test is added to this file when it is done (JSONL), so that a stopped sweep "
                         "can be resumed"),
                      tr("choose a file to write"));
    m_browse = new QPushButton(tr("Choose…"), this);
    m_browse->setObjectName(QStringLiteral("sweepBrowse"));
    m_browse->setToolTip(tr("Choose the file that the sweep writes"));
    m_subject = mutedLabel({}, this);
    m_subject->setObjectName(QStringLiteral("sweepSubject"));
    m_subject->setWordWrap(true);

    auto* grid = new QGridLayout;
    grid->setHorizontalSpacing(metrics.padding);
    grid->setVerticalSpacing(metrics.padding / 4);
    for (int column = 0; column < gridColumns; ++column) grid->setColumnStretch(column, 1);
    auto* file = new QWidget(this);
    auto* row = new QHBoxLayout(file);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(metrics.padding / 2);
    row->addWidget(m_file, 1);
    row->addWidget(m_browse);
    addField(grid, 0, 0, 1, tr("Prompt tokens"), m_prompts);
    addField(grid, 0, 1, 1, tr("Decode steps"), m_generations);
    addField(grid, 0, 2, 1, tr("Context before"), m_depths);
    addField(grid, 0, 3, 1, tr("Requests"), m_parallel);
    addField(grid, 0, 4, 1, tr("Threads"), m_threads);
    addField(grid, 0, 5, 1, tr("Repetitions"), m_repetitions);
    addField(grid, 1, 0, 1, tr("Interval, %"), m_interval);
    addField(grid, 1, 1, 1, tr("Seconds"), m_seconds);
    addField(grid, 1, 2, 4, tr("File"), file);
    content()->addLayout(grid);
    content()->addWidget(m_subject);
    setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
    connect(m_browse, &QPushButton::clicked, this, &SweepForm::browseRequested);
    connect(m_file, &QLineEdit::textChanged, this, &SweepForm::edited);
    connect(m_repetitions, &QSpinBox::valueChanged, this, &SweepForm::edited);
    for (QDoubleSpinBox* box : {m_interval, m_seconds})
        connect(box, &QDoubleSpinBox::valueChanged, this, &SweepForm::edited);
}

// A muted name above the field.
void SweepForm::addField(QGridLayout* grid, int row, int column, int span, const QString& name,
                         QWidget* field) {
    QLabel* label = mutedLabel(name, this);
    label->setToolTip(field->toolTip());
    label->setBuddy(field);
    grid->addWidget(label, 2 * row, column, 1, span);
    grid->addWidget(field, 2 * row + 1, column, 1, span);
}

GridChoices SweepForm::choices() const {
    const auto text = [](const QLineEdit* edit) {
        return edit->text().remove(QLatin1Char(' ')).toStdString();
    };
    GridChoices choices;
    choices.prompts = text(m_prompts);
    choices.generations = text(m_generations);
    choices.depths = text(m_depths);
    choices.parallel = text(m_parallel);
    choices.threads = text(m_threads);
    choices.repetitions = m_repetitions->value();
    choices.interval = m_interval->value();
    choices.seconds = m_seconds->value();
    return choices;
}

QString SweepForm::file() const {
    return m_file->text().trimmed();
}

void SweepForm::setFile(const QString& path) {
    m_file->setText(path);
}

void SweepForm::setSubject(const QString& text) {
    m_subject->setText(text);
}

void SweepForm::setRunning(bool running) {
    for (QWidget* field :
         std::initializer_list<QWidget*>{m_prompts, m_generations, m_depths, m_parallel, m_threads,
                                         m_repetitions, m_interval, m_seconds, m_file, m_browse})
        field->setEnabled(!running);
}

}  // namespace decodescope
