// SPDX-License-Identifier: GPL-3.0-or-later
#include <QTest>
#include <fmt/format.h>

#include <cstring>
#include <string>

#include "engine/backend/backend.h"
#include "engine/model/forward.h"
#include "engine/model/preset.h"
#include "engine/verify/logit_comparison.h"
#include "tests/engine/cache/cache_driver.h"
#include "tests/engine/prepared.h"
#include "tests/sanitized.h"

using namespace decodescope;
using namespace decodescope::test;

namespace {

constexpr int n_positions = 72;

/// [rows, positions, vocab]
using Logits = std::vector<std::vector<std::vector<float>>>;

/// A model with random weights, of a size that lets queries tell their keys apart.
std::shared_ptr<const Weights> random_model(const ModelConfig& config, std::uint64_t seed,
                                            const std::shared_ptr<MemoryLedger>& ledger) {
    const auto random = *random_weights(config, seed, ledger);
    auto weights = *allocate_weights(config, ledger);
    auto to = tensor_slots(*weights);
    const auto from = tensor_slots(const_cast<Weights&>(*random));
    const float scale = 75.0f / std::sqrt(static_cast<float>(config.d_model));
    for (std::size_t i = 0; i < to.size(); ++i) {
        const bool scaled = to[i].rows > 1 || to[i].name == "wpe.weight";
        const std::int64_t n = to[i].rows * to[i].columns;
        for (std::int64_t k = 0; k < n; ++k) to[i].data[k] = from[i].data[k] * (scaled ? scale : 1.0f);
    }
    return weights;
}

/// A random model, ragged rows of tokens, and how they are cut into calls.
struct Case {
    ModelConfig config;
    std::vector<Ids> rows;
    std::vector<std::vector<int>> calls;  // [calls, rows]: tokens of each row

    explicit Case(std::uint64_t seed) {
        Dice dice(seed);
        config.name = "random";
        config.vocab = dice.roll(3, 50);
        config.n_positions = n_positions;
        config.n_layer = dice.roll(1, 3);
        config.n_head = dice.roll(1, 8);
        // Wide models are tried less often: they take longest.
        const int widest = dice.one_in(12) ? 64 : std::max(4, 96 / config.n_head);
        config.head_dim = dice.roll(4, std::min(64, widest));
        do config.n_kv_head = dice.roll(1, config.n_head);
        while (config.n_head % config.n_kv_head != 0);
        config.d_model = config.n_head * config.head_dim;
        config.d_ff = dice.roll(1, 3) * config.d_model;
        config.tied_head = dice.one_in(2);
        const int batch = dice.roll(1, 5);
        int longest = 0;
        for (int b = 0; b < batch; ++b) {
            rows.push_back(dice.ids(dice.one_in(3) ? dice.roll(1, 70) : dice.roll(1, 24), config.vocab));
            longest = std::max(longest, static_cast<int>(rows.back().size()));
        }
        // Whole prompts, single steps or anything between, each row at its own pace.
        const int most = dice.one_in(4) ? 70 : dice.one_in(3) ? 1 : dice.roll(1, 17);
        std::vector<int> done(rows.size(), 0);
        while (true) {
            std::vector<int> call;
            int sum = 0;
            bool left = false;
            for (std::size_t b = 0; b < rows.size(); ++b) {
                const int missing = static_cast<int>(rows[b].size()) - done[b];
                const int n = std::min(missing, dice.roll(0, most));
                call.push_back(n);
                done[b] += n;
                sum += n;
                left = left || missing > 0;
            }
            if (!left) break;
            if (sum > 0) calls.push_back(call);
        }
    }

