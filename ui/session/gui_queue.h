// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>

#include <deque>
#include <functional>
#include <mutex>

namespace decodescope {

/// Calls that other threads want made on the GUI thread, in the order they were asked for. What they hand
/// over goes through a lock of this queue and not through Qt's events alone, so that tools which watch for
/// data races see the order. What has not been called when it is destroyed never is. Made and destroyed on
/// the GUI thread.
class GuiQueue : public QObject {
    Q_OBJECT
public:
    using QObject::QObject;

    /// Any thread; returns at once.
    void call(std::function<void()> function);

protected:
    void customEvent(QEvent* event) override;

private:
    std::mutex m_mutex;
    std::deque<std::function<void()>> m_calls;  // one posted event each
};

}  // namespace decodescope
