// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QCoreApplication>
#include <QMetaObject>
#include <QObject>
#include <QPointer>
#include <QThreadPool>

#include <functional>
#include <memory>
#include <utility>

namespace decodescope {

/// Runs `work` beside the window, on a thread of Qt's pool, and hands what it returns to `done` on the GUI
/// thread, unless `receiver` is gone by then. For what needs no engine: files and long texts. `work` captures
/// immutable values alone. Call it on the GUI thread; the program waits for the rest when it ends.
template <class Value>
void runInBackground(QObject* receiver, std::function<Value()> work, std::function<void(const Value&)> done) {
    QThreadPool::globalInstance()->start(
        [receiver = QPointer<QObject>(receiver), work = std::move(work), done = std::move(done)] {
            auto value = std::make_shared<const Value>(work());
            QMetaObject::invokeMethod(
                QCoreApplication::instance(),
                [receiver, value, done] {
                    if (receiver) done(*value);
                },
                Qt::QueuedConnection);
        });
}

}  // namespace decodescope
