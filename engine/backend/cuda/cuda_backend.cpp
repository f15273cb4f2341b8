// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/backend/cuda/cuda_backend.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "engine/backend/backend.h"
#include "engine/backend/cuda/architectures.h"
#include "engine/backend/cuda/call_upload.h"
#include "engine/backend/cuda/cuda_check.h"
#include "engine/backend/cuda/cuda_memory.h"
#include "engine/backend/cuda/device_weights.h"
#include "engine/backend/cuda/kernels.h"
#include "engine/backend/cuda/products.h"
#include "engine/backend/cuda/ranges.h"
#include "engine/backend/cuda/read_back.h"
#include "engine/backend/cuda/step_graphs.h"
#include "engine/model/workspace.h"

namespace decodescope {

namespace cuda {
namespace {

Entries entries_of(const KvLayout& layout) {
    Entries entries;
    entries.type = layout.k_scales != nullptr    ? Stored::int8
                   : layout.dtype == DType::f16  ? Stored::f16
                   : layout.dtype == DType::bf16 ? Stored::bf16
                                                 : Stored::f32;
    entries.k = layout.k;
    entries.v = layout.v;
    entries.k_scales = layout.k_scales;
    entries.v_scales = layout.v_scales;
    entries.row_stride = layout.row_stride;
    entries.head_stride = layout.head_stride;
    entries.slot_stride = layout.slot_stride;
    entries.block = layout.block;
    return entries;
}

/// Keys and values of a call without a cache: where the projection put them. Nobody writes there.
Entries entries_of(const KeyValueView& view) {
    Entries entries;
    entries.k = const_cast<float*>(view.k);
    entries.v = const_cast<float*>(view.v);
    entries.head_stride = view.head_stride;
    entries.slot_stride = view.slot_stride;
    return entries;
}

/// Where the gate's product begins in the scratch, behind the input.
std::int64_t gate_offset(std::int64_t rows, int n_in) {
    return (rows * n_in + 63) / 64 * 64;
}

class CudaBackend final : public Backend {
public:
    CudaBackend(std::shared_ptr<CudaMemory> memory, int threads)
        : memory_(std::move(memory)),
          pool_(std::max(1, threads)),
          products_(memory_),
          models_(memory_),
          upload_(memory_),
          read_back_(memory_),
          graphs_(memory_) {}

    ~CudaBackend() override {
        memory_->set_on_trim(nullptr);
        memory_->note(memory_->wait());
        for (const cudaEvent_t event : {begin_, end_}) {
            if (event != nullptr) memory_->note(checked(cudaEventDestroy(event), "cudaEventDestroy"));
        }
    }

    Result<void> open(const CudaDevice& device, const CudaDevices& found) {
        compute_major_ = device.compute_major;
        DS_TRY(products_.open());
        DS_CUDA(cudaEventCreateWithFlags(&begin_, cudaEventDefault));
        DS_CUDA(cudaEventCreateWithFlags(&end_, cudaEventDefault));
        const int cublas = products_.version();
        description_ = fmt::format("{} (sm_{}{}); CUDA {}, driver {}, cuBLAS {}.{}.{}", device.name,
                                   device.compute_major, device.compute_minor, found.runtime, found.driver,
                                   cublas / 10000, cublas / 100 % 100, cublas % 100);
        memory_->set_on_trim([this] {
            graphs_.clear();
            upload_.release();
        });
        return memory_->mark_baseline();
    }

    std::shared_ptr<DeviceMemory> memory() override { return memory_; }
    std::string description() const override { return description_; }
    ThreadPool& pool() override { return pool_; }
    std::optional<double> device_seconds() const override { return seconds_; }

    Result<std::shared_ptr<const Weights>> prepare(std::shared_ptr<const Weights> weights, WeightType type,
                                                   const std::shared_ptr<MemoryLedger>& ledger,
                                                   std::stop_token stop) override {
        constexpr int first_with_bf16 = 8;
        if (type == WeightType::bf16 && compute_major_ < first_with_bf16) {
            return Error{
                ErrorKind::unsupported,
                fmt::format("Weights as bf16 need a GPU of compute capability {}.0, which {} has not; f32 "
                            "and f16 can be computed with.",
                            first_with_bf16, memory_->name())};
        }
        return models_.get(std::move(weights), type, ledger, std::move(stop));
    }

    Result<void> begin_call(const ForwardCall& call) override {
        seconds_.reset();
        DS_TRY(memory_->enter());
        DS_TRY(memory_->take_failure());
        model_ = models_.find(*call.weights);
        if (model_ == nullptr) {
            return Error{ErrorKind::internal, fmt::format("Forward: the weights of {} do not lie on {}.",
                                                          call.weights->source, memory_->name())};
        }
        if (call.cache != nullptr && !call.cache->layout(0)) {
            return Error{ErrorKind::unsupported,
                         fmt::format("{} cannot read this kind of cache.", memory_->name())};
        }
        const Result<void> begun = begin(call);
        // What was queued reads what the next call writes.
        if (!begun) {
            ranges_.end();
            call_ = {};
            memory_->note(memory_->wait());
        }
        return begun;
    }

