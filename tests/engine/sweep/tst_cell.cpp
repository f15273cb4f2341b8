// SPDX-License-Identifier: GPL-3.0-or-later
#include <QTest>

#include <cmath>

#include "engine/model/preset.h"
#include "engine/plan/accounting.h"
#include "engine/plan/memory_plan.h"
#include "engine/sweep/cell.h"
#include "engine/sweep/cell_json.h"
#include "engine/sweep/cell_text.h"
#include "engine/sweep/self_test.h"
#include "tests/engine/sweep/sample_cells.h"

using namespace decodescope;
using namespace decodescope::test;

namespace {

struct Fixture {
    std::shared_ptr<MemoryLedger> ledger = std::make_shared<MemoryLedger>();
    LoadedModel model{*random_weights(*preset_config("tiny"), 5, ledger), nullptr};
    EventSink nobody;

    std::vector<Cell> run(const TestShape& shape, std::initializer_list<const char*> lanes,
                          std::uint64_t memory = 0) {
        return measure_cells(shape, settings(lanes, memory), model, ledger, nobody);
    }
    static CellSettings settings(std::initializer_list<const char*> lanes, std::uint64_t memory = 0) {
        CellSettings settings;
        settings.model = {.path = {}, .preset = "tiny", .seed = 5};
        for (const char* lane : lanes) settings.lanes.push_back(*lane_from_name(lane));
        settings.repetitions = 2;
        settings.memory = memory;
        return settings;
    }
};

}  // namespace

class CellTest : public QObject {
    Q_OBJECT

private slots:
    void measuresWhatTheShapeSays_data() {
        QTest::addColumn<QList<int>>("shape");  // prompt, gen, depth, parallel
        QTest::newRow("prefill") << QList<int>{12, 0, 0, 1};
        QTest::newRow("prefill on a depth") << QList<int>{12, 0, 9, 1};
        QTest::newRow("decoding") << QList<int>{0, 6, 0, 1};
        QTest::newRow("decoding at a depth") << QList<int>{0, 6, 9, 1};
        QTest::newRow("both at a depth") << QList<int>{12, 6, 9, 1};
        QTest::newRow("requests") << QList<int>{12, 6, 9, 3};
    }
    void measuresWhatTheShapeSays() {
        QFETCH(QList<int>, shape);
        Fixture fixture;
        const TestShape test{shape[0], shape[1], shape[2], shape[3], 2};
        const auto cells = fixture.run(test, {"naive", "static", "batch"});
        QCOMPARE(cells.size(), std::size_t{3});
        const ModelConfig& model = fixture.model.weights->config;
        for (const Cell& cell : cells) {
            QCOMPARE(cell.status, CellStatus::ok);
            QCOMPARE(cell.samples_ns.size(), std::size_t{2});
            QCOMPARE(cell.ttft_ns.size(), std::size_t{2});
            for (std::size_t i = 0; i < 2; ++i) {
                const double ttft = test.n_prompt > 0 ? cell.ttft_ns[i] : 0;
                double sum = ttft;
                if (test.n_gen > 0) {
                    for (const double step : cell.step_ns[i]) sum += step;
                }
                QVERIFY(std::abs(cell.samples_ns[i] - sum) < 1);
                QVERIFY(cell.samples_ns[i] > 0);
            }
            const bool naive = cell.lane.mode == LaneMode::naive;
            const std::size_t steps = cell.lane.batching == Batching::single
                                          ? static_cast<std::size_t>(test.n_gen * test.n_parallel)
                                          : static_cast<std::size_t>(test.n_gen);
            if (test.n_gen > 0) QCOMPARE(cell.step_ns[0].size(), steps);
            if (test.n_gen == 0) QVERIFY(cell.step_ns.empty());
            QVERIFY(cell.bytes_moved > 0 && cell.flop > 0);
            QCOMPARE(cell.kv_bytes_per_token, naive ? 0 : model.kv_bytes_per_token(DType::f32));
            if (!naive) {
                // The arithmetic of the tokens that were measured, in closed form: products of every token,
                // the head once per chosen token, attention of visible cells.
                const WorkRequest all{test.prompt_length(), test.new_tokens(), 0};
                const WorkRequest prompt{test.prompt_length(), 1, 0};
                const WorkRequest depth{std::max(1, test.n_depth), 1, 0};
                const auto flop = [&](const WorkRequest& request) {
                    const WorkCount work = cached_work(model, request, {.kind = CacheKind::static_});
                    return static_cast<double>(work.product_flops) +
                           4.0 * model.head_dim * model.n_head * model.n_layer *
                               static_cast<double>(work.allowed_cells);
                };
                const double head = 2.0 * model.d_model * model.vocab;
                double expected = flop(all);
                if (test.n_prompt == 0) expected -= flop(prompt);
                if (test.n_prompt > 0 && test.n_depth > 0) expected -= flop(depth) - head;
                QVERIFY2(std::abs(cell.flop / (expected * test.n_parallel) - 1) < 1e-9,
                         qPrintable(QString("%1 %2").arg(cell.flop).arg(expected * test.n_parallel)));
            }
        }
        QCOMPARE(cells[0].speed_up.why_not, std::string("the reference"));
        for (const std::size_t i : {1u, 2u}) {
            QVERIFY2(cells[i].speed_up.why_not.empty(), cells[i].speed_up.why_not.c_str());
            QVERIFY(cells[i].speed_up.factor > 0 && cells[i].speed_up.interval.known);
            QVERIFY(cells[i].max_relative_error >= 0 && cells[i].max_relative_error < 1e-4);
        }
        QCOMPARE(fixture.ledger->limit(), std::uint64_t{0});
    }

