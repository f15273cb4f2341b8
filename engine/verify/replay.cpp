// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/verify/replay.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>

#include "engine/core/as_index.h"
#include "engine/verify/replay_store.h"

namespace decodescope {

namespace {

std::vector<SlotRange> ranges_of(std::vector<std::int32_t> slots) {
    std::sort(slots.begin(), slots.end());
    std::vector<SlotRange> ranges;
    for (const std::int32_t slot : slots) {
        if (!ranges.empty() && slot < ranges.back().end) continue;
        if (!ranges.empty() && slot == ranges.back().end)
            ++ranges.back().end;
        else
            ranges.push_back({slot, slot + 1});
    }
    return ranges;
}

}  // namespace

void ReplayRow::see(const std::function<bool(std::int32_t, std::int32_t)>& sees) {
    for (std::size_t t = 0; t < tokens.size(); ++t) {
        tokens[t].visible.clear();
        const auto query = n_kept() + static_cast<std::int32_t>(t);
        for (std::int32_t key = 0; key < n_kept() + static_cast<std::int32_t>(tokens.size()); ++key) {
            if (sees(query, key)) tokens[t].visible.push_back(key);
        }
    }
}

std::int32_t ReplayRow::place_of(std::int32_t key) const {
    return key < n_kept() ? kept[as_index(key)].place : tokens[as_index(key - n_kept())].place;
}

struct Replayer::State {
    const Trace& trace;
    const TraceReading& reading;
    DiagnosisTools tools;
    Workspace workspace;
    std::unique_ptr<ReplayStore> store;
    std::vector<std::vector<ReplayEntries>> after;                   // [call][row]
    std::map<std::tuple<int, int, int>, std::vector<float>> logits;  // by call, row, column
    /// A replayed row, how many slots it took, and what was known of it before.
    struct Done {
        int call = 0;
        int row = 0;
        int n_slot = 0;
        ReplayEntries before;
    };
    std::vector<Done> done;  // in order
    Tensors* captured = nullptr;
    const ReplayEntries nothing{};

    State(const Trace& trace_in, const TraceReading& reading_in, DiagnosisTools tools_in)
        : trace(trace_in), reading(reading_in), tools(std::move(tools_in)), workspace(tools.ledger) {
        for (const TraceCall& call : trace.calls) after.emplace_back(as_index(call.batch));
        const ModelConfig& shape = config();
        store = std::make_unique<ReplayStore>(KvShape{shape.n_layer, 1, shape.n_kv_head, shape.head_dim},
                                              tools.ledger);
    }

    const ModelConfig& config() const { return tools.weights->config; }

    const ReplayEntries& stored(int call, int row) const {
        const ReadRow& read = reading.row(call, row);
        return read.from_call < 0 ? nothing : after[as_index(read.from_call)][as_index(read.from_row)];
    }
    /// What the same row held after the latest call that had it.
    const ReplayEntries& occupant(int call, int row) const {
        for (int c = call - 1; c >= 0; --c) {
            if (row < trace.calls[as_index(c)].batch && !after[as_index(c)][as_index(row)].empty())
                return after[as_index(c)][as_index(row)];
        }
        return nothing;
    }
    ReplaySituation situation(int call, int row) const {
        return {trace,
                reading,
                config(),
                call,
                row,
                stored(call, row),
                occupant(call, row),
                after,
                [this, call](int other) { return right_row(call, other); }};
    }
    ReplayRow right_row(int call, int row) const;
    ReplayRow row_as(int call, int row, const Explanation* explanation) const {
        ReplayRow replayed = right_row(call, row);
        if (explanation != nullptr && explanation->amend) {
            explanation->amend(situation(call, row), replayed);
        }
        return replayed;
    }
    Result<bool> run_call(int call, const std::vector<int>& rows, const Explanation* explanation);
};

/// Makes a forward call follow a replay.
class ReplayHook final : public ForwardHook {
public:
    ReplayHook(const ModelConfig& config, const std::vector<ReplayRow>& rows, const Explanation* explanation,
               int n_slot, std::vector<std::vector<SlotRange>> visible, Replayer::Tensors* captured)
        : config_(config),
          rows_(rows),
          explanation_(explanation),
          n_slot_(n_slot),
          visible_(std::move(visible)),
          captured_(captured) {
        if (explanation_ == nullptr) return;
        for (const ReplayRow& row : rows_) appends_ = appends_ || !row.kept.empty();
    }

