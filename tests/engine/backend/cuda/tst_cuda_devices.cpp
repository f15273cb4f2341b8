// SPDX-License-Identifier: GPL-3.0-or-later
#include <QTest>

#include "engine/backend/cuda/architectures.h"
#include "engine/backend/cuda/cuda_backend.h"
#include "tests/cuda_shim/shim.h"

using namespace decodescope;

namespace {

cuda_shim::Settings machine(int devices, int driver, int runtime = 13000) {
    cuda_shim::Settings settings;
    settings.devices = devices;
    settings.driver_version = driver;
    settings.runtime_version = runtime;
    return settings;
}

}  // namespace

Q_DECLARE_METATYPE(cuda_shim::Settings)

class TstCudaDevices : public QObject {
    Q_OBJECT
private slots:
    void cleanup() { cuda_shim::configure(); }

    void whatThereIs_data() {
        QTest::addColumn<cuda_shim::Settings>("settings");
        QTest::addColumn<int>("devices");
        QTest::addColumn<QString>("whyNone");
        QTest::addColumn<QString>("driver");
        QTest::newRow("no driver") << machine(0, 0) << 0 << "no CUDA driver"
                                   << "";
        QTest::newRow("no driver, but GPUs") << machine(1, 0) << 0 << "no CUDA driver"
                                             << "";
        QTest::newRow("no GPU") << machine(0, 13000) << 0 << "no NVIDIA GPU"
                                << "13.0";
        QTest::newRow("driver too old")
            << machine(1, 12040) << 0 << "the driver does CUDA 12.4, this program needs 13.0"
            << "12.4";
        QTest::newRow("one") << machine(1, 13000) << 1 << ""
                             << "13.0";
        QTest::newRow("three, newer driver") << machine(3, 13020) << 3 << ""
                                             << "13.2";
    }
    void whatThereIs() {
        QFETCH(cuda_shim::Settings, settings);
        cuda_shim::configure(settings);
        const CudaDevices found = find_cuda_devices();
        QTEST(static_cast<int>(found.devices.size()), "devices");
        QTEST(QString::fromStdString(found.why_none), "whyNone");
        QTEST(QString::fromStdString(found.driver), "driver");
        QCOMPARE(found.runtime, std::string("13.0"));
        for (int i = 0; i < static_cast<int>(found.devices.size()); ++i)
            QCOMPARE(found.devices[static_cast<std::size_t>(i)].index, i);
    }

    void whatADeviceIs() {
        cuda_shim::Settings settings;
        settings.name = "Some GPU";
        settings.compute_major = 8;
        settings.compute_minor = 6;
        settings.memory_bytes = std::size_t{3} << 30;
        settings.context_bytes = std::size_t{100} << 20;
        cuda_shim::configure(settings);
        const CudaDevices found = find_cuda_devices_and_free_memory();
        QCOMPARE(found.devices.size(), std::size_t{1});
        const CudaDevice& device = found.devices[0];
        QCOMPARE(device.name, std::string("Some GPU"));
        QCOMPARE(device.compute_major, 8);
        QCOMPARE(device.compute_minor, 6);
        QCOMPARE(device.memory_bytes, std::uint64_t{3} << 30);
        QCOMPARE(device.free_bytes, (std::uint64_t{3} << 30) - (std::uint64_t{100} << 20));
        QCOMPARE(device.n_multiprocessor, 4);
        QCOMPARE(device.core_clock_khz, std::int64_t{1'500'000});
        QCOMPARE(device.memory_clock_khz, std::int64_t{2'000'000});
        // 256 bits at 2 GHz, twice per cycle.
        QCOMPARE(device.memory_gb_s, 128.0);
    }

    /// A context takes a GPU's memory from those who work there: looking makes none.
    void lookingUsesNoGpu() {
        cuda_shim::configure(machine(3, 13000));
        QCOMPARE(find_cuda_devices().devices[1].free_bytes, std::uint64_t{0});  // nobody asked
        const CudaDevices found = find_cuda_devices_and_free_memory();
        QCOMPARE(cuda_shim::counts().contexts, std::int64_t{0});
        QCOMPARE(cuda_shim::live(), cuda_shim::Live{});
        const std::uint64_t all = found.devices[2].free_bytes;
        QVERIFY(all > 0);
        for (const CudaDevice& device : found.devices) QCOMPARE(device.free_bytes, all);
        const auto backend = make_cuda_backend(1, 1);
        QVERIFY(backend);
        QCOMPARE(cuda_shim::counts().contexts, std::int64_t{1});
        // Each GPU is told from the others.
        const CudaDevices later = find_cuda_devices_and_free_memory();
        QCOMPARE(later.devices[0].free_bytes, all);
        QVERIFY(later.devices[1].free_bytes < all);
        QCOMPARE(later.devices[2].free_bytes, all);
    }

