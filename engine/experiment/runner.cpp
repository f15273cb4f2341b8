// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/experiment/runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <optional>
#include <utility>

#include "engine/backend/backend.h"
#include "engine/core/clock.h"
#include "engine/core/random.h"
#include "engine/core/timestamp.h"
#include "engine/decode/lane.h"
#include "engine/decode/lane_weights.h"
#include "engine/experiment/lane_engines.h"
#include "engine/experiment/lane_feed.h"
#include "engine/experiment/precision.h"
#include "engine/experiment/reference_rows.h"
#include "engine/experiment/workload.h"
#include "engine/measure/machine_use.h"
#include "engine/measure/process_memory.h"
#include "engine/model/weight_size.h"
#include "engine/verify/logit_comparison.h"

namespace decodescope {

namespace {

constexpr std::uint64_t prompt_stream = 0x70726f6d7074;
constexpr int max_repetitions = 1000;  // of what goes on until it is precise

/// Worst first: what the whole run says about itself when its lanes ended differently.
int severity(FinishReason reason) {
    switch (reason) {
        case FinishReason::cancelled: return 4;
        case FinishReason::failed: return 3;
        case FinishReason::capacity: return 2;
        case FinishReason::stop_token:
        case FinishReason::length: return 0;
    }
    return 0;
}

/// Notes what a step of a lane was, apart from what its tokens are compared with.
StepEvent event_of(const LaneStep& done, const Lane& lane) {
    StepEvent event;
    event.phase = done.phase;
    event.n_token = static_cast<std::int32_t>(done.chosen.size());
    if (!done.chosen.empty()) {
        event.token = done.chosen.front().token;
        event.request = done.chosen.front().request;
    }
    event.n_row = done.n_row;
    event.n_waiting = done.n_waiting;
    event.fed_first = done.fed_first;
    event.start_ns = done.start_ns;
    event.end_ns = done.end_ns;
    event.first_call_end_ns = done.first_call_end_ns;
    event.device_ns = done.device_time.ns();
    event.positions_forwarded = done.positions_forwarded;
    event.padding_forwarded = done.padding_forwarded;
    event.score_cells_allowed = done.score_cells_allowed;
    event.score_cells_computed = done.score_cells_computed;
    event.draft_positions_forwarded = done.draft_positions_forwarded;
    event.n_drafted = done.n_drafted;
    event.n_accepted = done.n_accepted;
    event.n_adopted = done.n_adopted;
    event.minor_faults_step = done.minor_faults;
    event.tensor_allocations = done.tensor_allocations;
    event.heap_allocations = done.heap_allocations;
    event.bytes_moved = static_cast<std::int64_t>(lane.weights().bytes_read_per_step()) * done.n_call;
    if (const Weights* draft = lane.draft_weights())
        event.bytes_moved += static_cast<std::int64_t>(draft->bytes_read_per_step()) * done.n_draft_call;
    const auto signed_bytes = [](std::uint64_t bytes) { return static_cast<std::int64_t>(bytes); };
    if (const KvCache* cache = lane.cache()) {
        const KvBytes bytes = cache->bytes();
        for (int b = 0; b < cache->batch(); ++b) {
            event.cache_length += cache->length(b);
            event.cache_forgotten += cache->next_position(b) - cache->length(b);
        }
        event.kv_bytes_live = signed_bytes(bytes.live);
        event.kv_bytes_scales = signed_bytes(bytes.scales);
        event.kv_bytes_residual = signed_bytes(bytes.residual);
        event.kv_bytes_padding = signed_bytes(bytes.padding);
        event.kv_bytes_slack = signed_bytes(bytes.slack);
        event.kv_bytes_kept = signed_bytes(bytes.kept);
        event.kv_bytes_shared = signed_bytes(bytes.shared);
        event.kv_bytes_reserved = signed_bytes(bytes.reserved);
        event.kv_bytes_meta = signed_bytes(bytes.meta);
        event.kv_bytes_copied = signed_bytes(cache->copied_bytes());
        event.bytes_moved += event.kv_bytes_live;
    }
    if (const KvCache* cache = lane.draft_cache()) event.kv_bytes_draft = signed_bytes(cache->bytes().live);
    return event;
}

RequestRecord record_of(const RequestState& state) {
    return {state.finish,         state.reason,      state.arrived_ns, state.started_ns,
            state.first_token_ns, state.finished_ns, state.n_adopted};
}

/// Runs the lanes of one experiment and writes its record.
class Run {
public:
    Run(const Experiment& experiment, const LoadedModel& model, std::shared_ptr<MemoryLedger> ledger,
        EventSink& sink, std::stop_token stop, RunControl* control, std::vector<LaneEngine> engines,
        Record& record)
        : experiment_(experiment),
          weights_(model.weights),
          ledger_(std::move(ledger)),
          sink_(sink),
          stop_(std::move(stop)),
          control_(control),
          engines_(std::move(engines)),
          record_(record),
          side_by_side_(experiment.effective_interleave() == Interleave::step),
          reference_(experiment.reference_index()),
          reference_rows_(ledger_, static_cast<int>(record.prompts.size()), experiment.new_tokens,
                          weights_->config.vocab) {}