    const Weights& weights(const Weights& given) override {
        return explanation_ != nullptr && explanation_->weights ? *explanation_->weights : given;
    }
    void positions(const CallTokens&, const KvCache*, std::span<std::int32_t> query,
                   std::span<std::int32_t> key) override {
        std::size_t i = 0;
        for (const ReplayRow& row : rows_) {
            for (const ReplayToken& token : row.tokens) {
                query[i] = token.query_position;
                key[i++] = token.key_position;
            }
        }
    }
    void plan(const CallTokens&, const KvCache*, AttentionPlan& plan) override {
        plan.amend(n_slot_,
                   [&](int, int q, std::vector<SlotRange>& visible) { visible = visible_[as_index(q)]; });
    }
    HeadOrder head_order(const CallTokens&, const KvCache*) override {
        if (explanation_ == nullptr || !explanation_->heads) return HeadOrder::grouped;
        return explanation_->heads_of_appends_only && !appends_ ? HeadOrder::grouped : *explanation_->heads;
    }
    void computed(ForwardTensor tensor, int layer, std::span<float> values) override {
        if (explanation_ != nullptr && tensor == ForwardTensor::qkv && explanation_->stored_as)
            narrow(values);
        if (explanation_ != nullptr && tensor == ForwardTensor::mixed &&
            explanation_->merged_without_transpose)
            merge(values);
        if (captured_ == nullptr) return;
        captured_->names.emplace_back(tensor, layer);
        captured_->values.emplace_back(values.begin(), values.end());
    }

private:
    void narrow(std::span<float> qkv) const {
        const auto width = as_index(config_.qkv_width());
        for (std::size_t token = 0; token < qkv.size() / width; ++token) {
            for (int h = 0; h < 2 * config_.n_kv_head; ++h) {
                explanation_->stored_as(
                    qkv.subspan(token * width + as_index(config_.q_width() + h * config_.head_dim),
                                as_index(config_.head_dim)));
            }
        }
    }
    /// [head, token, i] read as [token, head, i].
    void merge(std::span<float> mixed) const {
        std::size_t first = 0;
        const auto width = as_index(config_.q_width());
        const auto d = as_index(config_.head_dim);
        for (const ReplayRow& row : rows_) {
            const std::size_t n = row.tokens.size();
            std::vector<float> wrong;
            for (std::size_t h = 0; h < as_index(config_.n_head); ++h) {
                for (std::size_t t = 0; t < n; ++t) {
                    const auto from = mixed.subspan((first + t) * width + h * d, d);
                    wrong.insert(wrong.end(), from.begin(), from.end());
                }
            }
            std::copy(wrong.begin(), wrong.end(), mixed.begin() + static_cast<std::ptrdiff_t>(first * width));
            first += n;
        }
    }