    void whatCannotRunKeepsItsPlace() {
        Fixture fixture;
        auto settings = Fixture::settings({"naive", "continuous", "static", "int8"});
        settings.lanes[2].cache.capacity = 10;
        const auto cells =
            measure_cells({12, 6, 9, 1, 1}, settings, fixture.model, fixture.ledger, fixture.nobody);
        QCOMPARE(cells.size(), std::size_t{4});
        QCOMPARE(cells[0].status, CellStatus::ok);
        QCOMPARE(cells[1].status, CellStatus::unsupported);
        QVERIFY(cells[1].reason.starts_with("A continuous batch decides itself"));
        QCOMPARE(cells[2].status, CellStatus::capacity);
        QVERIFY2(QString::fromStdString(cells[2].reason).contains("10"), cells[2].reason.c_str());
        QCOMPARE(cells[3].status, CellStatus::ok);
        QVERIFY(cells[2].samples_ns.empty());
        for (const Cell& cell : cells) {
            QVERIFY(!cell.test_time.empty());
            QCOMPARE(cell.model, std::string("tiny"));
        }
        const TextTable table = cell_table(cells);
        QCOMPARE(table.rows.size(), std::size_t{4});
        QCOMPARE(table.rows[2][2], std::string("not measured"));
        QVERIFY(table.rows[1].back().starts_with("unsupported: A continuous batch"));
    }

    void moreThanTheModelHoldsIsCapacity() {
        Fixture fixture;
        const int positions = fixture.model.weights->config.n_positions;
        const auto cells = fixture.run({positions + 1, 0, 0, 1, 1}, {"naive", "static"});
        QCOMPARE(cells.size(), std::size_t{2});
        for (const Cell& cell : cells) {
            QCOMPARE(cell.status, CellStatus::capacity);
            QVERIFY(!cell.reason.empty());
        }
    }

    void whatWouldNotFitIsRefused() {
        Fixture fixture;
        const std::uint64_t weights = fixture.ledger->total();
        const auto cells = fixture.run({12, 6, 0, 1, 1}, {"naive+openblas", "static"}, weights + 1000);
        QCOMPARE(cells[1].status, CellStatus::memory);
        QVERIFY2(cells[1].reason.starts_with("It would need "), cells[1].reason.c_str());
        // The naive lane is not foreseen, but its buffers are refused when it asks for them.
        QVERIFY(cells[0].status == CellStatus::failed);
        QVERIFY2(QString::fromStdString(cells[0].reason).contains("Could not allocate"),
                 cells[0].reason.c_str());
        QCOMPARE(fixture.ledger->limit(), std::uint64_t{0});
        QCOMPARE(fixture.ledger->total(), weights);
    }

