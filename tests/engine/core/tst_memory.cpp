// SPDX-License-Identifier: GPL-3.0-or-later
#include <QTest>

#include <algorithm>
#include <limits>
#include <utility>

#include "engine/core/memory.h"

using namespace decodescope;

class MemoryTest : public QObject {
    Q_OBJECT

private slots:
    void init() { ledger_ = std::make_shared<MemoryLedger>(); }

    void counts_by_owner_and_forgets_what_is_freed() {
        {
            const auto kv = Buffer::allocate(ledger_, Owner::kv, 1000);
            const auto logits = Buffer::floats(ledger_, Owner::logits, 25);
            QVERIFY(kv.ok() && logits.ok());
            QCOMPARE(ledger_->live(Owner::kv), std::uint64_t{1000});
            QCOMPARE(ledger_->live(Owner::logits), std::uint64_t{100});
            QCOMPARE(ledger_->live(Owner::weights), std::uint64_t{0});
            QCOMPARE(ledger_->total(), std::uint64_t{1100});
            QCOMPARE(ledger_->live(), (OwnerBytes{0, 1000, 0, 100, 0}));
        }
        QCOMPARE(ledger_->total(), std::uint64_t{0});
    }

    void is_aligned_and_zero_data() {
        QTest::addColumn<quint64>("bytes");
        QTest::newRow("one byte") << quint64{1};
        QTest::newRow("odd size") << quint64{12345};
        QTest::newRow("just below a huge page") << quint64{(2u << 20) - 1};
        QTest::newRow("one huge page") << quint64{2u << 20};
        QTest::newRow("above a huge page") << quint64{(5u << 20) + 3};
    }
    void is_aligned_and_zero() {
        QFETCH(quint64, bytes);
        // Twice: the second block may be memory that the first one had dirtied.
        for (int round = 0; round < 2; ++round) {
            auto buffer = Buffer::allocate(ledger_, Owner::activations, bytes);
            QVERIFY(buffer.ok());
            QCOMPARE(buffer->size_bytes(), static_cast<std::size_t>(bytes));
            QCOMPARE(reinterpret_cast<std::uintptr_t>(buffer->data()) % 64, std::uintptr_t{0});
            QVERIFY(std::all_of(buffer->data(), buffer->data() + bytes,
                                [](std::byte b) { return b == std::byte{0}; }));
            std::fill_n(buffer->data(), bytes, std::byte{0xff});
            QCOMPARE(ledger_->live(Owner::activations), std::uint64_t{bytes});
        }
        QCOMPARE(ledger_->total(), std::uint64_t{0});
    }

    void nothing_asked_for_is_an_empty_buffer() {
        const auto buffer = Buffer::allocate(ledger_, Owner::kv, 0);
        QVERIFY(buffer.ok());
        QVERIFY(buffer->empty());
        QCOMPARE(ledger_->total(), std::uint64_t{0});
    }

    void limit_refuses_and_counts_nothing() {
        ledger_->set_limit(1000);
        QCOMPARE(ledger_->limit(), std::uint64_t{1000});
        auto first = Buffer::allocate(ledger_, Owner::weights, 600);
        QVERIFY(first.ok());
        const auto second = Buffer::allocate(ledger_, Owner::kv, 401);
        QVERIFY(!second.ok());
        QCOMPARE(second.error().kind, ErrorKind::out_of_memory);
        QCOMPARE(second.error().message,
                 std::string("Could not allocate 401 bytes for kv: the memory limit is 1000 bytes."));
        QCOMPARE(ledger_->total(), std::uint64_t{600});
        QVERIFY(Buffer::allocate(ledger_, Owner::kv, 400).ok());
        first->release();
        QVERIFY(Buffer::allocate(ledger_, Owner::kv, 1000).ok());
        ledger_->set_limit(0);
        QVERIFY(Buffer::allocate(ledger_, Owner::kv, 5000).ok());
    }

    void mapped_bytes_are_counted_with_their_owner_and_apart() {
        const auto block = Buffer::allocate(ledger_, Owner::weights, 100);
        QVERIFY(block.ok());
        {
            auto counted = MappedCount::count(ledger_, Owner::weights, 700);
            QVERIFY(counted.ok());
            const MappedCount moved = std::move(*counted);
            QCOMPARE(moved.size_bytes(), std::uint64_t{700});
            QCOMPARE(ledger_->live(Owner::weights), std::uint64_t{800});
            QCOMPARE(ledger_->mapped(), std::uint64_t{700});
            QCOMPARE(ledger_->n_allocation(), std::uint64_t{1});
            ledger_->set_limit(1000);
            const auto refused = MappedCount::count(ledger_, Owner::weights, 201);
            QVERIFY(!refused.ok());
            QCOMPARE(refused.error().kind, ErrorKind::out_of_memory);
        }
        QCOMPARE(ledger_->live(Owner::weights), std::uint64_t{100});
        QCOMPARE(ledger_->mapped(), std::uint64_t{0});
    }

    void huge_sizes_are_refused_data() {
        QTest::addColumn<quint64>("bytes");
        constexpr auto max = std::numeric_limits<std::size_t>::max();
        QTest::newRow("largest size") << quint64{max};
        QTest::newRow("rounding would overflow") << quint64{max - (2u << 20)};
        QTest::newRow("more than the address space") << quint64{max / 2};
        QTest::newRow("one exbibyte") << (quint64{1} << 60);
    }
    void huge_sizes_are_refused() {
        QFETCH(quint64, bytes);
        const auto buffer = Buffer::allocate(ledger_, Owner::weights, bytes);
        QVERIFY(!buffer.ok());
        QCOMPARE(buffer.error().kind, ErrorKind::out_of_memory);
        QVERIFY(buffer.error().message.find("for weights") != std::string::npos);
        QCOMPARE(ledger_->total(), std::uint64_t{0});
    }

    void float_count_is_checked_against_overflow() {
        // 2^62 + 1 floats wrap around to 4 bytes.
        const auto buffer = Buffer::floats(ledger_, Owner::workspace, (std::size_t{1} << 62) + 1);
        QVERIFY(!buffer.ok());
        QCOMPARE(buffer.error().kind, ErrorKind::out_of_memory);
    }

    void moving_keeps_one_owner() {
        Buffer a = *Buffer::allocate(ledger_, Owner::kv, 64);
        std::byte* data = a.data();
        Buffer b = std::move(a);
        QVERIFY(a.empty());  // NOLINT(bugprone-use-after-move): empty by contract
        QCOMPARE(b.data(), data);
        QCOMPARE(ledger_->live(Owner::kv), std::uint64_t{64});

        b = *Buffer::allocate(ledger_, Owner::kv, 32);
        QCOMPARE(ledger_->live(Owner::kv), std::uint64_t{32});

        Buffer& same = b;
        b = std::move(same);
        QCOMPARE(b.size_bytes(), std::size_t{32});

        b.release();
        b.release();
        QVERIFY(b.empty());
        QCOMPARE(ledger_->total(), std::uint64_t{0});
    }

    void buffers_keep_their_ledger_alive() {
        auto buffer = Buffer::allocate(ledger_, Owner::kv, 64);
        const std::weak_ptr<MemoryLedger> watched = ledger_;
        ledger_.reset();
        QVERIFY(!watched.expired());
        buffer->release();
        QVERIFY(watched.expired());
    }

private:
    std::shared_ptr<MemoryLedger> ledger_;
};

QTEST_APPLESS_MAIN(MemoryTest)
#include "tst_memory.moc"
