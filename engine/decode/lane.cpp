// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/decode/lane.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "engine/core/clock.h"
#include "engine/core/quote.h"
#include "engine/decode/batch_lane.h"
#include "engine/decode/beam_lane.h"
#include "engine/decode/continuous_lane.h"
#include "engine/decode/speculative_lane.h"
#include "engine/fault/fault_catalogue.h"
#include "engine/fault/faulty_forward.h"
#include "engine/measure/allocation_count.h"
#include "engine/measure/process_memory.h"

namespace decodescope {

const char* to_string(Phase phase) {
    switch (phase) {
        case Phase::prefill: return "prefill";
        case Phase::decode: return "decode";
        case Phase::mixed: return "mixed";
    }
    return "decode";
}

const char* to_string(FinishReason reason) {
    switch (reason) {
        case FinishReason::length: return "length";
        case FinishReason::stop_token: return "stop_token";
        case FinishReason::capacity: return "capacity";
        case FinishReason::cancelled: return "cancelled";
        case FinishReason::failed: return "failed";
    }
    return "failed";
}

FinishReason finish_reason(ErrorKind kind) {
    if (kind == ErrorKind::cancelled) return FinishReason::cancelled;
    return kind == ErrorKind::capacity ? FinishReason::capacity : FinishReason::failed;
}

Lane::Lane(const LaneSpec& spec, LaneContext context)
    : spec_(spec), context_(std::move(context)), workspace_(context_.ledger, spec.allocation) {
    // `make_lane` has refused what is not known.
    if (const auto faults = fault_set(spec_)) faults_ = *faults;
    workspace_.set_graph(spec_.cuda_graph);
    workspace_.set_tf32(spec_.tf32);
}

Lane::~Lane() = default;

Window Lane::window() const {
    Window window = effective_window(spec_.window, config().window);
    if (faults_.has(Fault::window_ignored)) window = {};
    if (faults_.has(Fault::window_too_wide)) ++window.size;
    if (faults_.has(Fault::window_too_narrow)) --window.size;
    return window;
}

Error Lane::refused(ErrorKind kind, std::string_view what) const {
    return {kind, fmt::format("Lane {}: {}.", quote(spec_.name), what)};
}

Error Lane::refused(const Error& error) const {
    // Its own sentence ends with a full stop already.
    return refused(error.kind, std::string_view(error.message).substr(0, error.message.size() - 1));
}

bool Lane::is_stop(std::int32_t token) const {
    const auto& stops = workload_.stop_ids;
    return std::find(stops.begin(), stops.end(), token) != stops.end();
}

int Lane::most_entries() const {
    const int positions = config().n_positions;
    if (faults_.has(Fault::overflow_last_slot) || faults_.has(Fault::ring_without_window)) return positions;
    return spec_.cache.capacity > 0 ? std::min(positions, spec_.cache.capacity) : positions;
}

Result<void> Lane::check_fits(int length) const {
    const int most = most_entries();
    if (length <= most) return {};
    return refused(
        ErrorKind::capacity,
        fmt::format("the prompt has {} tokens, but there is room for {} ({})", length, most,
                    most < config().n_positions ? "the cache's capacity" : "the model's positions"));
}

Result<void> Lane::make_cache(int batch, const KvRoom& room) {
    const KvShape shape{config().n_layer, batch, config().n_kv_head, config().head_dim};
    // Two loads of a model are two identities: nothing that could differ is ever taken for the same.
    const auto identity =
        static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(context_.weights.get()));
    auto cache = decodescope::make_cache(spec_.cache, shape, room, context_.ledger, identity);
    if (!cache) return refused(cache.error());
    cache_ = *std::move(cache);
    cache_->misbehave(faults_);
    return {};
}

Result<void> Lane::start(Workload workload, TokenFeed* feed) {
    finish();
    workload_ = std::move(workload);
    feed_ = feed != nullptr ? feed : &own_choice_;
    states_.assign(workload_.requests.size(), {});
    samplers_.clear();
    n_step_ = 0;
    if (faults_.any()) {
        DS_TRY(context_.weights->check_files());  // some faults change a copy of a tensor
        faulty_forward_ = std::make_unique<FaultyForward>(faults_, context_.weights,
                                                          effective_window(spec_.window, config().window));
    }
    if (workload_.requests.empty())
        return refused(ErrorKind::bad_input, "got no requests, expected at least one");
    for (int i = 0; i < n_request(); ++i) {
        const Request& one = request(i);
        if (one.prompt.empty() || one.new_tokens < 1) {
            return refused(ErrorKind::bad_input,
                           fmt::format("got {} prompt tokens and {} new ones, expected at least one of each",
                                       one.prompt.size(), one.new_tokens));
        }
        RequestState& mine = state(i);
        mine.prompt_length = static_cast<int>(one.prompt.size());
        mine.tokens.reserve(one.prompt.size() + static_cast<std::size_t>(one.new_tokens));
        mine.tokens = one.prompt;
        samplers_.emplace_back(workload_.sampling, i);
        samplers_.back().reserve(config().vocab);
    }
    chosen_.reserve(workload_.requests.size() * static_cast<std::size_t>(spec_.draft.tokens + 1));
    return on_start();
}