    /// Copies of the weights are memory too, one for each type that the lanes of a test have together.
    void preparedWeightsMustFit_data() {
        QTest::addColumn<bool>("f32");
        QTest::addColumn<bool>("f16");
        QTest::addColumn<std::int64_t>("less");
        QTest::addColumn<QString>("lanes");
        QTest::newRow("no copy") << false << false << std::int64_t{0} << "naive+openblas";
        QTest::newRow("f16") << false << true << std::int64_t{0} << "naive+openblas,static+weights-f16";
        QTest::newRow("f32") << true << false << std::int64_t{0} << "static,naive+openblas,cached";
        QTest::newRow("both") << true << true << std::int64_t{0}
                              << "static,naive+openblas,static+weights-f16,cached";
        QTest::newRow("a byte less") << true << true << std::int64_t{1} << "static,naive+openblas,cached";
    }
    void preparedWeightsMustFit() {
        QFETCH(bool, f32);
        QFETCH(bool, f16);
        QFETCH(std::int64_t, less);
        QFETCH(QString, lanes);
        Fixture fixture;
        const ModelConfig& config = fixture.model.weights->config;
        const TestShape shape{12, 6, 0, 1, 1};
        PlanRequest request;
        request.context = shape.prompt_length() + shape.n_gen;
        request.new_tokens = shape.new_tokens();
        for (const auto& [wanted, type] :
             {std::pair(f32, WeightType::f32), std::pair(f16, WeightType::f16)}) {
            if (wanted) request.prepared.push_back(type);
        }
        const auto plan = plan_memory(plan_shape(config, ""), request);
        QVERIFY(plan);
        const auto memory = static_cast<std::uint64_t>(plan->tensors() - less);
        std::vector<Cell> refused;
        const Experiment experiment = experiment_of(
            shape, Fixture::settings({"static", "naive+openblas", "static+weights-f16", "cached"}, memory),
            config, &refused);
        QStringList fitting;
        for (const LaneSpec& lane : experiment.lanes) fitting << QString::fromStdString(lane.name);
        QCOMPARE(fitting.join(','), lanes);
        QCOMPARE(refused.size() + experiment.lanes.size(), std::size_t{4});
        for (const Cell& cell : refused) QCOMPARE(cell.status, CellStatus::memory);
    }

    void aWrongLaneHasNoSpeedUp() {
        Fixture fixture;
        const auto cells = fixture.run({12, 6, 0, 1, 1}, {"naive", "static+position-restart"});
        QCOMPARE(cells[1].speed_up.why_not, std::string("not shown: output differs"));
        QCOMPARE(cells[1].speed_up.factor, 0.0);
        QVERIFY(cell_table(cells).plain().find("output differs") != std::string::npos);
    }

    void stoppingMarksTheCells() {
        Fixture fixture;
        std::stop_source stop;
        stop.request_stop();
        const auto cells = measure_cells({12, 6, 0, 1, 1}, Fixture::settings({"static"}), fixture.model,
                                         fixture.ledger, fixture.nobody, stop.get_token());
        QCOMPARE(cells[0].status, CellStatus::cancelled);
        QVERIFY(!cells[0].reason.empty());
    }

    void jsonRoundTrip() {
        Cell cell = sample_cell("kivi2", {16, 4, 8, 2, 3}, 1000, 10);
        cell.point = 7;
        cell.repeat = true;
        cell.speed_up = {2.5, {2, 3, true}, "", "2-bit entries"};
        cell.approximation = "2-bit entries";
        cell.quality = {5, 0.1, 0.75, 0.01};
        cell.max_relative_error = 0.25;
        cell.precision_note = "Not precise.";
        cell.environment.use.others = 0.5;
        cell.status = CellStatus::capacity;
        cell.reason = "Full.";
        const std::string line = dump_json_line(cell_json(cell));
        const auto read = parse_cell(line);
        QVERIFY2(read.ok(), read.ok() ? "" : read.error().message.c_str());
        QCOMPARE(dump_json_line(cell_json(*read)), line);
        QVERIFY(read->shape == cell.shape);
        QCOMPARE(read->lane.cache.bits, 2);
        QCOMPARE(read->samples_ns, cell.samples_ns);
        QCOMPARE(read->step_ns, cell.step_ns);
    }

