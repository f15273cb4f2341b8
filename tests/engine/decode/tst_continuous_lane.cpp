// SPDX-License-Identifier: GPL-3.0-or-later
#include <QTest>

#include "engine/cache/paged_cache.h"
#include "engine/core/random.h"
#include "tests/engine/decode/lane_fixture.h"

using namespace decodescope;
using namespace decodescope::test;

namespace {

Ids random_ids(std::uint64_t seed, int n) {
    Ids ids;
    for (int i = 0; i < n; ++i)
        ids.push_back(static_cast<std::int32_t>(random_bits(seed, 3, static_cast<std::uint64_t>(i)) % 64));
    return ids;
}

LaneSpec continuous(CacheKind kind = CacheKind::paged) {
    LaneSpec spec = named("continuous");
    spec.cache.kind = kind;
    if (kind == CacheKind::paged) spec.cache.block = 4;
    if (kind == CacheKind::window) spec.window = {6, 1};
    return spec;
}

Workload varied_workload() {
    Workload workload;
    workload.requests = {{random_ids(1, 9), 12, 0, 0, 0}, {random_ids(2, 1), 5, 0, 0, 0},
                         {random_ids(3, 17), 9, 0, 3, 0}, {random_ids(4, 6), 14, 0, 4, 5},
                         {random_ids(5, 12), 1, 0, 4, 0}, {random_ids(6, 3), 10, 0, 8, 0}};
    return workload;
}

const PagedCache& pages(const Lane& lane) {
    return static_cast<const PagedCache&>(*lane.cache());
}

/// Blocks that rows use.
int used_blocks(const Lane& lane) {
    return pages(lane).n_block() - pages(lane).n_available();
}

/// Empty when every request of `found` has the tokens and logits it has alone, as far as it went.
std::string unlike_alone(LaneFixture& fixture, const Workload& workload, const Trail& found,
                         Window window = {}) {
    if (!found.error.empty()) return found.error;
    LaneSpec naive = named("naive");
    naive.window = window;
    for (std::size_t i = 0; i < workload.requests.size(); ++i) {
        const auto alone = fixture.lane(naive);
        Trail expected = follow_one(*alone, workload.requests[i].prompt, workload.requests[i].new_tokens);
        if (found.tokens[i].size() > expected.tokens[0].size())
            return "request " + std::to_string(i) + " has too much";
        expected.tokens[0].resize(found.tokens[i].size());
        expected.rows[0].resize(found.tokens[i].size());
        if (found.tokens[i] != expected.tokens[0])
            return "request " + std::to_string(i) + " has other tokens";
        Trail mine;
        mine.rows = {found.rows[i]};
        const double error = worst_error(mine, expected);
        if (!(error <= f32_error_limit))
            return "request " + std::to_string(i) + " has an error of " + std::to_string(error);
    }
    return {};
}

#define SAME_AS_ALONE(...)                                    \
    do {                                                      \
        const std::string unlike = unlike_alone(__VA_ARGS__); \
        if (!unlike.empty()) QFAIL(unlike.c_str());           \
    } while (false)

}  // namespace