    /// Makes the lanes, loading draft models and preparing weights.
    Result<void> make_lanes() {
        for (const LaneSpec& spec : experiment_.lanes) {
            record_.lanes.push_back({spec, {}, {}, 0});
            record_.lanes.back().on_gpu = experiment_.device_of(spec).is_gpu();
        }
        for (std::size_t i = 0; i < experiment_.lanes.size(); ++i) {
            const LaneSpec& spec = experiment_.lanes[i];
            LaneEngine& engine = engine_on(engines_, experiment_.device_of(spec));
            LaneContext context{weights_, nullptr, engine.backend.get(), engine.ledger, ledger_};
            if (spec.mode == LaneMode::speculative && spec.draft.kind == DraftKind::model) {
                auto draft = load_model(spec.draft.model, ledger_, {stop_, {}});
                if (!draft) return draft.error();
                context.draft_weights = draft->weights;
            }
            auto prepared = prepared_context(spec, std::move(context), stop_);
            if (!prepared) return prepared.error();
            auto lane = make_lane(spec, *std::move(prepared));
            if (!lane) return lane.error();
            record_.lanes[i].weight_bytes = matrix_bytes((*lane)->weights());
            lanes_.push_back(*std::move(lane));
            lane_engines_.push_back(&engine);
        }
        for (std::size_t i = 0; i < lanes_.size(); ++i)
            feeds_.emplace_back(experiment_, reference_rows_, lanes_[reference_].get());
        states_.resize(lanes_.size());
        return {};
    }

    /// The run was stopped before its lanes were ready.
    void stopped_early(const Error& error) {
        record_.status = FinishReason::cancelled;
        record_.reason = error.message;
        for (LaneRecord& lane : record_.lanes) {
            RepetitionRecord& nothing = lane.repetitions.emplace_back();
            nothing.finish = record_.status;
            nothing.reason = record_.reason;
        }
    }

    void warm_up() {
        for (int pass = 0; pass < experiment_.warmup; ++pass) {
            for (const auto& lane : lanes_) {
                // A lane that cannot run says so in its timed pass; here it is only skipped.
                if (!lane->start(workload(std::min(experiment_.new_tokens, warmup_steps + 1)))) continue;
                for (int i = 0; i <= warmup_steps; ++i) {
                    const auto ready = lane->ready();
                    if (!ready || !*ready || !lane->step(stop_)) break;
                }
                lane->finish();
            }
        }
    }

    void run_all() {
        const std::size_t n = lanes_.size();
        const std::int64_t started_ns = now_ns();
        for (int repetition = 0; another(repetition, started_ns); ++repetition) {
            for (std::size_t i = 0; i < n; ++i) {
                states_[i] = {};
                record_.lanes[i].repetitions.emplace_back();
            }
            if (side_by_side_) {
                std::vector<std::size_t> all(n);
                for (std::size_t i = 0; i < n; ++i) all[i] = i;
                run_together(all, repetition);
            } else {
                for (std::size_t k = 0; k < n; ++k) {
                    // The reference goes first in the first repetition, because the others are fed its
                    // tokens.
                    const std::size_t offset = (reference_ + k) % n;
                    const std::size_t backwards = (reference_ + n - k) % n;
                    run_together({repetition % 2 == 0 ? offset : (backwards + n - 1) % n}, repetition);
                }
            }
            if (stop_.stop_requested() && another(repetition + 1, started_ns)) {
                record_.status = FinishReason::cancelled;
                record_.reason = "Stopped on request.";
                break;
            }
        }
    }