    Result<void> end_call() override {
        if (call_.tokens == nullptr) return memory_->take_failure();
        ranges_.end();
        // What was captured must end before anything else can be asked for.
        Result<void> result = graphs_.end(complete_);
        if (result) result = checked(cudaEventRecord(end_, memory_->stream()), "cudaEventRecord");
        const Result<void> done = memory_->wait();
        if (result) result = done;
        if (const Result<void> noted = memory_->take_failure(); !noted) result = noted;
        const int n_token = call_.tokens->n_token();
        call_ = {};
        type_ = Stored::f32;
        products_.set_tf32(false);
        if (!result) {
            read_back_.begin();
            return Error{result.error().kind, fmt::format("{}, call of {} tokens: {}", memory_->name(),
                                                          n_token, result.error().message)};
        }
        read_back_.hand_over();
        float milliseconds = 0;
        DS_CUDA(cudaEventElapsedTime(&milliseconds, begin_, end_));
        seconds_ = milliseconds / 1000.0;
        return {};
    }

    const float* read(const float* values, std::int64_t n) override {
        const auto data = read_back_.queue(values, static_cast<std::size_t>(n) * sizeof(float), !replays());
        if (!data) memory_->note(data.error());
        return data ? reinterpret_cast<const float*>(*data) : nullptr;
    }

    void embed(const ForwardCall& call, float* out) override {
        if (replays()) return;
        ranges_.begin_block("embedding");
        cuda::embed(stream(), upload_.arrays(), call.weights->token_embedding,
                    call.weights->position_embedding, call.weights->config.d_model, out);
        launched("the embedding");
    }

    // A hook that gives keys other positions is never used on a GPU, so that they are those of the call.
    void turns(const ForwardCall& call, std::span<const std::int32_t>, float* out) override {
        if (replays()) return;
        cuda::rotary_turns(stream(), upload_.arrays(), model_->frequencies, call.weights->config.head_dim / 2,
                           call.weights->config.rotary->amplitude, out);
        launched("the angles of positions");
    }

    Result<void> append(KvCache& cache, int layer, const KeyValueBlock& block) override {
        DS_TRY(cache.begin_layer(layer));
        if (replays()) return {};
        cuda::store(stream(), upload_.arrays(), block.k, block.v, block.token_stride, cache.shape().n_kv_head,
                    cache.shape().head_dim, entries_of(*cache.layout(layer)));
        launched("storing keys and values");
        return {};
    }

    void pick_rows(const ForwardCall& call, const float* x, std::int64_t d, float* out) override {
        if (replays()) return;
        cuda::pick_rows(stream(), x, upload_.logit_rows(), static_cast<int>(call.logit_rows.size()),
                        static_cast<int>(d), out);
        launched("picking rows");
    }

    void draw(const ForwardCall& call, const float* logits, float* scratch, std::int32_t* drawn) override {
        const auto rows = static_cast<int>(call.draws.size());
        if (!replays()) {
            cuda::draw_tokens(stream(), logits, rows, call.weights->config.vocab, upload_.largest(),
                              upload_.draws(), reinterpret_cast<std::uint64_t*>(scratch), upload_.drawn());
            launched("drawing tokens");
        }
        memory_->note(read_back_.queue_for(upload_.drawn(), drawn, rows, !replays()));
    }

    std::int64_t draw_floats(std::int64_t rows, int vocab) const override {
        constexpr std::int64_t floats_of_weight = sizeof(std::uint64_t) / sizeof(float);
        return rows * vocab * floats_of_weight;
    }

    std::int64_t product_floats(const Linear& w, std::int64_t rows, const Linear* gate) const override {
        return gate_offset(rows, w.n_in) + (gate != nullptr ? rows * w.n_out : 0);
    }

    void product(const ProductCall& call) override {
        const Linear& w = *call.w;
        note_place(w);
        if (!replays()) compute(call);
        if (call.largest == nullptr) return;
        if (!replays()) {
            cuda::find_largest(stream(), call.y, call.rows, w.n_out, upload_.largest());
            launched("looking for the largest logits");
        }
        memory_->note(read_back_.queue_for(upload_.largest(), call.largest, call.rows, !replays()));
    }

    void linear(const float* x, int rows, const Linear& w, float* y, bool accumulate) override {
        if (replays()) return;
        memory_->note(products_.multiply(Stored::f32, x, rows, w.n_in, w.weight, w.n_out, y, accumulate));
        if (w.bias != nullptr) cuda::finish(stream(), y, rows, w.n_out, w.bias, nullptr);
        launched("a product");
    }

