// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/verify/trace_recorder.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "engine/core/as_index.h"

namespace decodescope {

namespace {

/// "A" .. "Z", "AA", ...
std::string request_name(int request) {
    std::string name;
    for (int i = request; i >= 0; i = i / 26 - 1) name.insert(name.begin(), static_cast<char>('A' + i % 26));
    return name;
}

int width_of(const CallTokens& call) {
    int width = 1;
    for (int b = 0; b < call.batch(); ++b) width = std::max(width, call.end(b) - call.begin(b));
    return width;
}

}  // namespace

/// The logits that a recorder kept.
class TraceRecorder::Logits final : public TraceLogits {
public:
    Logits(std::vector<CallLogits> calls, int vocab) : calls_(std::move(calls)), vocab_(vocab) {}

    DType dtype(int) const override { return DType::f32; }
    Result<void> read(int call, int row, int column, std::span<float> out) const override {
        if (call < 0 || as_index(call) >= calls_.size() || out.size() != as_index(vocab_))
            return Error{ErrorKind::internal, "Recorded logits: there is no such call."};
        const CallLogits& here = calls_[as_index(call)];
        const std::int64_t cell = std::int64_t{row} * here.width + column;
        if (row < 0 || column < 0 || column >= here.width || as_index(cell) >= here.kept.size())
            return Error{ErrorKind::internal, "Recorded logits: there is no such row or column."};
        const std::int32_t kept = here.kept[as_index(cell)];
        if (kept < 0) {
            std::fill(out.begin(), out.end(), std::numeric_limits<float>::quiet_NaN());
        } else {
            std::copy_n(here.values.begin() + std::ptrdiff_t{kept} * vocab_, vocab_, out.begin());
        }
        return {};
    }

private:
    std::vector<CallLogits> calls_;
    int vocab_;
};

void TraceRecorder::reordered(std::span<const int> parents) {
    // Rows that were never fed have nothing to pass on.
    rows_.resize(std::max(rows_.size(), parents.size()));
    std::vector<std::int32_t> before(parents.size());
    std::iota(before.begin(), before.end(), 0);
    if (!parents_.empty()) before = parents_;
    std::vector<Row> rows;
    parents_.clear();
    for (const int parent : parents) {
        rows.push_back(rows_[as_index(parent)]);
        parents_.push_back(before[as_index(parent)]);
    }
    rows_ = std::move(rows);
}

void TraceRecorder::verified(int row, int n_accepted) {
    if (calls_.empty()) return;
    TraceCall& call = calls_.back();
    call.accepted.resize(as_index(call.batch), 0);
    call.accepted[as_index(row)] = n_accepted;
}

void TraceRecorder::called(const SeenCall& seen) {
    TraceCall call;
    call.batch = seen.call.batch();
    call.width = width_of(seen.call);
    // Nothing is left to follow where every row begins anew.
    const bool anew = std::all_of(seen.before.begin(), seen.before.end(),
                                  [](const CacheCounts& before) { return before.length == 0; });
    if (!anew) call.parents = std::move(parents_);
    parents_.clear();
    rows_.resize(as_index(call.batch));
    add_rows(seen, call);
    add_mask(seen, call);
    if (seen.cache != nullptr) add_cache(seen, call);
    add_logits(seen, call);
    if (seen.error != nullptr) call.error = seen.error->message;
    call.step_ns = seen.duration_ns;
    calls_.push_back(std::move(call));
}

void TraceRecorder::add_rows(const SeenCall& seen, TraceCall& call) {
    const std::size_t cells = as_index(std::int64_t{call.batch} * call.width);
    call.input_ids.assign(cells, 0);
    call.real.assign(cells, 0);
    call.position_ids.assign(cells, 0);
    auto& requests = requests_.emplace_back();
    for (int b = 0; b < call.batch; ++b) {
        const CallRow& row = seen.rows[as_index(b)];
        requests.push_back(row.request);
        call.text_start.push_back(row.text_start);
        call.logits_columns.push_back(row.read_token);
        std::size_t cell = as_index(std::int64_t{b} * call.width);
        for (int i = seen.call.begin(b); i < seen.call.end(b); ++i, ++cell) {
            call.input_ids[cell] = seen.call.tokens()[as_index(i)];
            call.real[cell] = seen.call.positions()[as_index(i)] != slot_padding;
            call.position_ids[cell] = seen.query_positions[as_index(i)];
        }
        const CacheCounts before = seen.before[as_index(b)];
        const CacheCounts after = seen.after[as_index(b)];
        call.cache_length_before.push_back(before.length);
        call.cache_length_after.push_back(after.length);
    }
}

void TraceRecorder::add_mask(const SeenCall& seen, TraceCall& call) const {
    if (seen.plan == nullptr) return;
    const AttentionPlan& plan = *seen.plan;
    const auto slots_of = [&](int b) {
        if (plan.n_query(b) == 0 && seen.cache != nullptr) return seen.cache->slot_positions(b);
        return plan.slot_positions(b);
    };
    call.mask_known = true;
    for (int b = 0; b < call.batch; ++b)
        call.mask_columns = std::max(call.mask_columns, static_cast<int>(slots_of(b).size()));
    call.attention_mask.assign(as_index(std::int64_t{call.batch} * call.mask_columns), 0);
    for (int b = 0; b < call.batch; ++b) {
        std::uint8_t* mask = call.attention_mask.data() + as_index(std::int64_t{b} * call.mask_columns);
        const auto held = slots_of(b);
        const std::int32_t masked = seen.rows[as_index(b)].masked;
        for (std::size_t slot = 0; slot < held.size(); ++slot)
            mask[slot] = masked < 0 ? held[slot] >= 0 : static_cast<std::int32_t>(slot) >= masked;
        for (int q = 0; q < plan.n_query(b); ++q) {
            for (const SlotRange& range : plan.visible(b, q))
                std::fill(mask + range.begin, mask + range.end, std::uint8_t{1});
        }
    }
}

void TraceRecorder::add_cache(const SeenCall& seen, TraceCall& call) {
    for (int b = 0; b < call.batch; ++b) {
        Row& row = rows_[as_index(b)];
        const CacheCounts before = seen.before[as_index(b)];
        const CacheCounts after = seen.after[as_index(b)];
        if (before.length == 0 && before.seen == 0) row = {};
        call.cache_seen_before.push_back(before.seen + row.pads);
        // What was taken over from others was made with the ids of its places.
        for (auto id = static_cast<std::int32_t>(row.ids.size()); id < before.seen; ++id)
            row.ids.push_back(id);
        row.ids.resize(as_index(before.seen));
        if (seen.error == nullptr) {
            for (int i = seen.call.begin(b); i < seen.call.end(b); ++i) {
                if (seen.call.positions()[as_index(i)] == slot_padding)
                    ++row.pads;
                else
                    row.ids.push_back(seen.key_positions[as_index(i)]);
            }
        }
        call.cache_seen_after.push_back(after.seen + row.pads);
        const auto held = seen.cache->slot_positions(b);
        auto& positions = call.cache_positions.emplace_back(held.begin(), held.end());
        for (std::int32_t& position : positions) {
            if (position >= 0 && as_index(position) < row.ids.size()) position = row.ids[as_index(position)];
        }
    }
    const KvBytes bytes = seen.cache->bytes();
    if (bytes.shared == 0) call.cache_bytes = static_cast<std::int64_t>(bytes.live + bytes.padding);
    call.cache_bytes_reserved = static_cast<std::int64_t>(bytes.reserved);
    if (seen.cache->capacity() > 0) call.cache_capacity = seen.cache->capacity();
}

void TraceRecorder::add_logits(const SeenCall& seen, TraceCall& call) {
    CallLogits& kept = logits_.emplace_back();
    if (options_.logits == LogitRows::none || seen.logits.empty()) return;
    const auto vocab = seen.logits.size() / as_index(seen.call.n_token());
    vocab_ = static_cast<int>(vocab);
    call.logits = options_.logits;
    const bool last = options_.logits == LogitRows::last;
    kept.width = last ? 1 : call.width;
    kept.kept.assign(as_index(std::int64_t{call.batch} * kept.width), -1);
    std::int32_t n = 0;
    for (int b = 0; b < call.batch; ++b) {
        const int read = seen.rows[as_index(b)].read_token;
        for (int i = seen.call.begin(b); i < seen.call.end(b); ++i) {
            const int column = i - seen.call.begin(b);
            if (last && column != read) continue;
            kept.kept[as_index(std::int64_t{b} * kept.width + (last ? 0 : column))] = n++;
            const auto from = seen.logits.subspan(as_index(i) * vocab, vocab);
            kept.values.insert(kept.values.end(), from.begin(), from.end());
        }
    }
}

Trace TraceRecorder::take(const Lane& lane) {
    Trace trace;
    trace.label = lane.spec().name;
    trace.model = options_.model;
    if (lane.spec().window.size > 0) trace.window = lane.spec().window;
    const bool beams = lane.spec().mode == LaneMode::beam;
    for (std::size_t c = 0; c < calls_.size(); ++c) {
        for (std::size_t b = 0; b < requests_[c].size(); ++b) {
            const std::int32_t request = requests_[c][b];
            std::string name = request < 0 ? "" : request_name(request);
            if (request >= 0 && beams) name = fmt::format("{}.{}", name, b + 1);
            calls_[c].requests.push_back(std::move(name));
        }
    }
    if (!beams) {
        for (std::size_t i = 0; i < lane.requests().size(); ++i) {
            const RequestState& state = lane.requests()[i];
            TraceText& text = trace.texts[request_name(static_cast<int>(i))];
            text.ids = state.tokens;
            // What was chosen last is never fed.
            if (state.chosen >= 0) text.ids.push_back(state.chosen);
            text.prompt_length = state.prompt_length;
        }
    }
    trace.calls = std::move(calls_);
    trace.vocab = vocab_;
    if (vocab_ > 0) trace.logits = std::make_shared<Logits>(std::move(logits_), vocab_);
    rows_.clear();
    parents_.clear();
    calls_.clear();
    requests_.clear();
    logits_.clear();
    vocab_ = 0;
    return trace;
}

Result<Trace> record_trace(const LaneSpec& spec, Workload workload, LaneContext context, TokenFeed* feed,
                           RecordOptions options, std::stop_token stop) {
    auto lane = make_lane(spec, std::move(context));
    if (!lane) return lane.error();
    TraceRecorder recorder(std::move(options));
    (*lane)->observe(&recorder);
    DS_TRY((*lane)->start(std::move(workload), feed));
    while (true) {
        const auto ready = (*lane)->ready();
        if (!ready) return ready.error();
        if (!*ready) break;
        const auto step = (*lane)->step(stop);
        if (!step && step.error().kind == ErrorKind::cancelled) return step.error();
        if (!step) break;
    }
    return recorder.take(**lane);
}

}  // namespace decodescope
