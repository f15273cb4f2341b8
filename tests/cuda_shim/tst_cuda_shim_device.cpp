// SPDX-License-Identifier: GPL-3.0-or-later
#include <QTest>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <bit>
#include <cmath>
#include <csignal>
#include <thread>
#include <vector>

#include "device.h"
#include "engine/cache/entry_codec.h"
#include "engine/core/random.h"

using cuda_shim::run_grid;
using decodescope::DType;

namespace {

constexpr unsigned all = 0xffffffffu;

/// Something that a kernel must not do.
using Misuse = void (*)();

void skip_barrier() {
    run_grid(1, 64, 0, [] {
        if (threadIdx.x != 5) __syncthreads();
    });
}
void leave_before_barrier() {
    run_grid(2, 40, 0, [] {
        if (blockIdx.x == 1 && threadIdx.x >= 32) return;
        __syncthreads();
    });
}
void leave_before_shuffle() {
    run_grid(1, 32, 0, [] {
        if (threadIdx.x != 31) (void)__shfl_xor_sync(all, 1.0f, 1);
    });
}
void wait_for_different_things() {
    run_grid(1, 32, 0, [] {
        if (threadIdx.x == 0)
            __syncthreads();
        else
            __syncwarp();
    });
}
void shuffle_half_a_warp() {
    run_grid(1, 16, 0, [] { (void)__shfl_sync(all, 1, 0); });
}
void call_beside_the_mask() {
    run_grid(1, 32, 0, [] { (void)__ballot_sync(0xffffu, 1); });
}
void mix_masks() {
    run_grid(1, 32, 0, [] { (void)__ballot_sync(threadIdx.x < 16 ? all : 0xffff0000u, 1); });
}
void ask_a_lane_beside_the_mask() {
    run_grid(1, 32, 0, [] {
        if (threadIdx.x < 16) (void)__shfl_sync(0xffffu, 1, 20);
    });
}
void start_a_kernel_in_a_kernel() {
    run_grid(1, 1, 0, [] { run_grid(1, 1, 0, [] {}); });
}
void wait_outside() {
    __syncthreads();
}

class TestCudaShimDevice : public QObject {
    Q_OBJECT

private slots:
    void everyThreadRunsOnce() {
        const dim3 grid(3, 2, 4);
        const dim3 block(5, 3, 2);
        std::vector<int> seen(3 * 2 * 4 * 5 * 3 * 2);
        run_grid(grid, block, 0, [&] {
            const unsigned in_grid = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
            const unsigned in_block = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
            ++seen[in_grid * 30 + in_block];
        });
        QVERIFY(seen == std::vector<int>(seen.size(), 1));
    }

    /// Sums by halves: wrong as soon as one barrier does not hold.
    void barriersHold_data() {
        QTest::addColumn<int>("n_thread");
        for (const int n_thread : {1, 2, 32, 33, 100, 256, 1000, 1024})
            QTest::addRow("%d", n_thread) << n_thread;
    }
    void barriersHold() {
        QFETCH(int, n_thread);
        const auto n = static_cast<unsigned>(n_thread);
        std::vector<int> sums;
        std::vector<int> any;
        run_grid(3, n, n * sizeof(int), [&] {
            int* shared = reinterpret_cast<int*>(cuda_shim::dynamic_shared());
            const unsigned me = threadIdx.x;
            shared[n - 1 - me] = static_cast<int>(me + blockIdx.x);
            __syncthreads();
            for (unsigned left = n; left > 1; left = (left + 1) / 2) {
                const unsigned half = (left + 1) / 2;
                const int other = me + half < left ? shared[me + half] : 0;
                __syncthreads();
                if (me < half) shared[me] += other;
                __syncthreads();
            }
            const int found = __syncthreads_or(me == n - 1 && blockIdx.x == 1 ? 1 : 0);
            if (me == 0) {
                sums.push_back(shared[0]);
                any.push_back(found);
            }
        });
        std::vector<int> expected;
        for (int block = 0; block < 3; ++block)
            expected.push_back(n_thread * (n_thread - 1) / 2 + n_thread * block);
        QCOMPARE(sums, expected);
        QCOMPARE(any, (std::vector<int>{0, 1, 0}));
    }

