// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/sweep/grid_choices.h"
#include "ui/theme/card.h"

class QDoubleSpinBox;
class QGridLayout;
class QLabel;
class QLineEdit;
class QPushButton;
class QSpinBox;

namespace decodescope {

/// What a sweep is over: lists of prompts, steps, depths, requests and threads, how often, and the file.
class SweepForm : public Card {
    Q_OBJECT

public:
    explicit SweepForm(QWidget* parent = nullptr);

    GridChoices choices() const;
    QString file() const;
    void setFile(const QString& path);
    /// Which lanes and model of the experiment are swept.
    void setSubject(const QString& text);
    /// Nothing can be changed while a sweep goes on.
    void setRunning(bool running);

signals:
    void edited();
    void browseRequested();

private:
    void addField(QGridLayout* grid, int row, int column, int span, const QString& name, QWidget* field);

    QLineEdit* m_prompts;
    QLineEdit* m_generations;
    QLineEdit* m_depths;
    QLineEdit* m_parallel;
    QLineEdit* m_threads;
    QSpinBox* m_repetitions;
    QDoubleSpinBox* m_interval;
    QDoubleSpinBox* m_seconds;
    QLineEdit* m_file;
    QPushButton* m_browse;
    QLabel* m_subject;
};

}  // namespace decodescope
