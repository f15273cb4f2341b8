// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include <vector>

#include "engine/experiment/experiment.h"
#include "engine/model/model_config.h"

class QComboBox;
class QDoubleSpinBox;
class QFormLayout;
class QLineEdit;
class QPlainTextEdit;
class QPushButton;
class QScrollArea;
class QSpinBox;
class QVBoxLayout;

namespace decodescope {

class LaneCard;
class ModelCard;

/// The experiment as a form: model, prompt, length, sampling, lanes and how often. What the form does not
/// show of an experiment (device, stop at the end of text, given tokens) is kept as it came.
class ExperimentPanel : public QWidget {
    Q_OBJECT

public:
    explicit ExperimentPanel(QWidget* parent = nullptr);

    void setExperiment(const Experiment& experiment);
    /// The experiment that the form describes. Not validated.
    Experiment experiment() const;

    ModelCard* modelCard() const { return m_model; }
    /// Facts of the loaded model; also decides whether a prompt can be text.
    void setModel(const ModelConfig& config, bool hasTokenizer);
    /// While a run goes on the form is read-only.
    void setRunning(bool running);

    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

signals:
    void edited();
    void modelChosen(const decodescope::ModelRef& ref);
    void browseRequested();

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    void buildPrompt(QVBoxLayout* column);
    void buildGeneration(QVBoxLayout* column);
    void buildLanes(QVBoxLayout* column);
    void buildRun(QVBoxLayout* column);
    QFormLayout* addForm(QVBoxLayout* column);
    void syncLanes();
    void addLane();
    void removeLane(std::size_t index);
    void updateVisibility();

    Experiment m_base;  // what came in; lanes and reference are kept up to date here
    std::size_t m_reference = 0;
    bool m_filling = false;
    bool m_textImpossible = false;  // no tokenizer: the prompt was switched to random ids

    QScrollArea* m_scroll;
    QWidget* m_body;
    ModelCard* m_model;
    QComboBox* m_promptKind;
    QPlainTextEdit* m_promptEdit;
    QPlainTextEdit* m_idsEdit;
    QWidget* m_randomForm;
    QSpinBox* m_randomLength;
    QLineEdit* m_randomSeed;
    QSpinBox* m_newTokens;
    QComboBox* m_drive;
    QComboBox* m_sampling;
    QFormLayout* m_generationForm;
    QDoubleSpinBox* m_temperature;
    QSpinBox* m_topK;
    QLineEdit* m_seed;
    QVBoxLayout* m_laneColumn;
    std::vector<LaneCard*> m_laneCards;
    QPushButton* m_addLane;
    QSpinBox* m_repetitions;
    QSpinBox* m_warmup;
    QSpinBox* m_threads;
    QComboBox* m_interleave;
};

}  // namespace decodescope
