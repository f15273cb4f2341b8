// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include <vector>

#include "engine/experiment/experiment.h"

class QPushButton;
class QVBoxLayout;

namespace decodescope {

class PromptCard;

/// The requests of the experiment, one card each.
class PromptList : public QWidget {
    Q_OBJECT

public:
    explicit PromptList(QWidget* parent);

    void setPrompts(const std::vector<PromptSpec>& prompts);
    std::vector<PromptSpec> prompts() const;
    /// Cards and button, in the order of the Tab key.
    std::vector<QWidget*> tabOrder() const;
    /// Whether the model has a tokenizer.
    void setTextPossible(bool possible);
    /// A sentence under one prompt, and none under the others; -1 = none at all.
    void setProblem(int prompt, const QString& sentence);

signals:
    void edited();
    /// There are other cards than before.
    void rebuilt();

private:
    void insert(std::size_t at, const PromptSpec& prompt);
    void remove(std::size_t at);

    bool m_textPossible = true;
    std::vector<PromptCard*> m_cards;
    QVBoxLayout* m_column;
    QPushButton* m_add;
};

}  // namespace decodescope