Result<bool> Lane::ready() {
    // Here, because the step is timed; it looks again when it has read them.
    DS_TRY(context_.weights->check_files());
    const std::int64_t now = now_ns();
    for (int i = 0; i < n_request(); ++i) {
        RequestState& mine = state(i);
        if (!mine.arrived && request(i).arrival_step <= n_step_) {
            mine.arrived = true;
            mine.arrived_ns = now;
        }
        const int most = request(i).cancel_after;
        if (!mine.finished && most > 0 && mine.n_chosen >= most && most < request(i).new_tokens) cancel(i);
    }
    return on_ready();
}

bool Lane::feed_chosen(int i) {
    RequestState& mine = state(i);
    if (mine.finished) return false;
    if (mine.chosen < 0) return true;
    if (mine.n_chosen >= request(i).new_tokens) {
        // The last token is never forwarded.
        end(i, FinishReason::length, {});
        return false;
    }
    const auto token = feed_->next(i, mine.n_chosen - 1, mine.chosen);
    if (!token) {
        auto [finish, reason] = feed_->why(i);
        end(i, finish, std::move(reason));
        return false;
    }
    if (is_stop(*token)) {
        end(i, FinishReason::stop_token, fmt::format("The stop token {} was chosen.", *token));
        return false;
    }
    mine.tokens.push_back(*token);
    mine.chosen = -1;
    return true;
}

Result<LaneStep> Lane::step(std::stop_token stop) {
    LaneStep step;
    chosen_.clear();
    const std::int64_t faults = read_minor_faults();
    const std::uint64_t tensors = context_.ledger->n_allocation();
    const std::int64_t heap = read_allocation_count();
    step.start_ns = now_ns();
    const auto done = on_step(step, std::move(stop));
    step.end_ns = now_ns();
    if (!done) return done.error();
    if (heap >= 0) step.heap_allocations = read_allocation_count() - heap;
    step.tensor_allocations = static_cast<std::int64_t>(context_.ledger->n_allocation() - tensors);
    if (faults >= 0) step.minor_faults = read_minor_faults() - faults;
    for (const ChosenToken& token : chosen_) {
        RequestState& mine = state(token.request);
        if (token.index == 0) mine.first_token_ns = step.end_ns;
    }
    for (RequestState& mine : states_) {
        if (mine.started && mine.started_ns == 0) mine.started_ns = step.start_ns;
    }
    step.chosen = chosen_;
    ++n_step_;
    return step;
}

void Lane::observe(CallObserver* observer) {
    watch_.reset();
    if (observer != nullptr) watch_.emplace(*observer);
}

void Lane::begin_call() {
    call_.clear();
    call_rows_.clear();
    logit_rows_.clear();
    draws_.clear();
}

void Lane::end_row(int request, int text_start, int counter) {
    const int first = call_.begin(call_.batch());
    CallRow row{.request = request, .text_start = text_start, .counter = counter};
    if (!logit_rows_.empty() && logit_rows_.back() >= first) row.read_token = logit_rows_.back() - first;
    call_.end_row();
    call_rows_.push_back(row);
}

void Lane::read_here() {
    logit_rows_.push_back(call_.n_token() - 1);
}

void Lane::choose_here(int request) {
    read_here();
    if (const auto draw = samplers_[static_cast<std::size_t>(request)].draw(state(request).n_chosen))
        draws_.push_back(*draw);
}

void Lane::reserve_call(int batch, int rows, int n_logits) {
    call_.reserve(batch, rows);
    call_rows_.reserve(static_cast<std::size_t>(batch));
    logit_rows_.reserve(static_cast<std::size_t>(n_logits));
    draws_.reserve(static_cast<std::size_t>(n_logits));
}

Result<void> Lane::reorder(std::span<const int> parents) {
    if (watch_) watch_->observer().reordered(parents);
    // The prompt's row must reach all beams before they can cross.
    const bool spread = cache_->length(cache_->batch() - 1) == 0;
    if (faults_.has(Fault::beams_not_reordered) && !spread) return {};
    return cache_->reorder(parents);
}

/// The same call as an observer is to see it: logits of all tokens, of which the lane then gets its own.
Result<ForwardOutput> Lane::call_watched(std::span<const std::int32_t> logit_rows, std::stop_token stop,
                                         ForwardHook* hook) {
    const bool all = watch_->observer().wants_logits();
    const std::vector<std::int32_t> rows =
        all ? all_rows(call_) : std::vector<std::int32_t>(logit_rows.begin(), logit_rows.end());
    watch_->begin(call_, call_rows_, cache_.get(), hook);
    auto output = forward(*context_.weights, call_, rows, cache_.get(), window(), workspace_,
                          *context_.backend, std::move(stop), &*watch_);
    watch_->end(call_, call_rows_, cache_.get(), workspace_.plan(),
                output && all ? output->logits : std::span<const float>(),
                output ? nullptr : &output.error());
    if (!output || !all) return output;
    const auto vocab = static_cast<std::size_t>(config().vocab);
    watched_logits_.clear();
    for (const std::int32_t row : logit_rows) {
        const auto from = output->logits.subspan(static_cast<std::size_t>(row) * vocab, vocab);
        watched_logits_.insert(watched_logits_.end(), from.begin(), from.end());
    }
    output->logits = watched_logits_;
    return output;
}

