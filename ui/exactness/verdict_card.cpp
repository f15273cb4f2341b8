// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/exactness/verdict_card.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QPainter>
#include <QPushButton>
#include <QVBoxLayout>

#include "ui/exactness/verdict_words.h"
#include "ui/widgets/labels.h"

namespace decodescope {

namespace {

constexpr auto selectable = Qt::TextSelectableByMouse;

}  // namespace

VerdictCard::VerdictCard(QWidget* parent) : Card(parent) {
    const CardMetrics metrics(font());
    QMargins margins = content()->contentsMargins();
    margins.setLeft(margins.left() + metrics.padding / 2);
    content()->setContentsMargins(margins);
    QFont large = metrics.title;
    large.setPixelSize(large.pixelSize() * 6 / 5);

    auto* head = new QHBoxLayout;
    head->setSpacing(metrics.padding / 2);
    m_symbol = new ToneLabel(this);
    m_symbol->setObjectName(QStringLiteral("verdictSymbol"));
    m_symbol->setFont(large);
    m_headline = new ToneLabel(this);
    m_headline->setObjectName(QStringLiteral("verdictHeadline"));
    m_headline->setFont(large);
    m_headline->setTextFormat(Qt::PlainText);
    m_headline->setWordWrap(true);
    m_headline->setTextInteractionFlags(selectable);
    m_certainty = mutedLabel({}, this);
    m_certainty->setObjectName(QStringLiteral("verdictCertainty"));
    m_certainty->setToolTip(
        tr("certain: recomputing with this and nothing else gives the run's own numbers, or it is stated\n"
           "likely: the structure of the errors fits this kind alone\n"
           "possible: it fits best of several"));
    m_help = new QPushButton(tr("What is this?"), this);
    m_help->setObjectName(QStringLiteral("verdictHelp"));
    m_help->setToolTip(tr("Explain this kind of fault, with a formula and a picture"));
    m_action = new QPushButton(this);
    m_action->setObjectName(QStringLiteral("verdictAction"));
    m_help->setMinimumWidth(fontMetrics().horizontalAdvance(m_help->text()) + metrics.padding * 2);
    head->addWidget(m_symbol, 0, Qt::AlignTop);
    head->addWidget(m_headline, 1);
    head->addWidget(m_certainty);
    head->addWidget(m_help);
    head->addWidget(m_action);
    content()->addLayout(head);

    m_summary = new QLabel(this);
    m_summary->setObjectName(QStringLiteral("verdictSummary"));
    m_summary->setTextFormat(Qt::PlainText);
    m_summary->setWordWrap(true);
    m_summary->setTextInteractionFlags(selectable);
    content()->addWidget(m_summary);

    m_facts = new QWidget(this);
    auto* facts = new QHBoxLayout(m_facts);
    facts->setContentsMargins(0, 0, 0, 0);
    facts->setSpacing(metrics.padding * 2);
    m_first = addFact("verdictFirst", tr("First wrong"), facts, 5);
    m_expected = addFact("verdictExpected", tr("Expected"), facts, 3);
    m_found = addFact("verdictFound", tr("Found"), facts, 3);
    content()->addWidget(m_facts);

    m_next = mutedLabel({}, this);
    m_next->setObjectName(QStringLiteral("verdictNext"));
    m_next->setWordWrap(true);
    m_next->setTextInteractionFlags(selectable);
    content()->addWidget(m_next);
    QSizePolicy policy(QSizePolicy::Preferred, QSizePolicy::Maximum);
    policy.setHeightForWidth(true);
    setSizePolicy(policy);

    connect(m_help, &QPushButton::clicked, this, [this] {
        if (m_kind) emit helpRequested(*m_kind);
    });
    connect(m_action, &QPushButton::clicked, this, &VerdictCard::actionRequested);
}

VerdictCard::Fact VerdictCard::addFact(const char* objectName, const QString& name, QHBoxLayout* row,
                                       int stretch) {
    auto* box = new QWidget(m_facts);
    const Fact fact{box, mutedLabel(name, box), new QLabel(box)};
    auto* column = new QVBoxLayout(fact.box);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addWidget(fact.name);
    fact.value->setObjectName(QLatin1String(objectName));
    fact.value->setAccessibleName(name);
    fact.value->setTextFormat(Qt::PlainText);
    fact.value->setWordWrap(true);
    fact.value->setTextInteractionFlags(selectable);
    column->addWidget(fact.value);
    column->addStretch(1);
    row->addWidget(fact.box, stretch);
    return fact;
}

void VerdictCard::setFact(const Fact& fact, const QString& text) {
    fact.value->setText(text);
    fact.box->setVisible(!text.isEmpty());
}

QString VerdictCard::headline() const {
    return m_headline->text();
}

void VerdictCard::setNotice(const QString& headline, const QString& sentence, const QString& action) {
    m_word.reset();
    m_kind.reset();
    m_symbol->hide();
    m_headline->setTone({ColorRef::Role::text, 0});
    m_headline->setText(headline);
    m_certainty->hide();
    m_help->hide();
    m_summary->setText(sentence);
    m_summary->setVisible(!sentence.isEmpty());
    m_facts->hide();
    m_next->hide();
    m_action->setText(action);
    m_action->setMinimumWidth(fontMetrics().horizontalAdvance(action) + CardMetrics(font()).padding * 3);
    m_action->setVisible(!action.isEmpty());
    setAccessibleName(headline);
    arrange();
}

void VerdictCard::setVerdict(const Verdict& verdict) {
    const VerdictLook look = lookOf(verdict.word);
    m_word = verdict.word;
    m_kind = verdict.kind;
    m_symbol->setText(look.symbol);
    m_symbol->setTone({look.tone, 0});
    m_symbol->show();
    m_headline->setTone({look.tone, 0});
    m_headline->setText(headlineOf(verdict));
    m_certainty->setText(tr("sure: %1").arg(certaintyText(verdict.certainty)));
    m_certainty->show();
    m_help->setVisible(m_kind.has_value());
    m_action->hide();
    m_summary->setText(QString::fromStdString(verdict.summary));
    m_summary->setVisible(!verdict.summary.empty());
    // What rounding does is not wrong.
    m_first.name->setText(verdict.word == VerdictWord::fault ? tr("First wrong") : tr("First different"));
    setFact(m_first, placeText(verdict.first));
    setFact(m_expected, QString::fromStdString(verdict.expected));
    setFact(m_found, QString::fromStdString(verdict.found));
    m_facts->setVisible(!m_first.value->text().isEmpty() || !verdict.expected.empty() ||
                        !verdict.found.empty());
    m_next->setText(tr("To settle it: %1").arg(QString::fromStdString(verdict.next)));
    m_next->setVisible(!verdict.next.empty());
    setAccessibleName(m_headline->text());
    arrange();
}

// Parts come and go, often while the card is hidden: nothing is left of where they were.
void VerdictCard::arrange() {
    content()->invalidate();
    content()->activate();
    updateGeometry();
    update();
}

// A stripe at the left has the verdict's colour.
void VerdictCard::paintEvent(QPaintEvent* event) {
    Card::paintEvent(event);
    if (!m_word) return;
    const CardMetrics metrics(font());
    const ThemeColors& colors = themeColors(palette());
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(Qt::NoPen);
    painter.setBrush(colors.color({lookOf(*m_word).tone, 0}));
    painter.setClipRect(QRect(0, 0, metrics.padding / 3, height()));
    painter.drawRoundedRect(QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5), metrics.radius, metrics.radius);
}

}  // namespace decodescope
