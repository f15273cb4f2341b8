// SPDX-License-Identifier: GPL-3.0-or-later
#include <QTest>

#include <memory>
#include <thread>
#include <vector>

#include "engine/measure/allocation_count.h"

using namespace decodescope;

namespace {

struct alignas(256) Aligned {
    char bytes[256];
};

}  // namespace

class TestAllocationCount : public QObject {
    Q_OBJECT

private slots:
    void init() {
        if (read_allocation_count() < 0) QSKIP("this build cannot count allocations");
    }

    void countsEveryKindOfNew() {
        const std::int64_t before = read_allocation_count();
        const auto one = std::make_unique<int>(1);
        const auto many = std::make_unique<std::int64_t[]>(100);
        const auto aligned = std::make_unique<Aligned>();
        const std::vector<int> vector(10);
        QCOMPARE(read_allocation_count() - before, std::int64_t{4});
        QVERIFY(reinterpret_cast<std::uintptr_t>(aligned.get()) % 256 == 0);
        QCOMPARE(vector.size(), std::size_t{10});
        QVERIFY(many != nullptr && *one == 1);
    }

    void countsThreadsApart() {
        const std::int64_t before = read_allocation_count();
        std::int64_t inside = 0;
        std::thread other([&] {
            std::vector<std::unique_ptr<int>> kept(100);
            const std::int64_t first = read_allocation_count();
            for (auto& one : kept) one = std::make_unique<int>(1);
            inside = read_allocation_count() - first;
        });
        other.join();
        QCOMPARE(inside, std::int64_t{100});
        QVERIFY(read_allocation_count() - before < 50);
    }

    void tooLargeIsAnException() {
        const std::size_t huge = static_cast<std::size_t>(-1) / 2;
        QVERIFY_EXCEPTION_THROWN(std::vector<char>().reserve(huge), std::bad_alloc);
    }
};

QTEST_APPLESS_MAIN(TestAllocationCount)
#include "tst_allocation_count.moc"
