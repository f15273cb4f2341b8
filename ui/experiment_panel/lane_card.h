// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/backend/cuda/cuda_backend.h"
#include "engine/experiment/experiment.h"
#include "ui/theme/card.h"

class QCheckBox;
class QComboBox;
class QLabel;
class QLineEdit;
class QToolButton;

namespace decodescope {

class LaneForm;
class Swatch;
class ToneLabel;

/// One lane in the panel: colour, name and kind on the first line, what it does in words below, and the
/// settings of its kind behind the button at its right.
class LaneCard : public Card {
    Q_OBJECT

public:
    explicit LaneCard(QWidget* parent = nullptr);

    /// Fills the card. `index` decides the colour; `reference` whether the others are compared with it.
    void setLane(const LaneSpec& spec, int index, bool reference, bool removable);
    const LaneSpec& lane() const { return m_spec; }
    /// The devices there are, and the one of the experiment.
    void setDevices(const CudaDevices& found, const Device& ofExperiment);
    /// What is wrong with the lane, in red; empty = nothing.
    void setProblem(const QString& sentence);
    QString problem() const;
    void setFormVisible(bool visible);
    bool isFormVisible() const;

signals:
    /// The lane has changed.
    void edited();
    /// The lane has become another kind and bears the kind's name.
    void renamed();
    void referenceChosen();
    void removeRequested();

private:
    QWidget* buildHead();
    void fillKinds();
    void kindChosen(int row);
    void updateTexts();

    LaneSpec m_spec;
    bool m_filling = false;
    bool m_reference = false;
    Swatch* m_swatch;
    QLineEdit* m_name;
    QComboBox* m_kind;
    QToolButton* m_more;
    QLabel* m_description;
    ToneLabel* m_faults;
    ToneLabel* m_problem;
    QWidget* m_details;
    LaneForm* m_form;
    QCheckBox* m_referenceBox;
    QToolButton* m_remove;
};

}  // namespace decodescope
