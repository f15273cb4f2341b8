// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/backend/backend.h"
#include "engine/cache/kv_cache.h"
#include "engine/core/memory.h"
#include "engine/core/result.h"
#include "engine/decode/call_observer.h"
#include "engine/decode/call_timer.h"
#include "engine/decode/call_watch.h"
#include "engine/decode/device_time.h"
#include "engine/decode/finish_reason.h"
#include "engine/decode/lane_spec.h"
#include "engine/decode/phase.h"
#include "engine/decode/sampler.h"
#include "engine/decode/sampling.h"
#include "engine/fault/fault.h"
#include "engine/model/forward.h"
#include "engine/model/weights.h"
#include "engine/model/workspace.h"

namespace decodescope {

class FaultyForward;

/// What one user asks for.
struct Request {
    std::vector<std::int32_t> prompt;
    int new_tokens = 1;
    std::uint64_t isolation = 0;  ///< group within which cached prefixes may be shared
    int arrival_step = 0;         ///< continuous batch: step of the lane before which it comes
    int cancel_after = 0;         ///< cancelled once it has this many new tokens; 0 = never
};

/// What a lane is to do.
struct Workload {
    std::vector<Request> requests;
    Sampling sampling;
    std::vector<std::int32_t> stop_ids;  ///< a request that is fed one of them ends
};

/// Decides which token a request goes on with; asked once per token, before the next step. The default lets
/// every lane follow its own choice.
class TokenFeed {
public:
    virtual ~TokenFeed() = default;
    /// The token that counts as new token `index` of `request`, where the lane chose `chosen`; none when the
    /// request cannot go on, for a reason that `why` tells.
    virtual std::optional<std::int32_t> next(int /*request*/, int /*index*/, std::int32_t chosen) {
        return chosen;
    }
    virtual std::pair<FinishReason, std::string> why(int /*request*/) { return {FinishReason::length, {}}; }
};

/// One token that a lane chose.
struct ChosenToken {
    std::int32_t request = 0;
    std::int32_t index = 0;  ///< among the request's new tokens
    std::int32_t token = -1;
    std::int32_t row = -1;  ///< of the step's logits; -1 where the choice was not made from one row
    bool drafted = false;   ///< it was guessed before, and the guess was kept
};

/// What one step of a lane did. Times are monotonic ns: from before the first forward call to the last chosen
/// token.
struct LaneStep {
    Phase phase = Phase::decode;
    std::int64_t start_ns = 0;
    std::int64_t end_ns = 0;
    std::int64_t first_call_end_ns = 0;    ///< of the target model: what comes after it are the other chunks
    std::int32_t fed_first = -1;           ///< first token fed
    std::int32_t n_row = 0;                ///< requests that were given tokens
    std::int32_t n_call = 0;               ///< forward calls
    std::int64_t positions_forwarded = 0;  ///< token rows pushed through the blocks, pads included
    std::int64_t padding_forwarded = 0;    ///< of these: pads
    std::int64_t score_cells_allowed = 0;
    std::int64_t score_cells_computed = 0;
    std::int32_t n_draft_call = 0;  ///< forward calls of the draft model, and the rows pushed through it
    std::int64_t draft_positions_forwarded = 0;
    std::int32_t n_drafted = 0;      ///< drafts that were verified
    std::int32_t n_accepted = 0;     ///< of these: kept
    std::int32_t n_waiting = 0;      ///< requests that have come and are not yet being served
    std::int32_t n_adopted = 0;      ///< prompt tokens taken from shared blocks instead of being forwarded
    std::int64_t minor_faults = -1;  ///< during the timed region; -1 where unknown
    std::int64_t tensor_allocations = 0;  ///< tracked tensor buffers allocated during the timed region
    std::int64_t heap_allocations = -1;   ///< C++ allocations of this thread during it; -1 where unknown
    DeviceTime device_time;               ///< of all its calls, those of a draft model included
    std::span<const ChosenToken> chosen;  ///< valid until the lane's next step
    std::span<const float> logits;        ///< [rows, vocab]; valid until the lane's next step

