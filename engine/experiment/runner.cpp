// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/experiment/runner.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <optional>

#include "engine/backend/backend.h"
#include "engine/core/random.h"
#include "engine/decode/lane.h"
#include "engine/measure/bandwidth.h"
#include "engine/measure/process_memory.h"
#include "engine/verify/logit_comparison.h"

namespace decodescope {

namespace {

constexpr std::uint64_t prompt_stream = 0x70726f6d7074;
constexpr int warmup_steps = 8;

FinishReason finish_reason(ErrorKind kind) {
    if (kind == ErrorKind::cancelled) return FinishReason::cancelled;
    return kind == ErrorKind::capacity ? FinishReason::capacity : FinishReason::failed;
}

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

std::string utc_now() {
    return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
}

/// Runs the lanes of one experiment and writes its record.
class Run {
public:
    Run(const Experiment& experiment, const LoadedModel& model, std::shared_ptr<MemoryLedger> ledger,
        EventSink& sink, std::stop_token stop, std::unique_ptr<Backend> backend, Record& record)
        : experiment_(experiment),
          weights_(model.weights),
          ledger_(std::move(ledger)),
          sink_(sink),
          stop_(std::move(stop)),
          backend_(std::move(backend)),
          record_(record),
          reference_(experiment.reference_index()) {
        for (const LaneSpec& spec : experiment_.lanes) {
            lanes_.push_back(std::make_unique<Lane>(spec, weights_, *backend_, ledger_));
            record_.lanes.push_back({spec, {}, {}});
        }
        states_.resize(lanes_.size());
    }

    void warm_up() {
        for (int pass = 0; pass < experiment_.warmup; ++pass) {
            for (const auto& lane : lanes_) {
                // A lane that cannot run says so in its timed pass; here it is only skipped.
                const int steps = std::min(experiment_.new_tokens, warmup_steps + 1);
                if (!lane->start(record_.prompt_ids, steps, experiment_.sampling)) continue;
                auto step = lane->prefill(stop_);
                for (int i = 1; i < steps && step; ++i) step = lane->decode(step->token, stop_);
                lane->finish();
            }
        }
    }

