// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QElapsedTimer>
#include <QTemporaryDir>
#include <QTest>

#include <memory>

#include "tests/patience.h"
#include "ui/main_window.h"
#include "ui/theme/theme.h"

namespace decodescope::test {

/// Sanitizers and debugging builds slow everything down; limits in time are multiplied by this.
#if defined(__SANITIZE_THREAD__)
inline constexpr int slowness = 20;
#elif defined(__SANITIZE_ADDRESS__)
inline constexpr int slowness = 8;
#else
inline constexpr int slowness = 1;
#endif

/// Keeps a picture of a widget as NAME.png in the folder that DECODESCOPE_SCREENSHOTS names, if it does.
inline void keepPicture(QWidget* widget, const char* name) {
    if (const QString folder = qEnvironmentVariable("DECODESCOPE_SCREENSHOTS"); !folder.isEmpty())
        widget->grab().save(QStringLiteral("%1/%2.png").arg(folder, QLatin1String(name)));
}

/// A real window with settings of its own in a temporary folder.
struct WindowFixture {
    explicit WindowFixture(Theme& theme, MainWindow::Options options = {}) {
        if (options.settingsPath.isEmpty()) options.settingsPath = folder.filePath("settings.ini");
        window = std::make_unique<MainWindow>(theme, std::move(options));
        window->show();
    }

    /// Waits until the engine has nothing to do.
    bool awaitIdle() const {
        return QTest::qWaitFor(
            [this] {
                return window->session()->environment() != nullptr && window->session()->model() != nullptr &&
                       window->session()->activity() == Session::Activity::idle;
            },
            patience);
    }
    bool awaitRecord() const {
        return QTest::qWaitFor([this] { return window->data().finishedRecord() != nullptr; }, patience) &&
               awaitIdle();
    }

    QTemporaryDir folder;
    std::unique_ptr<MainWindow> window;
};

/// A small experiment on random weights that takes a fraction of a second.
inline Experiment tinyExperiment(int newTokens = 12) {
    Experiment experiment;
    experiment.model = {.path = {}, .preset = "tiny", .seed = 3};
    experiment.threads = 1;
    PromptSpec& prompt = experiment.prompts.front();
    prompt.kind = PromptSpec::Kind::random;
    prompt.length = 8;
    prompt.seed = 5;
    experiment.new_tokens = newTokens;
    experiment.warmup = 0;
    experiment.repetitions = 1;
    for (const char* name : {"naive", "static"}) {
        if (const Result<LaneSpec> lane = lane_from_name(name)) experiment.lanes.push_back(*lane);
    }
    return experiment;
}

}  // namespace decodescope::test
