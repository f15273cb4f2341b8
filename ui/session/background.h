// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>
#include <QPointer>

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <stop_token>
#include <thread>
#include <utility>

#include "ui/session/gui_queue.h"

namespace decodescope {

/// One thread beside the window and the engine, for what needs neither: files and long texts. Work is done in
/// the order it comes. It belongs to the application, which waits in the end for what was asked for.
class Background : public QObject {
    Q_OBJECT
public:
    /// The application's; made when it is first asked for. GUI thread.
    static Background& instance();
    ~Background() override;

    /// `work` gets the queue to answer through.
    void add(std::function<void(GuiQueue&)> work);

private:
    explicit Background(QObject* parent);
    void main(const std::stop_token& quit);

    GuiQueue m_answers;
    std::mutex m_mutex;
    std::condition_variable_any m_wake;
    std::deque<std::function<void(GuiQueue&)>> m_queue;
    std::jthread m_thread;  // last: it uses all of the above
};

/// Runs `work` on the background thread and hands what it returns to `done` on the GUI thread, unless
/// `receiver` is gone by then. `work` captures immutable values alone. GUI thread.
template <class Value>
void runInBackground(QObject* receiver, std::function<Value()> work, std::function<void(const Value&)> done) {
    Background::instance().add([receiver = QPointer<QObject>(receiver), work = std::move(work),
                                done = std::move(done)](GuiQueue& answers) {
        auto value = std::make_shared<const Value>(work());
        answers.call([receiver, value, done] {
            if (receiver) done(*value);
        });
    });
}

}  // namespace decodescope