    const ModelConfig& config_;
    const std::vector<ReplayRow>& rows_;
    const Explanation* explanation_;
    int n_slot_;
    std::vector<std::vector<SlotRange>> visible_;
    Replayer::Tensors* captured_;
    bool appends_ = false;
};

Replayer::Replayer(std::unique_ptr<State> state) : state_(std::move(state)) {}
Replayer::Replayer(Replayer&&) noexcept = default;
Replayer& Replayer::operator=(Replayer&&) noexcept = default;
Replayer::~Replayer() = default;

Result<Replayer> Replayer::make(const Trace& trace, const TraceReading& reading, DiagnosisTools tools) {
    return Replayer(std::make_unique<State>(trace, reading, std::move(tools)));
}

Replayer::Places Replayer::lineage(int call, int row) const {
    Places places;
    const ReadRow* read = &state_->reading.row(call, row);
    while (read->from_call >= 0) {
        places.emplace_back(read->from_call, read->from_row);
        read = &state_->reading.row(read->from_call, read->from_row);
    }
    std::reverse(places.begin(), places.end());
    return places;
}

Replayer::Places Replayer::background(int call) const {
    std::set<std::pair<int, int>> places;
    std::set<std::pair<int, std::string>> met;
    for (int c = call - 1; c >= 0; --c) {
        for (int b = 0; b < state_->trace.calls[as_index(c)].batch; ++b) {
            const ReadRow& read = state_->reading.row(c, b);
            // The newest of every row and request.
            if (read.n_fed == 0 || !met.emplace(b, read.request).second) continue;
            places.emplace(c, b);
            for (const auto& place : lineage(c, b)) places.insert(place);
        }
    }
    for (int b = 0;
         call < static_cast<int>(state_->trace.calls.size()) && b < state_->trace.calls[as_index(call)].batch;
         ++b) {
        for (const auto& place : lineage(call, b)) places.insert(place);
    }
    return {places.begin(), places.end()};
}

ReplayRow Replayer::State::right_row(int call, int row) const {
    const TraceCall& fed = trace.calls[as_index(call)];
    const ReadRow& read = reading.row(call, row);
    ReplayRow right;
    for (const ReplayEntry& entry : stored(call, row)) {
        if (entry.place < read.start) right.kept.push_back(entry);
    }
    for (int t = 0; t < read.n_fed; ++t) {
        ReplayToken token;
        token.token = fed.input_ids[as_index(row * fed.width + t)];
        token.place = read.places[as_index(t)];
        token.query_position = std::max(token.place, 0);
        // Where a pad is put matters only to those who wrongly see it: as the program says, if it does.
        if (token.place < 0 && !fed.position_ids.empty()) {
            token.query_position =
                std::clamp(fed.position_ids[as_index(row * fed.width + t)], 0, config().n_positions - 1);
        }
        token.key_position = token.query_position;
        right.tokens.push_back(token);
    }
    const Window window = reading.window;
    right.see([&](std::int32_t query, std::int32_t key) {
        const auto q = right.place_of(query);
        const auto k = right.place_of(key);
        return q >= 0 && k >= 0 && cell_state(q, k, window) == CellState::visible;
    });
    return right;
}

ReplaySituation Replayer::situation(int call, int row) const {
    return state_->situation(call, row);
}

ReplayRow Replayer::right_row(int call, int row) const {
    return state_->right_row(call, row);
}

ReplayRow Replayer::row_as(int call, int row, const Explanation& explanation) const {
    return state_->row_as(call, row, &explanation);
}

bool Replayer::changes(int call, int row, const Explanation& explanation) const {
    if (explanation.weights || explanation.heads || explanation.merged_without_transpose ||
        explanation.stored_as)
        return true;
    const ReplayRow right = right_row(call, row);
    const ReplayRow other = row_as(call, row, explanation);
    const auto slots = [](const ReplayRow& of, const ReplayToken& token) {
        std::vector<std::int32_t> seen;
        for (const std::int32_t key : token.visible)
            seen.push_back(key < of.n_kept() ? of.kept[as_index(key)].slot : -1 - (key - of.n_kept()));
        return seen;
    };
    if (other.spare != right.spare || other.tokens.size() != right.tokens.size()) return true;
    for (std::size_t t = 0; t < right.tokens.size(); ++t) {
        const ReplayToken& a = right.tokens[t];
        const ReplayToken& b = other.tokens[t];
        if (a.query_position != b.query_position || a.key_position != b.key_position || a.token != b.token ||
            slots(right, a) != slots(other, b))
            return true;
    }
    return false;
}

Result<bool> Replayer::State::run_call(int call, const std::vector<int>& rows,
                                       const Explanation* explanation) {
    const TraceCall& fed = trace.calls[as_index(call)];
    std::vector<ReplayRow> replayed;
    const int base = store->n_used();
    int n_spare = 0;
    CallTokens tokens;
    std::vector<std::int32_t> logit_rows;
    std::vector<std::tuple<int, int, int>> wanted;
    for (const int b : rows) {
        const ReplayRow& row = replayed.emplace_back(row_as(call, b, explanation));
        n_spare = std::max(n_spare, row.spare);
        for (std::size_t t = 0; t < row.tokens.size(); ++t) {
            const ReplayToken& token = row.tokens[t];
            for (const std::int32_t position : {token.query_position, token.key_position}) {
                if (position < 0 || position >= config().n_positions) return false;
            }
            const int sampled =
                fed.logits_columns.empty() ? reading.row(call, b).sampled : fed.logits_columns[as_index(b)];
            if (fed.logits == LogitRows::all ||
                (fed.logits == LogitRows::last && static_cast<int>(t) == sampled)) {
                logit_rows.push_back(tokens.n_token());
                wanted.emplace_back(call, b, static_cast<int>(t));
            }
            tokens.add(token.token, slot_padding);
        }
    }
    tokens.end_row();
    const int n_token = tokens.n_token();
    std::vector<std::vector<SlotRange>> visible;
    int first = base;
    for (const ReplayRow& row : replayed) {
        const auto slot_of = [&](std::int32_t key) {
            if (key >= row.n_kept()) return first + key - row.n_kept();
            const std::int32_t slot = row.kept[as_index(key)].slot;
            return slot >= 0 ? slot : first - 1 - slot;
        };
        for (const ReplayToken& token : row.tokens) {
            std::vector<std::int32_t> seen;
            for (const std::int32_t key : token.visible) seen.push_back(slot_of(key));
            auto& ranges = visible.emplace_back(ranges_of(std::move(seen)));
            if (row.spare > 0) ranges.push_back({base + n_token, base + n_token + row.spare});
        }
        first += static_cast<int>(row.tokens.size());
    }
    DS_TRY(store->make_room(base + n_token + n_spare));
    ReplayHook hook(config(), replayed, explanation, base + n_token + n_spare, std::move(visible), captured);
    const auto output = forward(*tools.weights, tokens, logit_rows, store.get(), {}, workspace,
                                *tools.backend, tools.stop, &hook);
    if (!output) return output.error();
    const auto vocab = as_index(config().vocab);
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        const auto from = output->logits.subspan(i * vocab, vocab);
        logits[wanted[i]].assign(from.begin(), from.end());
    }
    int slot = base;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        ReplayEntries& entries = after[as_index(call)][as_index(rows[i])];
        done.push_back({call, rows[i], 0, std::move(entries)});
        entries = replayed[i].kept;
        for (ReplayEntry& entry : entries)
            if (entry.slot < 0) entry.slot = slot - 1 - entry.slot;
        const auto n = static_cast<int>(replayed[i].tokens.size());
        for (int t = 0; t < std::min(n, reading.row(call, rows[i]).n_fed); ++t) {
            const ReplayToken& token = replayed[i].tokens[as_index(t)];
            entries.push_back({slot + t, token.place, token.key_position, call, rows[i]});
        }
        slot += n;
        done.back().n_slot = n;
    }
    return true;
}