    int longest() const {
        int n = 0;
        for (const Ids& row : rows) n = std::max(n, static_cast<int>(row.size()));
        return n;
    }
    int largest_call() const {
        int n = 0;
        for (const auto& call : calls) n = std::max(n, *std::max_element(call.begin(), call.end()));
        return n;
    }
    std::string words() const {
        std::vector<std::size_t> lengths;
        for (const Ids& row : rows) lengths.push_back(row.size());
        return fmt::format("{} layers, {}/{} heads of {}, rows of {}", config.n_layer, config.n_head,
                           config.n_kv_head, config.head_dim, fmt::join(lengths, ", "));
    }
};

/// The logits of every token of the case, without a cache and in one call.
Logits without_cache(const Case& one, const Weights& weights, Backend& backend,
                     const std::shared_ptr<MemoryLedger>& ledger, Window window = {}) {
    CallTokens call;
    for (const Ids& row : one.rows) call.add_row(row, 0);
    Workspace workspace(ledger);
    const auto output = forward(weights, call, all_rows(call), nullptr, window, workspace, backend);
    Logits logits(one.rows.size());
    if (!output) return {};
    const auto vocab = static_cast<std::size_t>(one.config.vocab);
    for (int b = 0; b < call.batch(); ++b) {
        for (int i = call.begin(b); i < call.end(b); ++i) {
            const auto row = output->logits.subspan(static_cast<std::size_t>(i) * vocab, vocab);
            logits[static_cast<std::size_t>(b)].emplace_back(row.begin(), row.end());
        }
    }
    return logits;
}

/// The same, cut into the calls of the case, through a cache; empty with `why` when it is refused.
Logits through_cache(const Case& one, const Weights& weights, Backend& backend, const CacheSpec& spec,
                     Window window, int capacity, const std::shared_ptr<MemoryLedger>& ledger,
                     std::string& why) {
    const ModelConfig& config = one.config;
    const int batch = static_cast<int>(one.rows.size());
    const auto cache = make_cache(spec, {config.n_layer, batch, config.n_kv_head, config.head_dim},
                                  {capacity, one.largest_call(), 0, window}, ledger);
    if (!cache) {
        why = cache.error().message;
        return {};
    }
    Workspace workspace(ledger);
    Logits logits(one.rows.size());
    const auto vocab = static_cast<std::size_t>(config.vocab);
    for (const auto& sizes : one.calls) {
        CallTokens call;
        for (int b = 0; b < batch; ++b) {
            const auto at = static_cast<std::size_t>(b);
            const int first = (*cache)->next_position(b);
            call.add_row(std::span(one.rows[at])
                             .subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(sizes[at])),
                         first);
        }
        const auto output = forward(weights, call, all_rows(call), cache->get(), window, workspace, backend);
        if (!output) {
            why = output.error().message;
            return {};
        }
        for (int b = 0; b < batch; ++b) {
            for (int i = call.begin(b); i < call.end(b); ++i) {
                const auto row = output->logits.subspan(static_cast<std::size_t>(i) * vocab, vocab);
                logits[static_cast<std::size_t>(b)].emplace_back(row.begin(), row.end());
            }
        }
        std::vector<int> lengths;
        for (int b = 0; b < batch; ++b) lengths.push_back((*cache)->length(b));
        const KvBytes bytes = (*cache)->bytes();
        if (bytes.live != kv_live_formula(spec, (*cache)->shape(), lengths) ||
            bytes.reserved != bytes.live + bytes.padding + bytes.slack + bytes.free + bytes.kept) {
            why = "the bytes do not add up";
            return {};
        }
    }
    return logits;
}

double worst_error(const Logits& found, const Logits& expected) {
    double worst = 0;
    for (std::size_t b = 0; b < expected.size(); ++b) {
        if (found.size() != expected.size() || found[b].size() != expected[b].size()) return INFINITY;
        for (std::size_t i = 0; i < expected[b].size(); ++i) {
            const double error = compare_logits(found[b][i], expected[b][i]).relative_error;
            worst = std::isnan(error) ? INFINITY : std::max(worst, error);
        }
    }
    return worst;
}

bool same_bits(const Logits& a, const Logits& b) {
    if (a.size() != b.size()) return false;
    for (std::size_t r = 0; r < a.size(); ++r) {
        if (a[r].size() != b[r].size()) return false;
        for (std::size_t i = 0; i < a[r].size(); ++i) {
            if (std::memcmp(a[r][i].data(), b[r][i].data(), a[r][i].size() * sizeof(float)) != 0)
                return false;
        }
    }
    return true;
}

struct Kind {
    std::string name;
    CacheSpec spec;
    Window window;
    bool exact = true;  ///< gives back what it was given
};

