// SPDX-License-Identifier: GPL-3.0-or-later
#include <QTest>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <vector>

#include "engine/measure/process_memory.h"

using namespace decodescope;

class ProcessMemoryTest : public QObject {
    Q_OBJECT

private slots:
    void touched_pages_show_as_resident_and_as_faults() {
        constexpr std::size_t bytes = std::size_t{32} << 20;
        const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
        void* block = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        QVERIFY(block != MAP_FAILED);
        madvise(block, bytes, MADV_NOHUGEPAGE);
        const ProcessMemory before = read_process_memory();
        QVERIFY(before.rss > 0);
        QVERIFY(before.minor_faults > 0);
        std::memset(block, 1, bytes);
        const ProcessMemory after = read_process_memory();
        munmap(block, bytes);
        const ProcessMemory freed = read_process_memory();

        // The kernel keeps a few pages per thread uncounted; an eighth of the block is far more than that.
        const auto block_size = static_cast<std::int64_t>(bytes);
        QVERIFY2(after.rss - before.rss > block_size * 7 / 8,
                 qPrintable(QString("resident memory grew by %1").arg(after.rss - before.rss)));
        QVERIFY(after.rss - freed.rss > block_size * 7 / 8);
        QVERIFY(after.minor_faults - before.minor_faults >= static_cast<std::int64_t>(bytes / page));
        QVERIFY(read_minor_faults() >= after.minor_faults);
    }

    void heap_figures_follow_the_allocator() {
        const ProcessMemory before = read_process_memory();
        if (before.heap_in_use == ProcessMemory::not_measured) {
            QCOMPARE(before.heap_free, ProcessMemory::not_measured);
            QCOMPARE(before.heap_mapped, ProcessMemory::not_measured);
            QSKIP("this build's allocator gives no figures");
        }
        constexpr std::size_t small = 1000;
        constexpr std::size_t n_small = 2000;
        constexpr std::size_t large = std::size_t{64} << 20;
        std::vector<std::unique_ptr<char[]>> blocks;
        for (std::size_t i = 0; i < n_small; ++i) blocks.push_back(std::make_unique<char[]>(small));
        auto mapped = std::make_unique<char[]>(large);
        const ProcessMemory during = read_process_memory();
        QVERIFY(during.heap_in_use - before.heap_in_use >= static_cast<std::int64_t>(small * n_small));
        QVERIFY(during.heap_mapped - before.heap_mapped >= static_cast<std::int64_t>(large));
        mapped.reset();
        blocks.clear();
        const ProcessMemory after = read_process_memory();
        QVERIFY(during.heap_in_use - after.heap_in_use >= static_cast<std::int64_t>(small * n_small));
        QVERIFY(after.heap_mapped <= during.heap_mapped - static_cast<std::int64_t>(large));
        QVERIFY(after.heap_free >= 0);
    }
};

QTEST_APPLESS_MAIN(ProcessMemoryTest)
#include "tst_process_memory.moc"
