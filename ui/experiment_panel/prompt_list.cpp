// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/experiment_panel/prompt_list.h"

#include <QPushButton>
#include <QVBoxLayout>

#include <algorithm>

#include "ui/experiment_panel/prompt_card.h"

namespace decodescope {

PromptList::PromptList(QWidget* parent) : QWidget(parent) {
    const CardMetrics metrics(font());
    auto* outer = new QVBoxLayout(this);
    outer->setContentsMargins(0, 0, 0, 0);
    outer->setSpacing(metrics.padding / 2);
    m_column = new QVBoxLayout;
    m_column->setSpacing(metrics.padding / 2);
    outer->addLayout(m_column);
    m_add = new QPushButton(tr("+ Add prompt"), this);
    m_add->setObjectName(QStringLiteral("addPrompt"));
    m_add->setAccessibleName(tr("Add prompt"));
    m_add->setToolTip(tr("Another request: lanes serve them one after another or together"));
    m_add->setFlat(true);
    m_add->setForegroundRole(QPalette::PlaceholderText);
    outer->addWidget(m_add);
    connect(m_add, &QPushButton::clicked, this, [this] { insert(m_cards.size(), PromptSpec()); });
}

void PromptList::setPrompts(const std::vector<PromptSpec>& prompts) {
    const std::vector<PromptSpec> shown = prompts.empty() ? std::vector<PromptSpec>(1) : prompts;
    while (m_cards.size() > shown.size()) {
        delete m_cards.back();
        m_cards.pop_back();
    }
    while (m_cards.size() < shown.size()) {
        auto* card = new PromptCard(this);
        card->setObjectName(QStringLiteral("prompt%1").arg(m_cards.size()));
        const std::size_t at = m_cards.size();
        connect(card, &PromptCard::edited, this, &PromptList::edited);
        // Queued: the card must not go while its own button is still handling the click.
        connect(
            card, &PromptCard::duplicateRequested, this,
            [this, at] {
                if (at < m_cards.size()) insert(at + 1, m_cards[at]->prompt());
            },
            Qt::QueuedConnection);
        connect(
            card, &PromptCard::removeRequested, this, [this, at] { remove(at); }, Qt::QueuedConnection);
        m_column->addWidget(card);
        m_cards.push_back(card);
        card->show();
    }
    const bool several = shown.size() > 1;
    for (std::size_t i = 0; i < m_cards.size(); ++i) {
        m_cards[i]->setPrompt(shown[i], several ? static_cast<int>(i) + 1 : 0, several);
        m_cards[i]->setTextPossible(m_textPossible);
    }
    emit rebuilt();
}

std::vector<PromptSpec> PromptList::prompts() const {
    std::vector<PromptSpec> prompts;
    for (const PromptCard* card : m_cards) prompts.push_back(card->prompt());
    return prompts;
}

std::vector<QWidget*> PromptList::tabOrder() const {
    std::vector<QWidget*> widgets(m_cards.begin(), m_cards.end());
    widgets.push_back(m_add);
    return widgets;
}

void PromptList::setTextPossible(bool possible) {
    m_textPossible = possible;
    for (PromptCard* card : m_cards) card->setTextPossible(possible);
}

void PromptList::setProblem(int prompt, const QString& sentence) {
    for (std::size_t i = 0; i < m_cards.size(); ++i)
        m_cards[i]->setProblem(static_cast<int>(i) == prompt ? sentence : QString());
}

void PromptList::insert(std::size_t at, const PromptSpec& prompt) {
    std::vector<PromptSpec> all = prompts();
    PromptSpec made = prompt;
    if (!m_textPossible && made.kind == PromptSpec::Kind::text) made.kind = PromptSpec::Kind::random;
    if (made.kind == PromptSpec::Kind::random && made.length == 0) made.length = 32;
    all.insert(all.begin() + static_cast<std::ptrdiff_t>(std::min(at, all.size())), made);
    setPrompts(all);
    emit edited();
}

void PromptList::remove(std::size_t at) {
    std::vector<PromptSpec> all = prompts();
    if (at >= all.size() || all.size() == 1) return;
    all.erase(all.begin() + static_cast<std::ptrdiff_t>(at));
    setPrompts(all);
    emit edited();
}

}  // namespace decodescope