Result<ForwardOutput> Lane::call_model(LaneStep& step, const WantedLogits& wanted, std::stop_token stop) {
    if (faulty_forward_) faulty_forward_->begin_call(call_, call_rows_, cache_.get());
    ForwardHook* hook = faulty_forward_.get();
    if (timer_ != nullptr) {
        timer_->begin_call(hook);
        hook = timer_;
    }
    auto output = watch_ ? call_watched(wanted.rows, std::move(stop), hook)
                         : forward(*context_.weights, call_, wanted, cache_.get(), window(), workspace_,
                                   *context_.backend, std::move(stop), hook);
    if (timer_ != nullptr) timer_->end_call();
    if (!output) return output;
    if (step.fed_first < 0) step.fed_first = call_.tokens().front();
    if (step.n_call == 0) step.first_call_end_ns = now_ns();
    step.device_time.add(context_.backend->device_seconds());
    ++step.n_call;
    step.positions_forwarded += call_.n_token();
    step.padding_forwarded += std::count(call_.positions().begin(), call_.positions().end(), slot_padding);
    step.score_cells_allowed += output->score_cells_allowed;
    step.score_cells_computed += output->score_cells_computed;
    return output;
}

Result<void> Lane::choose(int i, int row, const ForwardOutput& output, std::size_t output_row,
                          std::int32_t guess) {
    RequestState& mine = state(i);
    const auto token = samplers_[static_cast<std::size_t>(i)].choose(
        output.logits_of(output_row, config().vocab), mine.n_chosen, mine.tokens,
        output.found_in(output_row));
    if (!token) return refused(token.error());
    note(i, *token, row, *token == guess);
    return {};
}

void Lane::note(int i, std::int32_t token, int row, bool drafted) {
    RequestState& mine = state(i);
    chosen_.push_back({i, mine.n_chosen, token, row, drafted});
    mine.chosen = token;
    ++mine.n_chosen;
}

void Lane::end(int i, FinishReason finish, std::string reason) {
    RequestState& mine = state(i);
    if (mine.finished) return;
    mine.finished = true;
    mine.finish = finish;
    mine.reason = std::move(reason);
    mine.finished_ns = now_ns();
    on_end(i);
}

void Lane::cancel(int i) {
    end(i, FinishReason::cancelled,
        fmt::format("The request was cancelled after {} new tokens.", state(i).n_chosen));
}

void Lane::end_all(FinishReason finish, const std::string& reason) {
    for (int i = 0; i < n_request(); ++i) end(i, finish, reason);
}

void Lane::finish() {
    on_finish();
    cache_.reset();
    faulty_forward_.reset();
    workspace_.release();
    feed_ = &own_choice_;
}

Result<std::vector<int>> prefill_chunks_of(const LaneSpec& spec, int length) {
    std::vector<int> chunks = spec.prefill_partition;
    if (!chunks.empty()) {
        const bool positive = std::all_of(chunks.begin(), chunks.end(), [](int n) { return n >= 1; });
        if (positive && std::accumulate(chunks.begin(), chunks.end(), std::int64_t{0}) == length)
            return chunks;
        return Error{
            ErrorKind::bad_input,
            fmt::format("Lane {}: the prefill partition must be positive sizes that sum to the prompt's "
                        "{} tokens.",
                        quote(spec.name), length)};
    }
    const int chunk = spec.prefill_chunk > 0 ? spec.prefill_chunk : length;
    for (int done = 0; done < length; done += chunk) chunks.push_back(std::min(chunk, length - done));
    return chunks;
}

Result<std::unique_ptr<Lane>> make_lane(const LaneSpec& spec, LaneContext context) {
    if (context.host()->device() != nullptr) {
        return Error{ErrorKind::internal,
                     fmt::format("Lane {} was given no ledger of the processor's memory.", quote(spec.name))};
    }
    const auto fault = [&](std::string_view what) {
        return Error{ErrorKind::bad_input, fmt::format("Lane {}: faults{}.", quote(spec.name), what)};
    };
    const auto faults = fault_set(spec);
    if (!faults) return fault(faults.error().message);
    for (const FaultInfo& info : fault_catalogue()) {
        if (!faults->has(info.fault)) continue;
        if (const auto fits = fault_fits_model(info.fault, spec, context.weights->config); !fits)
            return fault(fmt::format(" has {}, which {}", quote(info.id), fits.error().message));
    }
    switch (spec.mode) {
        case LaneMode::naive:
        case LaneMode::cached:
            if (spec.batching == Batching::continuous) return ContinuousLane::make(spec, std::move(context));
            return BatchLane::make(spec, std::move(context));
        case LaneMode::speculative: return SpeculativeLane::make(spec, std::move(context));
        case LaneMode::beam: return BeamLane::make(spec, std::move(context));
    }
    return Error{ErrorKind::internal, "A lane of no known mode was asked for."};
}

}  // namespace decodescope
