// SPDX-License-Identifier: GPL-3.0-or-later
// The plan page's check against a real run.
#include <QLabel>
#include <QProgressBar>
#include <QPushButton>
#include <QVBoxLayout>

#include <cstdlib>
#include <utility>

#include "ui/chart/format.h"
#include "ui/plan/plan_form.h"
#include "ui/plan/plan_page.h"
#include "ui/plan/plan_words.h"
#include "ui/text.h"
#include "ui/widgets/labels.h"
#include "ui/widgets/plain_table.h"
#include "ui/widgets/rows_model.h"

namespace decodescope {

Card* PlanPage::buildCheck() {
    const CardMetrics metrics(font());
    auto* card = new Card(tr("Plan against a real run"), {}, this);
    card->setObjectName(QStringLiteral("planCheckCard"));
    m_checkRows = new RowsModel(
        {{tr("Part")},
         {tr("Plan")},
         {tr("Measured")},
         {tr("Difference")},
         {tr("Verdict"),
          tr("Tensors must be exact; what the whole process takes must be within 5 % or 512 KiB")}},
        this);
    auto* row = new QHBoxLayout;
    row->setContentsMargins(metrics.padding, 0, metrics.padding, metrics.padding / 2);
    row->setSpacing(metrics.padding);
    m_checkButton = new QPushButton(tr("Check against a real run"), card);
    m_checkButton->setObjectName(QStringLiteral("planCheck"));
    m_cancelButton = new QPushButton(tr("Cancel"), card);
    m_cancelButton->setObjectName(QStringLiteral("planCancel"));
    m_cancelButton->setToolTip(tr("Stop the check; its memory is given back"));
    m_progress = new QProgressBar(card);
    m_progress->setObjectName(QStringLiteral("planProgress"));
    m_progress->setAccessibleName(tr("Check"));
    m_progress->setRange(0, 0);
    m_progress->setTextVisible(false);
    m_checkText = new ToneLabel(card);
    m_checkText->setObjectName(QStringLiteral("planCheckText"));
    m_checkText->setWordWrap(true);
    m_checkText->setTextInteractionFlags(Qt::TextSelectableByMouse);
    row->addWidget(m_checkButton);
    row->addWidget(m_cancelButton);
    row->addWidget(m_progress, 1);
    row->addStretch(0);
    auto* words = new QHBoxLayout;
    words->setContentsMargins(metrics.padding, 0, metrics.padding, metrics.padding / 2);
    words->addWidget(m_checkText);
    card->content()->addLayout(row);
    card->content()->addLayout(words);
    m_checkTable = PlainTable::inCard(card, m_checkRows, "planCheckTable", tr("Plan against measured"),
                                      {{1.0, QStringLiteral("KV tables and positions")},
                                       {1.0, QStringLiteral("888,888,888")},
                                       {1.0, QStringLiteral("888,888,888")},
                                       {1.0, QStringLiteral("−88,888,888")},
                                       {1.0, QStringLiteral("beyond the limit")}});
    connect(m_checkButton, &QPushButton::clicked, this, &PlanPage::check);
    connect(m_cancelButton, &QPushButton::clicked, this, [this] { m_session.stop(); });
    return card;
}

QString PlanPage::whyNotCheck() const {
    if (!m_report) return tr("There is no plan to check");
    if (!m_report->shape.loadable)
        return tr("This program has no weights to run %1 with: choose the loaded model or a model folder")
            .arg(QString::fromStdString(m_report->shape.name));
    if (m_report->request.weights)
        return tr("This program holds weights in f32: choose “as usual” as their type to check");
    if (m_session.activity() != Session::Activity::idle) return tr("Something else is going on: wait for it");
    return {};
}

void PlanPage::updateCheck() {
    const QString why = m_checking ? QString() : whyNotCheck();
    m_checkButton->setVisible(!m_checking);
    m_checkButton->setEnabled(why.isEmpty());
    m_checkButton->setToolTip(why.isEmpty() ? tr("Load the model, run it as planned, and compare every part")
                                            : why);
    m_cancelButton->setVisible(m_checking);
    m_progress->setVisible(m_checking);
    m_checkTable->setVisible(m_check != nullptr);
    if (m_checking) return;
    if (m_check) {
        showCheck();
        return;
    }
    m_checkText->setTone({m_checkProblem.isEmpty() ? ColorRef::Role::muted : ColorRef::Role::bad, 0});
    m_checkText->setText(
        !m_checkProblem.isEmpty() ? m_checkProblem
        : why.isEmpty() ? tr("Loads the model, fills the cache as planned, and shows plan and measurement "
                             "side by side.")
                        : why + QLatin1Char('.'));
}

void PlanPage::check() {
    if (m_checking || !whyNotCheck().isEmpty()) return;
    const Result<ModelRef> ref = parse_model_ref(m_form->modelText().toStdString());
    QString problem;
    const std::optional<PlanReport> report = makeReport(true, &problem);
    if (!ref || !report) {
        m_checkProblem = ref ? problem : QString::fromStdString(ref.error().message);
        updateCheck();
        return;
    }
    m_check.reset();
    m_checkProblem.clear();
    m_checking = true;
    m_checkText->setTone({ColorRef::Role::muted, 0});
    m_checkText->setText(tr("Waiting for the engine"));
    updateCheck();
    const auto showStage = [this](CheckStage stage) {
        switch (stage) {
            case CheckStage::preparing: m_checkText->setText(tr("Taking the baseline")); break;
            case CheckStage::loading: m_checkText->setText(tr("Loading the model")); break;
            case CheckStage::running: m_checkText->setText(tr("Filling the cache and decoding")); break;
        }
    };
    m_session.startTask<PlanCheck>(
        this, tr("Checking the plan"),
        [ref = *ref, report = *report, showStage](const Session::Bench& bench) {
            return check_plan(ref, report.shape, report.request, bench.stop, [&](CheckStage stage) {
                bench.tell([showStage, stage] { showStage(stage); });
            });
        },
        [this, report = *report](const Result<PlanCheck>& result) {
            m_checking = false;
            if (result) {
                m_check = std::make_shared<const PlanCheck>(*result);
            } else {
                m_checkProblem = result.error().kind == ErrorKind::cancelled
                                     ? tr("The check was stopped.")
                                     : QString::fromStdString(result.error().message);
            }
            updateCheck();
        });
}

void PlanPage::showCheck() {
    std::vector<std::vector<RowsModel::Cell>> rows;
    for (const CheckRow& row : m_check->rows) {
        const std::int64_t difference = row.difference();
        const QString sign = difference < 0 ? QStringLiteral("−") : QStringLiteral("+");
        const auto tone = row.holds() ? ColorRef::Role::good : ColorRef::Role::bad;
        rows.push_back(
            {{engineWord(row.part)},
             {formatCount(row.planned), formatBytes(static_cast<double>(row.planned))},
             {formatCount(row.measured), signedBytes(row.measured)},
             {difference == 0 ? QStringLiteral("0") : sign + formatCount(std::abs(difference)),
              tr("%1 % of the plan").arg(relative_difference(row), 0, 'f', 2)},
             {engineWord(QByteArray(verdict_of(row)).toLower().toStdString()), {}, tone, {}, !row.holds()}});
    }
    m_checkRows->setRows(std::move(rows));
    m_checkText->setTone({m_check->holds() ? ColorRef::Role::good : ColorRef::Role::bad, 0});
    QString text =
        m_check->holds() ? tr("The run agrees with the plan.") : tr("The run does not agree with the plan.");
    if (!m_check->memory.empty())
        text += tr(" Resident: %1; its named parts leave a remainder of %2.")
                    .arg(formatBytes(static_cast<double>(m_check->rss)), signedBytes(m_check->remainder));
    m_checkText->setText(text);
}

}  // namespace decodescope