    void warpFunctionsTakeTheRightLane() {
        std::array<std::array<int, 64>, 6> got{};
        unsigned ballot = 0;
        int any = 0;
        run_grid(1, 64, 0, [&] {
            const auto me = static_cast<int>(threadIdx.x);
            const auto at = static_cast<std::size_t>(me);
            for (int i = 0; i < 3; ++i) {  // again, so that what was handed over before is not taken for it
                got[0][at] = __shfl_xor_sync(all, 100 * i + me, 5);
                got[1][at] = __shfl_down_sync(all, 100 * i + me, 7);
                got[2][at] = __shfl_sync(all, 100 * i + me, 3);
                got[3][at] = __shfl_sync(all, 100 * i + me, 3, 8);
                got[4][at] = __shfl_xor_sync(all, 100 * i + me, 16, 8);
                got[5][at] = __shfl_down_sync(all, 100 * i + me, 3, 8);
            }
            const unsigned odd = __ballot_sync(all, me % 2);
            const int found = __any_sync(all, me == 40);
            if (me == 33) ballot = odd, any = found;
            if (me == 3) any += 10 * found;
        });
        for (int me = 0; me < 64; ++me) {
            const auto at = static_cast<std::size_t>(me);
            const int lane = me % 32;
            const int warp = me - lane;
            QCOMPARE(got[0][at], 200 + warp + (lane ^ 5));
            QCOMPARE(got[1][at], 200 + (lane + 7 < 32 ? me + 7 : me));
            QCOMPARE(got[2][at], 200 + warp + 3);
            QCOMPARE(got[3][at], 200 + me / 8 * 8 + 3);
            // From a group ahead there is something to get, not from one behind.
            QCOMPARE(got[4][at], 200 + ((lane ^ 16) > (lane | 7) ? me : warp + (lane ^ 16)));
            QCOMPARE(got[5][at], 200 + (me % 8 + 3 < 8 ? me + 3 : me));
        }
        QCOMPARE(ballot, 0xaaaaaaaau);
        QCOMPARE(any, 1);
    }

    void wideValuesAreShuffledWhole() {
        double got = 0;
        run_grid(1, 32, 0, [&] {
            const double value = __shfl_sync(all, 1.0 / (1 + threadIdx.x), 6);
            if (threadIdx.x == 0) got = value;
        });
        QCOMPARE(got, 1.0 / 7);
    }

    void sharedMemoryBeginsAsNaN() {
        int numbers = 0;
        run_grid(3, 8, 8 * sizeof(float), [&] {
            float* shared = reinterpret_cast<float*>(cuda_shim::dynamic_shared());
            if (!std::isnan(shared[threadIdx.x])) ++numbers;
            __syncthreads();
            shared[threadIdx.x] = 1;
        });
        QCOMPARE(numbers, 0);
    }

    void hostThreadsDoNotDisturbEachOther() {
        std::array<int, 4> sums{};
        std::vector<std::thread> threads;
        for (std::size_t i = 0; i < sums.size(); ++i) {
            threads.emplace_back([&sums, i] {
                run_grid(200, 32, 0, [&sums, i] {
                    int sum = static_cast<int>(threadIdx.x * (i + 1));
                    for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(all, sum, step);
                    if (threadIdx.x == 9) sums[i] += sum;
                });
            });
        }
        for (std::thread& thread : threads) thread.join();
        for (std::size_t i = 0; i < sums.size(); ++i) QCOMPARE(sums[i], 200 * 496 * static_cast<int>(i + 1));
    }

