// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/experiment/experiment.h"
#include "ui/theme/card.h"

class QCheckBox;
class QComboBox;
class QLabel;
class QLineEdit;
class QPlainTextEdit;
class QSpinBox;
class QToolButton;

namespace decodescope {

class ToneLabel;

/// One request in the panel: its prompt as text, ids or random ids, and in a fold when it comes and goes.
class PromptCard : public Card {
    Q_OBJECT

public:
    explicit PromptCard(QWidget* parent);

    /// `number` counts from 1; 0 = the only one.
    void setPrompt(const PromptSpec& prompt, int number, bool removable);
    PromptSpec prompt() const;
    /// Without a tokenizer a prompt cannot be text: it becomes random ids until there is one again.
    void setTextPossible(bool possible);
    void setProblem(const QString& sentence);

signals:
    void edited();
    void duplicateRequested();
    void removeRequested();

private:
    QWidget* buildHead();
    QWidget* buildRandom();
    QWidget* buildAdvanced();
    void updateVisibility();

    PromptSpec m_spec;
    bool m_filling = false;
    bool m_textImpossible = false;  // it was text and became random ids
    QLabel* m_number;
    QComboBox* m_kind;
    QToolButton* m_duplicate;
    QToolButton* m_remove;
    QPlainTextEdit* m_text;
    QPlainTextEdit* m_ids;
    QWidget* m_random;
    QSpinBox* m_length;
    QLineEdit* m_seed;
    QToolButton* m_fold;
    QCheckBox* m_control;
    QLineEdit* m_isolation;
    QSpinBox* m_arrival;
    QSpinBox* m_cancel;
    ToneLabel* m_problem;
};

}  // namespace decodescope
