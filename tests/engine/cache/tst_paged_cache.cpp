// SPDX-License-Identifier: GPL-3.0-or-later
#include <QTest>

#include <set>

#include "engine/cache/paged_cache.h"
#include "tests/engine/cache/cache_driver.h"

using namespace decodescope;
using namespace decodescope::test;

#define NO_FAULT(driver)                            \
    do {                                            \
        const std::string fault = (driver).fault(); \
        if (!fault.empty()) QFAIL(fault.c_str());   \
    } while (false)

namespace {

constexpr std::uint64_t model = 1;

struct Setup {
    int batch = 1;
    int capacity = 64;
    int block = 16;
    int blocks = 0;
    bool share = false;
    std::uint64_t identity = model;
};

struct Pages {
    std::shared_ptr<MemoryLedger> ledger = std::make_shared<MemoryLedger>();
    std::unique_ptr<KvCache> cache;
    std::unique_ptr<CacheDriver> driver;

    explicit Pages(const Setup& setup) {
        ledger->set_poison(true);
        CacheSpec spec;
        spec.kind = CacheKind::paged;
        spec.block = setup.block;
        spec.blocks = setup.blocks;
        spec.share_prefixes = setup.share;
        auto made = make_cache(spec, {2, setup.batch, 2, 4}, {setup.capacity, setup.capacity, 0, {}}, ledger,
                               setup.identity);
        cache = *std::move(made);
        driver = std::make_unique<CacheDriver>(*cache);
    }
    const PagedCache& paged() const { return static_cast<const PagedCache&>(*cache); }
    std::size_t n_block(int row) const { return paged().block_table(row).size(); }
    std::uint64_t block_bytes() const {
        return cache->bytes().reserved / static_cast<std::uint64_t>(paged().n_block());
    }
    std::uint64_t token_bytes() const {
        return block_bytes() / static_cast<std::uint64_t>(paged().block_tokens());
    }
    std::vector<int> table(int row) const {
        const auto blocks = paged().block_table(row);
        return {blocks.begin(), blocks.end()};
    }
};

}  // namespace

class TestPagedCache : public QObject {
    Q_OBJECT

private slots:
    void tablesGrowAtTheBorder() {
        Pages pages({});
        CacheDriver& row = *pages.driver;
        QCOMPARE(pages.n_block(0), std::size_t{0});
        QVERIFY(row.append({count_from(0, 15)}));
        QCOMPARE(pages.n_block(0), std::size_t{1});
        QVERIFY(row.append({{15}}));
        QCOMPARE(pages.n_block(0), std::size_t{1});
        QCOMPARE(pages.cache->bytes().slack, std::uint64_t{0});
        QVERIFY(row.append({{16}}));
        QCOMPARE(pages.n_block(0), std::size_t{2});
        QCOMPARE(pages.cache->bytes().slack, pages.token_bytes() * 15);
        QVERIFY(row.append({count_from(17, 32)}));
        QCOMPARE(pages.n_block(0), std::size_t{4});
        NO_FAULT(row);
        const auto table = pages.table(0);
        QCOMPARE(std::set<int>(table.begin(), table.end()).size(), std::size_t{4});
        QCOMPARE(pages.cache->copied_bytes(), std::uint64_t{0});
    }

    void blocksAreGivenBack() {
        Pages pages({.batch = 2, .capacity = 64, .blocks = 6});
        CacheDriver& rows = *pages.driver;
        QVERIFY(rows.append({count_from(0, 33), count_from(50, 20)}));
        QCOMPARE(pages.paged().n_available(), 1);
        QVERIFY(rows.truncate(0, 32));
        QCOMPARE(pages.n_block(0), std::size_t{2});
        QVERIFY(rows.truncate(0, 17));
        QCOMPARE(pages.n_block(0), std::size_t{2});
        QVERIFY(rows.truncate(0, 16));
        QCOMPARE(pages.n_block(0), std::size_t{1});
        QCOMPARE(pages.paged().n_available(), 3);
        QCOMPARE(pages.cache->bytes().free, pages.block_bytes() * 3);
        // An append that is given up takes nothing with it.
        QVERIFY(rows.give_up({count_from(0, 20), {}}, 1));
        QCOMPARE(pages.paged().n_available(), 3);
        NO_FAULT(rows);
        rows.clear(1);
        QCOMPARE(pages.paged().n_available(), 5);
        QVERIFY(rows.append({count_from(100, 48), count_from(200, 32)}));
        NO_FAULT(rows);
        rows.clear(0);
        rows.clear(1);
        QCOMPARE(pages.cache->bytes().free, pages.cache->bytes().reserved);
    }