class TestContinuousLane : public QObject {
    Q_OBJECT

private slots:
    void othersDoNotMatter_data() {
        QTest::addColumn<int>("kind");
        QTest::addColumn<int>("max_rows");
        QTest::addColumn<int>("chunk");
        QTest::addColumn<int>("budget");
        QTest::addColumn<bool>("share");
        for (const CacheKind kind : {CacheKind::paged, CacheKind::static_, CacheKind::window}) {
            for (const int max_rows : {0, 1, 2, 3}) {
                for (const int chunk : {0, 1, 4, 5}) {
                    QTest::addRow("%s, %d rows, chunks of %d", to_string(kind), max_rows, chunk)
                        << static_cast<int>(kind) << max_rows << chunk << 0 << false;
                }
            }
        }
        QTest::newRow("budget") << static_cast<int>(CacheKind::paged) << 0 << 4 << 48 << false;
        QTest::newRow("shared") << static_cast<int>(CacheKind::paged) << 3 << 4 << 0 << true;
        QTest::newRow("shared, budget") << static_cast<int>(CacheKind::paged) << 3 << 4 << 60 << true;
    }
    void othersDoNotMatter() {
        QFETCH(int, kind);
        QFETCH(int, max_rows);
        QFETCH(int, chunk);
        QFETCH(int, budget);
        QFETCH(bool, share);
        LaneFixture fixture;
        fixture.ledger->set_poison(true);
        LaneSpec spec = continuous(static_cast<CacheKind>(kind));
        spec.max_rows = max_rows;
        spec.prefill_chunk = chunk;
        spec.budget = budget;
        spec.cache.share_prefixes = share;
        const auto lane = fixture.lane(spec);
        const Workload workload = varied_workload();
        const Trail found = follow(*lane, workload);
        SAME_AS_ALONE(fixture, workload, found, spec.window);
        for (std::size_t i = 0; i < workload.requests.size(); ++i) {
            const RequestState& state = lane->requests()[i];
            const bool cancelled = workload.requests[i].cancel_after > 0;
            QCOMPARE(state.finish, cancelled ? FinishReason::cancelled : FinishReason::length);
            QCOMPARE(static_cast<int>(found.tokens[i].size()),
                     cancelled ? workload.requests[i].cancel_after : workload.requests[i].new_tokens);
            QVERIFY(state.arrived_ns <= state.started_ns && state.started_ns <= state.first_token_ns &&
                    state.first_token_ns <= state.finished_ns);
        }
        for (int row = 0; row < lane->cache()->batch(); ++row) QCOMPARE(lane->cache()->length(row), 0);
    }

    // The first request must not notice any of it.
    void aRunningRowIsUnchanged() {
        LaneFixture fixture;
        const Ids prompt = random_ids(20, 8);
        const auto alone = fixture.lane(continuous());
        const Trail expected = follow_one(*alone, prompt, 20);
        Workload workload = work_of({prompt}, 20);
        workload.requests.push_back({random_ids(21, 7), 6, 0, 3, 0});
        workload.requests.push_back({random_ids(22, 5), 9, 0, 6, 4});
        workload.requests.push_back({random_ids(23, 5), 9, 0, 7, 0});
        const auto lane = fixture.lane(continuous());
        int step = 0;
        const Trail found = follow(*lane, workload, nullptr, [&](const LaneStep&) {
            if (++step == 12) lane->cancel(3);
        });
        QCOMPARE(found.tokens[0], expected.tokens[0]);
        const Trail mine{{found.rows[0]}, {}, {}, 0, 0, 0, {}};
        QVERIFY(worst_error(mine, expected) <= f32_error_limit);
        SAME_AS_ALONE(fixture, workload, found);
        QCOMPARE(lane->requests()[3].finish, FinishReason::cancelled);
        QVERIFY(found.tokens[3].size() < 9);
    }

    void requestsQueueInTheirOrder() {
        LaneFixture fixture;
        LaneSpec spec = continuous();
        spec.max_rows = 2;
        Workload workload =
            work_of({random_ids(1, 5), random_ids(2, 4), random_ids(3, 6), random_ids(4, 2)}, 4);
        workload.requests[0].new_tokens = 7;
        workload.requests[3].arrival_step = 2;
        const auto lane = fixture.lane(spec);
        const Trail found = follow(*lane, workload);
        SAME_AS_ALONE(fixture, workload, found);
        std::vector<int> waiting;
        for (const LaneStep& step : found.steps) waiting.push_back(step.n_waiting);
        // Request 1 has its 4 tokens after step 3, request 0 its 7 after step 6.
        QCOMPARE(waiting, (std::vector<int>{1, 1, 2, 2, 1, 1, 1, 0, 0, 0, 0}));
        const auto& states = lane->requests();
        for (std::size_t i = 1; i < 4; ++i) QVERIFY(states[i - 1].started_ns <= states[i].started_ns);
        QVERIFY(states[2].started_ns >= states[1].finished_ns);
        QVERIFY(states[3].started_ns >= states[0].finished_ns);
        QVERIFY(states[3].arrived_ns > states[0].arrived_ns);
        QVERIFY(states[3].arrived_ns <= states[3].started_ns);
    }

