// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/session/gui_queue.h"

#include <QCoreApplication>
#include <QEvent>

#include <utility>

namespace decodescope {

void GuiQueue::call(std::function<void()> function) {
    const std::lock_guard lock(m_mutex);
    m_calls.push_back(std::move(function));
    QCoreApplication::postEvent(this, new QEvent(QEvent::User));
}

void GuiQueue::customEvent(QEvent*) {
    std::function<void()> function;
    {
        const std::lock_guard lock(m_mutex);
        function = std::move(m_calls.front());
        m_calls.pop_front();
    }
    function();
}

}  // namespace decodescope
