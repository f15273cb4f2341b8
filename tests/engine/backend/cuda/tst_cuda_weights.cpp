// SPDX-License-Identifier: GPL-3.0-or-later
#include <QTest>

#include <algorithm>
#include <cstring>

#include "engine/cache/entry_codec.h"
#include "engine/model/preset.h"
#include "engine/model/weights.h"
#include "tests/engine/backend/cuda/cuda_fixture.h"

using namespace decodescope;
using test::CudaFixture;
using test::downloaded;

namespace {

std::shared_ptr<const Weights> model(const char* preset) {
    return *random_weights(*preset_config(preset), 7, std::make_shared<MemoryLedger>());
}

/// The bytes of `n` values as a matrix of this type has them.
std::vector<std::byte> as_type(WeightType type, const float* values, std::int64_t n) {
    const DType dtype = type == WeightType::f16    ? DType::f16
                        : type == WeightType::bf16 ? DType::bf16
                                                   : DType::f32;
    std::vector<std::byte> bytes(static_cast<std::size_t>(n) * size_of(dtype));
    encode_entries(dtype, values, n, bytes.data());
    return bytes;
}

bool same(const float* device, const float* host, std::int64_t n, WeightType type = WeightType::f32) {
    if (device == nullptr || host == nullptr) return device == host;
    const std::vector<std::byte> expected = as_type(type, host, n);
    return downloaded(reinterpret_cast<const std::byte*>(device), expected.size()) == expected;
}

bool same(const Linear& device, const Linear& host, WeightType type) {
    return device.n_in == host.n_in && device.n_out == host.n_out && device.packed == nullptr &&
           same(device.weight, host.weight, std::int64_t{host.n_in} * host.n_out, type) &&
           same(device.bias, host.bias, host.n_out);
}

bool same(const Norm& device, const Norm& host, int d) {
    return same(device.weight, host.weight, d) && same(device.bias, host.bias, d);
}

}  // namespace

Q_DECLARE_METATYPE(WeightType)

class TstCudaWeights : public QObject {
    Q_OBJECT
private slots:
    void cleanup() { QCOMPARE(cuda_shim::live(), cuda_shim::Live{}); }

    void everyTensorArrives_data() {
        QTest::addColumn<QString>("preset");
        QTest::addColumn<WeightType>("type");
        for (const char* preset : {"tiny", "tiny-llama"}) {
            for (const WeightType type : {WeightType::f32, WeightType::f16, WeightType::bf16})
                QTest::addRow("%s as %s", preset, to_string(type)) << QString(preset) << type;
        }
    }
    void everyTensorArrives() {
        QFETCH(QString, preset);
        QFETCH(WeightType, type);
        CudaFixture cuda;
        const auto host = model(preset.toUtf8().constData());
        const auto made = cuda.backend->prepare(host, type, cuda.ledger);
        QVERIFY(made);
        const Weights& device = **made;
        const ModelConfig& config = host->config;
        QVERIFY(
            same(device.token_embedding, host->token_embedding, std::int64_t{config.vocab} * config.d_model));
        QVERIFY(same(device.position_embedding, host->position_embedding,
                     std::int64_t{config.n_positions} * config.d_model));
        QCOMPARE(device.layers.size(), host->layers.size());
        for (std::size_t l = 0; l < host->layers.size(); ++l) {
            const LayerWeights& a = device.layers[l];
            const LayerWeights& b = host->layers[l];
            QVERIFY(same(a.attn_norm, b.attn_norm, config.d_model));
            QVERIFY(same(a.ff_norm, b.ff_norm, config.d_model));
            QVERIFY(same(a.attn_qkv, b.attn_qkv, type));
            QVERIFY(same(a.attn_out, b.attn_out, type));
            QVERIFY(same(a.ff_gate, b.ff_gate, type));
            QVERIFY(same(a.ff_up, b.ff_up, type));
            QVERIFY(same(a.ff_down, b.ff_down, type));
        }
        QVERIFY(same(device.final_norm, host->final_norm, config.d_model));
        QVERIFY(same(device.head, host->head, type));
        // A tied head of another type is a matrix of its own.
        if (host->head.weight == host->token_embedding)
            QCOMPARE(device.head.weight == device.token_embedding, type == WeightType::f32);
        QCOMPARE(device.type, type);
        QCOMPARE(device.hash, host->hash);
        QCOMPARE(cuda.ledger->live(Owner::weights), device.prepared_bytes);
        QCOMPARE(cuda.ledger->total(), device.prepared_bytes);
    }

