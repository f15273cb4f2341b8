// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/experiment/experiment.h"
#include "ui/theme/card.h"

class QCheckBox;
class QComboBox;
class QFormLayout;
class QLabel;
class QLineEdit;
class QSpinBox;
class QToolButton;

namespace decodescope {

class Swatch;

/// What a lane does, in a few words: "static cache, prefill in chunks of 16".
QString laneDescription(const LaneSpec& spec);
/// "whole prompt" as empty, one chunk size as "16", explicit chunks as "4, 3, 2".
QString prefillText(const LaneSpec& spec);
/// Reads `prefillText` back into a lane; returns false for anything else.
bool setPrefill(LaneSpec& spec, const QString& text);

/// One lane in the panel: colour, name and description, and a form behind the button at its right.
class LaneCard : public Card {
    Q_OBJECT

public:
    explicit LaneCard(QWidget* parent = nullptr);

    /// Fills the card. `index` decides the colour; `reference` whether the others are compared with it.
    void setLane(const LaneSpec& spec, int index, bool reference, bool removable);
    const LaneSpec& lane() const { return m_spec; }
    void setFormVisible(bool visible);
    bool isFormVisible() const;

signals:
    /// The form has changed the lane.
    void edited();
    void referenceChosen();
    void removeRequested();

private:
    void buildForm();
    void readForm();
    void updateTexts();

    LaneSpec m_spec;
    bool m_filling = false;
    Swatch* m_swatch;
    QLabel* m_name;
    QLabel* m_badge;
    QLabel* m_description;
    QToolButton* m_more;
    QWidget* m_form;
    QLineEdit* m_nameEdit;
    QComboBox* m_kind;
    QSpinBox* m_capacity;
    QLineEdit* m_prefill;
    QComboBox* m_allocation;
    QCheckBox* m_reference;
    QToolButton* m_remove;
};

}  // namespace decodescope