    void theBudgetHolds_data() {
        QTest::addColumn<int>("kind");
        QTest::newRow("paged") << static_cast<int>(CacheKind::paged);
        QTest::newRow("static") << static_cast<int>(CacheKind::static_);
    }
    void theBudgetHolds() {
        QFETCH(int, kind);
        LaneFixture fixture;
        LaneSpec spec = continuous(static_cast<CacheKind>(kind));
        spec.budget = 24;
        // 8 + 5 - 1 = 12 entries, 3 blocks of 4 each: two at a time.
        const std::vector<Ids> prompts{random_ids(1, 8), random_ids(2, 8), random_ids(3, 8)};
        const auto lane = fixture.lane(spec);
        const Trail found = follow(*lane, work_of(prompts, 5), nullptr, [&](const LaneStep& step) {
            QVERIFY(step.n_row <= 2);
            int entries = 0;
            for (int row = 0; row < lane->cache()->batch(); ++row) entries += lane->cache()->length(row);
            QVERIFY(entries <= 24);
        });
        SAME_AS_ALONE(fixture, work_of(prompts, 5), found);
        QCOMPARE(found.steps[0].n_waiting, 1);
        QVERIFY(lane->requests()[2].started_ns >= lane->requests()[0].finished_ns);
        if (spec.cache.kind == CacheKind::paged) QCOMPARE(pages(*lane).n_block(), 6);
        // What never fits is refused up front.
        const auto refused = lane->start(work_of({random_ids(1, 8), random_ids(2, 21)}, 5));
        QVERIFY(!refused);
        QCOMPARE(refused.error().kind, ErrorKind::capacity);
        QVERIFY2(QString::fromStdString(refused.error().message)
                     .contains("request 2 may come to 25 tokens, but the budget is 24"),
                 refused.error().message.c_str());
    }

    // A pool is made for one workload; the next one may need a larger one.
    void everyStartHasItsOwnPool() {
        LaneFixture fixture;
        LaneSpec spec = continuous();
        spec.budget = 60;
        const auto lane = fixture.lane(spec);
        QCOMPARE(follow(*lane, work_of({random_ids(1, 3)}, 2)).error, std::string());
        const std::vector<Ids> large{random_ids(2, 30), random_ids(3, 20)};
        const Trail found = follow(*lane, work_of(large, 4));
        SAME_AS_ALONE(fixture, work_of(large, 4), found);
        QCOMPARE(lane->spec().cache.blocks, 0);
    }

    // Rows that share their last block need no more of the pool than the budget says.
    void sharedBlocksFitAFullPool() {
        LaneFixture fixture;
        LaneSpec spec = continuous();
        spec.cache.block = 16;
        spec.cache.share_prefixes = true;
        const Ids prompt = random_ids(1, 5);
        for (const int n : {2, 3, 5}) {
            spec.cache.blocks = n;
            const std::vector<Ids> prompts(static_cast<std::size_t>(n), prompt);
            const auto lane = fixture.lane(spec);
            const Trail found = follow(*lane, work_of(prompts, 8));
            SAME_AS_ALONE(fixture, work_of(prompts, 8), found);
        }
    }

