// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/chart/view_history.h"

#include <QElapsedTimer>
#include <QPointer>

#include <utility>

#include "ui/chart/chart.h"

namespace decodescope {

namespace {

constexpr int limit = 100;
// Turns of the wheel that follow each other so soon are one gesture.
constexpr qint64 gestureMs = 700;

class ViewChange : public QUndoCommand {
public:
    ViewChange(Chart* chart, QVariant before)
        : m_chart(chart), m_before(std::move(before)), m_after(chart->view()) {
        m_age.start();
    }

    int id() const override { return 1; }
    bool mergeWith(const QUndoCommand* other) override {
        const auto* next = static_cast<const ViewChange*>(other);
        if (next->m_chart != m_chart || m_age.hasExpired(gestureMs)) return false;
        m_after = next->m_after;
        m_age.restart();
        return true;
    }
    void undo() override { show(m_before); }
    void redo() override {
        // The first time it has been done already.
        if (std::exchange(m_done, true)) show(m_after);
    }

private:
    void show(const QVariant& view) const {
        if (m_chart) m_chart->setView(view);
    }

    QPointer<Chart> m_chart;
    QVariant m_before, m_after;
    QElapsedTimer m_age;
    bool m_done = false;
};

}  // namespace

ViewHistory::ViewHistory(QObject* parent) : QObject(parent) {
    m_stack.setUndoLimit(limit);
    connect(&m_stack, &QUndoStack::indexChanged, this, &ViewHistory::changed);
}

ViewHistory::~ViewHistory() {
    // The stack empties itself once more, and whoever would be told may be gone.
    m_stack.disconnect(this);
}

void ViewHistory::watch(Chart* chart) {
    connect(chart, &Chart::viewChangedByHand, this,
            [this, chart](const QVariant& before) { m_stack.push(new ViewChange(chart, before)); });
}

}  // namespace decodescope
