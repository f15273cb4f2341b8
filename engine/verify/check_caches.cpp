// SPDX-License-Identifier: GPL-3.0-or-later
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "engine/verify/verify_context.h"

namespace decodescope {

namespace {

constexpr std::uint64_t prompt_a = 1;
constexpr std::uint64_t prompt_b = 2;
constexpr int text_tokens = 20;

/// A kind that does not compute in f32, and how far it may be from naive decoding: about ten times the error
/// that was measured on small random models.
struct Approximate {
    const char* name;
    CacheSpec spec;
    double limit;
};

std::vector<Approximate> approximate_caches(const ModelConfig& config, const Device& device) {
    CacheSpec half;
    half.kind = CacheKind::static_;
    half.dtype = DType::f16;
    CacheSpec brain = half;
    brain.dtype = DType::bf16;
    CacheSpec int8;
    int8.kind = CacheKind::int8;
    std::vector<Approximate> caches = {{"f16", half, 0.02}, {"bf16", brain, 0.1}, {"int8", int8, 0.2}};
    CacheSpec kivi;
    kivi.kind = CacheKind::kivi;
    kivi.group = 4;
    kivi.residual = 4;
    // Its groups must divide head_dim, and its bits fill bytes; and no GPU has it.
    if (config.head_dim % 4 != 0 || device.is_gpu()) return caches;
    caches.push_back({"kivi, 4 bits", kivi, INFINITY});
    kivi.bits = 2;
    caches.push_back({"kivi, 2 bits", kivi, INFINITY});
    return caches;
}

class CacheChecks {
public:
    explicit CacheChecks(VerifyContext& context) : context_(context) {}

    Result<void> run() {
        DS_TRY(make_reference());
        for (const auto& [name, spec] : exact_caches(context_.device())) {
            DS_TRY(check_lane(name, spec, f32_error_limit));
            DS_TRY(check_partitions(name, spec));
            DS_TRY(check_rollback(name, spec));
            DS_TRY(check_isolation(name, spec));
        }
        for (const Approximate& cache : approximate_caches(context_.config(), context_.device())) {
            DS_TRY(check_lane(cache.name, cache.spec, cache.limit));
            DS_TRY(check_isolation(cache.name, cache.spec));
        }
        DS_TRY(check_capacity());
        DS_TRY(check_reorder());
        return check_shared_prefix();
    }

private:
    Result<void> make_reference() {
        prompt_ = context_.random_ids(prompt_a, context_.prompt_length());
        auto served = context_.serve_one(lane_of("naive", LaneMode::naive), prompt_, context_.steps() + 1);
        if (!served) return served.error();
        reference_ = *std::move(served);
        const std::int64_t p = context_.prompt_length();
        const std::int64_t steps = context_.steps();
        const std::int64_t expected = (p + p + steps) * (steps + 1) / 2;
        text_ = context_.random_ids(prompt_a, std::min(context_.config().n_positions, text_tokens));
        auto rows = context_.naive_rows(text_);
        if (!rows) return rows.error();
        text_rows_ = *std::move(rows);
        context_.add("naive positions forwarded", fmt::format("P + (P+1) + .. = {}", expected),
                     fmt::format("{}", reference_.positions), reference_.positions == expected);
        return {};
    }