    void aFullPoolIsRefusedBeforeAnythingChanges() {
        Pages pages({.batch = 2, .capacity = 64, .blocks = 3});
        CacheDriver& rows = *pages.driver;
        QVERIFY(rows.append({count_from(0, 20), count_from(0, 5)}));
        const auto before = pages.table(0);
        // Row 0 could have had its tokens, but not both rows.
        const auto refused = rows.append({count_from(20, 4), count_from(5, 12)});
        QVERIFY(!refused);
        QCOMPARE(refused.error().kind, ErrorKind::capacity);
        QVERIFY2(QString::fromStdString(refused.error().message)
                     .contains("1 more blocks of 16 tokens are needed, but 0 of 3 are left"),
                 refused.error().message.c_str());
        QCOMPARE(pages.table(0), before);
        QCOMPARE(pages.n_block(1), std::size_t{1});
        NO_FAULT(rows);
        QVERIFY(rows.append({count_from(20, 12), count_from(5, 11)}));
        NO_FAULT(rows);
    }

    void writersGetACopy() {
        Pages pages({.batch = 2});
        CacheDriver& rows = *pages.driver;
        QVERIFY(rows.append({count_from(0, 20), {}}));
        QVERIFY(rows.reorder({0, 0}));
        QCOMPARE(pages.table(0), pages.table(1));
        QCOMPARE(pages.cache->copied_bytes(), std::uint64_t{0});
        QCOMPARE(pages.cache->bytes().shared, pages.token_bytes() * 20);
        QCOMPARE(pages.cache->bytes().live, pages.token_bytes() * 20);
        NO_FAULT(rows);
        // Row 1 writes: its partly filled block is copied, the full one stays common.
        QVERIFY(rows.append({{}, {77}}));
        QCOMPARE(pages.cache->copied_bytes(), pages.block_bytes());
        QCOMPARE(pages.table(0)[0], pages.table(1)[0]);
        QVERIFY(pages.table(0)[1] != pages.table(1)[1]);
        NO_FAULT(rows);
        // Row 0 is alone with its block now.
        QVERIFY(rows.append({{88}, {}}));
        QCOMPARE(pages.cache->copied_bytes(), pages.block_bytes());
        QVERIFY(rows.truncate(1, 18));
        QVERIFY(rows.append({{}, {5, 6}}));
        NO_FAULT(rows);
        // Into the full, common block.
        QVERIFY(rows.truncate(0, 3));
        QVERIFY(rows.append({{9}, {}}));
        QCOMPARE(pages.cache->copied_bytes(), 2 * pages.block_bytes());
        NO_FAULT(rows);
    }

    // Both rows of a shared block write: one copy is enough, and so is one free block.
    void theLastWriterNeedsNoCopy() {
        Pages pages({.batch = 3, .capacity = 16, .blocks = 3});
        CacheDriver& rows = *pages.driver;
        QVERIFY(rows.append({count_from(0, 5), {}, {}}));
        QVERIFY(rows.reorder({0, 0, 0}));
        QCOMPARE(pages.paged().n_available(), 2);
        QVERIFY(rows.append({{1}, {2}, {3}}));
        QCOMPARE(pages.cache->copied_bytes(), 2 * pages.block_bytes());
        NO_FAULT(rows);
    }