    void layer_norm(const float* x, int rows, int d, const Norm& norm, float eps, float* y) override {
        normalise(NormKind::layer_norm, x, rows, d, norm, eps, y);
    }

    void rms_norm(const float* x, int rows, int d, const Norm& norm, float eps, float* y) override {
        normalise(NormKind::rms_norm, x, rows, d, norm, eps, y);
    }

    void rotate(const HeadRows& heads, const float* turns, RotaryPairs pairs) override {
        if (replays()) return;
        cuda::rotate(stream(), heads.x, heads.stride, heads.rows, heads.n_head, heads.head_dim, turns, pairs);
        launched("turning heads");
    }

    void activation(float* x, std::int64_t n, Activation activation) override {
        if (replays()) return;
        cuda::activate(stream(), x, n, activation);
        launched("an activation");
    }

    void gate(float* x, std::int64_t n, Activation activation, float* y) override {
        if (replays()) return;
        cuda::finish_gated(stream(), x, nullptr, activation, y, 1, static_cast<int>(n), nullptr);
        launched("a gate");
    }

    std::int64_t scores_floats(const ModelConfig& config, std::int64_t rows, int n_slot) const override {
        return attention_floats(static_cast<int>(rows), std::max(n_slot, 1), config.n_head, config.n_kv_head,
                                config.head_dim);
    }

    std::int64_t attention(const AttentionCall& call) override {
        if (!replays()) {
            Attention attention;
            attention.q = call.q;
            attention.q_stride = call.q_stride;
            attention.entries =
                call.cache != nullptr ? entries_of(*call.cache->layout(call.layer)) : entries_of(call.kv);
            attention.out = call.out;
            attention.scratch = call.scores;
            attention.n_head = call.n_head;
            attention.n_kv_head = call.n_kv_head;
            attention.head_dim = call.head_dim;
            attention.scale = call.scale;
            cuda::attention(stream(), upload_.arrays(), attention);
            launched("attention");
        }
        return cells_of(call);
    }

private:
    Result<void> begin(const ForwardCall& call) {
        call_ = call;
        type_ = stored_as(call.weights->type);
        complete_ = false;
        next_layer_ = 0;
        cells_ = -1;
        products_.set_tf32(call.workspace != nullptr && call.workspace->tf32());
        read_back_.begin();
        DS_TRY(upload_.upload(call));
        ranges_.begin_step(call.tokens->n_token());
        DS_CUDA(cudaEventRecord(begin_, memory_->stream()));
        return begin_graph();
    }

    /// The same in every layer of a call, and long to count for many queries.
    std::int64_t cells_of(const AttentionCall& call) {
        const auto count = [&] {
            return attention_cells(*call.plan, call.n_head, call.n_kv_head, call.head_dim);
        };
        if (call.plan != call_.plan) return count();
        if (cells_ < 0) cells_ = count();
        return cells_;
    }

    cudaStream_t stream() const { return memory_->stream(); }
    bool replays() const { return graphs_.mode() == StepGraphs::Mode::replay; }

    /// A launch that was refused is known at once, one that fails later when somebody waits.
    void launched(const char* what) { memory_->note(checked(cudaGetLastError(), what)); }

    void normalise(NormKind kind, const float* x, int rows, int d, const Norm& norm, float eps, float* y) {
        if (replays()) return;
        cuda::normalise(stream(), kind, x, rows, d, norm.weight, norm.bias, eps, y, Stored::f32);
        launched("a norm");
    }

    /// Products say how far the call has come: the profiler is told, and a call that was given up is known.
    void note_place(const Linear& w) {
        if (call_.weights == nullptr) return;
        const auto& layers = call_.weights->layers;
        const Linear& head = call_.weights->head;
        if (&w == (call_.logit_rows.empty() ? &layers.back().ff_down : &head)) complete_ = true;
        if (replays()) return;
        if (&w == &head) {
            ranges_.end_layers();
            ranges_.begin_block("head");
        } else if (next_layer_ < layers.size() && &w == &layers[next_layer_].attn_qkv) {
            ranges_.begin_layer(static_cast<int>(next_layer_++));
            ranges_.begin_block("attention");
        } else if (next_layer_ > 0 && &w == &layers[next_layer_ - 1].ff_up) {
            ranges_.begin_block("feed-forward");
        }
    }

