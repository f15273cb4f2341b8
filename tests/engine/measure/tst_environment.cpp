// SPDX-License-Identifier: GPL-3.0-or-later
#include <QFile>
#include <QRegularExpression>
#include <QTest>
#include <sched.h>
#include <unistd.h>

#include <thread>

#include "engine/measure/environment.h"

using namespace decodescope;

class EnvironmentTest : public QObject {
    Q_OBJECT

private slots:
    void initTestCase() { environment_ = read_environment(); }

    void says_what_was_built() {
        const auto matches = [](const std::string& text, const char* pattern) {
            return QRegularExpression(pattern).match(QString::fromStdString(text)).hasMatch();
        };
        QVERIFY2(matches(environment_.program_version, R"(^\d+\.\d+\.\d+$)"),
                 environment_.program_version.c_str());
        QVERIFY2(matches(environment_.compiler, R"(^(GNU|Clang|AppleClang) \d+\.)"),
                 environment_.compiler.c_str());
        QVERIFY2(matches(environment_.commit, R"(^([0-9a-f]{12,40}(-dirty)?)?$)"),
                 environment_.commit.c_str());
        const bool repository = QFile::exists(DECODESCOPE_SOURCE_DIR "/.git");
        if (!repository) QVERIFY(environment_.commit.empty());
#ifdef NDEBUG
        QVERIFY2(matches(environment_.compiler_flags, "-DNDEBUG"), environment_.compiler_flags.c_str());
#else
        QVERIFY2(!matches(environment_.compiler_flags, "-DNDEBUG"), environment_.compiler_flags.c_str());
#endif
    }

    void says_where_it_runs() {
        QVERIFY2(QString::fromStdString(environment_.blas)
                     .contains(QRegularExpression(
                         R"(^OpenBLAS \d+\.\d+\.\d+\S* \(\S+, (pthreads|OpenMP|sequential)\)$)")),
                 environment_.blas.c_str());
        QVERIFY(environment_.os.find("Linux") != std::string::npos);
        QCOMPARE(environment_.logical_cores, static_cast<int>(std::thread::hardware_concurrency()));
        QVERIFY(environment_.physical_cores >= 1 &&
                environment_.physical_cores <= environment_.logical_cores);
        QVERIFY(environment_.load_average >= 0);
        // MemTotal leaves out what the kernel keeps for itself; both come from the same counter.
        QFile meminfo("/proc/meminfo");
        QVERIFY(meminfo.open(QIODevice::ReadOnly));
        const auto match = QRegularExpression(R"(MemTotal:\s+(\d+) kB)").match(meminfo.readAll());
        QVERIFY(match.hasMatch());
        QCOMPARE(environment_.memory_bytes, std::uint64_t{match.captured(1).toULongLong()} * 1024);
    }

    void names_the_processor() {
#if defined(__x86_64__)
        QVERIFY(!environment_.cpu_model.empty());
        const auto has = [&](const char* name) {
            const auto& sets = environment_.instruction_sets;
            return std::find(sets.begin(), sets.end(), name) != sets.end();
        };
        QCOMPARE(has("avx2"), __builtin_cpu_supports("avx2") != 0);
        QCOMPARE(has("fma"), __builtin_cpu_supports("fma") != 0);
        QCOMPARE(has("avx512f"), __builtin_cpu_supports("avx512f") != 0);
#else
        QSKIP("the expected instruction sets are known for x86-64 only");
#endif
    }

    void leaves_to_the_caller_what_only_it_knows() {
        QCOMPARE(environment_.threads, 0);
        QCOMPARE(environment_.read_bandwidth_gb_s, 0.0);
    }

    void core_count_follows_the_affinity_of_the_process() {
        cpu_set_t before;
        QCOMPARE(sched_getaffinity(0, sizeof before, &before), 0);
        int first = 0;
        while (!CPU_ISSET(first, &before)) ++first;
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET(first, &one);
        QCOMPARE(sched_setaffinity(0, sizeof one, &one), 0);
        const int count = physical_core_count();
        sched_setaffinity(0, sizeof before, &before);
        QCOMPARE(count, 1);
    }

    void better_blas_core_data() {
        QTest::addColumn<QString>("chosen");
        QTest::addColumn<QStringList>("instruction_sets");
        QTest::addColumn<QString>("expected");
        const QStringList avx512{"avx", "fma", "avx2", "avx512f", "avx512bw"};
        const QStringList avx2{"avx", "fma", "avx2"};
        QTest::newRow("unknown processor with AVX-512") << "Prescott" << avx512 << "SkylakeX";
        QTest::newRow("unknown processor with AVX2") << "Prescott" << avx2 << "Haswell";
        QTest::newRow("spelled otherwise") << "NEHALEM" << avx2 << "Haswell";
        QTest::newRow("a good choice stays") << "Cooperlake" << avx512 << "";
        QTest::newRow("a cautious choice stays") << "Haswell" << avx512 << "";
        QTest::newRow("an old processor") << "Prescott" << QStringList{"sse4.2"} << "";
        QTest::newRow("AVX without FMA") << "Nehalem" << QStringList{"avx"} << "";
        QTest::newRow("another architecture") << "neoversen1" << QStringList{"neon"} << "";
        QTest::newRow("nothing known") << "" << QStringList{} << "";
    }
    void better_blas_core() {
        QFETCH(QString, chosen);
        QFETCH(QStringList, instruction_sets);
        std::vector<std::string> sets;
        for (const QString& name : instruction_sets) sets.push_back(name.toStdString());
        QTEST(QString::fromStdString(decodescope::better_blas_core(chosen.toStdString(), sets)), "expected");
    }

    void a_blas_core_set_by_the_user_stays() {
        const QByteArray before = qgetenv("OPENBLAS_CORETYPE");
        qputenv("OPENBLAS_CORETYPE", "Prescott");
        const std::string core = decodescope::better_blas_core();
        if (before.isNull()) qunsetenv("OPENBLAS_CORETYPE");
        QVERIFY(core.empty());
    }

private:
    Environment environment_;
};

QTEST_APPLESS_MAIN(EnvironmentTest)
#include "tst_environment.moc"