    void longestPrefix_data() {
        QTest::addColumn<int>("cached");  // tokens 0 .. of the first request
        QTest::addColumn<int>("common");  // of the second one's
        QTest::addColumn<int>("length");  // of the second one
        QTest::addColumn<int>("adopted");
        QTest::newRow("nothing in common") << 40 << 0 << 40 << 0;
        QTest::newRow("less than a block") << 40 << 7 << 40 << 7;
        QTest::newRow("one block") << 40 << 16 << 40 << 16;
        QTest::newRow("a block and a part") << 40 << 19 << 40 << 19;
        QTest::newRow("part of the last one") << 40 << 35 << 50 << 35;
        QTest::newRow("all that is cached") << 40 << 40 << 50 << 40;
        QTest::newRow("the whole prompt: all but one") << 40 << 40 << 40 << 39;
        QTest::newRow("the whole prompt, at a border") << 32 << 32 << 32 << 31;
        QTest::newRow("shorter than what is cached") << 49 << 13 << 13 << 12;
        QTest::newRow("shorter, at a border") << 49 << 17 << 17 << 16;
        QTest::newRow("one token") << 40 << 1 << 1 << 0;
        QTest::newRow("two tokens") << 40 << 2 << 2 << 1;
    }
    void longestPrefix() {
        QFETCH(int, cached);
        QFETCH(int, common);
        QFETCH(int, length);
        QFETCH(int, adopted);
        for (const bool running : {true, false}) {
            Pages pages({.batch = 2, .share = true});
            CacheDriver& rows = *pages.driver;
            QCOMPARE(rows.serve(0, count_from(0, cached)), 0);
            if (!running) rows.clear(0);
            const Ids prompt = count_from(0, common) + count_from(500, length - common);
            QCOMPARE(rows.serve(1, prompt), adopted);
            QCOMPARE(pages.cache->next_position(1), length);
            NO_FAULT(rows);
            QVERIFY(rows.append({running ? Ids{900} : Ids{}, {901, 902}}));
            NO_FAULT(rows);
        }
    }

    void nothingCrossesGroupsOrModels() {
        Pages pages({.batch = 4, .share = true});
        CacheDriver& rows = *pages.driver;
        const Ids prompt = count_from(0, 40);
        QCOMPARE(rows.serve(0, prompt, 5), 0);
        QCOMPARE(rows.serve(1, prompt, 6), 0);
        QCOMPARE(rows.serve(2, prompt, 5), 39);
        QCOMPARE(rows.serve(3, prompt, 6), 39);
        NO_FAULT(rows);
        QCOMPARE(pages.table(0)[0], pages.table(2)[0]);
        QVERIFY(pages.table(0)[0] != pages.table(1)[0]);
        // The same tokens behind other ones are another text.
        rows.clear(3);
        QCOMPARE(rows.serve(3, count_from(16, 20), 5), 0);
        NO_FAULT(rows);

        PrefixTree tree(2);
        const Ids tokens{1, 2, 3};
        tree.set(0, tree.root(1, 5), tokens);
        std::vector<int> blocks;
        QCOMPARE(tree.find(tree.root(1, 5), tokens, blocks), 3);
        QCOMPARE(blocks, std::vector<int>{0});
        for (const std::uint64_t root : {tree.root(2, 5), tree.root(1, 6), tree.root(5, 1), tree.serial(0)}) {
            QCOMPARE(tree.find(root, tokens, blocks), 0);
            QVERIFY(blocks.empty());
        }
    }

    void withoutSharingNothingIsShared() {
        Pages pages({.batch = 2});
        CacheDriver& rows = *pages.driver;
        QCOMPARE(rows.serve(0, count_from(0, 40)), 0);
        QCOMPARE(rows.serve(1, count_from(0, 40)), 0);
        QCOMPARE(pages.cache->bytes().shared, std::uint64_t{0});
        rows.clear(0);
        QCOMPARE(pages.cache->bytes().kept, std::uint64_t{0});
    }

    void onlyAnEmptyRowAdopts() {
        Pages pages({.batch = 2, .share = true});
        QCOMPARE(pages.driver->serve(0, count_from(0, 20)), 0);
        const auto refused = pages.cache->adopt_prefix(0, count_from(0, 30), 0);
        QVERIFY(!refused);
        QCOMPARE(refused.error().kind, ErrorKind::internal);
        NO_FAULT(*pages.driver);
    }

