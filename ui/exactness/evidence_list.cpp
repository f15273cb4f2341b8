// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/exactness/evidence_list.h"

#include <QGridLayout>
#include <QLabel>
#include <QScrollArea>
#include <QVBoxLayout>

#include <algorithm>

#include "ui/text.h"
#include "ui/widgets/labels.h"
#include "ui/widgets/slim_scroll_bar.h"

namespace decodescope {

EvidenceList::EvidenceList(QWidget* parent) : Card(tr("Evidence"), {}, parent) {
    m_scroll = new QScrollArea(this);
    m_scroll->setObjectName(QStringLiteral("evidence"));
    m_scroll->setAccessibleName(tr("Evidence"));
    m_scroll->setFrameShape(QFrame::NoFrame);
    m_scroll->setWidgetResizable(true);
    m_scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    SlimScrollBar::install(m_scroll);
    m_scroll->viewport()->setAutoFillBackground(false);
    content()->addWidget(m_scroll, 1);
    clear();
}

void EvidenceList::clear() {
    setEvidence({});
}

void EvidenceList::setEvidence(const std::vector<VerdictEvidence>& evidence) {
    const CardMetrics metrics(font());
    m_body = new QWidget;
    auto* grid = new QGridLayout(m_body);
    grid->setContentsMargins(0, 0, metrics.padding / 2, 0);
    grid->setHorizontalSpacing(metrics.padding / 2);
    grid->setVerticalSpacing(metrics.padding / 3);
    grid->setColumnStretch(2, 1);
    m_text.clear();
    int row = 0;
    for (const VerdictEvidence& item : evidence) {
        const QString claim = engineWord(item.claim);
        const QString words = QString::fromStdString(item.text);
        auto* mark = new ToneLabel(m_body);
        mark->setTone({item.held ? ColorRef::Role::good : ColorRef::Role::bad, 0});
        mark->setText(item.held ? QStringLiteral("✓") : QStringLiteral("✗"));
        const QString meaning = item.held ? tr("holds") : tr("does not hold");
        mark->setToolTip(meaning);
        mark->setAccessibleName(meaning);
        auto* name = mutedLabel(claim, m_body);
        auto* text = new QLabel(words, m_body);
        text->setTextFormat(Qt::PlainText);
        text->setFont(metrics.small_text);
        text->setWordWrap(true);
        text->setTextInteractionFlags(Qt::TextSelectableByMouse);
        text->setAccessibleName(QStringLiteral("%1: %2. %3").arg(claim, meaning, words));
        grid->addWidget(mark, row, 0, Qt::AlignTop);
        grid->addWidget(name, row, 1, Qt::AlignTop);
        grid->addWidget(text, row, 2, Qt::AlignTop);
        m_text += QStringLiteral("%1 %2: %3\n").arg(mark->text(), claim, words);
        ++row;
    }
    grid->setRowStretch(row, 1);
    const auto against =
        std::count_if(evidence.begin(), evidence.end(), [](const VerdictEvidence& e) { return !e.held; });
    setSubtitle(
        evidence.empty()
            ? tr("what a verdict rests on")
            : tr("%1 hold, %2 do not").arg(static_cast<qlonglong>(evidence.size()) - against).arg(against));
    // Takes the old one away.
    m_scroll->setWidget(m_body);
    m_body->setAutoFillBackground(false);  // which `setWidget` turns on
}

}  // namespace decodescope