std::vector<Kind> all_kinds(const Case& one) {
    std::vector<Kind> kinds;
    CacheSpec spec;
    bool exact = true;
    const auto add = [&](CacheKind kind, const std::string& name, Window window = {}) {
        spec.kind = kind;
        kinds.push_back({name, spec, window, exact});
    };
    add(CacheKind::concat, "concat");
    add(CacheKind::static_, "static");
    for (const int block : {1, 3, 16}) {
        spec.block = block;
        add(CacheKind::paged, fmt::format("paged {}", block));
    }
    add(CacheKind::window, "window", {one.longest(), 0});
    add(CacheKind::window, "window with sinks", {n_positions, 3});
    spec.bits = one.config.head_dim % 4 == 0 ? 2 : 4;
    spec.group = 512;
    spec.residual = n_positions;
    const bool whole_bytes = one.config.head_dim % 2 == 0;
    if (whole_bytes) add(CacheKind::kivi, "kivi, all residual");
    exact = false;
    spec.residual = 3;
    spec.group = one.config.head_dim % 4 == 0 ? 4 : 2;
    if (whole_bytes) add(CacheKind::kivi, "kivi");
    add(CacheKind::int8, "int8");
    spec.dtype = DType::f16;
    add(CacheKind::static_, "f16");
    add(CacheKind::paged, "paged f16");
    spec.dtype = DType::bf16;
    add(CacheKind::concat, "bf16");
    return kinds;
}

}  // namespace

class TestCacheProperties : public QObject {
    Q_OBJECT

private slots:
    // Exact caches agree with no cache; what spare slots hold and how many there are changes no bit.
    void randomShapes_data() {
        QTest::addColumn<quint64>("seed");
        for (std::uint64_t seed = 1; seed <= (sanitized ? 100 : 400); ++seed)
            QTest::addRow("%d", static_cast<int>(seed)) << quint64{seed};
    }
    void randomShapes() {
        QFETCH(quint64, seed);
        const Case one(seed);
        const auto ledger = std::make_shared<MemoryLedger>();
        const auto poisoned = std::make_shared<MemoryLedger>();
        poisoned->set_poison(true);
        // One thread, so that every product is summed in the same order.
        const auto backend = make_cpu_backend(1);
        QVERIFY(one.config.validate());
        const auto weights = test::prepared(random_model(one.config, seed, ledger), *backend);
        const Logits expected = without_cache(one, *weights, *backend, ledger);
        QVERIFY(!expected.empty());
        // Attention matters: seeing only itself changes a row's later tokens.
        if (one.longest() > 8) {
            const Logits blind = without_cache(one, *weights, *backend, ledger, {1, 0});
            QVERIFY(worst_error(blind, expected) > 0.01);
        }
        const auto kinds = all_kinds(one);
        for (std::size_t i = 0; i < kinds.size(); ++i) {
            const Kind& kind = kinds[i];
            std::string why;
            const auto run = [&](int capacity, const std::shared_ptr<MemoryLedger>& of) {
                return through_cache(one, *weights, *backend, kind.spec, kind.window, capacity, of, why);
            };
            const Logits found = run(one.longest(), ledger);
            const double error = worst_error(found, expected);
            const auto say = [&](const std::string& what) {
                return fmt::format("{}: {} ({}). {}", kind.name, what, one.words(), why);
            };
            if (!(error <= (kind.exact ? 1e-4 : 1e3)))
                QFAIL(say(fmt::format("relative error {}", error)).c_str());
            if ((seed + i) % 4 != 0) continue;
            if (!same_bits(run(one.longest(), poisoned), found))
                QFAIL(say("NaN in new buffers shows").c_str());
            if (!same_bits(run(2 * one.longest(), ledger), found)) QFAIL(say("the capacity shows").c_str());
        }
        QCOMPARE(poisoned->total(), std::uint64_t{0});
    }

