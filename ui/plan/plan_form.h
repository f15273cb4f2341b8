// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include "engine/plan/plan_choices.h"
#include "engine/plan/plan_report.h"
#include "ui/theme/card.h"

class QComboBox;
class QGridLayout;
class QLineEdit;
class QSpinBox;

namespace decodescope {

/// What a plan is made for: a model and what is to be decoded with it. Knows no numbers of its own.
class PlanForm : public Card {
    Q_OBJECT

public:
    explicit PlanForm(QWidget* parent = nullptr);

    /// Fills the list of known configurations.
    Result<void> loadKnownModels();
    /// Makes the model that the window runs the first of the list, and chooses it unless another was chosen.
    void setLoadedModel(const QString& title, const QString& text);
    /// Adds a file or folder to the list and chooses it.
    void openFile(const QString& path);
    /// What the chosen entry is to `read_shape`; empty while there is none.
    QString modelText() const;

    /// What is chosen beside the model.
    PlanChoices choices() const;
    /// The number of parameters that was typed where the files do not tell; 0 = none.
    std::int64_t parameters() const;
    /// Limits and usual values for a model: `usual` is the request that no choices stand for.
    void setShape(const PlanShape& shape, const PlanRequest& usual);
    /// Takes over a cell of the map.
    void setLoad(int batch, std::int64_t context);
    /// Shows the memory that is planned with when none is given.
    void setAvailable(std::int64_t bytes);

signals:
    void modelChanged();
    void edited();
    void browseRequested();

private:
    void addField(QGridLayout* grid, int row, int column, int span, const QString& name, QWidget* field);
    void cacheChanged();

    bool m_chosen = false;  // by a person
    QComboBox* m_model;
    QSpinBox* m_context;
    QSpinBox* m_batch;
    QSpinBox* m_tokens;
    QComboBox* m_cache;
    QComboBox* m_type;
    QComboBox* m_weights;
    QLineEdit* m_memory;
    QLineEdit* m_reserve;
    QSpinBox* m_chunk;
    QWidget* m_parametersLabel;
    QLineEdit* m_parameters;
};

}  // namespace decodescope
