// SPDX-License-Identifier: GPL-3.0-or-later
// The kernels know slots of another kind.
#define QT_NO_KEYWORDS
#include <QTest>

#include <cmath>
#include <cstring>

#include "engine/backend/cuda/products.h"
#include "engine/cache/entry_codec.h"
#include "engine/core/as_index.h"
#include "tests/engine/backend/cuda/cuda_fixture.h"
#include "tests/engine/backend/cuda/device_array.h"
#include "tests/engine/backend/random_floats.h"

using namespace decodescope;
using cuda::CudaMemory;
using cuda::Products;
using cuda::Stored;
using test::DeviceArray;
using test::random_floats;

namespace {

DType dtype_of(Stored type) {
    return type == Stored::f16 ? DType::f16 : type == Stored::bf16 ? DType::bf16 : DType::f32;
}

/// Bytes of the values as `type`, and the values that they stand for.
std::vector<std::byte> encode(Stored type, std::vector<float>& values) {
    std::vector<std::byte> bytes(values.size() * size_of(dtype_of(type)));
    encode_entries(dtype_of(type), values.data(), std::ssize(values), bytes.data());
    decode_entries(dtype_of(type), bytes.data(), std::ssize(values), values.data());
    return bytes;
}

struct Case {
    int rows = 1;
    int n_in = 1;
    int n_out = 1;
    bool accumulate = false;
};

/// Largest error of x W^T (+ y) through cuBLAS, as a share of what the sums are made of.
double worst(Products& products, Stored type, const Case& shape) {
    std::vector<float> x = random_floats(1, std::int64_t{shape.rows} * shape.n_in);
    std::vector<float> w = random_floats(2, std::int64_t{shape.n_out} * shape.n_in);
    std::vector<float> y = random_floats(3, std::int64_t{shape.rows} * shape.n_out);
    DeviceArray<std::byte> device_x(encode(type, x));
    DeviceArray<std::byte> device_w(encode(type, w));
    DeviceArray<float> device_y(y.size());
    if (shape.accumulate) device_y.write(y);
    if (!products.multiply(type, device_x.data(), shape.rows, shape.n_in, device_w.data(), shape.n_out,
                           device_y.data(), shape.accumulate))
        return INFINITY;
    const std::vector<float> found = device_y.read();
    if (!device_x.intact() || !device_w.intact() || !device_y.intact()) return INFINITY;
    double error = 0;
    for (std::int64_t r = 0; r < shape.rows; ++r) {
        for (std::int64_t o = 0; o < shape.n_out; ++o) {
            const std::int64_t i = r * shape.n_out + o;
            double sum = shape.accumulate ? y[as_index(i)] : 0.0;
            double size = std::fabs(sum);
            for (std::int64_t k = 0; k < shape.n_in; ++k) {
                const double term = double{x[as_index(r * shape.n_in + k)]} * w[as_index(o * shape.n_in + k)];
                sum += term;
                size += std::fabs(term);
            }
            const double wrong = std::fabs(found[as_index(i)] - sum) / size;
            error = std::isnan(wrong) ? INFINITY : std::max(error, wrong);
        }
    }
    return error;
}

}  // namespace

class TstCudaProducts : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void initTestCase() { cuda_shim::configure(); }
    void cleanup() { QCOMPARE(cuda_shim::live(), cuda_shim::Live{}); }

    void areThoseOfDoubles_data() {
        QTest::addColumn<int>("type");
        QTest::addColumn<int>("rows");
        QTest::addColumn<int>("nIn");
        QTest::addColumn<int>("nOut");
        QTest::addColumn<bool>("accumulate");
        for (const Stored type : {Stored::f32, Stored::f16, Stored::bf16}) {
            for (const bool accumulate : {false, true}) {
                for (const auto& [rows, n_in, n_out] : {std::array{1, 1, 1},
                                                        {1, 7, 5},
                                                        {1, 768, 131},
                                                        {3, 65, 129},
                                                        {17, 33, 64},
                                                        {40, 100, 3}}) {
                    QTest::addRow("type %d, %d x %d x %d%s", static_cast<int>(type), rows, n_in, n_out,
                                  accumulate ? ", added" : "")
                        << static_cast<int>(type) << rows << n_in << n_out << accumulate;
                }
            }
        }
    }
    void areThoseOfDoubles() {
        QFETCH(int, type);
        QFETCH(int, rows);
        QFETCH(int, nIn);
        QFETCH(int, nOut);
        QFETCH(bool, accumulate);
        auto memory = CudaMemory::make(0);
        QVERIFY(memory);
        Products products(*memory);
        QVERIFY(products.open());
        // Sums are in f32 for every type, and the reference takes the rounded inputs.
        QVERIFY(worst(products, static_cast<Stored>(type), {rows, nIn, nOut, accumulate}) < 1e-6);
    }

    void tf32IsOffUnlessAskedFor() {
        for (const bool tf32 : {false, true}) {
            auto memory = CudaMemory::make(0);
            QVERIFY(memory);
            Products products(*memory);
            QVERIFY(products.open());
            products.set_tf32(tf32);
            const double error = worst(products, Stored::f32, {5, 64, 33, false});
            QVERIFY(tf32 ? error > 1e-5 && error < 1e-3 : error < 1e-6);
            QVERIFY(worst(products, Stored::bf16, {5, 64, 33, false}) < 1e-6);
        }
    }

    void refusalsAreNamed() {
        auto memory = CudaMemory::make(0);
        QVERIFY(memory);
        Products products(*memory);
        QVERIFY(products.open());
        float host = 0;
        const Result<void> refused = products.multiply(Stored::f32, &host, 1, 1, &host, 1, &host, false);
        QVERIFY(!refused);
        QCOMPARE(refused.error().kind, ErrorKind::device);
        QCOMPARE(refused.error().message,
                 std::string("CUDA: cublasSgemm failed: CUBLAS_STATUS_INVALID_VALUE."));
    }
};

QTEST_GUILESS_MAIN(TstCudaProducts)
#include "tst_cuda_products.moc"