    // Report 68: prompt 100, 50 generated of which 49 were forwarded, 50 more.
    void generatedTokensAreReused() {
        Pages pages({.batch = 1, .capacity = 256, .share = true});
        CacheDriver& row = *pages.driver;
        Ids text = count_from(0, 100);
        QCOMPARE(row.serve(0, text), 0);
        for (int i = 0; i < 49; ++i) {
            text.push_back(1000 + i);
            QVERIFY(row.append({{1000 + i}}));
        }
        row.clear(0);
        QCOMPARE(pages.cache->bytes().live, std::uint64_t{0});
        const Ids turn_2 = text + count_from(3000, 51);
        QCOMPARE(row.serve(0, turn_2), 149);
        NO_FAULT(row);
    }

    // Report 64: 15 tokens + X are a block, then X becomes Y.
    void whatIsKnownFollowsTheContent() {
        Pages pages({.batch = 2, .share = true});
        CacheDriver& rows = *pages.driver;
        const Ids prefix = count_from(0, 15);
        QCOMPARE(rows.serve(0, prefix + Ids{100}), 0);
        QVERIFY(rows.truncate(0, 15));
        QVERIFY(rows.append({{200}, {}}));
        QCOMPARE(rows.serve(1, prefix + Ids{100, 7}), 15);
        NO_FAULT(rows);
        rows.clear(1);
        QCOMPARE(rows.serve(1, prefix + Ids{200, 7}), 16);
        NO_FAULT(rows);
        // And with blocks behind the one that changes.
        rows.clear(1);
        rows.clear(0);
        const Ids longer = prefix + Ids{300} + count_from(400, 20);
        QCOMPARE(rows.serve(0, longer), 15);
        QVERIFY(rows.truncate(0, 10));
        QVERIFY(rows.append({count_from(600, 6), {}}));
        QCOMPARE(rows.serve(1, prefix + Ids{300} + count_from(400, 30)) <= 15, true);
        NO_FAULT(rows);
    }

    // A row that took over part of a block writes behind that part, and the call fails.
    void anAppendThatIsGivenUpIsNotKnown() {
        Pages pages({.batch = 2, .share = true});
        CacheDriver& rows = *pages.driver;
        QCOMPARE(rows.serve(0, count_from(0, 10)), 0);
        QCOMPARE(rows.adopt(1, count_from(0, 6) + Ids{50, 51}), 6);
        rows.clear(0);
        QVERIFY(rows.give_up({{}, {50, 51}}, 2));
        NO_FAULT(rows);
        QVERIFY(rows.serve(0, count_from(0, 12)) >= 6);
        NO_FAULT(rows);
    }

    // A row that holds pads is not shared; what it overwrites is not either.
    void padsEndSharing() {
        Pages pages({.batch = 2, .share = true});
        CacheDriver& rows = *pages.driver;
        QCOMPARE(rows.serve(0, count_from(0, 10)), 0);
        QCOMPARE(rows.adopt(1, count_from(0, 6) + Ids{50}), 6);
        rows.clear(0);
        QVERIFY(rows.append({{}, {pad, 50}}));
        NO_FAULT(rows);
        QVERIFY(rows.serve(0, count_from(0, 12)) >= 6);
        NO_FAULT(rows);
        rows.clear(0);
        QVERIFY(rows.truncate(1, 3));
        QVERIFY(rows.append({{}, {70, 71, 72}}));
        QVERIFY(rows.serve(0, count_from(0, 12)) >= 3);
        NO_FAULT(rows);
    }

    // Two blocks hold the same tokens, because a prompt's last token is always forwarded again; what follows
    // is behind one of them only.
    void aCopyDoesNotHideWhatFollows() {
        const Ids prompt = count_from(0, 16);
        for (const int told : {0, 1}) {
            Pages pages({.batch = 3, .capacity = 64, .share = true});
            CacheDriver& rows = *pages.driver;
            QCOMPARE(rows.serve(0, prompt), 0);
            QCOMPARE(rows.serve(1, prompt), 15);
            const Ids answers[] = {count_from(100, 20), count_from(200, 20)};
            QVERIFY(rows.append({answers[0], answers[1], {}}));
            const Ids turn_2 = prompt + answers[told] + Ids{7};
            QCOMPARE(rows.serve(2, turn_2), 36);
            NO_FAULT(rows);
        }
    }