    std::int64_t thread_reductions() {
        std::int64_t sum = 0;
        for (LaneEngine& engine : engines_) sum += engine.backend->pool().n_reduction();
        return sum;
    }
    /// Of the first engine: with several, each has threads of its own.
    std::vector<int> thread_cpus() { return engines_.front().backend->pool().cpus(); }

private:
    /// Whether repetition `repetition` is to be made: the least number, then as the precision asks for.
    bool another(int repetition, std::int64_t started_ns) const {
        if (repetition < experiment_.repetitions) return true;
        const Precision& asked = experiment_.precision;
        // What has failed is not made better by more of it.
        if (!asked.asked() || severity(record_.status) > 0 || repetition >= max_repetitions) return false;
        if (asked.seconds > 0 && static_cast<double>(now_ns() - started_ns) >= asked.seconds * 1e9)
            return false;
        return asked.interval <= 0 || !achieved_precision(record_).reached;
    }

    struct LaneState {
        bool active = false;
        std::optional<LaneStep> step;  // of the current round, if one was made
        StepEvent event;
    };

    RepetitionRecord& repetition_record(std::size_t lane) { return record_.lanes[lane].repetitions.back(); }

    Workload workload(int new_tokens) const {
        return workload_of(experiment_, record_.prompts, weights_->config, new_tokens);
    }

    /// Ends a lane's repetition: its requests first, with `reason` where they still run.
    void end_lane(std::size_t lane, int repetition, FinishReason finish, const std::string& why) {
        if (!states_[lane].active) return;
        states_[lane].active = false;
        lanes_[lane]->end_all(finish, why);
        RepetitionRecord& record = repetition_record(lane);
        record.finish = finish;
        record.reason = why;
        for (const RequestState& request : lanes_[lane]->requests()) {
            record.requests.push_back(record_of(request));
            // A request that was cancelled as planned is no trouble of the lane.
            const bool planned =
                request.finish == FinishReason::cancelled && finish != FinishReason::cancelled;
            if (planned) continue;
            if (severity(request.finish) < severity(record.finish)) continue;
            if (request.finish == record.finish && !record.reason.empty()) continue;
            record.finish = request.finish;
            record.reason = request.reason;
        }
        record_.lanes[lane].gpu_memory = memory_use(*lane_engines_[lane]);
        lanes_[lane]->finish();
        // A lane that fails because it was told to make a mistake says nothing against the run.
        const bool deliberate =
            !lanes_[lane]->spec().faults.empty() && record.finish != FinishReason::cancelled;
        if (severity(record.finish) > severity(record_.status) && !deliberate) {
            record_.status = record.finish;
            record_.reason = record.reason;
        }
        sink_.repetition_done(static_cast<std::int32_t>(lane), repetition, record.finish);
    }

    void end_lane(std::size_t lane, int repetition, const Error& error) {
        end_lane(lane, repetition, finish_reason(error.kind), error.message);
    }

    /// One repetition of the lanes in `group`, step by step, a different one going first each time.
    void run_together(const std::vector<std::size_t>& group, int repetition) {
        for (const std::size_t lane : group) {
            states_[lane].active = true;
            begin_memory_use(*lane_engines_[lane]);
            feeds_[lane].begin(record_.prompts.size());
            const auto started = lanes_[lane]->start(workload(experiment_.new_tokens), &feeds_[lane]);
            if (!started) end_lane(lane, repetition, started.error());
        }
        const auto active = [&](std::size_t lane) { return states_[lane].active; };
        for (std::size_t round = 0; std::any_of(group.begin(), group.end(), active); ++round) {
            has_turn_ = control_ == nullptr;
            for (std::size_t k = 0; k < group.size(); ++k) {
                const std::size_t lane =
                    group[(k + round + static_cast<std::size_t>(repetition)) % group.size()];
                states_[lane].step.reset();
                if (active(lane) && !waits(lane)) run_step(lane, repetition);
            }
            keep_reference_step();
            for (const std::size_t lane : group) {
                if (states_[lane].step) report_step(lane);
            }
        }
    }

    /// A lane that runs beside the reference may be ahead of it in a request when the reference has given up
    /// another; it waits until it can be fed.
    bool waits(std::size_t lane) const {
        if (experiment_.drive != Drive::forced || lane == reference_ || !states_[reference_].active)
            return false;
        const auto& mine = lanes_[lane]->requests();
        const auto& theirs = lanes_[reference_]->requests();
        for (std::size_t i = 0; i < mine.size(); ++i) {
            const bool needs = !mine[i].finished && mine[i].chosen >= 0 &&
                               static_cast<std::size_t>(mine[i].n_chosen) >
                                   reference_rows_.tokens(static_cast<int>(i)).size();
            if (needs && !theirs[i].finished) return true;
        }
        return false;
    }