    /// One request, fed what the naive lane chose.
    Result<void> check_lane(const std::string& name, const CacheSpec& spec, double limit) {
        const ModelConfig& config = context_.config();
        const KvShape shape{config.n_layer, 1, config.n_kv_head, config.head_dim};
        const bool f32 = limit <= f32_error_limit;
        std::string fault;
        std::uint64_t copied = 0;
        int before = 0;
        const auto after_step = [&](Lane& lane, const LaneStep&) {
            const KvCache& cache = *lane.cache();
            const int length = cache.length();
            const KvBytes bytes = cache.bytes();
            const std::uint64_t formula = kv_live_formula(spec, shape, std::span(&length, 1));
            if (spec.kind == CacheKind::concat)
                copied +=
                    shape.elements_per_token() * size_of(spec.dtype) * static_cast<std::uint64_t>(before);
            before = length;
            const std::uint64_t sum = bytes.live + bytes.padding + bytes.slack + bytes.free + bytes.kept;
            const bool right = bytes.live == formula && cache.copied_bytes() == copied &&
                               bytes.reserved == sum && context_.ledger()->live(Owner::kv) == bytes.reserved;
            if (right || !fault.empty()) return;
            fault =
                fmt::format("{} tokens: live {} of {}, copied {} of {}, reserved {} of {}, tensors {} bytes",
                            length, bytes.live, formula, cache.copied_bytes(), copied, bytes.reserved, sum,
                            context_.ledger()->live(Owner::kv));
        };
        GivenTokens feed(reference_.tokens);
        const auto served = context_.serve_one(lane_of(name, LaneMode::cached, spec), prompt_,
                                               context_.steps() + 1, &feed, after_step);
        if (!served) return served.error();
        const double error = worst_error(served->rows, reference_.rows);
        if (f32) {
            context_.add_equal(fmt::format("{} cache = naive, {} steps", name, context_.steps()), error);
            const bool same = served->tokens == reference_.tokens;
            context_.add(fmt::format("{} cache, same tokens", name), "all equal",
                         same ? "all equal" : "different", same);
        } else {
            context_.add(fmt::format("{} cache, distance from naive", name),
                         std::isfinite(limit) ? fmt::format("error <= {:.2g}", limit) : "finite",
                         fmt::format("largest error {:.2e}", error),
                         std::isfinite(limit) ? error <= limit : std::isfinite(error));
        }
        const std::int64_t expected = context_.prompt_length() + context_.steps();
        context_.add(fmt::format("{} cache, positions forwarded", name),
                     fmt::format("P + steps = {}", expected), fmt::format("{}", served->positions),
                     served->positions == expected);
        context_.add(fmt::format("{} cache, bytes = formula", name),
                     "live, copied, reserved and tensor bytes after every append",
                     fault.empty() ? "all equal" : fault, fault.empty());
        return {};
    }

    Result<void> check_partitions(const std::string& name, const CacheSpec& spec) {
        if (static_cast<int>(text_.size()) < partition_tokens) return {};
        const Ids ids(text_.begin(), text_.begin() + partition_tokens);
        const Rows reference(text_rows_.begin(), text_rows_.begin() + partition_tokens);
        double worst = 0;
        std::string where;
        for (const auto& sizes : partitions_of_17()) {
            const auto rows = context_.chunked_rows(spec, ids, sizes);
            if (!rows) return rows.error();
            const double error = worst_error(*rows, reference);
            if (error > worst) where = fmt::format("{}", fmt::join(sizes, "+"));
            worst = std::max(worst, error);
        }
        context_.add(
            fmt::format("{} cache, {} cuts of {} tokens", name, partitions_of_17().size(), partition_tokens),
            fmt::format("every row, error <= {:.0e}", f32_error_limit),
            worst <= f32_error_limit ? fmt::format("largest error {:.2e}", worst)
                                     : fmt::format("largest error {:.2e} in {}", worst, where),
            worst <= f32_error_limit);
        return {};
    }

