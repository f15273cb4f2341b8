// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/session/background.h"

#include <QCoreApplication>

namespace decodescope {

Background& Background::instance() {
    static QPointer<Background> background;
    if (background == nullptr) background = new Background(QCoreApplication::instance());
    return *background;
}

Background::Background(QObject* parent)
    : QObject(parent), m_thread([this](const std::stop_token& quit) { main(quit); }) {}

Background::~Background() = default;

void Background::add(std::function<void(GuiQueue&)> work) {
    const std::lock_guard lock(m_mutex);
    m_queue.push_back(std::move(work));
    m_wake.notify_one();
}

void Background::main(const std::stop_token& quit) {
    while (true) {
        std::function<void(GuiQueue&)> work;
        {
            std::unique_lock lock(m_mutex);
            m_wake.wait(lock, quit, [this] { return !m_queue.empty(); });
            if (m_queue.empty()) return;
            work = std::move(m_queue.front());
            m_queue.pop_front();
        }
        work(m_answers);
    }
}

}  // namespace decodescope