    void compute(const ProductCall& call) {
        const Linear& w = *call.w;
        const void* x = call.x;
        if (call.norm != nullptr) {
            cuda::normalise(stream(), call.norm_kind, call.x, call.rows, w.n_in, call.norm->weight,
                            call.norm->bias, call.eps, call.scratch, type_);
            x = call.scratch;
        } else if (type_ != Stored::f32) {
            cuda::convert(stream(), call.x, std::int64_t{call.rows} * w.n_in, call.scratch, type_);
            x = call.scratch;
        }
        const auto multiply = [&](const Linear& with, float* y, bool accumulate) {
            memory_->note(
                products_.multiply(type_, x, call.rows, w.n_in, with.weight, w.n_out, y, accumulate));
        };
        multiply(w, call.y, call.accumulate);
        if (call.gate != nullptr) {
            float* gates = call.scratch + gate_offset(call.rows, w.n_in);
            multiply(*call.gate, gates, false);
            cuda::finish_gated(stream(), gates, call.gate->bias, *call.activation, call.y, call.rows, w.n_out,
                               w.bias);
        } else if (w.bias != nullptr || call.activation) {
            cuda::finish(stream(), call.y, call.rows, w.n_out, w.bias,
                         call.activation ? &*call.activation : nullptr);
        }
        launched("a product");
    }

    /// Says how this call gets to the GPU: decode steps over storage that stays where it is can be graphs.
    Result<void> begin_graph() {
        const bool fits = call_.workspace != nullptr && call_.workspace->graph() && call_.cache != nullptr &&
                          call_.cache->capacity() > 0 && call_.plan->max_query() == 1;
        if (!fits) {
            graphs_.begin_plain();
            return {};
        }
        key_ = upload_.shape();
        const auto add = [&](const auto*... pointers) {
            (key_.push_back(reinterpret_cast<std::uintptr_t>(pointers)), ...);
        };
        const auto add_number = [&](std::int64_t number) {
            key_.push_back(static_cast<std::uintptr_t>(number));
        };
        const int n_layer = call_.weights->config.n_layer;
        add_number(static_cast<std::int64_t>(model_->number));
        add_number(n_layer);
        add_number(call_.workspace->tf32() ? 1 : 0);
        for (const float* place : call_.workspace->places()) add(place);
        for (const int layer : {0, n_layer - 1}) {
            const KvLayout layout = *call_.cache->layout(layer);
            add(layout.k, layout.v, layout.k_scales, layout.v_scales);
            for (const std::int64_t number :
                 {layout.row_stride, layout.head_stride, layout.slot_stride, std::int64_t{layout.block},
                  static_cast<std::int64_t>(layout.dtype)})
                add_number(number);
        }
        read_back_.add_places(key_);
        const auto mode = graphs_.begin(key_);
        return mode ? Result<void>() : Result<void>(mode.error());
    }

    std::shared_ptr<CudaMemory> memory_;
    ThreadPool pool_;
    Products products_;
    DeviceModels models_;
    CallUpload upload_;
    ReadBack read_back_;
    StepGraphs graphs_;
    ProfilerRanges ranges_;
    std::string description_;
    int compute_major_ = 0;
    cudaEvent_t begin_ = nullptr;
    cudaEvent_t end_ = nullptr;
    std::optional<double> seconds_;
    ForwardCall call_;                    // that is open
    const DeviceModel* model_ = nullptr;  // of it
    Stored type_ = Stored::f32;           // of its matrices
    bool complete_ = false;               // its last product was asked for
    std::size_t next_layer_ = 0;          // whose products have not been asked for
    std::int64_t cells_ = -1;             // see `cells_of`; -1 = not counted yet
    StepGraphs::Key key_;                 // kept for its memory
};

}  // namespace
}  // namespace cuda

Result<std::unique_ptr<Backend>> make_cuda_backend(int index, int threads) {
    const CudaDevices found = find_cuda_devices();
    if (found.devices.empty())
        return Error{ErrorKind::device, fmt::format("There is no cuda:{}: {}.", index, found.why_none)};
    const auto device = std::find_if(found.devices.begin(), found.devices.end(),
                                     [&](const CudaDevice& each) { return each.index == index; });
    if (device == found.devices.end()) {
        return Error{ErrorKind::device, fmt::format("There is no cuda:{}: this machine's GPUs are 0 to {}.",
                                                    index, found.devices.back().index)};
    }
    if (!cuda::runs_on(DECODESCOPE_COMPILED_FOR, device->compute_major, device->compute_minor)) {
        return Error{
            ErrorKind::device,
            fmt::format("cuda:{} ({}) has compute capability {}.{}, and the program was compiled for "
                        "{}.",
                        index, device->name, device->compute_major, device->compute_minor,
                        DECODESCOPE_COMPILED_FOR)};
    }
    auto memory = cuda::CudaMemory::make(index);
    if (!memory) return memory.error();
    auto backend = std::make_unique<cuda::CudaBackend>(*memory, threads);
    DS_TRY(backend->open(*device, found));
    return std::unique_ptr<Backend>(std::move(backend));
}

}  // namespace decodescope
