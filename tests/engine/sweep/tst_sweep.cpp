// SPDX-License-Identifier: GPL-3.0-or-later
#include <QTemporaryDir>
#include <QTest>
#include <sys/resource.h>

#include <csignal>

#include "engine/model/preset.h"
#include "engine/model/weight_size.h"
#include "engine/sweep/estimate.h"
#include "engine/sweep/sweep.h"
#include "tests/engine/sweep/sample_cells.h"
#include "tests/file_content.h"

using namespace decodescope;
using namespace decodescope::test;

namespace {

class Counter final : public GridSink {
public:
    void test_started(std::size_t, std::size_t, const TestShape&) override { ++started; }
    bool test_done(const std::vector<Cell>&) override { return ++done < most; }
    int started = 0;
    int done = 0;
    int most = 1000;
};

/// Two cells of a point.
std::vector<Cell> cells_of_point(std::size_t point) {
    std::vector<Cell> cells{sample_cell("naive", {8, 4, 0, 1, 1}, 100, 1),
                            sample_cell("static", {8, 4, 0, 1, 1}, 50, 0)};
    for (Cell& cell : cells) cell.point = point;
    return cells;
}

}  // namespace

class SweepTest : public QObject {
    Q_OBJECT

    QTemporaryDir m_folder;
    int m_number = 0;

    std::filesystem::path fresh() {
        return m_folder.filePath(QString("%1.jsonl").arg(m_number++)).toStdString();
    }
    /// A file with these points of sweep "a" of four points.
    std::filesystem::path fileWith(std::initializer_list<std::size_t> points, const char* sweep = "a") {
        const auto path = fresh();
        auto file = SweepFile::open(path, sweep, 4, SweepFile::Mode::create);
        if (!file) qFatal("%s", file.error().message.c_str());
        for (const std::size_t point : points) {
            if (!file->append(cells_of_point(point))) qFatal("not written");
        }
        return path;
    }
    static Sweep tinySweep() {
        Sweep sweep;
        sweep.settings.model = {.path = {}, .preset = "tiny", .seed = 5};
        sweep.settings.lanes = {*lane_from_name("naive"), *lane_from_name("static")};
        sweep.settings.repetitions = 2;
        sweep.points = Grid{{4, 8}, {3, 6}, {0}, {1}, {1}}.product();
        return sweep;
    }

private slots:
    void everyPointIsWrittenAndTheFirstRepeated() {
        const auto ledger = std::make_shared<MemoryLedger>();
        const LoadedModel model{*random_weights(*preset_config("tiny"), 5, ledger), nullptr};
        const Sweep sweep = tinySweep();
        const auto path = fresh();
        auto file = SweepFile::open(path, sweep.id("hash"), sweep.points.size(), SweepFile::Mode::create);
        QVERIFY(file);
        Counter counter;
        QVERIFY(run_sweep(sweep, model, ledger, *file, counter));
        QCOMPARE(counter.done, 5);
        const auto rows = load_sweep(path);
        QVERIFY(rows);
        QCOMPARE(rows->size(), std::size_t{10});
        for (std::size_t i = 0; i < 8; ++i) {
            QCOMPARE((*rows)[i].cell.point, i / 2);
            QCOMPARE((*rows)[i].cell.repeat, false);
            QCOMPARE((*rows)[i].n_point, std::size_t{4});
            QCOMPARE((*rows)[i].cell.status, CellStatus::ok);
        }
        QVERIFY((*rows)[9].cell.repeat && (*rows)[9].cell.point == 0);
    }

    void resumesWhereItStopped() {
        const auto ledger = std::make_shared<MemoryLedger>();
        const LoadedModel model{*random_weights(*preset_config("tiny"), 5, ledger), nullptr};
        const Sweep sweep = tinySweep();
        const auto path = fresh();
        {
            auto file = SweepFile::open(path, sweep.id("hash"), 4, SweepFile::Mode::create);
            Counter counter;
            counter.most = 2;
            QVERIFY(run_sweep(sweep, model, ledger, *file, counter));
        }
        const QByteArray before = contentOf(path);
        auto file = SweepFile::open(path, sweep.id("hash"), 4, SweepFile::Mode::resume);
        QVERIFY(file);
        QCOMPARE(file->cells().size(), std::size_t{4});
        QVERIFY(file->has(1) && !file->has(2));
        Counter counter;
        QVERIFY(run_sweep(sweep, model, ledger, *file, counter));
        QCOMPARE(counter.done, 3);
        QVERIFY(contentOf(path).startsWith(before));
        Counter nothing;
        QVERIFY(run_sweep(sweep, model, ledger, *file, nothing));
        QCOMPARE(nothing.started, 0);
    }

    void partsAreDisjointAndComplete() {
        Sweep sweep = tinySweep();
        sweep.points = Grid{{4, 8, 16}, {3, 6}, {0, 9}, {1}, {1}}.product();
        std::set<std::size_t> all;
        for (int part = 1; part <= 5; ++part) {
            sweep.shard = part;
            sweep.n_shard = 5;
            for (const std::size_t point : sweep.own_points()) QVERIFY(all.insert(point).second);
        }
        QCOMPARE(all.size(), std::size_t{12});
    }

