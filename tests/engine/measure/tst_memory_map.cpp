// SPDX-License-Identifier: GPL-3.0-or-later
#include <QProcess>
#include <QStandardPaths>
#include <QTest>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>

#include "engine/measure/allocation_count.h"
#include "engine/measure/memory_map.h"
#include "engine/measure/process_memory.h"
#include "tests/patience.h"

using namespace decodescope;

namespace {

std::int64_t sum_of(const MemoryMap& map) {
    return map.heap + map.stack + map.anonymous + map.model_files + map.program + map.program_data +
           map.other_files + map.kernel;
}

/// What an external program says about this process; -1 when it is not there.
std::int64_t said_by(const QString& program, const QStringList& arguments) {
    if (QStandardPaths::findExecutable(program).isEmpty()) return -1;
    QProcess process;
    process.start(program, arguments);
    if (!process.waitForFinished(test::patience)) return -1;
    bool ok = false;
    const qint64 kilobytes = QString::fromUtf8(process.readAllStandardOutput()).simplified().toLongLong(&ok);
    return ok ? kilobytes * 1024 : -1;
}

constexpr const char* sample =
    "55d0c8a00000-55d0c8a10000 r--p 00000000 08:01 11                         /opt/program\n"
    "Size:                 64 kB\nRss:                  40 kB\nAnonymous:             0 kB\n"
    "55d0c8a10000-55d0c8a20000 r-xp 00010000 08:01 11                         /opt/program\n"
    "Rss:                  60 kB\nAnonymous:             4 kB\nSwap:                  8 kB\n"
    "VmFlags: rd ex mr mw me dw\n"
    "55d0c8b00000-55d0c8c00000 rw-p 00000000 00:00 0                          [heap]\n"
    "Rss:                 100 kB\nAnonymous:           100 kB\n"
    "7f0000000000-7f0000400000 rw-p 00000000 00:00 0 \n"
    "Rss:                4096 kB\nAnonymous:          4096 kB\nAnonHugePages:      2048 kB\n"
    "7f0000500000-7f0000600000 r--s 00000000 08:01 12                         /models/a b.gguf\n"
    "Rss:                 512 kB\nAnonymous:             0 kB\n"
    "7f0000700000-7f0000800000 r--s 00000000 08:01 13                         /usr/locale\n"
    "Rss:                  16 kB\nAnonymous:             0 kB\n"
    "7f0000900000-7f0000a00000 rw-p 00000000 00:00 0                          [anon:named]\n"
    "Rss:                   8 kB\nAnonymous:             8 kB\n"
    "7ffc00000000-7ffc00100000 rw-p 00000000 00:00 0                          [stack]\n"
    "Rss:                  20 kB\nAnonymous:            20 kB\n"
    "7ffc00200000-7ffc00201000 r-xp 00000000 00:00 0                          [vdso]\n"
    "Rss:                   4 kB\nAnonymous:             0 kB\n";

}  // namespace

class MemoryMapTest : public QObject {
    Q_OBJECT

private slots:
    void mappings_are_told_apart() {
        const auto map = parse_memory_map(sample, {"/models/a b.gguf"});
        QVERIFY(map);
        constexpr std::int64_t kb = 1024;
        QCOMPARE(map->heap, 100 * kb);
        QCOMPARE(map->stack, 20 * kb);
        QCOMPARE(map->anonymous, 4104 * kb);
        QCOMPARE(map->model_files, 512 * kb);
        QCOMPARE(map->program, 96 * kb);
        QCOMPARE(map->program_data, 4 * kb);
        QCOMPARE(map->other_files, 16 * kb);
        QCOMPARE(map->kernel, 4 * kb);
        QCOMPARE(map->huge_pages, 2048 * kb);
        QCOMPARE(map->swapped, 8 * kb);
        QCOMPARE(map->rss, 4856 * kb);
        QCOMPARE(sum_of(*map), map->rss);
        const auto without = parse_memory_map(sample, {});
        QVERIFY(without);
        QCOMPARE(without->other_files, 528 * kb);
        QCOMPARE(without->model_files, std::int64_t{0});
    }