    /// Wrong drafts are appended behind a prefix and cut off again, as many kept as speculation might accept.
    Result<void> check_rollback(const std::string& name, const CacheSpec& spec) {
        constexpr int n_draft = 4;
        constexpr int n_after = 3;
        const int prefix = static_cast<int>(text_.size()) - 1 - n_draft - n_after;
        if (prefix < 1) return {};
        const Ids& text = text_;
        double worst = 0;
        bool lengths = true;
        for (int accepted = 0; accepted <= n_draft; ++accepted) {
            auto cache = context_.new_cache(
                spec, 1, {static_cast<int>(text.size()), std::max(prefix, n_draft + 1), n_draft, {}});
            if (!cache) return cache.error();
            const auto first = text.begin() + prefix;
            DS_TRY(fed(**cache, Ids(text.begin(), first)));
            // The pending token and the drafts, of which the ones behind `accepted` are wrong.
            Ids call(first, first + 1 + n_draft);
            for (int i = accepted + 1; i <= n_draft; ++i) {
                std::int32_t& token = call[static_cast<std::size_t>(i)];
                token = (token + 1) % context_.config().vocab;
            }
            DS_TRY(fed(**cache, call));
            DS_TRY((*cache)->truncate(0, prefix + 1 + accepted));
            lengths = lengths && (*cache)->length() == prefix + 1 + accepted &&
                      (*cache)->next_position() == prefix + 1 + accepted;
            const auto rest = context_.feed(**cache, 0, Ids(first + 1 + accepted, text.end()));
            if (!rest) return rest.error();
            const Rows reference(text_rows_.begin() + prefix + 1 + accepted, text_rows_.end());
            worst = std::max(worst, worst_error(*rest, reference));
        }
        context_.add(fmt::format("{} cache, rollback of 0 to {} drafts", name, n_draft),
                     fmt::format("length = prefix + 1 + accepted, error <= {:.0e}", f32_error_limit),
                     fmt::format("lengths {}, largest error {:.2e}", lengths ? "right" : "wrong", worst),
                     lengths && worst <= f32_error_limit);
        return {};
    }

    Result<void> fed(KvCache& cache, const Ids& ids) {
        const auto rows = context_.feed(cache, 0, ids);
        return rows ? Result<void>() : Result<void>(rows.error());
    }

    Result<void> check_isolation(const std::string& name, const CacheSpec& spec) {
        const Ids b = context_.random_ids(prompt_b, std::max(1, context_.prompt_length() / 2));
        Workload workload;
        for (const Ids* prompt : {static_cast<const Ids*>(&prompt_), &b, static_cast<const Ids*>(&prompt_)})
            workload.requests.push_back({*prompt, context_.steps() + 1, 0, 0, 0});
        const auto served = context_.serve(lane_of(name, LaneMode::cached, spec), workload);
        if (!served) return served.error();
        const double error = worst_error(served->rows[2], served->rows[0]);
        // Not bit for bit: the number of workers may change between the two, and with it the rounding.
        context_.add(fmt::format("{} cache, requests A, B, A are isolated", name), "A the same both times",
                     fmt::format("largest error {:.2e}", error),
                     error <= f32_error_limit && served->tokens[2] == served->tokens[0]);
        return {};
    }

    Result<void> check_capacity() {
        const Ids ids = context_.random_ids(prompt_a, context_.prompt_length() + 1);
        const int n = static_cast<int>(ids.size());
        for (const auto& [name, spec] : exact_caches(context_.device())) {
            if (spec.kind == CacheKind::concat) continue;
            auto cache = context_.new_cache(spec, 1, {n - 1, n - 1, 0, {}});
            if (!cache) return cache.error();
            DS_TRY(fed(**cache, Ids(ids.begin(), ids.end() - 1)));
            const auto refused = context_.feed(**cache, 0, Ids(ids.end() - 1, ids.end()));
            // What is stored must still be what it was: cut it back and go on.
            DS_TRY((*cache)->truncate(0, n - 2));
            const auto last = context_.feed(**cache, 0, Ids(ids.end() - 2, ids.end() - 1));
            if (!last) return last.error();
            const auto reference = context_.naive_rows(Ids(ids.begin(), ids.end() - 1));
            if (!reference) return reference.error();
            const double error = worst_error(*last, Rows(reference->end() - 1, reference->end()));
            const bool held =
                !refused && refused.error().kind == ErrorKind::capacity && error <= f32_error_limit;
            context_.add(fmt::format("{} cache, entry beyond the capacity", name), "refused, nothing written",
                         refused ? "accepted" : fmt::format("refused, error after it {:.2e}", error), held);
        }
        return {};
    }