    void theNameIsThatOfTheWholeSweep() {
        Sweep sweep = tinySweep();
        const std::string id = sweep.id("hash");
        sweep.shard = 2;
        sweep.n_shard = 3;
        QCOMPARE(sweep.id("hash"), id);
        QVERIFY(sweep.id("other") != id);
        sweep.settings.repetitions = 3;
        QVERIFY(sweep.id("hash") != id);
        sweep = tinySweep();
        sweep.settings.lanes[1].cache.capacity = 100;
        QVERIFY(sweep.id("hash") != id);
        sweep = tinySweep();
        sweep.points.pop_back();
        QVERIFY(sweep.id("hash") != id);
    }

    void halfALineIsRepaired() {
        const auto path = fileWith({0, 1});
        const QByteArray whole = contentOf(path);
        for (const int cut : {1, 20, 500}) {
            writeFile(path, whole + whole.left(cut));
            std::size_t half = 0;
            QVERIFY(parse_sweep_rows((whole + whole.left(cut)).toStdString(), &half));
            QCOMPARE(half, static_cast<std::size_t>(cut));
            {
                auto file = SweepFile::open(path, "a", 4, SweepFile::Mode::resume);
                QVERIFY2(file.ok(), file.ok() ? "" : file.error().message.c_str());
                QCOMPARE(file->cells().size(), std::size_t{4});
            }
            QCOMPARE(contentOf(path), whole);
        }
    }

    void aPointOfWhichOnlyOneLaneWasWrittenIsMadeAgain() {
        const auto path = fileWith({0, 1});
        const QByteArray whole = contentOf(path);
        // What a crash in the middle of a write leaves: the second point's first line, and a piece.
        const int last = static_cast<int>(whole.lastIndexOf('\n', whole.size() - 2)) + 1;
        writeFile(path, whole.left(last + 30));
        auto file = SweepFile::open(path, "a", 4, SweepFile::Mode::resume);
        QVERIFY(file);
        QVERIFY(file->has(0));
        QVERIFY(!file->has(1));
        QCOMPARE(file->cells().size(), std::size_t{2});
        QVERIFY(file->append(cells_of_point(1)));
        QCOMPARE(load_sweep(path)->size(), std::size_t{4});
    }

    void filesThatCannotBeUsed_data() {
        QTest::addColumn<QByteArray>("content");
        QTest::addColumn<QString>("sentence");
        QTest::newRow("other sweep") << QByteArray("SWEEP b") << "belongs to sweep b, but a was asked for";
        QTest::newRow("broken line") << QByteArray("{]\n") << "line 1: ";
        QTest::newRow("other file") << QByteArray("{\"schema\": \"decodescope.record/1\"}\n")
                                    << "line 1: schema is";
        QTest::newRow("no sweep") << QByteArray("NO SWEEP") << "line 1: sweep is missing";
    }
    void filesThatCannotBeUsed() {
        QFETCH(QByteArray, content);
        QFETCH(QString, sentence);
        auto path = fresh();
        if (content == "SWEEP b") {
            path = fileWith({0}, "b");
        } else if (content == "NO SWEEP") {
            path = fileWith({0});
            writeFile(path, contentOf(path).replace("\"sweep\":", "\"_sweep\":"));
        } else {
            writeFile(path, content);
        }
        const QByteArray before = contentOf(path);
        const auto file = SweepFile::open(path, "a", 4, SweepFile::Mode::resume);
        QVERIFY(!file);
        QVERIFY2(QString::fromStdString(file.error().message).contains(sentence),
                 file.error().message.c_str());
        QCOMPARE(contentOf(path), before);
    }

    void aFileThatHoldsSomethingIsNotBegunAnew() {
        const auto path = fileWith({0});
        const QByteArray before = contentOf(path);
        const auto file = SweepFile::open(path, "a", 4, SweepFile::Mode::create);
        QVERIFY(!file);
        QVERIFY(QString::fromStdString(file.error().message).contains("--resume goes on with it"));
        QCOMPARE(contentOf(path), before);
    }

    void oneWriterAtATime() {
        const auto path = fresh();
        const auto first = SweepFile::open(path, "a", 4, SweepFile::Mode::create);
        QVERIFY(first);
        const auto second = SweepFile::open(path, "a", 4, SweepFile::Mode::create);
        QVERIFY(!second);
        QVERIFY(QString::fromStdString(second.error().message).contains("is being written by another sweep"));
    }

    void folderThatCannotBeWritten() {
        const auto file = SweepFile::open("/proc/sweep.jsonl", "a", 4, SweepFile::Mode::create);
        QVERIFY(!file);
        QVERIFY(QString::fromStdString(file.error().message)
                    .contains("/proc/sweep.jsonl cannot be opened for writing"));
    }

