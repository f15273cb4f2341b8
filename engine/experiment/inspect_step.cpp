// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/experiment/inspect_step.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "engine/core/as_index.h"

namespace decodescope {

namespace {

// Queries and keys of all layers are kept up to this size, so that another layer costs nothing.
constexpr std::size_t most_input_bytes = std::size_t{256} << 20;

Error outside(const char* what, int value, int n) {
    return {ErrorKind::bad_input, fmt::format("{} {} does not exist, expected 0 to {}.", what, value, n - 1)};
}

/// What every cell of the call is, and how many of which.
void add_mask(StepView& step) {
    const AttentionPlan& plan = step.view.plan;
    step.mask.assign(as_index(std::int64_t{plan.n_query()} * plan.max_slot()), std::uint8_t{n_mask_cell});
    std::vector<bool> seen;
    for (int b = 0; b < plan.batch(); ++b) {
        const auto held = plan.slot_positions(b);
        step.n_pair += std::int64_t{plan.n_query(b)} * plan.n_slot(b);
        for (int q = 0; q < plan.n_query(b); ++q) {
            seen.assign(held.size(), false);
            for (const SlotRange& range : plan.visible(b, q))
                std::fill(seen.begin() + range.begin, seen.begin() + range.end, true);
            const std::int32_t position = plan.query_positions(b)[as_index(q)];
            std::uint8_t* line =
                step.mask.data() + as_index(std::int64_t{plan.first_query(b) + q} * plan.max_slot());
            for (std::size_t slot = 0; slot < held.size(); ++slot) {
                const CellState rule = cell_state(position, held[slot], plan.window());
                MaskCell cell = static_cast<MaskCell>(rule);
                if (seen[slot] != (rule == CellState::visible))
                    cell = seen[slot] ? MaskCell::wrongly_seen : MaskCell::wrongly_hidden;
                step.n_visible += seen[slot];
                step.n_wrong_cell += cell >= MaskCell::wrongly_seen;
                line[slot] = static_cast<std::uint8_t>(cell);
            }
        }
    }
}

}  // namespace

Result<std::unique_ptr<StepInspector>> StepInspector::make(std::shared_ptr<const Record> record,
                                                           std::size_t lane,
                                                           std::shared_ptr<const LoadedModel> model,
                                                           std::shared_ptr<MemoryLedger> ledger,
                                                           std::stop_token stop) {
    std::unique_ptr<StepInspector> made(new StepInspector);
    auto again = serve_again(*record, lane, *model, std::move(ledger), std::move(stop));
    if (!again) return again.error();
    made->again_ = *std::move(again);
    made->record_ = std::move(record);
    made->lane_index_ = lane;
    made->model_ = std::move(model);
    return made;
}

Result<void> StepInspector::make_lane_once() {
    if (lane_) return {};
    auto made = make_lane(again_->spec, again_->context);
    if (!made) return made.error();
    lane_ = *std::move(made);
    recorder_ = std::make_unique<StepRecorder>(*lane_, model_->weights->config, most_input_bytes);
    lane_->observe(recorder_.get());
    return {};
}

Result<void> StepInspector::restart() {
    n_step_ = 0;
    failed_ = false;
    DS_TRY(make_lane_once());
    recorder_->restart();
    return lane_->start(again_->workload, again_->feed.get());
}

/// Whether a step of the lane depends on its text alone.
bool StepInspector::can_jump() const {
    const LaneSpec& spec = again_->spec;
    return spec.mode == LaneMode::naive && spec.batching == Batching::single && spec.faults.empty();
}

/// Makes the one call of a step of a lane that can jump, with the text that it had; false when the record
/// does not tell it.
Result<bool> StepInspector::jump_to(const StepQuery& query, const std::stop_token& stop) {
    const LaneRecord& own = record_->lanes[lane_index_];
    if (own.repetitions.empty()) return false;
    const auto& chosen = own.repetitions.front().chosen;
    const auto token = std::find_if(chosen.begin(), chosen.end(),
                                    [&](const TokenEvent& each) { return each.step == query.step; });
    if (token == chosen.end()) return false;
    const std::vector<std::int32_t> own_tokens = own.repetitions.front().tokens(token->request);
    Workload workload = again_->workload;
    Request request = workload.requests.at(as_index(token->request));
    for (int i = 0; i < token->index; ++i) {
        if (as_index(i) >= own_tokens.size()) return false;
        const auto fed = again_->feed->next(token->request, i, own_tokens[as_index(i)]);
        if (!fed) return false;
        request.prompt.push_back(*fed);
    }
    request.new_tokens = 1;
    request.arrival_step = 0;
    workload.requests = {std::move(request)};
    n_step_ = 0;
    DS_TRY(make_lane_once());
    recorder_->restart();
    DS_TRY(lane_->start(std::move(workload)));
    const auto ready = lane_->ready();
    if (!ready) return ready.error();
    recorder_->begin_step(query.step, true, query.layer, token->request);
    const auto step = lane_->step(stop);
    if (!step) return step.error();
    phase_ = token->index == 0 ? Phase::prefill : Phase::decode;
    n_step_ = query.step + 1;
    return true;
}

// Whether the calls of the step that was made last can be looked at in this layer.
bool StepInspector::has_layer(int layer) const {
    const auto& calls = recorder_->calls();
    for (std::size_t i = 0; i < calls.size(); ++i) {
        if (calls[i].error.empty() && recorder_->inputs(static_cast<int>(i), layer) == nullptr) return false;
    }
    return true;
}

Result<void> StepInspector::serve_to(const StepQuery& query, const std::stop_token& stop) {
    const bool here = n_step_ > 0 && query.step == n_step_ - 1;
    if (here && has_layer(query.layer)) return {};
    if (can_jump()) {
        const auto jumped = jump_to(query, stop);
        if (!jumped) return jumped.error();
        if (*jumped) return {};
        n_step_ = 0;
    }
    if (n_step_ == 0 || query.step < n_step_) DS_TRY(restart());
    while (n_step_ <= query.step) {
        const auto ready = failed_ ? Result<bool>(false) : lane_->ready();
        if (!ready || !*ready) {
            const int made = n_step_;
            n_step_ = 0;
            return Error{ErrorKind::bad_input,
                         fmt::format("Step {} does not exist: lane \"{}\" made {} steps{}.", query.step,
                                     again_->spec.name, made, ready ? "" : ": " + ready.error().message)};
        }
        recorder_->begin_step(n_step_, n_step_ == query.step, query.layer);
        const auto step = lane_->step(stop);
        if (!step && (step.error().kind == ErrorKind::cancelled || stop.stop_requested())) {
            n_step_ = 0;
            return step.error();
        }
        if (step) phase_ = step->phase;
        failed_ = !step.ok();
        ++n_step_;
    }
    return {};
}

WeightMatrix StepInspector::weights(int call, int layer, int head, int most_side) const {
    const AttentionPlan& plan = recorder_->calls()[as_index(call)].plan;
    const AttentionInputs& inputs = *recorder_->inputs(call, layer);
    const int side = std::max(1, most_side);
    WeightMatrix matrix{head, plan.n_query(), plan.max_slot(), 1, 1, {}};
    matrix.query_bin = std::max(1, (matrix.n_query + side - 1) / side);
    matrix.key_bin = std::max(1, (matrix.n_slot + side - 1) / side);
    matrix.values.assign(as_index(std::int64_t{matrix.rows()} * matrix.columns()),
                         std::numeric_limits<float>::quiet_NaN());
    std::vector<float> one;
    for (int b = 0; b < plan.batch(); ++b) {
        one.resize(as_index(plan.n_slot(b)));
        for (int q = 0; q < plan.n_query(b); ++q) {
            attention_weights(inputs, plan, b, q, head, one);
            float* out =
                matrix.values.data() +
                as_index(std::int64_t{(plan.first_query(b) + q) / matrix.query_bin} * matrix.columns());
            for (std::size_t slot = 0; slot < one.size(); ++slot) {
                float& largest = out[slot / as_index(matrix.key_bin)];
                if (!(largest >= one[slot])) largest = one[slot];  // true for NaN
            }
        }
    }
    return matrix;
}

Result<StepView> StepInspector::look(const StepQuery& query, std::stop_token stop) {
    const ModelConfig& config = model_->weights->config;
    if (query.step < 0) return Error{ErrorKind::bad_input, "A step is numbered from 0."};
    if (query.layer < 0 || query.layer >= config.n_layer)
        return outside("Layer", query.layer, config.n_layer);
    if (query.head < 0 || query.head >= config.n_head) return outside("Head", query.head, config.n_head);
    DS_TRY(serve_to(query, stop));
    const auto& calls = recorder_->calls();
    const int n_call = static_cast<int>(calls.size());
    if (n_call == 0) {
        return Error{ErrorKind::bad_input, fmt::format("Step {} of lane \"{}\" made no forward call.",
                                                       query.step, again_->spec.name)};
    }
    const int call = query.call < 0 ? n_call - 1 : query.call;
    if (call >= n_call) return outside("Call", call, n_call);
    StepView view;
    view.lane = lane_index_;
    view.step = query.step;
    view.phase = phase_;
    view.n_call = n_call;
    view.call = call;
    view.layer = query.layer;
    view.view = calls[as_index(call)];
    add_mask(view);
    if (view.view.error.empty()) {
        view.weights = weights(call, query.layer, query.head, query.most_side);
        for (int head = 0; query.all_heads && head < config.n_head; ++head) {
            if (stop.stop_requested()) return Error{ErrorKind::cancelled, "Stopped on request."};
            view.heads.push_back(weights(call, query.layer, head, query.most_head_side));
        }
    }
    return view;
}

LayerTime TimeSplit::all_layers() const {
    LayerTime sum;
    for (const LayerTime& layer : layers) {
        sum.attention_ns += layer.attention_ns;
        sum.mlp_ns += layer.mlp_ns;
        sum.other_ns += layer.other_ns;
    }
    return sum;
}

TimeSplit time_split(const StepProfile& profile, int n_layer) {
    TimeSplit split;
    split.step = profile.step;
    split.layers.resize(as_index(n_layer));
    for (const ProfileSpan& span : profile.spans) {
        if (span.kind == SpanKind::step) split.total_ns += span.ns();
        if (span.kind == SpanKind::head) split.head_ns += span.ns();
        if (span.layer < 0 || span.layer >= n_layer) continue;
        LayerTime& layer = split.layers[as_index(span.layer)];
        if (span.kind == SpanKind::layer) layer.other_ns += span.ns();
        if (span.kind == SpanKind::attention) layer.attention_ns += span.ns();
        if (span.kind == SpanKind::feed_forward) layer.mlp_ns += span.ns();
    }
    split.other_ns = split.total_ns - split.head_ns;
    for (LayerTime& layer : split.layers) {
        split.other_ns -= layer.other_ns;
        layer.other_ns -= layer.attention_ns + layer.mlp_ns;
    }
    return split;
}

}  // namespace decodescope