    std::span<const float> logits_of(const ChosenToken& token, int vocab) const {
        if (token.row < 0) return {};
        return logits.subspan(static_cast<std::size_t>(token.row) * static_cast<std::size_t>(vocab),
                              static_cast<std::size_t>(vocab));
    }
};

/// A request as it is being served.
struct RequestState {
    std::vector<std::int32_t> tokens;  ///< prompt and the new tokens that were fed
    int prompt_length = 0;
    int n_chosen = 0;          ///< new tokens chosen so far
    std::int32_t chosen = -1;  ///< chosen and not yet fed
    bool arrived = false;
    bool started = false;  ///< part of its prompt was forwarded
    bool finished = false;
    FinishReason finish = FinishReason::length;
    std::string reason;  ///< one sentence unless it ended with `length`
    std::int64_t arrived_ns = 0;
    std::int64_t started_ns = 0;      ///< start of its first forward call
    std::int64_t first_token_ns = 0;  ///< its first new token was chosen
    std::int64_t finished_ns = 0;
    std::int64_t n_adopted = 0;  ///< prompt tokens that were not forwarded because a cached prefix held them
};

/// What lanes of one experiment share.
struct LaneContext {
    std::shared_ptr<const Weights> weights;
    std::shared_ptr<const Weights> draft_weights;  ///< of a speculative lane with a draft model
    Backend* backend = nullptr;
    std::shared_ptr<MemoryLedger> ledger;  ///< of the memory that `backend` computes in
    /// Of the processor's, where that is another: `make_lane` refuses a GPU's lane without. Else null.
    std::shared_ptr<MemoryLedger> host_ledger{};

    /// Where what the processor works on is counted.
    const std::shared_ptr<MemoryLedger>& host() const { return host_ledger ? host_ledger : ledger; }
};

/// One way of decoding at work: serves the requests of a workload step by step. Holds tokens, caches and work
/// buffers; they are freed by `finish` (or the destructor). One thread.
///
///     start(...);  while (ready()) { step(); ... }  finish();
class Lane {
public:
    virtual ~Lane();
    Lane(const Lane&) = delete;
    Lane& operator=(const Lane&) = delete;

    /// Starts a workload: reserves caches and work buffers for its longest request, or as many entries as the
    /// lane's own capacity and the model's positions allow. A prompt that does not fit is refused with
    /// `capacity`. `feed` must live until `finish`; null = every request follows its own choices.
    Result<void> start(Workload workload, TokenFeed* feed = nullptr);
    /// Feeds what was chosen, ends what is done, lets in what has come: true when there is a step to be made.
    /// Not part of the timed region.
    Result<bool> ready();
    /// The next step. A failure is the end of the lane, its requests keep what they have; running out of room
    /// only ends the request that has none left.
    Result<LaneStep> step(std::stop_token stop = {});
    /// Ends a request now and frees what it alone holds.
    void cancel(int request);
    /// Ends all requests that still run, for this reason.
    void end_all(FinishReason finish, const std::string& reason);
    /// Frees caches and buffers; the states of the requests stay until the next `start`.
    void finish();
    /// Shows every forward call of the target model to `observer` from now on, with the logits of all its
    /// tokens if it wants them; null = nobody looks, at no cost. It must live as long as it is set.
    void observe(CallObserver* observer);
    /// Lets `timer` take the time inside every forward call of the target model from now on; null = nobody
    /// does, at no cost. It must live as long as it is set.
    void time_calls(CallTimer* timer) { timer_ = timer; }

    const LaneSpec& spec() const { return spec_; }
    /// What it computes with.
    const Weights& weights() const { return *context_.weights; }
    const std::vector<RequestState>& requests() const { return states_; }
    const Workload& workload() const { return workload_; }
    /// Null for a naive lane and while none is allocated.
    virtual const KvCache* cache() const { return cache_.get(); }
    /// The cache of the draft model of a speculative lane.
    virtual const KvCache* draft_cache() const { return nullptr; }
    /// The draft model of a speculative lane; null where drafts need none.
    const Weights* draft_weights() const { return context_.draft_weights.get(); }
    /// Sizes of the prefill calls of the requests that are served now; sums to the longest prompt.
    virtual std::vector<int> prefill_chunks() const { return {}; }

protected:
    Lane(const LaneSpec& spec, LaneContext context);

    virtual Result<void> on_start() = 0;
    virtual Result<bool> on_ready() = 0;
    virtual Result<void> on_step(LaneStep& step, std::stop_token stop) = 0;
    virtual void on_finish() {}
    virtual void on_end(int /*request*/) {}