    void noSpaceKeepsWhatWasWritten() {
        const auto path = fileWith({0});
        const QByteArray before = contentOf(path);
        auto file = SweepFile::open(path, "a", 4, SweepFile::Mode::resume);
        QVERIFY(file);
        // A limit of the file's size, in the middle of the next point: write() gives up half-way, as on a
        // full disk.
        rlimit usual{};
        QCOMPARE(getrlimit(RLIMIT_FSIZE, &usual), 0);
        const auto handler = std::signal(SIGXFSZ, SIG_IGN);
        rlimit small = usual;
        small.rlim_cur = static_cast<rlim_t>(before.size() + 300);
        QCOMPARE(setrlimit(RLIMIT_FSIZE, &small), 0);
        const auto appended = file->append(cells_of_point(1));
        QCOMPARE(setrlimit(RLIMIT_FSIZE, &usual), 0);
        std::signal(SIGXFSZ, handler);
        QVERIFY(!appended);
        QVERIFY2(QString::fromStdString(appended.error().message).contains("what was there before is kept"),
                 appended.error().message.c_str());
        QCOMPARE(contentOf(path), before);
        QVERIFY(!file->has(1));
        QVERIFY(file->append(cells_of_point(1)));  // there is space again
        QCOMPARE(load_sweep(path)->size(), std::size_t{4});
    }

    void partsAreMerged() {
        const auto merged = merge_sweeps({fileWith({0, 2}), fileWith({1, 3})});
        QVERIFY(merged);
        QCOMPARE(merged->rows.size(), std::size_t{8});
        for (std::size_t i = 0; i < 8; ++i) QCOMPARE(merged->rows[i].cell.point, i / 2);
        QVERIFY(merged->remarks.empty());
        QVERIFY(merged->mixed.empty());
        std::size_t half = 0;
        QCOMPARE(parse_sweep_rows(sweep_jsonl(merged->rows), &half)->size(), std::size_t{8});
    }

    void mergingSaysWhatIsMissingTwiceOrMixed() {
        const auto first = fileWith({0, 1});
        const auto second = fileWith({1, 3});
        writeFile(second, contentOf(second).replace("\"cpu_model\":\"CPU\"", "\"cpu_model\":\"Other\""));
        const auto merged = merge_sweeps({first, second});
        QVERIFY(merged);
        QCOMPARE(merged->rows.size(), std::size_t{6});
        QCOMPARE(merged->remarks[0], std::string("1 of 4 points are missing: 2."));
        QCOMPARE(merged->remarks[1],
                 std::string("Points that are in several files were taken from the first: 1."));
        QCOMPARE(merged->mixed.size(), std::size_t{1});
        QCOMPARE(merged->mixed[0], std::string("processor: CPU (4 cells), Other (2 cells)"));
    }

    void differentSweepsAreNotMerged() {
        const auto merged = merge_sweeps({fileWith({0}), fileWith({1}, "b")});
        QVERIFY(!merged);
        QVERIFY(
            QString::fromStdString(merged.error().message).contains("only parts of one sweep can be merged"));
        QVERIFY(!merge_sweeps({m_folder.filePath("none.jsonl").toStdString()}));
    }

    void estimatesTimeAndSaysWhatWillNotRun() {
        const auto ledger = std::make_shared<MemoryLedger>();
        const LoadedModel model{*random_weights(*preset_config("tiny"), 5, ledger), nullptr};
        Sweep sweep = tinySweep();
        sweep.settings.precision = {0.02, 3};
        sweep.settings.memory =
            ledger->total() + prepared_bytes(model.weights->config, WeightType::f32) + 1000;
        const SweepEstimate estimate = estimate_sweep(sweep, model, ledger);
        QCOMPARE(estimate.points.size(), std::size_t{5});
        for (const auto& point : estimate.points) {
            QCOMPARE(point.refused.size(), std::size_t{1});
            QCOMPARE(point.refused[0].status, CellStatus::memory);
            QCOMPARE(point.n_lane, std::size_t{1});
        }
        sweep.settings.memory = 0;
        const SweepEstimate fits = estimate_sweep(sweep, model, ledger);
        for (const auto& point : fits.points) {
            QVERIFY(point.refused.empty());
            QVERIFY(point.least_s > 0);
            QVERIFY(point.most_s >= 3);
        }
        QCOMPARE(ledger->total(), model.weights->bytes());
    }

    void longerTestsTakeLonger() {
        const ModelConfig model = *preset_config("tiny");
        const SpeedProbe probe{1.0, 1.0};
        const auto ns = [&](const char* lane, const TestShape& shape) {
            return estimate_ns(shape, *lane_from_name(lane), model, probe);
        };
        QVERIFY(ns("naive", {8, 16, 0, 1, 1}) > 1.9 * ns("naive", {8, 8, 0, 1, 1}));
        QVERIFY(ns("static", {8, 16, 0, 1, 1}) < ns("naive", {8, 16, 0, 1, 1}));
        QVERIFY(ns("static", {8, 8, 0, 4, 1}) > ns("batch", {8, 8, 0, 4, 1}));
        QCOMPARE(duration_text(0.5), std::string("less than 1 s"));
        QCOMPARE(duration_text(90), std::string("90 s"));
        QCOMPARE(duration_text(600), std::string("10 min"));
        QCOMPARE(duration_text(9000), std::string("2.5 h"));
    }
};

QTEST_APPLESS_MAIN(SweepTest)
#include "tst_sweep.moc"