    void promptsAreCutAndMixed_data() {
        QTest::addColumn<int>("chunk");
        for (const int chunk : {1, 3, 4, 7}) QTest::addRow("%d", chunk) << chunk;
    }
    void promptsAreCutAndMixed() {
        QFETCH(int, chunk);
        LaneFixture fixture;
        LaneSpec spec = continuous();
        spec.prefill_chunk = chunk;
        Workload workload = work_of({random_ids(1, 4), random_ids(2, 11), random_ids(3, 9)}, 12);
        workload.requests[1].arrival_step = 6;
        workload.requests[2].arrival_step = 6;
        const auto lane = fixture.lane(spec);
        int mixed = 0;
        int prompt_tokens = 0;
        const Trail found = follow(*lane, workload, nullptr, [&](const LaneStep& step) {
            // Every request that had a token before this step and got one more was fed one.
            int decoded = 0;
            for (const ChosenToken& token : step.chosen) decoded += token.index > 0;
            const auto prompt = static_cast<int>(step.positions_forwarded) - decoded;
            QVERIFY(prompt <= chunk);
            QCOMPARE(static_cast<int>(step.phase), static_cast<int>(decoded == 0  ? Phase::prefill
                                                                    : prompt == 0 ? Phase::decode
                                                                                  : Phase::mixed));
            QCOMPARE(step.padding_forwarded, std::int64_t{0});
            mixed += step.phase == Phase::mixed;
            prompt_tokens += prompt;
        });
        SAME_AS_ALONE(fixture, workload, found);
        QCOMPARE(prompt_tokens, 24);
        QVERIFY(mixed >= std::min(5, 20 / chunk));
    }

    // Whoever was let in first has its prompt forwarded first, in whatever row it sits.
    void laterPromptsDoNotStarveAnEarlierOne() {
        LaneFixture fixture;
        LaneSpec spec = continuous();
        spec.max_rows = 2;
        spec.prefill_chunk = 4;
        std::vector<Ids> prompts{random_ids(1, 1), random_ids(2, 24)};
        for (std::uint64_t i = 0; i < 12; ++i) prompts.push_back(random_ids(3 + i, 4));
        Workload workload = work_of(prompts, 1);
        const auto lane = fixture.lane(spec);
        std::vector<int> order;
        const Trail found = follow(*lane, workload, nullptr, [&](const LaneStep& step) {
            for (const ChosenToken& token : step.chosen) order.push_back(token.request);
        });
        SAME_AS_ALONE(fixture, workload, found);
        QVERIFY(std::is_sorted(order.begin(), order.end()));
        QCOMPARE(order.size(), prompts.size());
    }

    void cancellingFreesAtOnce() {
        LaneFixture fixture;
        LaneSpec spec = continuous();
        spec.prefill_chunk = 6;
        spec.max_rows = 2;
        const Workload workload =
            work_of({random_ids(1, 9), random_ids(2, 20), random_ids(3, 5), random_ids(4, 5)}, 10);
        const auto lane = fixture.lane(spec);
        QVERIFY(lane->start(workload));
        Trail found;
        found.rows.resize(4);
        found.tokens.resize(4);
        const auto step = [&] {
            if (!*lane->ready()) return false;
            const auto done = lane->step();
            if (!done) return false;
            for (const ChosenToken& token : done->chosen) {
                const auto i = static_cast<std::size_t>(token.request);
                const auto row = done->logits_of(token, 64);
                found.tokens[i].push_back(token.token);
                found.rows[i].emplace_back(row.begin(), row.end());
            }
            return true;
        };
        QVERIFY(step());
        QVERIFY(step());
        QVERIFY(step());
        // Request 1 is in the middle of its prompt.
        QCOMPARE(lane->requests()[1].n_chosen, 0);
        const int row_0 = (lane->cache()->length(0) + 3) / 4;
        QVERIFY(used_blocks(*lane) > row_0);
        lane->cancel(1);
        QCOMPARE(used_blocks(*lane), row_0);
        QCOMPARE(lane->cache()->length(1), 0);
        QCOMPARE(lane->requests()[1].finish, FinishReason::cancelled);
        QCOMPARE(lane->requests()[1].reason, std::string("The request was cancelled after 0 new tokens."));
        // A second time, and one that waits.
        lane->cancel(1);
        lane->cancel(3);
        QCOMPARE(used_blocks(*lane), row_0);
        while (step()) {
        }
        SAME_AS_ALONE(fixture, workload, found);
        QCOMPARE(found.tokens[0].size(), std::size_t{10});
        QCOMPARE(found.tokens[1].size(), std::size_t{0});
        QCOMPARE(found.tokens[2].size(), std::size_t{10});
        QVERIFY(!lane->requests()[3].started);
        QCOMPARE(used_blocks(*lane), 0);
    }