    void misuseEndsTheProgram_data() {
        QTest::addColumn<Misuse>("misuse");
        QTest::addColumn<QByteArray>("sentence");
        QTest::newRow("a thread passes a barrier by")
            << Misuse(skip_barrier)
            << QByteArray(
                   "63 of 64 threads wait at a barrier of the block, 0 at one of their warp "
                   "and 1 have ended");
        QTest::newRow("threads end before a barrier")
            << Misuse(leave_before_barrier)
            << QByteArray("block (1, 0, 0): 32 of 40 threads wait at a barrier");
        QTest::newRow("a lane ends before a shuffle")
            << Misuse(leave_before_shuffle) << QByteArray("31 at one of their warp");
        QTest::newRow("lanes wait for different things")
            << Misuse(wait_for_different_things)
            << QByteArray("1 of 32 threads wait at a barrier of the block, 31 at one");
        QTest::newRow("lanes that do not exist")
            << Misuse(shuffle_half_a_warp) << QByteArray("16 at one of their warp");
        QTest::newRow("a lane beside the mask")
            << Misuse(call_beside_the_mask) << QByteArray("its mask does not name");
        QTest::newRow("different masks") << Misuse(mix_masks) << QByteArray("different masks");
        QTest::newRow("a value from beside the mask")
            << Misuse(ask_a_lane_beside_the_mask) << QByteArray("a lane that the mask does not name");
        QTest::newRow("a kernel in a kernel")
            << Misuse(start_a_kernel_in_a_kernel) << QByteArray("cannot start another");
        QTest::newRow("a barrier outside") << Misuse(wait_outside) << QByteArray("in kernels only");
    }
    void misuseEndsTheProgram() {
        QFETCH(Misuse, misuse);
        QFETCH(QByteArray, sentence);
        std::array<int, 2> ends{};
        QCOMPARE(pipe(ends.data()), 0);
        const pid_t child = fork();
        if (child == 0) {
            (void)signal(SIGABRT, SIG_DFL);
            dup2(ends[1], STDERR_FILENO);
            misuse();
            _exit(0);
        }
        (void)close(ends[1]);
        QByteArray said;
        std::array<char, 256> some{};
        for (;;) {
            const auto n = read(ends[0], some.data(), some.size());
            if (n <= 0) break;
            said.append(some.data(), static_cast<int>(n));
        }
        (void)close(ends[0]);
        int status = 0;
        QCOMPARE(waitpid(child, &status, 0), child);
        QVERIFY2(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT, said.constData());
        QVERIFY2(said.contains(sentence), said.constData());
    }

    void sixteenBitsAreRoundedToNearestEven() {
        std::vector<float> x;
        for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
            // Every value of either type, what lies half way to the next, and both neighbours of that.
            const float half = __half2float(__ushort_as_half(static_cast<unsigned short>(bits)));
            const auto around = std::bit_cast<std::uint32_t>(half);
            for (const std::uint32_t more : {0u, 0xfffu, 0x1000u, 0x1001u})
                x.push_back(std::bit_cast<float>(around + more));
            for (const std::uint32_t more : {0u, 0x7fffu, 0x8000u, 0x8001u})
                x.push_back(std::bit_cast<float>(bits << 16 | more));
        }
        for (std::uint64_t i = 0; i < 100'000; ++i) {
            x.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(decodescope::random_bits(1, 2, i))));
        }
        const auto n = static_cast<std::int64_t>(x.size());
        std::vector<std::uint16_t> f16(x.size()), bf16(x.size());
        decodescope::encode_entries(DType::f16, x.data(), n, reinterpret_cast<std::byte*>(f16.data()));
        decodescope::encode_entries(DType::bf16, x.data(), n, reinterpret_cast<std::byte*>(bf16.data()));
        for (std::size_t i = 0; i < x.size(); ++i) {
            const __half half = __float2half_rn(x[i]);
            const __nv_bfloat16 brain = __float2bfloat16_rn(x[i]);
            if (std::isnan(x[i])) {
                QVERIFY(std::isnan(__half2float(half)) && std::isnan(__bfloat162float(brain)));
                continue;
            }
            QVERIFY2(half.bits == f16[i] && brain.bits == bf16[i],
                     qPrintable(QString::number(double{x[i]}, 'g', 12)));
        }
    }
};

}  // namespace

QTEST_APPLESS_MAIN(TestCudaShimDevice)
#include "tst_cuda_shim_device.moc"