    void run_step(std::size_t lane, int repetition) {
        const auto ready = lanes_[lane]->ready();
        if (!ready) return end_lane(lane, repetition, ready.error());
        if (!*ready) return end_lane(lane, repetition, FinishReason::length, {});
        // Asked when there is a step to be made: a round that only ends lanes is no turn.
        if (!std::exchange(has_turn_, true)) control_->wait_turn(stop_);
        auto done = lanes_[lane]->step(stop_);
        if (!done) return end_lane(lane, repetition, done.error());
        LaneState& state = states_[lane];
        state.event = event_of(*done, *lanes_[lane]);
        state.event.lane = static_cast<std::int32_t>(lane);
        state.event.repetition = repetition;
        state.event.step = static_cast<std::int32_t>(repetition_record(lane).steps.size());
        state.event.tensor_bytes = ledger_->live();
        state.event.memory = read_process_memory();
        state.step = *std::move(done);
    }

    /// Keeps what later steps and lanes are fed and compared with.
    void keep_reference_step() {
        const auto& step = states_[reference_].step;
        if (!step) return;
        for (const ChosenToken& token : step->chosen) {
            reference_rows_.add(token.request, token.index, token.token,
                                step->logits_of(token, weights_->config.vocab), !side_by_side_);
        }
    }

    std::span<const float> reference_logits(int request, int index) const {
        if (!side_by_side_) return reference_rows_.logits(request, index);
        const auto& step = states_[reference_].step;
        if (!step) return {};
        for (const ChosenToken& token : step->chosen) {
            if (token.request == request && token.index == index)
                return step->logits_of(token, weights_->config.vocab);
        }
        return {};
    }

    void report_step(std::size_t lane) {
        LaneState& state = states_[lane];
        RepetitionRecord& record = repetition_record(lane);
        const std::size_t first = record.chosen.size();
        for (const ChosenToken& token : state.step->chosen) {
            TokenEvent event;
            event.lane = state.event.lane;
            event.repetition = state.event.repetition;
            event.step = state.event.step;
            event.request = token.request;
            event.index = token.index;
            event.token = token.token;
            event.drafted = token.drafted;
            const auto logits = state.step->logits_of(token, weights_->config.vocab);
            if (lane != reference_ && !logits.empty() &&
                feeds_[lane].same_history(token.request, token.index)) {
                const auto& known = reference_rows_.tokens(token.request);
                const auto i = static_cast<std::size_t>(token.index);
                if (const auto row = reference_logits(token.request, token.index); !row.empty())
                    event.comparison = compare_logits(logits, row, i < known.size() ? known[i] : -1);
            }
            const LogitComparison& worst = state.event.comparison;
            // Written so that NaN is the worst.
            if (event.comparison.compared &&
                (!worst.compared || !(event.comparison.relative_error <= worst.relative_error)))
                state.event.comparison = event.comparison;
            record.chosen.push_back(event);
        }
        record.steps.push_back(state.event);
        sink_.step_done(state.event);
        for (std::size_t i = first; i < record.chosen.size(); ++i) sink_.token_done(record.chosen[i]);
    }

