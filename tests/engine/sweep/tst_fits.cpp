// SPDX-License-Identifier: GPL-3.0-or-later
#include <QTest>

#include "engine/sweep/fits.h"
#include "tests/engine/sweep/sample_cells.h"

using namespace decodescope;
using namespace decodescope::test;

namespace {

/// Cells of `lane` for growing numbers of steps.
std::vector<Cell> growing(const char* lane, double first_ns, double per_token_ns, int prompt = 8) {
    std::vector<Cell> cells;
    for (int gen = 8; gen <= 128; gen *= 2) {
        cells.push_back(sample_cell(lane, {prompt, gen, 0, 1, 2}, first_ns, per_token_ns));
        cells.back().point = cells.size() - 1;
    }
    return cells;
}

}  // namespace

class FitsTest : public QObject {
    Q_OBJECT

private slots:
    void constantStepsGrowLinearly() {
        const auto growth = fit_growth(growing("static", 500, 0));
        QCOMPARE(growth.size(), std::size_t{1});
        QCOMPARE(growth[0].fit.n, std::size_t{5});
        // The prompt's 1001 ns are taken off; left in, the slope would be below 0.9.
        QVERIFY2(std::abs(growth[0].fit.slope - 1) < 1e-6, qPrintable(QString::number(growth[0].fit.slope)));
        QCOMPARE(growth[0].shape.n_gen, 128);
    }

    void growingStepsGrowFaster() {
        // Steps proportional to the context, from nothing: time ~ n (n + 1) / 2.
        const auto growth = fit_growth(growing("naive", 10, 10));
        QCOMPARE(growth.size(), std::size_t{1});
        QVERIFY2(growth[0].fit.slope > 1.9 && growth[0].fit.slope < 2,
                 qPrintable(QString::number(growth[0].fit.slope)));
        QVERIFY(growth[0].fit.slope_error > 0);
    }

    void whatDidNotRunOrIsWrongIsNotFitted() {
        auto cells = growing("static", 500, 0);
        cells[0].status = CellStatus::capacity;
        cells[1].speed_up.why_not = "not shown: output differs";
        cells[2].repeat = true;
        QVERIFY(fit_growth(cells).empty());  // two points are left
    }

    void aTokenOfContextCostsPassesOverTheCache() {
        // 64 bytes per token at 10 GB/s are 6.4 ns; 19.2 ns per token are three passes.
        const auto depth = fit_depth(growing("static", 500, 19.2));
        QCOMPARE(depth.size(), std::size_t{1});
        QVERIFY(std::abs(depth[0].fit.slope - 19.2) < 1e-6);
        QVERIFY(std::abs(depth[0].passes - 3) < 1e-6);
        // The first step of a prompt of 8 sees 8 tokens.
        QVERIFY(std::abs(depth[0].fit.intercept - (500 - 8 * 19.2)) < 1e-3);
        QCOMPARE(depth[0].fit.n, std::size_t{8 + 16 + 32 + 64 + 128});
    }

    void naiveLanesHaveNoPasses() {
        const auto depth = fit_depth(growing("naive", 10, 10));
        QCOMPARE(depth.size(), std::size_t{1});
        QCOMPARE(depth[0].passes, 0.0);
        QCOMPARE(depth_table(depth).rows[0][5], std::string("-"));
    }

    void cachingPaysFromAToken() {
        const TestShape shape{8, 32, 0, 1, 2};
        std::vector<Cell> cells{sample_cell("naive", shape, 100, 10), sample_cell("static", shape, 100, 0)};
        // The cache's prefill takes 500 ns longer; naive loses 0, 10, 20, ... more per step: after 11 steps
        // 550.
        for (double& ns : cells[1].ttft_ns) ns += 500;
        const auto found = find_break_even(cells);
        QCOMPARE(found.size(), std::size_t{1});
        QCOMPARE(found[0].new_tokens, 12);
        QCOMPARE(found[0].naive, std::string("naive"));

        for (double& ns : cells[1].ttft_ns) ns += 1e6;
        QCOMPARE(find_break_even(cells)[0].new_tokens, 0);
        QCOMPARE(break_even_table(find_break_even(cells)).rows[0][3], std::string("not within 33"));

        cells[1].speed_up.why_not = "not shown: output differs";
        QVERIFY(find_break_even(cells).empty());
    }

    void jsonHasAllThree() {
        auto cells = growing("static", 500, 19.2);
        const OrderedJson json = fits_json(cells);
        QCOMPARE(json["growth"].size(), std::size_t{1});
        QCOMPARE(json["depth"].size(), std::size_t{1});
        QVERIFY(json["break_even"].empty());
    }
};

QTEST_APPLESS_MAIN(FitsTest)
#include "tst_fits.moc"
