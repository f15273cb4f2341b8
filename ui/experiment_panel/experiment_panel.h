// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include <optional>
#include <vector>

#include "engine/backend/cuda/cuda_backend.h"
#include "engine/experiment/experiment.h"
#include "engine/model/model_config.h"

class QComboBox;
class QPushButton;
class QScrollArea;
class QSpinBox;
class QVBoxLayout;

namespace decodescope {

class FaultPanel;
class GenerationForm;
class LaneCard;
class ModelCard;
class PromptList;
class ToneLabel;

/// The experiment as a form: model, prompts, generation, lanes and how often. What is wrong with it stands in
/// red where it belongs.
class ExperimentPanel : public QWidget {
    Q_OBJECT

public:
    explicit ExperimentPanel(QWidget* parent = nullptr);

    void setExperiment(const Experiment& experiment);
    /// The experiment that the form describes. Not validated.
    Experiment experiment() const;
    /// Why it cannot run: one sentence, empty when nothing is wrong.
    QString problem() const { return m_problem; }

    ModelCard* modelCard() const { return m_model; }
    FaultPanel* faults() const { return m_faults; }
    /// Facts of the loaded model; also decides whether a prompt can be text.
    void setModel(const ModelConfig& config, bool hasTokenizer);
    /// The devices there are.
    void setDevices(const CudaDevices& found);
    /// While a run goes on the form is read-only, except for the faults.
    void setRunning(bool running);

    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

signals:
    void edited();
    /// A fault was switched on or off in a lane; `edited` comes too.
    void faultsEdited(int lane);
    /// `problem` has changed.
    void checked();
    void modelChosen(const decodescope::ModelRef& ref);
    void browseRequested();
    void browseFileRequested();
    void fetchRequested();

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    void buildLanes(QVBoxLayout* column);
    void buildRun(QVBoxLayout* column);
    ToneLabel* addProblemLabel(QVBoxLayout* column, const char* objectName);
    void syncLanes();
    void orderTabs();
    void addLane();
    void removeLane(std::size_t index);
    void laneEdited(std::size_t index);
    void changed();
    void updateDevices();
    void updateFaults();
    void check();
    void showProblem(const QString& sentence);

    Experiment m_base;  // what came in; lanes and reference are kept up to date here
    std::size_t m_reference = 0;
    bool m_filling = false;
    QString m_problem;
    std::optional<ModelConfig> m_config;  // of the model that `m_configRef` names
    ModelRef m_configRef;
    std::optional<CudaDevices> m_devices;  // none = not known yet

    QScrollArea* m_scroll;
    QWidget* m_body;
    ModelCard* m_model;
    PromptList* m_prompts;
    GenerationForm* m_generation;
    ToneLabel* m_generationProblem;
    QVBoxLayout* m_laneColumn;
    std::vector<LaneCard*> m_laneCards;
    QPushButton* m_addLane;
    FaultPanel* m_faults;
    QWidget* m_measuring;
    QSpinBox* m_repetitions;
    QSpinBox* m_warmup;
    QSpinBox* m_threads;
    QComboBox* m_interleave;
    QComboBox* m_device;
    ToneLabel* m_runProblem;
};

}  // namespace decodescope