    const Experiment& experiment_;
    std::shared_ptr<const Weights> weights_;
    std::shared_ptr<MemoryLedger> ledger_;
    EventSink& sink_;
    std::stop_token stop_;
    RunControl* control_;
    bool has_turn_ = false;  // in this round
    std::vector<LaneEngine> engines_;
    Record& record_;
    bool side_by_side_;
    std::size_t reference_;
    ReferenceRows reference_rows_;
    std::vector<std::unique_ptr<Lane>> lanes_;
    std::vector<LaneEngine*> lane_engines_;  // [lanes], in engines_
    std::deque<LaneFeed> feeds_;             // [lanes]
    std::vector<LaneState> states_;
};

Result<std::vector<std::int32_t>> ids_of(const PromptSpec& prompt, const LoadedModel& model) {
    const int vocab = model.weights->config.vocab;
    switch (prompt.kind) {
        case PromptSpec::Kind::text:
            if (model.tokenizer == nullptr) {
                return Error{
                    ErrorKind::bad_input,
                    fmt::format(
                        "The model {} has no tokenizer: give the prompt as token ids or as random ids.",
                        model.weights->source)};
            }
            return model.tokenizer->encode_to_continue(prompt.text, prompt.control);
        case PromptSpec::Kind::ids: return prompt.ids;
        case PromptSpec::Kind::random: break;
    }
    std::vector<std::int32_t> ids;
    for (int i = 0; i < prompt.length; ++i) {
        const std::uint64_t bits = random_bits(prompt.seed, prompt_stream, static_cast<std::uint64_t>(i));
        ids.push_back(static_cast<std::int32_t>(bits % static_cast<std::uint64_t>(vocab)));
    }
    return ids;
}

}  // namespace

Result<std::vector<std::vector<std::int32_t>>> prompt_ids(const Experiment& experiment,
                                                          const LoadedModel& model) {
    DS_TRY(check_against_model(experiment, model.weights->config));
    std::vector<std::vector<std::int32_t>> prompts;
    for (const PromptSpec& prompt : experiment.prompts) {
        auto ids = ids_of(prompt, model);
        if (!ids) return ids.error();
        if (ids->empty())
            return Error{ErrorKind::bad_input, "The prompt has no tokens, expected at least one."};
        prompts.push_back(*std::move(ids));
    }
    return prompts;
}

Result<Record> run_experiment(const Experiment& experiment, const LoadedModel& model,
                              std::shared_ptr<MemoryLedger> ledger, EventSink& sink, std::stop_token stop,
                              MachineLimits limits, RunControl* control) {
    DS_TRY(experiment.validate());
    Record record;
    record.experiment = experiment;
    auto prompts = prompt_ids(experiment, model);
    if (!prompts) return prompts.error();
    for (auto& ids : *prompts) {
        std::string text = model.tokenizer != nullptr ? model.tokenizer->decode(ids) : "";
        record.prompts.push_back({std::move(ids), std::move(text)});
    }
    record.model = model.weights->config;
    record.model_source = model.weights->source;
    record.model_hash = weights_hash(*model.weights);
    record.weight_bytes = model.weights->bytes();
    record.weight_bytes_mapped = model.weights->mapped.size_bytes();

    record.environment = read_environment();
    record.started_at = utc_now();
    const int threads = experiment.threads > 0 ? experiment.threads : physical_core_count();
    record.environment.threads = threads;
    auto engines = make_engines(experiment, threads, ledger);
    if (!engines) return engines.error();
    describe_engines(experiment, *engines, record.environment);
    if (limits.read_gb_s <= 0 || limits.peak_gflop_s <= 0)
        limits = measure_machine_limits(engines->front().backend->pool(), ledger);
    record.environment.read_bandwidth_gb_s = limits.read_gb_s;
    record.environment.peak_gflop_s = limits.peak_gflop_s;
    record.environment.peak_instructions = limits.peak_instructions;
    {
        Run run(experiment, model, ledger, sink, stop, control, *std::move(engines), record);
        const auto made = run.make_lanes();
        if (!made && made.error().kind != ErrorKind::cancelled) return made.error();
        RunStarted started{static_cast<std::int32_t>(experiment.lanes.size()),
                           experiment.repetitions,
                           {},
                           experiment.new_tokens,
                           threads,
                           limits.read_gb_s};
        for (const PromptRecord& prompt : record.prompts)
            started.prompt_lengths.push_back(static_cast<std::int32_t>(prompt.ids.size()));
        sink.run_started(started);
        if (made) run.warm_up();
        const std::int64_t waited_before = control != nullptr ? control->waited_turns() : 0;
        const MachineWatch watch;
        if (made)
            run.run_all();
        else
            run.stopped_early(made.error());
        record.environment.use = watch.use();
        record.environment.thread_reductions = run.thread_reductions();
        record.environment.thread_cpus = run.thread_cpus();
        if (control != nullptr) record.waited_turns = control->waited_turns() - waited_before;
    }
    record.tensor_bytes_after = ledger->live();
    if (model.tokenizer != nullptr) {
        for (LaneRecord& lane : record.lanes) {
            for (std::size_t i = 0; i < record.prompts.size() && !lane.repetitions.empty(); ++i) {
                const auto tokens = lane.repetitions.back().tokens(static_cast<int>(i));
                lane.texts.push_back(model.tokenizer->decode(tokens));
            }
        }
    }
    sink.run_finished(record.status);
    return record;
}

}  // namespace decodescope