    void cancelAfterSoManyTokens() {
        LaneFixture fixture;
        Workload workload = work_of({random_ids(1, 9), random_ids(2, 7)}, 10);
        workload.requests[1].cancel_after = 3;
        const auto lane = fixture.lane(continuous());
        const Trail found = follow(*lane, workload, nullptr, [&](const LaneStep&) {
            if (lane->requests()[1].finished)
                QCOMPARE(used_blocks(*lane), (lane->cache()->length(0) + 3) / 4);
        });
        SAME_AS_ALONE(fixture, workload, found);
        QCOMPARE(found.tokens[1].size(), std::size_t{3});
        QCOMPARE(lane->requests()[1].reason, std::string("The request was cancelled after 3 new tokens."));
    }

    void endingAllFreesAll() {
        LaneFixture fixture;
        const auto lane = fixture.lane(continuous());
        Workload workload = work_of({random_ids(1, 9), random_ids(2, 7)}, 10);
        workload.requests[1].arrival_step = 50;
        QVERIFY(lane->start(workload));
        QVERIFY(*lane->ready());
        QVERIFY(lane->step());
        lane->end_all(FinishReason::failed, "Enough.");
        QCOMPARE(used_blocks(*lane), 0);
        QVERIFY(!*lane->ready());
        QCOMPARE(lane->requests()[1].finish, FinishReason::failed);
    }

    // Between two requests nothing is forwarded, and no step is made.
    void idleUntilTheNextArrival() {
        LaneFixture fixture;
        Workload workload = work_of({random_ids(1, 9), random_ids(2, 7), random_ids(3, 2)}, 3);
        workload.requests[1].arrival_step = 1000;
        workload.requests[2].arrival_step = 1001;
        const auto lane = fixture.lane(continuous());
        const Trail found = follow(*lane, workload);
        SAME_AS_ALONE(fixture, workload, found);
        QCOMPARE(found.steps.size(), std::size_t{9});
        for (const LaneStep& step : found.steps) QCOMPARE(step.n_row, 1);
        const auto& states = lane->requests();
        QVERIFY(states[1].arrived_ns >= states[0].finished_ns);
        QVERIFY(states[1].arrived_ns <= states[1].started_ns);
        QVERIFY(states[2].arrived_ns >= states[1].finished_ns);
        // A request that is cancelled before it comes is not waited for.
        const auto again = fixture.lane(continuous());
        QVERIFY(again->start(workload));
        again->cancel(1);
        int steps = 0;
        while (*again->ready()) {
            QVERIFY(again->step());
            ++steps;
        }
        QCOMPARE(steps, 6);
        QVERIFY(!again->requests()[1].started);
    }

    void sharedPrefixesAreCounted() {
        LaneFixture fixture;
        LaneSpec spec = continuous();
        spec.cache.share_prefixes = true;
        const Ids common = random_ids(1, 10);
        Ids longer = common;
        longer.insert(longer.end(), {1, 2, 3});
        Workload workload = work_of({common, common, longer, longer, random_ids(9, 6)}, 4);
        workload.requests[3].isolation = 1;
        const auto lane = fixture.lane(spec);
        std::uint64_t shared = 0;
        const Trail found = follow(*lane, workload, nullptr, [&](const LaneStep&) {
            shared = std::max(shared, lane->cache()->bytes().shared);
        });
        SAME_AS_ALONE(fixture, workload, found);
        std::int64_t adopted = 0;
        for (const LaneStep& step : found.steps) adopted += step.n_adopted;
        const std::vector<std::int64_t> expected{0, 9, 10, 0, 0};
        for (std::size_t i = 0; i < expected.size(); ++i)
            QCOMPARE(lane->requests()[i].n_adopted, expected[i]);
        QCOMPARE(adopted, std::int64_t{19});
        QCOMPARE(found.forwarded, std::int64_t{10 + 1 + 3 + 13 + 6 + 5 * 3});
        QVERIFY(shared > 0);
    }