    void rowsThatShareHaveOneWriterPerBlock() {
        Pages pages({.batch = 4, .capacity = 48, .share = true});
        CacheDriver& rows = *pages.driver;
        const Ids prompt = count_from(0, 20);
        QCOMPARE(rows.serve(0, prompt), 0);
        for (const int row : {1, 2, 3}) QCOMPARE(rows.serve(row, prompt + Ids{100 + row}), 20);
        QCOMPARE(pages.paged().references(pages.table(0)[0]), 4);
        for (int i = 0; i < 20; ++i) {
            QVERIFY(rows.append({{200 + i}, {300 + i}, {400 + i}, {500 + i}}));
            NO_FAULT(rows);
        }
        std::set<int> last;
        for (int row = 0; row < 4; ++row) last.insert(pages.table(row)[1]);
        QCOMPARE(last.size(), std::size_t{4});
        QCOMPARE(pages.cache->bytes().shared, pages.token_bytes() * 16 * 3);
    }

    void theOldestUnusedBlockGoesFirst() {
        Pages pages({.batch = 2, .capacity = 64, .blocks = 4, .share = true});
        CacheDriver& rows = *pages.driver;
        const Ids a = count_from(0, 17);
        const Ids b = count_from(100, 16);
        QCOMPARE(rows.serve(0, a), 0);
        rows.clear(0);
        QCOMPARE(rows.serve(0, b), 0);
        rows.clear(0);
        QCOMPARE(pages.cache->bytes().kept, 3 * pages.block_bytes());
        // a is used again, so b is the oldest; the second block of a was used before its first.
        QCOMPARE(rows.serve(0, a), 16);
        rows.clear(0);
        // Two blocks: one was never used, one is taken from b.
        QCOMPARE(rows.serve(0, count_from(200, 32)), 0);
        QCOMPARE(pages.cache->bytes().kept, 2 * pages.block_bytes());
        QCOMPARE(rows.adopt(1, b), 0);
        rows.clear(1);
        // One more: the end of a, so that its beginning is still of use.
        QVERIFY(rows.append({{1}, {}}));
        QCOMPARE(rows.adopt(1, a), 16);
        NO_FAULT(rows);
        // Nothing that a row uses is ever taken.
        QVERIFY(!rows.append({count_from(900, 20), {}}));
        NO_FAULT(rows);
        rows.clear(0);
        QVERIFY(rows.append({{}, count_from(900, 40)}));
        NO_FAULT(rows);
    }

    void metadataIsCounted() {
        Pages pages({.batch = 2, .share = true});
        const std::uint64_t before = pages.cache->bytes().meta;
        QVERIFY(before > 0);
        QCOMPARE(pages.driver->serve(0, count_from(0, 40)), 0);
        QVERIFY(pages.cache->bytes().meta > before);
    }