    void run_all() {
        const std::size_t n = lanes_.size();
        for (int repetition = 0; repetition < experiment_.repetitions; ++repetition) {
            for (std::size_t i = 0; i < n; ++i) {
                states_[i] = {};
                record_.lanes[i].repetitions.emplace_back();
            }
            if (experiment_.interleave == Interleave::step) {
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
            if (stop_.stop_requested() && repetition + 1 < experiment_.repetitions) {
                record_.status = FinishReason::cancelled;
                record_.reason = "Stopped on request.";
                break;
            }
        }
    }

    std::int64_t thread_reductions() { return backend_->pool().n_reduction(); }

private:
    struct LaneState {
        bool active = false;
        bool same_history = true;      // fed the same tokens as the reference so far
        std::int32_t feed = -1;        // token of the next decode step
        std::optional<LaneStep> step;  // of the current step, if it succeeded
        StepEvent event;
    };

    RepetitionRecord& repetition_record(std::size_t lane) { return record_.lanes[lane].repetitions.back(); }

    void end_lane(std::size_t lane, int repetition, FinishReason reason, std::string why) {
        if (!states_[lane].active) return;
        states_[lane].active = false;
        lanes_[lane]->finish();
        repetition_record(lane).finish = reason;
        repetition_record(lane).reason = why;
        if (severity(reason) > severity(record_.status)) {
            record_.status = reason;
            record_.reason = std::move(why);
        }
        sink_.repetition_done(static_cast<std::int32_t>(lane), repetition, reason);
    }

    void end_lane(std::size_t lane, int repetition, const Error& error) {
        end_lane(lane, repetition, finish_reason(error.kind), error.message);
    }

    /// One repetition of the lanes in `group`, step by step, a different one going first each time.
    void run_together(const std::vector<std::size_t>& group, int repetition) {
        for (const std::size_t lane : group) {
            states_[lane].active = true;
            const auto started =
                lanes_[lane]->start(record_.prompt_ids, experiment_.new_tokens, experiment_.sampling);
            if (!started) end_lane(lane, repetition, started.error());
        }
        for (int step = 0; step < experiment_.new_tokens; ++step) {
            if (std::none_of(group.begin(), group.end(),
                             [&](std::size_t lane) { return states_[lane].active; }))
                break;
            for (std::size_t k = 0; k < group.size(); ++k) {
                const std::size_t lane =
                    group[(k + static_cast<std::size_t>(step + repetition)) % group.size()];
                if (states_[lane].active) run_step(lane, repetition, step);
            }
            keep_reference_step(group, step);
            for (const std::size_t lane : group) {
                if (states_[lane].step) report_step(lane, step);
            }
            for (const std::size_t lane : group) plan_next(lane, repetition, step);
        }
        for (const std::size_t lane : group) end_lane(lane, repetition, FinishReason::length, {});
    }

    void run_step(std::size_t lane, int repetition, int step) {
        LaneState& state = states_[lane];
        auto done = step == 0 ? lanes_[lane]->prefill(stop_) : lanes_[lane]->decode(state.feed, stop_);
        state.step.reset();
        if (!done) {
            end_lane(lane, repetition, done.error());
            return;
        }
        state.step = *std::move(done);
        fill_event(lane, repetition, step);
    }

    void fill_event(std::size_t lane, int repetition, int step) {
        const LaneStep& done = *states_[lane].step;
        StepEvent& event = states_[lane].event;
        event = {};
        event.lane = static_cast<std::int32_t>(lane);
        event.repetition = repetition;
        event.step = step;
        event.phase = step == 0 ? Phase::prefill : Phase::decode;
        event.token = done.token;
        event.fed_first = step == 0 ? record_.prompt_ids.front() : states_[lane].feed;
        event.start_ns = done.start_ns;
        event.end_ns = done.end_ns;
        event.positions_forwarded = done.positions_forwarded;
        event.score_cells_allowed = done.score_cells_allowed;
        event.score_cells_computed = done.score_cells_computed;
        event.minor_faults_step = done.minor_faults;
        const std::size_t calls = step == 0 ? lanes_[lane]->n_prefill_call() : 1;
        event.bytes_moved = static_cast<std::int64_t>(weights_->bytes_read_per_step() * calls);
        if (const KvCache* cache = lanes_[lane]->cache()) {
            event.cache_length = cache->length();
            event.kv_bytes_live = static_cast<std::int64_t>(cache->live_bytes());
            event.kv_bytes_reserved = static_cast<std::int64_t>(cache->reserved_bytes());
            event.kv_bytes_meta = static_cast<std::int64_t>(cache->meta_bytes());
            event.kv_bytes_copied = static_cast<std::int64_t>(cache->copied_bytes());
            event.bytes_moved += event.kv_bytes_live;
        }
        event.tensor_bytes = ledger_->live();
        event.memory = read_process_memory();
    }

    /// Keeps what later steps and lanes are compared with and fed from.
    void keep_reference_step(const std::vector<std::size_t>& group, int step) {
        if (std::find(group.begin(), group.end(), reference_) == group.end() || !states_[reference_].step)
            return;
        const LaneStep& done = *states_[reference_].step;
        const auto i = static_cast<std::size_t>(step);
        if (reference_tokens_.size() == i) reference_tokens_.push_back(done.token);
        if (experiment_.interleave == Interleave::step) return;
        // Lanes that run later need this row then: one repetition's worth of them is kept.
        const std::size_t vocab = done.logits.size();
        if (reference_logits_.empty()) {
            auto rows = Buffer::floats(ledger_, Owner::logits,
                                       vocab * static_cast<std::size_t>(experiment_.new_tokens));
            if (!rows) return;  // then nothing is compared, and the record says so
            reference_logits_ = *std::move(rows);
        }
        std::copy(done.logits.begin(), done.logits.end(), reference_logits_.f32() + i * vocab);
    }

    std::span<const float> reference_row(int step) const {
        if (experiment_.interleave == Interleave::step) {
            const auto& done = states_[reference_].step;
            return done ? done->logits : std::span<const float>{};
        }
        const auto i = static_cast<std::size_t>(step);
        const auto vocab = static_cast<std::size_t>(weights_->config.vocab);
        if (reference_logits_.empty() || i >= reference_tokens_.size()) return {};
        return {reference_logits_.f32() + i * vocab, vocab};
    }

    void report_step(std::size_t lane, int step) {
        LaneState& state = states_[lane];
        if (lane != reference_ && state.same_history) {
            if (const auto row = reference_row(step); !row.empty()) {
                state.event.comparison = compare_logits(state.step->logits, row);
            }
        }
        repetition_record(lane).steps.push_back(state.event);
        sink_.step_done(state.event);
    }

    /// Decides what `lane` is fed in the step after `step`, or ends it.
    void plan_next(std::size_t lane, int repetition, int step) {
        LaneState& state = states_[lane];
        if (!state.active || !state.step) return;
        const auto i = static_cast<std::size_t>(step);
        switch (experiment_.drive) {
            case Drive::free: state.feed = state.step->token; break;
            case Drive::fixed:
                if (i < experiment_.fixed_ids.size()) state.feed = experiment_.fixed_ids[i];
                break;
            case Drive::forced:
                if (i >= reference_tokens_.size()) {
                    const auto& reference = repetition_record(reference_);
                    end_lane(lane, repetition, reference.finish,
                             fmt::format("The reference lane \"{}\" stopped: {}",
                                         record_.lanes[reference_].spec.name, reference.reason));
                    return;
                }
                state.feed = reference_tokens_[i];
                break;
        }
        if (i < reference_tokens_.size() && state.feed != reference_tokens_[i] &&
            experiment_.drive == Drive::free) {
            state.same_history = false;
        }
        const auto& eos = weights_->config.eos_ids;
        if (experiment_.stop_at_eos && std::find(eos.begin(), eos.end(), state.feed) != eos.end()) {
            end_lane(lane, repetition, FinishReason::stop_token, "The end-of-text token was chosen.");
        }
        state.step.reset();
    }

    const Experiment& experiment_;
    std::shared_ptr<const Weights> weights_;
    std::shared_ptr<MemoryLedger> ledger_;
    EventSink& sink_;
    std::stop_token stop_;
    std::unique_ptr<Backend> backend_;
    Record& record_;
    std::size_t reference_;
    std::vector<std::unique_ptr<Lane>> lanes_;
    std::vector<LaneState> states_;
    std::vector<std::int32_t> reference_tokens_;  // of the first repetition
    Buffer reference_logits_;                     // [new_tokens, vocab], only when repetitions alternate
};

}  // namespace

Result<std::vector<std::int32_t>> prompt_ids(const Experiment& experiment, const LoadedModel& model) {
    const PromptSpec& prompt = experiment.prompt;
    const int vocab = model.weights->config.vocab;
    std::vector<std::int32_t> ids;
    switch (prompt.kind) {
        case PromptSpec::Kind::text:
            if (model.tokenizer == nullptr) {
                return Error{
                    ErrorKind::bad_input,
                    fmt::format(
                        "The model {} has no tokenizer: give the prompt as token ids or as random ids.",
                        model.weights->source)};
            }
            ids = model.tokenizer->encode_text(prompt.text);
            break;
        case PromptSpec::Kind::ids: ids = prompt.ids; break;
        case PromptSpec::Kind::random:
            for (int i = 0; i < prompt.length; ++i) {
                const std::uint64_t bits =
                    random_bits(prompt.seed, prompt_stream, static_cast<std::uint64_t>(i));
                ids.push_back(static_cast<std::int32_t>(bits % static_cast<std::uint64_t>(vocab)));
            }
            break;
    }
    if (ids.empty()) return Error{ErrorKind::bad_input, "The prompt has no tokens, expected at least one."};
    for (const std::int32_t id : ids) {
        if (id >= 0 && id < vocab) continue;
        return Error{ErrorKind::bad_input,
                     fmt::format("Prompt token {} is outside the model's vocabulary of {}.", id, vocab)};
    }
    return ids;
}

Result<Record> run_experiment(const Experiment& experiment, const LoadedModel& model,
                              std::shared_ptr<MemoryLedger> ledger, EventSink& sink, std::stop_token stop,
                              double read_bandwidth_gb_s) {
    DS_TRY(experiment.validate());
    if (experiment.device != "cpu") {
        return Error{ErrorKind::unsupported,
                     fmt::format("Device \"{}\" is not available in this build, expected \"cpu\".",
                                 experiment.device)};
    }
    Record record;
    record.experiment = experiment;
    auto ids = prompt_ids(experiment, model);
    if (!ids) return ids.error();
    for (const std::int32_t id : experiment.fixed_ids) {
        if (id >= 0 && id < model.weights->config.vocab) continue;
        return Error{ErrorKind::bad_input,
                     fmt::format("fixed_ids: token {} is outside the model's vocabulary of {}.", id,
                                 model.weights->config.vocab)};
    }
    record.prompt_ids = *std::move(ids);
    record.model = model.weights->config;
    record.model_source = model.weights->source;
    record.model_hash = weights_hash(*model.weights);
    record.weight_bytes = model.weights->storage.size_bytes();
    if (model.tokenizer != nullptr) record.prompt_text = model.tokenizer->decode(record.prompt_ids);

    record.environment = read_environment();
    record.started_at = utc_now();
    const int threads = experiment.threads > 0 ? experiment.threads : physical_core_count();
    record.environment.threads = threads;
    auto backend = make_cpu_backend(threads);
    record.environment.kernels = backend->description();
    if (read_bandwidth_gb_s <= 0) {
        const auto measured = measure_read_bandwidth(backend->pool(), ledger);
        if (measured) read_bandwidth_gb_s = *measured;
    }
    record.environment.read_bandwidth_gb_s = read_bandwidth_gb_s;
    sink.run_started({static_cast<std::int32_t>(experiment.lanes.size()), experiment.repetitions,
                      static_cast<std::int32_t>(record.prompt_ids.size()), experiment.new_tokens, threads,
                      read_bandwidth_gb_s});
    {
        Run run(experiment, model, ledger, sink, stop, std::move(backend), record);
        run.warm_up();
        run.run_all();
        record.environment.thread_reductions = run.thread_reductions();
    }
    record.tensor_bytes_after = ledger->live();
    if (model.tokenizer != nullptr) {
        for (LaneRecord& lane : record.lanes) {
            if (!lane.repetitions.empty())
                lane.text = model.tokenizer->decode(lane.repetitions.back().tokens());
        }
    }
    sink.run_finished(record.status);
    return record;
}

}  // namespace decodescope