    void jsonHasTheNamesPeopleKnow() {
        const Cell cell = sample_cell("f16", {16, 0, 0, 1, 2}, 0, 0);
        const OrderedJson json = cell_json(cell);
        for (const char* name :
             {"build_commit", "cpu_info",   "model_filename", "model_type", "model_size", "model_n_params",
              "n_batch",      "n_threads",  "type_k",         "type_v",     "n_prompt",   "n_gen",
              "n_depth",      "test_time",  "avg_ns",         "stddev_ns",  "avg_ts",     "stddev_ts",
              "samples_ns",   "samples_ts", "median_ns",      "interval_ns"}) {
            QVERIFY2(json.contains(name), name);
        }
        QCOMPARE(json["type_k"].get<std::string>(), std::string("f16"));
        QCOMPARE(json["median_ns"].get<double>(), 1001.0);
        QCOMPARE(json["avg_ns"].get<double>(), 1001.0);
        QCOMPARE(json["median_ts"].get<double>(), 16e9 / 1001);
        QCOMPARE(json["read_gb_s"].get<double>(), 5000.0 / 1001);
        QCOMPARE(json["peak_share"].get<double>(), 70'000.0 / 1001 / 100);
    }

    void nothingMeasuredIsNull() {
        Cell cell = sample_cell("static", {16, 4, 0, 1, 2}, 1000, 0);
        cell.samples_ns.clear();
        cell.ttft_ns.clear();
        cell.step_ns.clear();
        cell.status = CellStatus::memory;
        const OrderedJson json = cell_json(cell);
        for (const char* name : {"avg_ns", "median_ts", "interval_ns", "read_gb_s", "spread_ns"})
            QVERIFY2(json[name].is_null(), name);
        const QString csv = QString::fromStdString(cells_csv({cell}));
        const QStringList header = csv.split('\n')[0].split(',');
        const QStringList row = csv.split('\n')[1].split(',');
        QCOMPARE(row.size(), header.size());
        QCOMPARE(row[header.indexOf("median_ns")], QString());
        QCOMPARE(row[header.indexOf("status")], QString("memory"));
    }

    void brokenCells_data() {
        QTest::addColumn<QString>("from");
        QTest::addColumn<QString>("to");
        QTest::addColumn<QString>("sentence");
        QTest::newRow("schema") << "decodescope.cell/1"
                                << "decodescope.cell/9"
                                << "schema";
        QTest::newRow("status") << "\"status\":\"ok\""
                                << "\"status\":\"fine\""
                                << "status is \"fine\"";
        QTest::newRow("samples") << "\"samples_ns\":["
                                 << "\"samples_ns\":[\"x\","
                                 << "samples_ns[0] is \"x\"";
        QTest::newRow("shape") << "\"n_gen\":4"
                               << "\"n_gen\":4.5"
                               << "n_gen is 4.5";
        QTest::newRow("not JSON") << "{"
                                  << ""
                                  << "";
    }
    void brokenCells() {
        QFETCH(QString, from);
        QFETCH(QString, to);
        QFETCH(QString, sentence);
        QString line =
            QString::fromStdString(dump_json_line(cell_json(sample_cell("static", {16, 4, 0, 1, 2}, 9, 9))));
        QVERIFY(line.contains(from));
        const auto at = line.indexOf(from);
        line.replace(at, from.size(), to);
        const auto read = parse_cell(line.toStdString());
        QVERIFY(!read);
        QVERIFY2(QString::fromStdString(read.error().message).contains(sentence),
                 read.error().message.c_str());
    }

    void selfTestComparesTheSameSteps() {
        Fixture fixture;
        const auto test = run_self_test(fixture.model, fixture.ledger, 1);
        QVERIFY2(test.ok(), test.ok() ? "" : test.error().message.c_str());
        QCOMPARE(test->ways.size(), std::size_t{3});
        QCOMPARE(test->ways[0].ratio, 1.0);
        for (const auto& way : test->ways) {
            QVERIFY(way.step_ns > 0 && way.interval.known);
            QVERIFY(way.interval.low <= way.ratio * 1.5 && way.interval.high >= way.ratio / 1.5);
        }
        QVERIFY(test->events_ns > 0);
        QVERIFY(fixture.ledger->total() == fixture.model.weights->bytes());

        std::stop_source stop;
        stop.request_stop();
        QCOMPARE(run_self_test(fixture.model, fixture.ledger, 1, stop.get_token()).error().kind,
                 ErrorKind::cancelled);
    }
};

QTEST_APPLESS_MAIN(CellTest)
#include "tst_cell.moc"