    void longRandomRuns_data() {
        QTest::addColumn<int>("block");
        QTest::addColumn<int>("blocks");
        QTest::addColumn<bool>("share");
        QTest::addColumn<bool>("pads");
        for (const bool share : {false, true}) {
            for (const int block : {1, 3, 4, 16}) {
                for (const int pool : {0, 40}) {
                    QTest::addRow("blocks of %d, pool %d%s", block, pool, share ? ", shared" : "")
                        << block << (pool + block - 1) / block << share << false;
                }
                QTest::addRow("blocks of %d, pads%s", block, share ? ", shared" : "")
                    << block << 0 << share << true;
            }
        }
    }
    void longRandomRuns() {
        QFETCH(int, block);
        QFETCH(int, blocks);
        QFETCH(bool, share);
        QFETCH(bool, pads);
        constexpr int batch = 4;
        constexpr int capacity = 30;
        for (std::uint64_t seed = 0; seed < 6; ++seed) {
            Pages pages(
                {.batch = batch, .capacity = capacity, .block = block, .blocks = blocks, .share = share});
            CacheDriver& rows = *pages.driver;
            Dice dice(seed * 100 + static_cast<std::uint64_t>(block));
            // Nearly always the same token, so that prefixes meet and part.
            const auto few_words = [&](int n) {
                Ids ids(static_cast<std::size_t>(n));
                for (std::int32_t& id : ids) id = dice.one_in(8);
                return ids;
            };
            const auto fresh = [&](int most) {
                Ids ids = few_words(dice.roll(0, most));
                if (pads && dice.one_in(3))
                    ids.insert(ids.begin() + dice.roll(0, static_cast<int>(ids.size())), pad);
                return ids;
            };
            int adopted = 0;
            int refused = 0;
            for (int step = 0; step < 250; ++step) {
                const int row = dice.roll(0, batch - 1);
                const KvBytes before = pages.cache->bytes();
                switch (dice.roll(0, 7)) {
                    case 0:
                    case 1:
                    case 2: {
                        std::vector<Ids> all(batch);
                        bool any = false;
                        for (Ids& ids : all) any = (ids = fresh(dice.one_in(4) ? 9 : 2), any || !ids.empty());
                        if (!any) break;
                        const auto done = rows.append(all);
                        if (!done) {
                            QCOMPARE(done.error().kind, ErrorKind::capacity);
                            QCOMPARE(pages.cache->bytes().live, before.live);
                            ++refused;
                        }
                        break;
                    }
                    case 3: {
                        std::vector<Ids> all(batch);
                        all[static_cast<std::size_t>(row)] = fresh(5) + Ids{1};
                        (void)rows.give_up(all, dice.roll(0, 2));
                        break;
                    }
                    case 4:
                        QVERIFY(rows.truncate(row, dice.roll(0, static_cast<int>(rows.tokens(row).size()))));
                        break;
                    case 5: {
                        rows.clear(row);
                        const int n = rows.adopt(row, few_words(dice.roll(1, 25)),
                                                 static_cast<std::uint64_t>(dice.roll(0, 1)));
                        QVERIFY(n >= 0);
                        adopted += n;
                        break;
                    }
                    case 6: rows.clear(row); break;
                    default: {
                        std::vector<int> parents(batch);
                        for (int b = 0; b < batch; ++b)
                            parents[static_cast<std::size_t>(b)] =
                                dice.one_in(3) ? dice.roll(0, batch - 1) : b;
                        QVERIFY(rows.reorder(parents));
                    }
                }
                const std::string fault = rows.fault();
                if (!fault.empty())
                    QFAIL(qPrintable(QString("seed %1, step %2: %3").arg(seed).arg(step).arg(fault.c_str())));
                // Every block is in as many tables as it has references.
                std::vector<int> uses(static_cast<std::size_t>(pages.paged().n_block()), 0);
                int unused = 0;
                for (int b = 0; b < batch; ++b) {
                    const auto stored = static_cast<int>(pages.cache->slot_positions(b).size());
                    QCOMPARE(static_cast<int>(pages.n_block(b)), (stored + block - 1) / block);
                    for (const int i : pages.table(b)) ++uses[static_cast<std::size_t>(i)];
                }
                for (std::size_t i = 0; i < uses.size(); ++i) {
                    QCOMPARE(pages.paged().references(static_cast<int>(i)), uses[i]);
                    unused += uses[i] == 0;
                }
                QCOMPARE(pages.paged().n_available(), unused);
                const KvBytes bytes = pages.cache->bytes();
                QCOMPARE(bytes.free + bytes.kept, pages.block_bytes() * static_cast<std::uint64_t>(unused));
            }
            QVERIFY(adopted > 0 || !share);
            QVERIFY(refused > 0 || blocks == 0);
            // All of the pool can be had again.
            for (int b = 0; b < batch; ++b) rows.clear(b);
            QCOMPARE(pages.paged().n_available(), pages.paged().n_block());
            QCOMPARE(pages.cache->bytes().live + pages.cache->bytes().slack, std::uint64_t{0});
        }
    }
};

QTEST_APPLESS_MAIN(TestPagedCache)
#include "tst_paged_cache.moc"