    const ModelConfig& config() const { return context_.weights->config; }
    /// The lane's window, else the one the model was trained with.
    Window window() const;
    Error refused(ErrorKind kind, std::string_view what) const;
    /// The same failure, with this lane named.
    Error refused(const Error& error) const;
    bool is_stop(std::int32_t token) const;
    /// Slots or positions a request may use: the model's positions and the lane's capacity.
    int most_entries() const;
    /// Refuses a prompt of `length` tokens (pads included) that does not fit `most_entries`.
    Result<void> check_fits(int length) const;
    /// Allocates `cache_` for `batch` rows.
    Result<void> make_cache(int batch, const KvRoom& room);
    /// Ends a request; it is not fed any more.
    void end(int request, FinishReason finish, std::string reason);
    /// Takes what `request` chose last for its next token: false when that ends it.
    bool feed_chosen(int request);
    /// Empties `call_` and what belongs to it.
    void begin_call();
    /// Closes the row of `call_` that is being built; see `CallRow`. Without arguments, it serves nobody.
    void end_row(int request = -1, int text_start = 0, int counter = 0);
    /// The logits of the token of `call_` that was added last are wanted, to choose from.
    void read_here();
    /// The same, and the next token of `request` is what will be chosen: the backend may draw it at once.
    void choose_here(int request);
    /// Whether `choose_here` asks the backend for anything.
    bool asks_for_draws() const { return samplers_.front().draw(0).has_value(); }
    /// Makes room for calls of `rows` tokens in `batch` rows.
    void reserve_call(int batch, int rows, int n_logits);
    /// Rows of the cache follow `parents`.
    Result<void> reorder(std::span<const int> parents);
    /// One forward call of the target model, counted into `step`.
    Result<ForwardOutput> call_model(LaneStep& step, const WantedLogits& wanted, std::stop_token stop);
    /// What `read_here` and `choose_here` have asked for.
    WantedLogits wanted_here() const { return {logit_rows_, draws_}; }
    /// Chooses the next token of `request` from a row of the output, which is row `row` of the step's logits,
    /// and notes it. `guess`: what speculation had guessed it to be.
    Result<void> choose(int request, int row, const ForwardOutput& output, std::size_t output_row,
                        std::int32_t guess = -1);
    /// Notes a token that was chosen otherwise.
    void note(int request, std::int32_t token, int row, bool drafted);
    RequestState& state(int request) { return states_[static_cast<std::size_t>(request)]; }
    const Request& request(int i) const { return workload_.requests[static_cast<std::size_t>(i)]; }
    int n_request() const { return static_cast<int>(workload_.requests.size()); }

    LaneSpec spec_;
    LaneContext context_;
    Workspace workspace_;
    std::unique_ptr<KvCache> cache_;
    Workload workload_;
    TokenFeed* feed_ = nullptr;
    CallTokens call_;
    std::vector<CallRow> call_rows_;        // [rows of call_]
    std::vector<std::int32_t> logit_rows_;  // of call_
    std::vector<TokenDraw> draws_;          // of these, or none
    std::vector<Sampler> samplers_;         // [requests]
    int n_step_ = 0;                        // steps made
    std::optional<CallWatch> watch_;
    FaultSet faults_;  // deliberate ones

private:
    Result<ForwardOutput> call_watched(std::span<const std::int32_t> logit_rows, std::stop_token stop,
                                       ForwardHook* hook);

    TokenFeed own_choice_;
    std::vector<RequestState> states_;               // [requests]
    std::vector<ChosenToken> chosen_;                // of the last step
    std::unique_ptr<FaultyForward> faulty_forward_;  // null without faults
    CallTimer* timer_ = nullptr;
    std::vector<float> watched_logits_;  // [logit rows, vocab] of the last watched call
};

/// The lane that `spec` describes. `spec` is one that an experiment's `validate` accepts; what depends on the
/// model (head_dim, layers of a draft, its vocabulary) is checked here.
Result<std::unique_ptr<Lane>> make_lane(const LaneSpec& spec, LaneContext context);

/// Cuts `length` tokens into the calls that a lane's prefill makes.
Result<std::vector<int>> prefill_chunks_of(const LaneSpec& spec, int length);

}  // namespace decodescope
