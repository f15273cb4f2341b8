// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engine/cache/kv_cache.h"
#include "engine/core/random.h"

namespace decodescope::test {

using Ids = std::vector<std::int32_t>;

/// In a row's new tokens: a pad.
inline constexpr std::int32_t pad = -1;

/// Drives a cache and a plain model of it (every row's tokens) side by side. What is stored for a token
/// depends on it and on all tokens before it, as in a real model, so that an entry that was kept from another
/// text, row, position, layer or head shows.
class CacheDriver {
public:
    explicit CacheDriver(KvCache& cache) : cache_(cache), tokens_(static_cast<std::size_t>(cache.batch())) {}

    /// Element `i` of the key or value of the last token of `text`; exact in f32, f16 and bf16.
    static float element(std::uint64_t text, bool key, int layer, int head, int i) {
        const auto stream = static_cast<std::uint64_t>((layer * 64 + head) * 2 + (key ? 1 : 0));
        return static_cast<float>(
            static_cast<int>(random_bits(text, stream, static_cast<std::uint64_t>(i)) % 255) - 127);
    }
    /// What names a text of `n` tokens.
    static std::uint64_t text_of(const Ids& tokens, int n) {
        std::uint64_t text = 17;
        for (int i = 0; i < n; ++i)
            text = mix64(text ^ static_cast<std::uint64_t>(tokens[static_cast<std::size_t>(i)]));
        return text;
    }

    /// Appends `fresh[b]` to row b.
    Result<void> append(const std::vector<Ids>& fresh) { return append(fresh, cache_.shape().n_layer); }
    /// The same, given up after `n_layer` layers.
    Result<void> give_up(const std::vector<Ids>& fresh, int n_layer) {
        give_up_ = true;
        const auto done = append(fresh, n_layer);
        give_up_ = false;
        return done;
    }
    Result<void> truncate(int row, int n_token) {
        DS_TRY(cache_.truncate(row, n_token));
        tokens(row).resize(static_cast<std::size_t>(n_token));
        return {};
    }
    void clear(int row) {
        cache_.clear_row(row);
        tokens(row).clear();
    }
    Result<void> reorder(const std::vector<int>& parents) {
        DS_TRY(cache_.reorder(parents));
        const std::vector<Ids> before = tokens_;
        for (std::size_t i = 0; i < parents.size(); ++i)
            tokens_[i] = before[static_cast<std::size_t>(parents[i])];
        return {};
    }
    /// Tokens adopted, -1 = refused.
    int adopt(int row, const Ids& prompt, std::uint64_t isolation = 0) {
        const auto n = cache_.adopt_prefix(row, prompt, isolation);
        if (!n) return -1;
        tokens(row).assign(prompt.begin(), prompt.begin() + *n);
        return *n;
    }
    /// Adopts what is known of `prompt` and appends the rest; tokens adopted, -1 = refused.
    int serve(int row, const Ids& prompt, std::uint64_t isolation = 0) {
        const int n = adopt(row, prompt, isolation);
        if (n < 0) return -1;
        std::vector<Ids> fresh(tokens_.size());
        fresh[static_cast<std::size_t>(row)].assign(prompt.begin() + n, prompt.end());
        return append(fresh) ? n : -1;
    }
    /// Appends `fresh` to one row.
    Result<void> append_to(int row, const Ids& fresh) {
        std::vector<Ids> all(tokens_.size());
        all[static_cast<std::size_t>(row)] = fresh;
        return append(all);
    }

    Ids& tokens(int row) { return tokens_[static_cast<std::size_t>(row)]; }
    const Ids& tokens(int row) const { return tokens_[static_cast<std::size_t>(row)]; }

    /// Keys (or values) of one slot and head, as attention would read them.
    std::vector<float> read(bool key, int layer, int row, int head, int slot) const {
        const int d = cache_.shape().head_dim;
        std::vector<float> out(static_cast<std::size_t>(d));
        const KeyValueView view = cache_.view(layer);
        if (view.source != nullptr) {
            view.source->read(layer, row, head, {slot, slot + 1}, key ? out.data() : nullptr,
                              key ? nullptr : out.data());
        } else {
            const float* from = (key ? view.k : view.v) + row * view.batch_stride + head * view.head_stride +
                                slot * view.slot_stride;
            std::copy_n(from, d, out.begin());
        }
        return out;
    }
    /// What was stored for `position` of `row`.
    std::vector<float> given(bool key, int layer, int row, int head, int position) const {
        const std::uint64_t text = text_of(tokens(row), position + 1);
        std::vector<float> out(static_cast<std::size_t>(cache_.shape().head_dim));
        for (std::size_t i = 0; i < out.size(); ++i)
            out[i] = element(text, key, layer, head, static_cast<int>(i));
        return out;
    }