    void freeMemoryThatNobodyTellsIsNotZero() {
        cuda_shim::Settings settings = machine(1, 13000);
        settings.nvml = false;
        cuda_shim::configure(settings);
        const CudaDevices found = find_cuda_devices_and_free_memory();
        QCOMPARE(found.devices.size(), std::size_t{1});
        QVERIFY(found.devices[0].memory_bytes > 0);
        QCOMPARE(found.devices[0].free_bytes, std::uint64_t{0});
        QCOMPARE(cuda_shim::counts().contexts, std::int64_t{0});
    }

    void compiledFor_data() {
        QTest::addColumn<QString>("architectures");
        QTest::addColumn<int>("major");
        QTest::addColumn<int>("minor");
        QTest::addColumn<bool>("runs");
        const auto row = [](const char* architectures, int major, int minor, bool runs) {
            QTest::addRow("%d.%d with %s", major, minor, architectures)
                << QString(architectures) << major << minor << runs;
        };
        const char* usual = "75-real,80-real,90";
        row(usual, 7, 0, false);
        row(usual, 7, 5, true);
        row(usual, 8, 6, true);  // by the machine code for 8.0
        row(usual, 8, 9, true);
        row(usual, 9, 0, true);
        row(usual, 10, 3, true);  // by PTX
        row("80-real", 7, 5, false);
        row("80-real", 8, 6, true);
        row("86-real", 8, 0, false);
        row("80-real", 9, 0, false);
        row("80-virtual", 9, 0, true);
        row("80", 7, 5, false);
        row("90a", 9, 0, true);
        row("90a", 10, 0, false);
        row("90a-real,75-real", 8, 0, false);
        row("100f", 10, 3, true);
        row("100f", 12, 0, false);
        row("native", 8, 0, true);
    }
    void compiledFor() {
        QFETCH(QString, architectures);
        QFETCH(int, major);
        QFETCH(int, minor);
        QTEST(cuda::runs_on(architectures.toStdString(), major, minor), "runs");
    }

    void clocksThatNobodyTellsAreNotZero() {
        cuda_shim::Settings settings;
        settings.clocks = false;
        cuda_shim::configure(settings);
        const CudaDevices found = find_cuda_devices();
        QCOMPARE(found.devices[0].core_clock_khz, std::int64_t{-1});
        QCOMPARE(found.devices[0].memory_clock_khz, std::int64_t{-1});
        QCOMPARE(found.devices[0].memory_gb_s, 0.0);
    }

    void backendsThatCannotBe_data() {
        QTest::addColumn<cuda_shim::Settings>("settings");
        QTest::addColumn<int>("index");
        QTest::addColumn<QString>("message");
        cuda_shim::Settings old;
        old.name = "Old GPU";
        old.compute_major = 7;
        old.compute_minor = 0;
        QTest::newRow("no driver") << machine(0, 0) << 0 << "There is no cuda:0: no CUDA driver.";
        QTest::newRow("no GPU") << machine(0, 13000) << 1 << "There is no cuda:1: no NVIDIA GPU.";
        QTest::newRow("not that one")
            << machine(2, 13000) << 7 << "There is no cuda:7: this machine's GPUs are 0 to 1.";
        QTest::newRow("too old")
            << old << 0
            << "cuda:0 (Old GPU) has compute capability 7.0, and the program was compiled "
               "for 75-real,80-real,90.";
    }
    void backendsThatCannotBe() {
        QFETCH(cuda_shim::Settings, settings);
        QFETCH(int, index);
        cuda_shim::configure(settings);
        const auto backend = make_cuda_backend(index, 1);
        QVERIFY(!backend);
        QCOMPARE(backend.error().kind, ErrorKind::device);
        QTEST(QString::fromStdString(backend.error().message), "message");
        QCOMPARE(cuda_shim::live(), cuda_shim::Live{});
    }

    void aBackendGivesEverythingBack() {
        cuda_shim::configure(machine(2, 13000));
        {
            const auto backend = make_cuda_backend(1, 1);
            QVERIFY(backend);
            QVERIFY(cuda_shim::live().streams > 0);
            QCOMPARE((*backend)->memory()->name(), std::string("cuda:1"));
            QCOMPARE((*backend)->description(),
                     std::string("Pretended GPU (sm_90); CUDA 13.0, driver 13.0, cuBLAS 13.0.0"));
        }
        QCOMPARE(cuda_shim::live(), cuda_shim::Live{});
    }

    // One thing after the other cannot be had: everything that was there before is given back.
    void whatFailsWhileItIsMade() {
        cuda_shim::Settings small;
        small.memory_bytes = std::size_t{16} << 20;  // less than cuBLAS works in
        cuda_shim::configure(small);
        const auto backend = make_cuda_backend(0, 1);
        QVERIFY(!backend);
        QCOMPARE(backend.error().kind, ErrorKind::out_of_memory);
        QCOMPARE(backend.error().message,
                 std::string("CUDA: cudaMalloc failed: out of memory (cudaErrorMemoryAllocation)."));
        QCOMPARE(cuda_shim::live(), cuda_shim::Live{});
    }
};

QTEST_GUILESS_MAIN(TstCudaDevices)
#include "tst_cuda_devices.moc"