    // Windows that are narrower than the text: evicting is keeping all and masking.
    void randomWindows_data() {
        QTest::addColumn<quint64>("seed");
        for (std::uint64_t seed = 1001; seed <= (sanitized ? 1020 : 1060); ++seed)
            QTest::addRow("%d", static_cast<int>(seed)) << quint64{seed};
    }
    void randomWindows() {
        QFETCH(quint64, seed);
        const Case one(seed);
        const auto ledger = std::make_shared<MemoryLedger>();
        ledger->set_poison(true);
        const auto backend = make_cpu_backend(2);
        const auto weights = test::prepared(random_model(one.config, seed, ledger), *backend);
        Dice dice(seed + 5);
        const Window window{dice.roll(1, 20), dice.roll(0, 4)};
        const Logits expected = without_cache(one, *weights, *backend, ledger, window);
        for (const CacheKind kind : {CacheKind::window, CacheKind::static_, CacheKind::paged}) {
            CacheSpec spec;
            spec.kind = kind;
            std::string why;
            const Logits found =
                through_cache(one, *weights, *backend, spec, window, one.longest(), ledger, why);
            const double error = worst_error(found, expected);
            if (!(error <= 1e-4))
                QFAIL(fmt::format("{}: relative error {} ({}). {}", to_string(kind), error, one.words(), why)
                          .c_str());
        }
    }

    // Any order of operations, against the plain list of every row's tokens.
    void randomOperations_data() {
        QTest::addColumn<int>("kind");
        QTest::addColumn<int>("dtype");
        for (const CacheKind kind : {CacheKind::concat, CacheKind::static_, CacheKind::paged}) {
            for (const DType dtype : {DType::f32, DType::f16, DType::bf16}) {
                QTest::addRow("%s %s", to_string(kind), to_string(dtype))
                    << static_cast<int>(kind) << static_cast<int>(dtype);
            }
        }
    }
    void randomOperations() {
        QFETCH(int, kind);
        QFETCH(int, dtype);
        for (std::uint64_t seed = 0; seed < 8; ++seed) {
            Dice dice(seed);
            CacheSpec spec;
            spec.kind = static_cast<CacheKind>(kind);
            spec.dtype = static_cast<DType>(dtype);
            const auto ledger = std::make_shared<MemoryLedger>();
            ledger->set_poison(true);
            constexpr int batch = 3;
            const auto cache =
                *make_cache(spec, {2, batch, dice.roll(1, 3), dice.roll(1, 9)}, {20, 20, 0, {}}, ledger);
            CacheDriver rows(*cache);
            std::uint64_t copied = 0;
            for (int step = 0; step < 300; ++step) {
                const int row = dice.roll(0, batch - 1);
                std::vector<Ids> fresh(batch);
                for (Ids& ids : fresh) {
                    ids = dice.ids(dice.roll(0, 4), 9);
                    if (dice.one_in(4))
                        ids.insert(ids.begin() + dice.roll(0, static_cast<int>(ids.size())), pad);
                }
                fresh[0].push_back(1);
                switch (dice.roll(0, 6)) {
                    case 0: rows.clear(row); break;
                    case 1: (void)rows.give_up(fresh, dice.roll(0, 2)); break;
                    case 2: {
                        std::vector<int> parents;
                        for (int b = 0; b < batch; ++b) parents.push_back(dice.roll(0, batch - 1));
                        QVERIFY(rows.reorder(parents));
                        break;
                    }
                    case 3:
                    case 4:
                        QVERIFY(rows.truncate(row, dice.roll(0, static_cast<int>(rows.tokens(row).size()))));
                        break;
                    default: {
                        const auto done = rows.append(fresh);
                        if (!done) QCOMPARE(done.error().kind, ErrorKind::capacity);
                    }
                }
                const std::string fault = rows.fault();
                if (!fault.empty())
                    QFAIL(qPrintable(QString("seed %1, step %2: %3").arg(seed).arg(step).arg(fault.c_str())));
                const KvBytes bytes = cache->bytes();
                QCOMPARE(ledger->live(Owner::kv), bytes.reserved);
                QVERIFY(cache->copied_bytes() >= copied);
                copied = cache->copied_bytes();
                for (int b = 0; b < batch; ++b)
                    QVERIFY(cache->capacity() == 0 || cache->slot_positions(b).size() <= 20);
            }
        }
    }
};

QTEST_APPLESS_MAIN(TestCacheProperties)
#include "tst_cache_properties.moc"