Result<bool> Replayer::run(const Places& places, const Explanation* explanation) {
    for (std::size_t i = 0; i < places.size();) {
        std::vector<int> rows;
        const int call = places[i].first;
        for (; i < places.size() && places[i].first == call; ++i) rows.push_back(places[i].second);
        const auto ran = state_->run_call(call, rows, explanation);
        if (!ran || !*ran) return ran;
    }
    return true;
}

std::span<const float> Replayer::logits(int call, int row, int column) const {
    const auto found = state_->logits.find({call, row, column});
    return found == state_->logits.end() ? std::span<const float>() : found->second;
}

std::size_t Replayer::mark() const {
    return state_->done.size();
}

void Replayer::back_to(std::size_t mark) {
    int freed = 0;
    while (state_->done.size() > mark) {
        State::Done& last = state_->done.back();
        freed += last.n_slot;
        state_->after[as_index(last.call)][as_index(last.row)] = std::move(last.before);
        for (int t = 0; t < last.n_slot; ++t) state_->logits.erase({last.call, last.row, t});
        state_->done.pop_back();
    }
    if (freed > 0) state_->store->cut(state_->store->n_used() - freed);
}

void Replayer::capture(Tensors* into) {
    state_->captured = into;
}

std::optional<std::pair<ForwardTensor, int>> first_difference(const Replayer::Tensors& one,
                                                              const Replayer::Tensors& other) {
    for (std::size_t i = 0; i < std::min(one.values.size(), other.values.size()); ++i) {
        const auto& a = one.values[i];
        const auto& b = other.values[i];
        if (one.names[i] != other.names[i] || a.size() != b.size()) return other.names[i];
        double squares = 0;
        double worst = 0;
        for (std::size_t j = 0; j < a.size(); ++j) {
            squares += double{a[j]} * a[j];
            const double difference = std::abs(double{a[j]} - b[j]);
            if (!(difference <= worst)) worst = difference;
        }
        const double size = std::sqrt(squares / static_cast<double>(std::max<std::size_t>(a.size(), 1)));
        if (!(worst <= 1e-4 * size)) return other.names[i];
    }
    return std::nullopt;
}

}  // namespace decodescope
