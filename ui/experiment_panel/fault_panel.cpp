// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/experiment_panel/fault_panel.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QListView>
#include <QToolButton>
#include <QVBoxLayout>

#include "ui/experiment_panel/fault_list.h"
#include "ui/experiment_panel/form_fields.h"
#include "ui/text.h"
#include "ui/widgets/labels.h"
#include "ui/widgets/slim_scroll_bar.h"

namespace decodescope {

namespace {

constexpr int visibleLines = 13;

}  // namespace

FaultPanel::FaultPanel(QWidget* parent)
    : Card(parent), m_model(new FaultListModel(this)), m_filter(new FaultFilter(this)) {
    const CardMetrics metrics(font());
    content()->setSpacing(metrics.padding / 2);
    m_lane = comboBox(this, "faultLane", tr("Lane to break"),
                      tr("The lane that makes the mistakes. The reference stays right, to compare with"));
    m_search = lineEdit(this, "faultSearch", tr("Search faults"),
                        tr("Words of a fault's title, description or fingerprint, such as: position, pads, "
                           "chunk"),
                        tr("search"));
    m_search->setClearButtonEnabled(true);
    for (QToolButton* clear : m_search->findChildren<QToolButton*>()) {
        clear->setObjectName(QStringLiteral("faultSearchClear"));
        clear->setAccessibleName(tr("Clear the search"));
        clear->setToolTip(tr("Clear the search"));
    }
    auto* row = new QHBoxLayout;
    row->setSpacing(metrics.padding / 2);
    row->addWidget(m_lane, 1);
    row->addWidget(m_search, 1);
    content()->addLayout(row);

    m_filter->setSourceModel(m_model);
    m_list = new QListView(this);
    m_list->setObjectName(QStringLiteral("faultList"));
    m_list->setAccessibleName(tr("Faults"));
    m_list->setModel(m_filter);
    m_list->setItemDelegate(new FaultDelegate(m_list));
    m_list->setResizeMode(QListView::Adjust);
    m_list->setFrameShape(QFrame::NoFrame);
    m_list->setVerticalScrollMode(QAbstractItemView::ScrollPerPixel);
    m_list->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    m_list->setSelectionMode(QAbstractItemView::SingleSelection);
    m_list->setEditTriggers(QAbstractItemView::NoEditTriggers);
    m_list->setTabKeyNavigation(false);
    m_list->viewport()->setAutoFillBackground(false);
    SlimScrollBar::install(m_list);
    m_list->setFixedHeight(metrics.line * visibleLines);
    content()->addWidget(m_list);

    m_detail = mutedLabel({}, this);
    m_detail->setObjectName(QStringLiteral("faultDetail"));
    m_detail->setWordWrap(true);
    m_detail->setTextInteractionFlags(Qt::TextSelectableByMouse);
    content()->addWidget(m_detail);

    connect(m_lane, &QComboBox::currentIndexChanged, this, [this] {
        if (!m_filling) fillList();
    });
    connect(m_search, &QLineEdit::textChanged, this, [this](const QString& text) {
        m_filter->setSearch(text);
        updateDetail();
    });
    connect(m_model, &FaultListModel::edited, this, [this] {
        const int index = lane();
        if (index < 0) return;
        m_lanes[static_cast<std::size_t>(index)].faults = m_model->faults();
        updateDetail();
        emit edited(index, m_model->faults());
    });
    connect(m_list->selectionModel(), &QItemSelectionModel::currentChanged, this, &FaultPanel::updateDetail);
    fillList();
}

void FaultPanel::setLanes(const std::vector<LaneSpec>& lanes, std::size_t reference,
                          const std::optional<ModelConfig>& model) {
    m_filling = true;
    const int before = lane();
    m_lanes = lanes;
    m_config = model;
    m_lane->clear();
    int faulty = -1;
    for (std::size_t i = 0; i < lanes.size(); ++i) {
        if (i == reference && lanes.size() > 1) continue;
        const int row = m_lane->count();
        m_lane->addItem(tr("in %1").arg(QString::fromStdString(lanes[i].name)), static_cast<int>(i));
        if (faulty < 0 && !lanes[i].faults.empty()) faulty = row;
    }
    const int kept = m_lane->findData(before);
    m_lane->setCurrentIndex(kept >= 0 ? kept : std::max(faulty, 0));
    m_filling = false;
    fillList();
}

int FaultPanel::lane() const {
    return m_lane->currentIndex() < 0 ? -1 : m_lane->currentData().toInt();
}

void FaultPanel::setLane(int lane) {
    const int row = m_lane->findData(lane);
    if (row >= 0) m_lane->setCurrentIndex(row);
}

void FaultPanel::fillList() {
    const int index = lane();
    m_list->setEnabled(index >= 0);
    m_model->setLane(index < 0 ? LaneSpec() : m_lanes[static_cast<std::size_t>(index)], m_config);
    updateDetail();
}

void FaultPanel::updateDetail() {
    const QModelIndex index = m_list->currentIndex();
    const int fault = index.isValid() ? index.data(FaultListModel::faultRole).toInt() : -1;
    if (m_filter->rowCount() == 0) {
        m_detail->setText(tr("No fault has these words."));
    } else if (fault < 0) {
        m_detail->setText(tr("Tick a mistake to make it on purpose; the lane beside it stays right."));
    } else {
        const FaultInfo& info = fault_info(static_cast<Fault>(fault));
        m_detail->setText(
            tr("What you should see: %1\nFix: %2").arg(bundledText(info.fingerprint), bundledText(info.fix)));
    }
}

}  // namespace decodescope