    // A step that was stopped is made again and counts what it would have counted.
    void aStoppedStepIsMadeAgain() {
        LaneFixture fixture;
        LaneSpec spec = continuous();
        spec.cache.share_prefixes = true;
        const Ids common = random_ids(1, 10);
        const Workload workload = work_of({common, common, random_ids(2, 5)}, 4);
        const auto lane = fixture.lane(spec);
        QVERIFY(lane->start(workload));
        std::stop_source stop;
        stop.request_stop();
        std::int64_t adopted = 0;
        std::vector<Ids> tokens(3);
        while (*lane->ready()) {
            const auto stopped = lane->step(stop.get_token());
            QVERIFY(!stopped);
            QCOMPARE(stopped.error().kind, ErrorKind::cancelled);
            QVERIFY(*lane->ready());
            const auto done = lane->step();
            QVERIFY(done);
            adopted += done->n_adopted;
            for (const ChosenToken& token : done->chosen)
                tokens[static_cast<std::size_t>(token.request)].push_back(token.token);
        }
        QCOMPARE(adopted, std::int64_t{9});
        const auto plain = fixture.lane(spec);
        QCOMPARE(tokens, follow(*plain, workload).tokens);
    }

    void longRandomRuns_data() {
        QTest::addColumn<quint64>("seed");
        for (std::uint64_t seed = 0; seed < 24; ++seed)
            QTest::addRow("%d", static_cast<int>(seed)) << quint64{seed};
    }
    void longRandomRuns() {
        QFETCH(quint64, seed);
        LaneFixture fixture;
        fixture.ledger->set_poison(true);
        std::uint64_t draw = 0;
        const auto roll = [&](int low, int high) {
            return low + static_cast<int>(random_bits(seed, 8, draw++) %
                                          static_cast<std::uint64_t>(high - low + 1));
        };
        LaneSpec spec = continuous();
        spec.cache.block = roll(1, 9);
        spec.cache.share_prefixes = roll(0, 2) > 0;
        spec.max_rows = roll(0, 4);
        spec.prefill_chunk = roll(0, 6);
        // Of whole blocks, as an experiment would ask for, or not.
        spec.budget = roll(0, 2) == 0 ? 0 : roll(50, 90);
        Workload workload;
        const Ids base = random_ids(seed, 30);
        const int n_request = roll(4, 12);
        for (int i = 0; i < n_request; ++i) {
            Request request;
            request.prompt.assign(base.begin(), base.begin() + roll(1, 24));
            if (roll(0, 2) > 0)
                request
                    .prompt[static_cast<std::size_t>(roll(0, static_cast<int>(request.prompt.size()) - 1))] =
                    roll(0, 63);
            request.new_tokens = roll(1, 16);
            request.isolation = static_cast<std::uint64_t>(roll(0, 1));
            request.arrival_step = roll(0, 30);
            request.cancel_after = roll(0, 3) == 0 ? roll(1, 6) : 0;
            workload.requests.push_back(request);
        }
        const auto lane = fixture.lane(spec);
        int most = 0;
        const Trail found = follow(*lane, workload, nullptr, [&](const LaneStep& step) {
            most = std::max(most, used_blocks(*lane));
            const KvBytes bytes = lane->cache()->bytes();
            QCOMPARE(bytes.reserved, bytes.live + bytes.slack + bytes.free + bytes.kept);
            QVERIFY(step.n_row >= 1);
            const int victim = roll(0, 40);
            if (victim < n_request) lane->cancel(victim);
        });
        SAME_AS_ALONE(fixture, workload, found);
        QVERIFY(spec.budget == 0 || most * spec.cache.block <= spec.budget);
        QCOMPARE(used_blocks(*lane), 0);
        for (int i = 0; i < n_request; ++i) {
            const RequestState& state = lane->requests()[static_cast<std::size_t>(i)];
            QVERIFY(state.finished);
            const Request& request = workload.requests[static_cast<std::size_t>(i)];
            if (state.finish != FinishReason::cancelled)
                QCOMPARE(static_cast<int>(found.tokens[static_cast<std::size_t>(i)].size()),
                         request.new_tokens);
        }
    }
};

QTEST_APPLESS_MAIN(TestContinuousLane)
#include "tst_continuous_lane.moc"
