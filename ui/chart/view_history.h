// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>
#include <QUndoStack>

namespace decodescope {

class Chart;

/// One way back for what somebody did to the view of any chart: zoom, pan, scales, series switched off. What
/// belongs to one gesture (a drag, a few turns of the wheel) is one step. GUI thread.
class ViewHistory : public QObject {
    Q_OBJECT
public:
    explicit ViewHistory(QObject* parent = nullptr);
    ~ViewHistory() override;

    /// From now on what is done to the chart by hand can be undone.
    void watch(Chart* chart);
    /// Another run is on screen: its views are not those of the one before.
    void clear() { m_stack.clear(); }

    bool canUndo() const { return m_stack.canUndo(); }
    bool canRedo() const { return m_stack.canRedo(); }
    void undo() { m_stack.undo(); }
    void redo() { m_stack.redo(); }

signals:
    /// `canUndo` or `canRedo` may be another one.
    void changed();

private:
    QUndoStack m_stack;
};

}  // namespace decodescope