    void what_is_no_map_is_refused() {
        const auto map = parse_memory_map("Rss: 4 kB\n", {});
        QVERIFY(!map);
        QCOMPARE(QString::fromStdString(map.error().message),
                 QString("Memory map: line 1 is \"Rss: 4 kB\", expected a mapping."));
    }

    void parts_are_the_resident_set_that_others_see() {
        const auto map = read_memory_map();
        QVERIFY2(map, map ? "" : map.error().message.c_str());
        QCOMPARE(sum_of(*map), map->rss);
        QVERIFY(map->program > 0);
        QVERIFY(map->stack > 0);
        // The kernel counts pages per thread in batches for statm, and reading moves them a little.
        const auto near = [&](std::int64_t other) {
            return std::abs(other - map->rss) < (std::int64_t{2} << 20);
        };
        QVERIFY2(near(read_process_memory().rss), qPrintable(QString::number(read_process_memory().rss)));
        const QString self = QString::number(getpid());
        // Other programs' readings, where they are installed.
        int asked = 0;
        for (const auto& [program, arguments] :
             {std::pair<QString, QStringList>{"ps", {"-o", "rss=", "-p", self}},
              std::pair<QString, QStringList>{
                  "awk", {"/^Rss/{s+=$2} END{print s}", "/proc/" + self + "/smaps_rollup"}}}) {
            const std::int64_t said = said_by(program, arguments);
            if (said < 0) continue;
            ++asked;
            QVERIFY2(near(said),
                     qPrintable(QString("%1 says %2, we %3").arg(program).arg(said).arg(map->rss)));
        }
        if (asked == 0) QSKIP("neither ps nor awk is installed");
    }

    void the_peak_outlives_what_made_it() {
        if (!reset_peak_rss()) QSKIP("this system does not let the peak be reset");
        const std::int64_t before = read_peak_rss();
        QVERIFY(before > 0);
        constexpr std::int64_t bytes = std::int64_t{24} << 20;
        void* block = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        QVERIFY(block != MAP_FAILED);
        std::memset(block, 1, bytes);
        munmap(block, bytes);
        QVERIFY(read_peak_rss() - before > bytes * 7 / 8);
        const auto now = read_memory_map();
        QVERIFY(now);
        QVERIFY(read_peak_rss() - now->rss > bytes * 7 / 8);
        QVERIFY(reset_peak_rss());
        QVERIFY(read_peak_rss() - before < bytes / 2);
    }

    void touched_memory_and_mapped_files_show_where_they_belong() {
        constexpr std::int64_t bytes = std::int64_t{8} << 20;
        char path[] = "/tmp/decodescope-map-XXXXXX";
        const int file = mkstemp(path);
        QVERIFY(file >= 0);
        const std::vector<char> content(static_cast<std::size_t>(bytes), 'x');
        QCOMPARE(write(file, content.data(), content.size()), static_cast<ssize_t>(bytes));
        const auto before = read_memory_map({path});
        void* mapped = mmap(nullptr, bytes, PROT_READ, MAP_SHARED | MAP_POPULATE, file, 0);
        void* block = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        QVERIFY(mapped != MAP_FAILED && block != MAP_FAILED);
        std::memset(block, 1, bytes);
        volatile char sum = 0;
        for (std::int64_t i = 0; i < bytes; i += 4096)
            sum = static_cast<char>(sum + static_cast<char*>(mapped)[i]);
        const auto after = read_memory_map({path});
        munmap(mapped, bytes);
        munmap(block, bytes);
        const auto freed = read_memory_map({path});
        close(file);
        unlink(path);
        QVERIFY(before && after && freed);
        QCOMPARE(before->model_files, std::int64_t{0});
        QCOMPARE(after->model_files, bytes);
        QCOMPARE(freed->model_files, std::int64_t{0});
        // Sanitizers, which count no allocations, shadow what is touched.
        const std::int64_t slack = read_allocation_count() < 0 ? 4 << 20 : 256 << 10;
        QVERIFY(std::abs(after->anonymous - before->anonymous - bytes) < slack);
        QVERIFY(std::abs(after->own() - before->own() - 2 * bytes) < slack);
        QVERIFY(std::abs(freed->anonymous - before->anonymous) < slack);
    }
};

QTEST_GUILESS_MAIN(MemoryMapTest)
#include "tst_memory_map.moc"