    /// Rows cross, as beams do: what goes on from another row is what that row would have been.
    Result<void> check_reorder() {
        const Ids a = context_.random_ids(prompt_a, context_.prompt_length());
        const Ids b = context_.random_ids(prompt_b, context_.prompt_length());
        const Ids next = context_.random_ids(prompt_b + 1, 2);
        if (context_.prompt_length() + 2 > context_.config().n_positions) return {};
        for (const auto& [name, spec] : exact_caches(context_.device())) {
            if (spec.kind == CacheKind::kivi) continue;
            auto cache =
                context_.new_cache(spec, 2, {context_.prompt_length() + 2, context_.prompt_length(), 0, {}});
            if (!cache) return cache.error();
            for (const int row : {0, 1}) {
                const auto rows = context_.feed(**cache, row, row == 0 ? a : b);
                if (!rows) return rows.error();
            }
            // Both go on from row 1, then the rows are swapped.
            const int both[] = {1, 1};
            const int swapped[] = {1, 0};
            DS_TRY((*cache)->reorder(both));
            double worst = 0;
            for (const int row : {0, 1}) {
                const Ids one(1, next[static_cast<std::size_t>(row)]);
                const auto rows = context_.feed(**cache, row, one);
                if (!rows) return rows.error();
            }
            DS_TRY((*cache)->reorder(swapped));
            for (const int row : {0, 1}) {
                Ids text = b;
                text.push_back(next[static_cast<std::size_t>(1 - row)]);
                text.push_back(next[0]);
                const auto rows = context_.feed(**cache, row, Ids(1, next[0]));
                const auto reference = context_.naive_rows(text);
                if (!rows) return rows.error();
                if (!reference) return reference.error();
                worst = std::max(worst, worst_error(*rows, Rows(reference->end() - 1, reference->end())));
            }
            context_.add_equal(fmt::format("{} cache, reordered rows", name), worst);
        }
        return {};
    }

    /// Three requests of one group share a prefix that ends inside a block; one of them goes on differently.
    Result<void> check_shared_prefix() {
        CacheSpec spec;
        spec.kind = CacheKind::paged;
        spec.block = 4;
        spec.share_prefixes = true;
        const int length = std::max(3, context_.prompt_length());
        const int shared = length - 2;
        if (length + context_.steps() > context_.config().n_positions) return {};
        const Ids a = context_.random_ids(prompt_a, length);
        Ids b = a;
        b[static_cast<std::size_t>(shared)] =
            (b[static_cast<std::size_t>(shared)] + 1) % context_.config().vocab;
        Workload workload;
        const auto add = [&](const Ids& ids, std::uint64_t group) {
            workload.requests.push_back({ids, context_.steps() + 1, group, 0, 0});
        };
        add(a, 0);
        add(b, 0);
        add(a, 0);
        add(a, 1);
        LaneSpec lane = lane_of("shared", LaneMode::cached, spec);
        lane.batching = Batching::continuous;
        std::uint64_t most_shared = 0;
        const auto found = context_.serve(lane, workload, nullptr, [&](Lane& at_work, const LaneStep&) {
            most_shared = std::max(most_shared, at_work.cache()->bytes().shared);
        });
        if (!found) return found.error();
        const auto reference = context_.serve(lane_of("naive", LaneMode::naive), workload);
        if (!reference) return reference.error();
        context_.add_equal("shared prefix, one writer = single runs",
                           worst_error(found->rows, reference->rows));
        const auto adopted = [&](std::size_t i) { return found->states[i].n_adopted; };
        context_.add("shared prefix, tokens not forwarded again",
                     fmt::format("0, {}, {}, and 0 across groups", shared, length - 1),
                     fmt::format("{}, {}, {}, {}", adopted(0), adopted(1), adopted(2), adopted(3)),
                     adopted(0) == 0 && adopted(1) == shared && adopted(2) == length - 1 && adopted(3) == 0);
        context_.add("shared prefix, bytes", "rows hold blocks in common",
                     fmt::format("{} bytes", most_shared), most_shared > 0 || shared < spec.block);
        return {};
    }

    VerifyContext& context_;
    Ids prompt_;
    Served reference_;
    Ids text_;  // of the checks that do not need the whole prompt
    Rows text_rows_;
};

}  // namespace

Result<void> check_caches(VerifyContext& context) {
    return CacheChecks(context).run();
}

}  // namespace decodescope
