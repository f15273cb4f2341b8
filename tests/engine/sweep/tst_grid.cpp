// SPDX-License-Identifier: GPL-3.0-or-later
#include <QTest>

#include "engine/sweep/cell_text.h"
#include "engine/sweep/grid.h"
#include "tests/engine/sweep/sample_cells.h"

using namespace decodescope;
using namespace decodescope::test;

class GridTest : public QObject {
    Q_OBJECT

private slots:
    void labels_data() {
        QTest::addColumn<QList<int>>("shape");  // prompt, gen, depth, parallel
        QTest::addColumn<QString>("label");
        QTest::addColumn<int>("prompt_length");
        QTest::addColumn<int>("measured");
        QTest::newRow("prefill") << QList<int>{512, 0, 0, 1} << "pp512" << 512 << 512;
        QTest::newRow("decoding") << QList<int>{0, 128, 0, 1} << "tg128" << 1 << 128;
        QTest::newRow("depth") << QList<int>{0, 128, 1024, 1} << "tg128 @ d1024" << 1024 << 128;
        QTest::newRow("both, requests") << QList<int>{16, 32, 8, 4} << "pp16+tg32 @ d8 x4" << 24 << 192;
    }
    void labels() {
        QFETCH(QList<int>, shape);
        const TestShape test{shape[0], shape[1], shape[2], shape[3], 2};
        QTEST(QString::fromStdString(test.label()), "label");
        QTEST(test.prompt_length(), "prompt_length");
        QTEST(static_cast<int>(test.measured_tokens()), "measured");
    }

    void theProductHasEveryCombinationOnce() {
        const Grid grid{{16, 64}, {8, 32}, {0, 100}, {1, 4}, {1, 2}};
        const auto points = grid.product();
        QCOMPARE(points.size(), std::size_t{32});
        for (std::size_t i = 0; i < points.size(); ++i) {
            for (std::size_t j = 0; j < i; ++j) QVERIFY(!(points[i] == points[j]));
        }
        QCOMPARE(points[0].label(), std::string("pp16+tg8"));
        QCOMPARE(points[1].label(), std::string("pp64+tg8"));
    }

    void nothingIsNoTest() {
        const Grid grid{{0, 16}, {0}, {0}, {1}, {1}};
        const auto points = grid.product();
        QCOMPARE(points.size(), std::size_t{1});
        QCOMPARE(points[0].label(), std::string("pp16"));
    }

    void aBenchMeasuresPrefillAndDecodingApart() {
        const Grid grid{{512}, {128}, {0, 64}, {1}, {1}};
        QStringList labels;
        for (const TestShape& shape : grid.separate()) labels << QString::fromStdString(shape.label());
        QCOMPARE(labels, (QStringList{"pp512", "pp512 @ d64", "tg128", "tg128 @ d64"}));
    }

    void badValuesAreNamed_data() {
        QTest::addColumn<QString>("sentence");
        QTest::newRow("parallel") << "n_parallel is 0, expected 1 to 256.";
        QTest::newRow("huge") << "The grid has 1000000 points, expected at most 100000.";
    }
    void badValuesAreNamed() {
        QFETCH(QString, sentence);
        Grid grid{{16}, {8}, {0}, {0}, {1}};
        if (QString(QTest::currentDataTag()) == "huge") {
            grid.n_parallel = {1};
            grid.n_prompt.assign(1000, 1);
            grid.n_gen.assign(1000, 1);
        }
        const auto valid = grid.validate();
        QVERIFY(!valid);
        QCOMPARE(QString::fromStdString(valid.error().message), sentence);
    }

    void driftIsSaidWhenItIsMoreThanChance() {
        const TestShape shape{0, 4, 0, 1, 1};
        std::vector<Cell> cells{sample_cell("static", shape, 1000, 0, 9),
                                sample_cell("static", shape, 1100, 0, 9)};
        cells[1].repeat = true;
        Drift drift = drift_of(cells);
        QVERIFY(std::abs(drift.ratio - 1.1) < 1e-3);
        QVERIFY2(QString::fromStdString(drift.sentence).contains("tg4, lane static) took 1.10 times as long"),
                 drift.sentence.c_str());

        cells[1] = sample_cell("static", shape, 1001, 0, 9);
        cells[1].repeat = true;
        QVERIFY(drift_of(cells).sentence.empty());
        QCOMPARE(drift_of({cells[0]}).ratio, 0.0);
    }

    void doubtsAreSaidOnce() {
        const TestShape shape{0, 4, 0, 1, 1};
        std::vector<Cell> cells{sample_cell("static", shape, 1000, 0), sample_cell("naive", shape, 1000, 0)};
        QVERIFY(doubts_of(cells).empty());
        cells[0].environment.use.others = 0.2;
        cells[1].environment.use.others = 0.4;
        cells[0].samples_ns = {1, 1, 1, 1, 100};
        const auto doubts = doubts_of(cells);
        QCOMPARE(doubts.size(), std::size_t{2});
        QCOMPARE(doubts[0],
                 std::string("Other programs took up to 40 % of the machine's processors during a test."));
        QCOMPARE(doubts[1], std::string("1 of 8 samples are outliers (beyond 1.5 IQR); they are kept."));
    }
};

QTEST_APPLESS_MAIN(GridTest)
#include "tst_grid.moc"
