// SPDX-License-Identifier: GPL-3.0-or-later
#include <QTest>

#include <array>
#include <cmath>
#include <cstring>

#include "engine/core/memory.h"
#include "tests/engine/backend/cuda/cuda_fixture.h"

using namespace decodescope;
using test::CudaFixture;
using test::downloaded;

namespace {

constexpr std::size_t mib = std::size_t{1} << 20;

}  // namespace

class TstCudaMemory : public QObject {
    Q_OBJECT
private slots:
    void cleanup() {
        QCOMPARE(cuda_shim::live(), cuda_shim::Live{});
        cuda_shim::configure();
    }

    void buffersBeginAsTheyShould() {
        CudaFixture cuda;
        for (const bool poison : {true, false}) {
            cuda.ledger->set_poison(poison);
            auto buffer = Buffer::floats(cuda.ledger, Owner::kv, 1000);
            QVERIFY(buffer);
            QVERIFY(cuda_shim::is_device_memory(buffer->data()));
            QCOMPARE(reinterpret_cast<std::uintptr_t>(buffer->data()) % 256, std::uintptr_t{0});
            for (const float value : downloaded(buffer->f32(), 1000))
                QVERIFY(poison ? std::isnan(value) : value == 0.0f);
        }
    }

    void copiesPieces() {
        CudaFixture cuda;
        auto from = Buffer::floats(cuda.ledger, Owner::kv, 12);
        auto to = Buffer::floats(cuda.ledger, Owner::kv, 20);
        QVERIFY(from && to);
        std::array<float, 12> values{};
        for (std::size_t i = 0; i < 12; ++i) values[i] = static_cast<float>(i);
        QVERIFY(cudaMemcpy(from->data(), values.data(), 48, cudaMemcpyHostToDevice) == cudaSuccess);
        to->copy_pieces(4, 20, *from, 4, 12, 8, 3);  // 2 floats each: 1 2, 4 5, 7 8
        to->copy(60, *from, 40, 8);                  // 10 11
        const auto found = downloaded(to->f32(), 20);
        const auto nan = std::nanf("");
        const std::array<float, 20> expected{nan, 1, 2, nan, nan, nan, 4,  5,   nan, nan,
                                             nan, 7, 8, nan, nan, 10,  11, nan, nan, nan};
        for (std::size_t i = 0; i < expected.size(); ++i)
            QVERIFY(std::isnan(expected[i]) ? std::isnan(found[i]) : found[i] == expected[i]);
    }

    void allocatedReservedPeakAndUsedAreToldApart() {
        CudaFixture cuda;
        DeviceMemory& memory = *cuda.backend->memory();
        const auto base = memory.use();
        QVERIFY(base);
        QCOMPARE(base->allocated, std::uint64_t{0});
        QCOMPARE(base->device_used, base->baseline_used);
        QCOMPARE(base->device_total, std::uint64_t{1} << 30);
        QVERIFY(base->baseline_used >= 32 * mib);  // what cuBLAS works in
        {
            auto kept = Buffer::allocate(cuda.ledger, Owner::weights, 5 * mib);
            auto freed = Buffer::allocate(cuda.ledger, Owner::kv, 3 * mib);
            QVERIFY(kept && freed);
            freed->release();
            const auto use = memory.use();
            QCOMPARE(use->allocated, std::uint64_t{8 * mib});  // the stream has not come to it
            QVERIFY(cudaDeviceSynchronize() == cudaSuccess);
            const auto after = memory.use();
            QCOMPARE(after->allocated, std::uint64_t{5 * mib});
            QCOMPARE(after->peak_allocated, std::uint64_t{8 * mib});
            QCOMPARE(after->reserved, std::uint64_t{8 * mib});
            QCOMPARE(after->peak_reserved, std::uint64_t{8 * mib});
            QCOMPARE(after->device_used, after->baseline_used + 8 * mib);
            memory.reset_peak();
            QCOMPARE(memory.use()->peak_allocated, std::uint64_t{5 * mib});
            memory.trim();
            QCOMPARE(memory.use()->reserved, std::uint64_t{6 * mib});
            memory.reset_peak();
            QCOMPARE(memory.use()->peak_reserved, std::uint64_t{6 * mib});
        }
        memory.trim();
        QCOMPARE(memory.use()->device_used, base->baseline_used);
        QCOMPARE(memory.use()->reserved, std::uint64_t{0});
    }

    void outOfMemoryIsAnOrdinaryOutcome_data() {
        QTest::addColumn<bool>("tooMuch");
        QTest::newRow("more than there is") << true;
        QTest::newRow("the driver has none left") << false;
    }
    void outOfMemoryIsAnOrdinaryOutcome() {
        QFETCH(bool, tooMuch);
        CudaFixture cuda;
        const auto base = cuda.backend->memory()->use();
        if (!tooMuch) cuda_shim::fail_allocation(1);
        const auto refused = Buffer::allocate(cuda.ledger, Owner::kv, tooMuch ? 2000 * mib : mib);
        QVERIFY(!refused);
        QCOMPARE(refused.error().kind, ErrorKind::out_of_memory);
        QVERIFY(QString::fromStdString(refused.error().message).contains("cuda:0 has no memory left"));
        QCOMPARE(cuda.ledger->total(), std::uint64_t{0});
        QCOMPARE(cuda.backend->memory()->use()->allocated, base->allocated);
        const auto fine = Buffer::allocate(cuda.ledger, Owner::kv, mib);
        QVERIFY(fine);
        QVERIFY(cudaDeviceSynchronize() == cudaSuccess);
        QVERIFY(cudaPeekAtLastError() == cudaSuccess);
    }

    void theLimitOfALedgerHolds() {
        CudaFixture cuda;
        cuda.ledger->set_limit(4 * mib);
        const auto first = Buffer::allocate(cuda.ledger, Owner::kv, 3 * mib);
        QVERIFY(first);
        QVERIFY(!Buffer::allocate(cuda.ledger, Owner::kv, 2 * mib));
        QCOMPARE(cuda.ledger->live(Owner::kv), std::uint64_t{3 * mib});
    }

    // Buffers may outlive the backend that they were made for.
    void memoryOutlivesItsBackend() {
        Buffer buffer;
        {
            CudaFixture cuda;
            auto made = Buffer::allocate(cuda.ledger, Owner::kv, mib);
            QVERIFY(made);
            buffer = *std::move(made);
        }
        QCOMPARE(cuda_shim::live().allocations, std::size_t{1});
        QCOMPARE(downloaded(buffer.f32(), 3).size(), std::size_t{3});
        buffer.release();
    }

    void twoDevicesDoNotShareMemory() {
        cuda_shim::Settings settings;
        settings.devices = 2;
        cuda_shim::configure(settings);
        auto first = make_cuda_backend(0, 1);
        auto second = make_cuda_backend(1, 1);
        QVERIFY(first && second);
        const auto ledger = std::make_shared<MemoryLedger>((*first)->memory());
        const auto buffer = Buffer::allocate(ledger, Owner::kv, 3 * mib);
        QVERIFY(buffer);
        QCOMPARE((*first)->memory()->use()->allocated, std::uint64_t{3 * mib});
        QCOMPARE((*second)->memory()->use()->allocated, std::uint64_t{0});
    }
};

QTEST_GUILESS_MAIN(TstCudaMemory)
#include "tst_cuda_memory.moc"
