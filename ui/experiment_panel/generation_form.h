// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include "engine/experiment/experiment.h"

class QCheckBox;
class QComboBox;
class QFormLayout;
class QLineEdit;
class QSpinBox;

namespace decodescope {

class RealBox;

/// How many tokens, which the lanes are fed, how they are chosen and what ends a request.
class GenerationForm : public QWidget {
    Q_OBJECT

public:
    explicit GenerationForm(QWidget* parent);

    void setExperiment(const Experiment& experiment);
    /// Writes the form's settings into an experiment.
    void writeTo(Experiment& experiment) const;

signals:
    void edited();

private:
    void buildFeeding();
    void buildSampling();
    void buildMore();
    void updateVisibility();

    QFormLayout* m_form;
    QSpinBox* m_newTokens;
    QComboBox* m_drive;
    QLineEdit* m_fixedIds;
    QComboBox* m_sampling;
    RealBox* m_temperature;
    QSpinBox* m_topK;
    RealBox* m_topP;
    RealBox* m_minP;
    QLineEdit* m_seed;
    RealBox* m_penalty;
    QLineEdit* m_stopIds;
    QCheckBox* m_stopAtEos;
};

}  // namespace decodescope
