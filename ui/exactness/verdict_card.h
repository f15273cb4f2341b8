// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>

#include "engine/verify/verdict.h"
#include "ui/theme/card.h"

class QHBoxLayout;
class QLabel;
class QPushButton;

namespace decodescope {

class ToneLabel;

/// What a run was found to be: the word with symbol and colour, in one sentence why, where it begins, what
/// was expected and found, and what would settle it. Before there is a verdict, what to do for one.
class VerdictCard : public Card {
    Q_OBJECT

public:
    explicit VerdictCard(QWidget* parent = nullptr);

    /// No verdict: a few words and a sentence. `action`: text of a button that asks for one; empty = none.
    void setNotice(const QString& headline, const QString& sentence, const QString& action = {});
    void setVerdict(const Verdict& verdict);
    std::optional<VerdictWord> word() const { return m_word; }
    QString headline() const;

signals:
    void helpRequested(decodescope::FaultKind kind);
    /// The button of a notice was pressed.
    void actionRequested();

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    struct Fact {
        QWidget* box = nullptr;
        QLabel* name = nullptr;
        QLabel* value = nullptr;
    };
    Fact addFact(const char* objectName, const QString& name, QHBoxLayout* row, int stretch);
    void setFact(const Fact& fact, const QString& text);
    void arrange();

    std::optional<VerdictWord> m_word;
    std::optional<FaultKind> m_kind;
    ToneLabel* m_symbol;
    ToneLabel* m_headline;
    QLabel* m_certainty;
    QLabel* m_summary;
    QWidget* m_facts;
    Fact m_first, m_expected, m_found;
    QLabel* m_next;
    QPushButton* m_help;
    QPushButton* m_action;
};

}  // namespace decodescope
