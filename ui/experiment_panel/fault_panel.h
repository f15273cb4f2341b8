// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>
#include <vector>

#include "engine/decode/lane_spec.h"
#include "engine/model/model_config.h"
#include "ui/theme/card.h"

class QComboBox;
class QLabel;
class QLineEdit;
class QListView;

namespace decodescope {

class FaultFilter;
class FaultListModel;

/// Breaks a lane on purpose: which lane, a search, the check list of faults, and what the one under the
/// cursor will show. The reference is not among the lanes, because nothing can be told by a wrong one.
class FaultPanel : public Card {
    Q_OBJECT

public:
    explicit FaultPanel(QWidget* parent = nullptr);

    /// `model`: the experiment's, when it is loaded.
    void setLanes(const std::vector<LaneSpec>& lanes, std::size_t reference,
                  const std::optional<ModelConfig>& model);
    /// Index among the experiment's lanes of the one whose faults are shown; -1 = none.
    int lane() const;
    void setLane(int lane);

    QListView* list() const { return m_list; }

signals:
    void edited(int lane, const std::vector<std::string>& faults);

private:
    void fillList();
    void updateDetail();

    bool m_filling = false;
    std::vector<LaneSpec> m_lanes;
    std::optional<ModelConfig> m_config;
    QComboBox* m_lane;
    QLineEdit* m_search;
    FaultListModel* m_model;
    FaultFilter* m_filter;
    QListView* m_list;
    QLabel* m_detail;
};

}  // namespace decodescope