    /// What is wrong with the lengths, positions and entries of the rows; empty when nothing is. `whole`:
    /// the cache must still have every entry.
    std::string fault(bool whole = true) const {
        for (int row = 0; row < cache_.batch(); ++row) {
            const std::string where = " in row " + std::to_string(row);
            const auto positions = cache_.slot_positions(row);
            std::vector<bool> seen(tokens(row).size(), false);
            int valid = 0;
            for (int slot = 0; slot < static_cast<int>(positions.size()); ++slot) {
                const int position = positions[static_cast<std::size_t>(slot)];
                if (position < 0) continue;
                const auto at = static_cast<std::size_t>(position);
                if (at >= seen.size()) return "position " + std::to_string(position) + " is too much" + where;
                if (seen[at]) return "position " + std::to_string(position) + " is there twice" + where;
                seen[at] = true;
                ++valid;
                for (int layer = 0; layer < cache_.shape().n_layer; ++layer) {
                    for (int head = 0; head < cache_.shape().n_kv_head; ++head) {
                        for (const bool key : {true, false}) {
                            if (read(key, layer, row, head, slot) == given(key, layer, row, head, position))
                                continue;
                            return std::string(key ? "key" : "value") + " of position " +
                                   std::to_string(position) + ", layer " + std::to_string(layer) + ", head " +
                                   std::to_string(head) + " is not what was stored" + where;
                        }
                    }
                }
            }
            if (valid != cache_.length(row)) return "the length is wrong" + where;
            if (cache_.next_position(row) != static_cast<int>(seen.size()))
                return "the next position is wrong" + where;
            if (whole && valid != static_cast<int>(seen.size())) return "entries are missing" + where;
        }
        const KvBytes bytes = cache_.bytes();
        if (bytes.live != bytes.payload + bytes.scales + bytes.residual)
            return "the live bytes do not add up";
        if (bytes.reserved != bytes.live + bytes.padding + bytes.slack + bytes.free + bytes.kept)
            return "the reserved bytes do not add up";
        if (std::max({bytes.live, bytes.padding, bytes.slack, bytes.free, bytes.kept}) > bytes.reserved)
            return "a part is larger than the whole";
        return {};
    }

private:
    Result<void> append(const std::vector<Ids>& fresh, int n_layer) {
        std::vector<Ids> after = tokens_;
        CallTokens call;
        for (std::size_t b = 0; b < fresh.size(); ++b) {
            for (const std::int32_t token : fresh[b]) {
                const auto next = static_cast<std::int32_t>(after[b].size());
                call.add(token == pad ? 0 : token, token == pad ? slot_padding : next);
                if (token != pad) after[b].push_back(token);
            }
            call.end_row();
        }
        DS_TRY(cache_.begin(call));
        const KvShape& shape = cache_.shape();
        const auto width = static_cast<std::size_t>(shape.width());
        std::vector<float> block(static_cast<std::size_t>(call.n_token()) * 2 * width);
        for (int layer = 0; layer < n_layer; ++layer) {
            for (int b = 0; b < call.batch(); ++b) {
                for (int t = call.begin(b); t < call.end(b); ++t) {
                    const int position = call.positions()[static_cast<std::size_t>(t)];
                    const std::uint64_t text =
                        position < 0 ? 0 : text_of(after[static_cast<std::size_t>(b)], position + 1);
                    for (std::size_t i = 0; i < width; ++i) {
                        const int head = static_cast<int>(i) / shape.head_dim;
                        const int element_of_head = static_cast<int>(i) % shape.head_dim;
                        const std::size_t at = static_cast<std::size_t>(t) * 2 * width + i;
                        block[at] = element(text, true, layer, head, element_of_head);
                        block[at + width] = element(text, false, layer, head, element_of_head);
                    }
                }
            }
            DS_TRY(cache_.append(layer,
                                 {block.data(), block.data() + width, static_cast<std::int64_t>(2 * width)}));
        }
        if (give_up_) {
            cache_.rollback();
            return {};
        }
        DS_TRY(cache_.commit());
        tokens_ = std::move(after);
        return {};
    }

    KvCache& cache_;
    std::vector<Ids> tokens_;  // [batch]: of every row, by position
    bool give_up_ = false;
};

/// Numbers that a seed decides.
class Dice {
public:
    explicit Dice(std::uint64_t seed) : seed_(seed) {}
    /// low .. high, both possible.
    int roll(int low, int high) {
        return low +
               static_cast<int>(random_bits(seed_, 77, n_++) % static_cast<std::uint64_t>(high - low + 1));
    }
    bool one_in(int n) { return roll(1, n) == 1; }
    Ids ids(int n, int vocab) {
        Ids ids(static_cast<std::size_t>(n));
        for (std::int32_t& id : ids) id = roll(0, vocab - 1);
        return ids;
    }

private:
    std::uint64_t seed_;
    std::uint64_t n_ = 0;
};

/// 0, 1, 2 ... + first.
inline Ids count_from(int first, int n) {
    Ids ids(static_cast<std::size_t>(n));
    for (int i = 0; i < n; ++i) ids[static_cast<std::size_t>(i)] = first + i;
    return ids;
}
inline Ids operator+(Ids a, const Ids& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
}

}  // namespace decodescope::test