    void areSharedWhileSomebodyHoldsThem() {
        CudaFixture cuda;
        const auto host = model("tiny");
        auto first = *cuda.backend->prepare(host, WeightType::f32, cuda.ledger);
        auto again = *cuda.backend->prepare(host, WeightType::f32, cuda.ledger);
        QCOMPARE(first.get(), again.get());
        const auto other = *cuda.backend->prepare(host, WeightType::bf16, cuda.ledger);
        QVERIFY(other != first);
        const std::uint64_t both = cuda.ledger->total();
        first.reset();
        QCOMPARE(cuda.ledger->total(), both);
        again.reset();
        QCOMPARE(cuda.ledger->total(), other->prepared_bytes);
        const auto later = *cuda.backend->prepare(host, WeightType::f32, cuda.ledger);
        QCOMPARE(cuda.ledger->total(), both);
    }

    void whatIsRefused_data() {
        QTest::addColumn<WeightType>("type");
        QTest::addColumn<int>("headDim");
        QTest::addColumn<QString>("message");
        QTest::newRow("int8") << WeightType::int8 << 8
                              << "Weights as int8 cannot be computed with on cuda:0; f32, f16 and bf16 can.";
        QTest::newRow("int4") << WeightType::int4 << 8
                              << "Weights as int4 cannot be computed with on cuda:0; f32, f16 and bf16 can.";
        for (const int head_dim : {4, 12, 264}) {
            QTest::addRow("heads of %d", head_dim)
                << WeightType::f32 << head_dim
                << QString("have %1 values, cuda:0 computes those of 8 to 256 in steps of 8.").arg(head_dim);
        }
    }
    void whatIsRefused() {
        QFETCH(WeightType, type);
        QFETCH(int, headDim);
        QFETCH(QString, message);
        CudaFixture cuda;
        ModelConfig config = *preset_config("tiny-llama");
        config.head_dim = headDim;
        const auto host = *random_weights(config, 7, std::make_shared<MemoryLedger>());
        const auto made = cuda.backend->prepare(host, type, cuda.ledger);
        QVERIFY(!made);
        QCOMPARE(made.error().kind, ErrorKind::unsupported);
        QVERIFY2(made.error().message.ends_with(message.toStdString()), made.error().message.c_str());
        QCOMPARE(cuda.ledger->total(), std::uint64_t{0});
    }

    void bf16NeedsANewerGpu() {
        cuda_shim::Settings turing;
        turing.compute_major = 7;
        turing.compute_minor = 5;
        CudaFixture cuda(turing);
        const auto made = cuda.backend->prepare(model("tiny"), WeightType::bf16, cuda.ledger);
        QVERIFY(!made);
        QCOMPARE(made.error().kind, ErrorKind::unsupported);
        QCOMPARE(made.error().message,
                 std::string("Weights as bf16 need a GPU of compute capability 8.0, which cuda:0 "
                             "has not; f32 and f16 can be computed with."));
        QVERIFY(cuda.backend->prepare(model("tiny"), WeightType::f16, cuda.ledger));
    }

    void mustBeCountedWhereTheyLie() {
        CudaFixture cuda;
        const auto made =
            cuda.backend->prepare(model("tiny"), WeightType::f32, std::make_shared<MemoryLedger>());
        QVERIFY(!made);
        QCOMPARE(made.error().kind, ErrorKind::internal);
    }

    void stopsBetweenTensors() {
        CudaFixture cuda;
        std::stop_source stop;
        stop.request_stop();
        const auto made =
            cuda.backend->prepare(model("tiny"), WeightType::f32, cuda.ledger, stop.get_token());
        QVERIFY(!made);
        QCOMPARE(made.error().kind, ErrorKind::cancelled);
        QCOMPARE(cuda.ledger->total(), std::uint64_t{0});
    }

    // With f16 there is a second allocation, of what the conversion works in.
    void memoryThatRunsOutCostsNothing_data() {
        QTest::addColumn<int>("nth");
        QTest::newRow("the model") << 1;
        QTest::newRow("the scratch") << 2;
    }
    void memoryThatRunsOutCostsNothing() {
        QFETCH(int, nth);
        CudaFixture cuda;
        const auto host = model("tiny");
        cuda_shim::fail_allocation(nth);
        const auto made = cuda.backend->prepare(host, WeightType::f16, cuda.ledger);
        QVERIFY(!made);
        QCOMPARE(made.error().kind, ErrorKind::out_of_memory);
        QCOMPARE(cuda.ledger->total(), std::uint64_t{0});
        QVERIFY(cuda.backend->prepare(host, WeightType::f16, cuda.ledger));
    }

    void aKernelThatFailsMeanwhileShows() {
        CudaFixture cuda;
        cuda_shim::fail_launch(3);
        const auto made = cuda.backend->prepare(model("tiny"), WeightType::f16, cuda.ledger);
        QVERIFY(!made);
        QCOMPARE(made.error().kind, ErrorKind::device);
        QVERIFY(QString::fromStdString(made.error().message).contains("cudaErrorIllegalAddress"));
        QCOMPARE(cuda.ledger->total(), std::uint64_t{0});
    }
};

QTEST_GUILESS_MAIN(TstCudaWeights)
#include "tst_cuda_weights.moc"
