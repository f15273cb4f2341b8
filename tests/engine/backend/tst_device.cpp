// SPDX-License-Identifier: GPL-3.0-or-later
#include <QTest>

#include "engine/backend/backend.h"
#include "engine/backend/cuda/cuda_backend.h"
#include "engine/backend/device.h"

using namespace decodescope;

namespace {

CudaDevices no_gpu() {
    CudaDevices none;
    none.why_none = "no CUDA driver";
    return none;
}

CudaDevices two_gpus() {
    CudaDevices two;
    for (const int index : {0, 1}) {
        CudaDevice& gpu = two.devices.emplace_back();
        gpu.index = index;
        gpu.name = index == 0 ? "GPU A" : "GPU B";
    }
    return two;
}

}  // namespace

class TestDevice : public QObject {
    Q_OBJECT

private slots:
    void names_data() {
        QTest::addColumn<QString>("text");
        QTest::addColumn<QString>("name");
        QTest::newRow("cpu") << "cpu"
                             << "cpu";
        QTest::newRow("the first GPU") << "cuda"
                                       << "cuda:0";
        QTest::newRow("GPU 0") << "cuda:0"
                               << "cuda:0";
        QTest::newRow("GPU 7") << "cuda:7"
                               << "cuda:7";
        QTest::newRow("GPU 1023") << "cuda:1023"
                                  << "cuda:1023";
    }
    void names() {
        QFETCH(QString, text);
        QFETCH(QString, name);
        const auto device = parse_device(text.toStdString());
        QVERIFY(device);
        QCOMPARE(QString::fromStdString(device->name()), name);
        QCOMPARE(device->is_gpu(), name != "cpu");
        QVERIFY(*parse_device(device->name()) == *device);
    }

    void badNames_data() {
        QTest::addColumn<QString>("text");
        for (const char* text :
             {"",        "CPU",     "cpu:0",   "gpu",       "opencl",          "cuda:",
              "cuda:x",  "cuda:-1", "cuda:+1", "cuda:1x",   "cuda: 1",         "cuda:00",
              "cuda:01", "cuda0",   "cudax",   "cuda:1024", "cuda:4294967296", "cuda:99999999999999999999",
              " cpu",    "cpu "})
            QTest::newRow(text) << text;
    }
    void badNames() {
        QFETCH(QString, text);
        const auto device = parse_device(text.toStdString());
        QVERIFY(!device);
        QCOMPARE(device.error().kind, ErrorKind::bad_input);
        QCOMPARE(QString::fromStdString(device.error().message),
                 QString("The device is \"%1\", expected \"cpu\", \"cuda\" or \"cuda:N\".").arg(text));
    }

    void whatIsThere_data() {
        QTest::addColumn<QString>("device");
        QTest::addColumn<bool>("gpus");
        QTest::addColumn<QString>("sentence");  // empty = it is there
        QTest::addColumn<int>("code");
        QTest::newRow("cpu without GPU") << "cpu" << false << "" << 0;
        QTest::newRow("cpu with GPUs") << "cpu" << true << "" << 0;
        QTest::newRow("second of two") << "cuda:1" << true << "" << 0;
        QTest::newRow("third of two") << "cuda:2" << true
                                      << "There is no device \"cuda:2\", expected one of \"cpu\", "
                                         "\"cuda:0\" (GPU A), \"cuda:1\" (GPU B)."
                                      << 2;
        QTest::newRow("first of none")
            << "cuda:0" << false << "The device \"cuda:0\" cannot be used: no CUDA driver." << 3;
        QTest::newRow("eighth of none") << "cuda:7" << false
                                        << "There is no device \"cuda:7\", expected \"cpu\", the only one "
                                           "here: no CUDA driver."
                                        << 2;
    }
    void whatIsThere() {
        QFETCH(QString, device);
        QFETCH(bool, gpus);
        QFETCH(QString, sentence);
        QFETCH(int, code);
        const auto there = check_device(*parse_device(device.toStdString()), gpus ? two_gpus() : no_gpu());
        QCOMPARE(there ? QString() : QString::fromStdString(there.error().message), sentence);
        QCOMPARE(there ? 0 : exit_code(there.error().kind), code);
    }

    void oneLine() {
        QCOMPARE(cpu_only(no_gpu()), std::string("CPU only: no CUDA driver"));
        QCOMPARE(cpu_only(two_gpus()), std::string());
    }

    /// Whatever this machine has: it says what, or why not.
    void thisMachine() {
        const CudaDevices found = find_cuda_devices();
        QCOMPARE(found.devices.empty(), !found.why_none.empty());
        QVERIFY(*make_backend({}, 1) != nullptr);
        const Device beyond{Device::Kind::cuda, static_cast<int>(found.devices.size()) + 1};
        const auto none = make_backend(beyond, 1);
        QVERIFY(!none);
        QCOMPARE(none.error().kind, ErrorKind::bad_input);
        if (!found.devices.empty()) return;
        const auto first = make_backend({Device::Kind::cuda, 0}, 1);
        QVERIFY(!first);
        QCOMPARE(first.error().kind, ErrorKind::device);
        QVERIFY(first.error().message.find(found.why_none) != std::string::npos);
    }
};

QTEST_GUILESS_MAIN(TestDevice)
#include "tst_device.moc"
