// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include "engine/backend/cuda/cuda_backend.h"
#include "engine/decode/lane_spec.h"

class QCheckBox;
class QComboBox;
class QFormLayout;
class QLabel;
class QLineEdit;
class QSpinBox;

namespace decodescope {

/// The settings of a lane, as far as its kind has them.
class LaneForm : public QWidget {
    Q_OBJECT

public:
    explicit LaneForm(QWidget* parent);

    void setLane(const LaneSpec& lane);
    const LaneSpec& lane() const { return m_lane; }
    /// The devices there are, and the one of the experiment.
    void setDevices(const CudaDevices& found, const Device& ofExperiment);

signals:
    void edited();

private:
    void buildDevice();
    void buildWeights();
    void buildCache();
    void buildRequests();
    void buildDrafts();
    void buildRest();
    void read();
    void readCache();
    void updateRows();

    LaneSpec m_lane;
    bool m_filling = false;
    CudaDevices m_devices;
    Device m_deviceOfExperiment;
    QFormLayout* m_rows;
    QComboBox* m_device;
    QCheckBox* m_graph;
    QLabel* m_whyNoGraph;
    QCheckBox* m_tf32;
    QComboBox* m_kernels;
    QComboBox* m_weights;
    QComboBox* m_cache;
    QComboBox* m_dtype;
    QComboBox* m_bits;
    QSpinBox* m_group;
    QSpinBox* m_residual;
    QSpinBox* m_capacity;
    QSpinBox* m_block;
    QSpinBox* m_blocks;
    QCheckBox* m_share;
    QSpinBox* m_window;
    QSpinBox* m_sinks;
    QComboBox* m_padding;
    QSpinBox* m_maxRows;
    QSpinBox* m_budget;
    QSpinBox* m_draftTokens;
    QSpinBox* m_draftLayers;
    QSpinBox* m_draftNgram;
    QLineEdit* m_draftModel;
    QComboBox* m_acceptance;
    QSpinBox* m_beams;
    QLineEdit* m_prefill;
    QComboBox* m_allocation;
};

}  // namespace decodescope
