// SPDX-License-Identifier: GPL-3.0-or-later
// What an open window with all its charts live costs a decoding run: the same experiment, started in the
// window and without it, in turns in one process. Exits with 1 when decoding keeps less than 0.9 of its
// speed.
#include <QApplication>
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "engine/experiment/runner.h"
#include "engine/model/preset.h"
#include "tests/ui/window/window_fixture.h"
#include "ui/experiment_panel/experiment_panel.h"

using namespace decodescope;

namespace {

constexpr int rounds = 5;
constexpr double limit = 0.9;
constexpr int patienceMs = 300'000;

Experiment makeExperiment(const std::string& preset) {
    Experiment experiment;
    experiment.model = {.path = {}, .preset = preset, .seed = 0};
    experiment.threads = 2;
    PromptSpec& prompt = experiment.prompts.front();
    prompt.kind = PromptSpec::Kind::random;
    prompt.length = 64;
    experiment.new_tokens = 200;
    experiment.warmup = 0;
    experiment.repetitions = 1;
    for (const WeightType type : {WeightType::f32, WeightType::int8}) {
        LaneSpec lane = *lane_from_name("static");
        lane.name = to_string(type);
        lane.weights = type;
        experiment.lanes.push_back(std::move(lane));
    }
    return experiment;
}

std::shared_ptr<const Record> runInWindow(const test::WindowFixture& fixture) {
    const auto before = fixture.window->data().finishedRecord();
    fixture.window->startRun();
    const bool done = QTest::qWaitFor(
        [&] {
            const auto record = fixture.window->data().finishedRecord();
            return record != nullptr && record != before;
        },
        patienceMs);
    return done && fixture.awaitIdle() ? fixture.window->data().finishedRecord() : nullptr;
}

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

}  // namespace

int main(int argc, char** argv) {
    QApplication application(argc, argv);
    const Experiment experiment = makeExperiment(argc > 1 ? argv[1] : "gpt2-small");
    const auto config = preset_config(experiment.model.preset);
    const auto ledger = std::make_shared<MemoryLedger>();
    const auto weights = config ? random_weights(*config, 0, ledger) : config.error();
    if (!weights) {
        fmt::print(stderr, "{}\n", weights.error().message);
        return 2;
    }
    Theme theme;
    const test::WindowFixture fixture(theme, {.autostart = false});
    fixture.window->resize(1440, 900);
    fixture.window->showScreen(0);
    if (!fixture.awaitIdle()) return 3;
    fixture.window->panel()->setExperiment(experiment);

    std::vector<std::vector<double>> ratios(experiment.lanes.size());
    for (int round = 0; round < rounds; ++round) {
        const auto watched = runInWindow(fixture);
        EventSink sink;
        const auto alone = run_experiment(experiment, {*weights, nullptr}, ledger, sink);
        if (watched == nullptr || !alone || watched->lanes.size() != ratios.size()) {
            fmt::print(stderr, "A run did not end well{}\n", alone ? "." : ": " + alone.error().message);
            return 3;
        }
        for (std::size_t i = 0; i < ratios.size(); ++i) {
            const double speed = alone->lanes[i].decode_tok_s();
            ratios[i].push_back(watched->lanes[i].decode_tok_s() / speed);
            fmt::print("{:5} without a window {:7.1f} tok/s, in one {:5.3f} of it\n",
                       experiment.lanes[i].name, speed, ratios[i].back());
        }
    }
    bool good = true;
    for (std::size_t i = 0; i < ratios.size(); ++i) {
        const double ratio = median(ratios[i]);
        good = good && ratio >= limit;
        fmt::print("{:5} keeps {:.3f} in the window (median of {}, at least {}){}\n",
                   experiment.lanes[i].name, ratio, rounds, limit, ratio < limit ? "  UNDER" : "");
    }
    return good ? 0 : 1;
}
