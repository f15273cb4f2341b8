// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/backend/cuda/device_weights.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/backend/cuda/cuda_check.h"
#include "engine/backend/cuda/kernels.h"
#include "engine/backend/cuda/products.h"

namespace decodescope::cuda {

namespace {

constexpr std::size_t alignment = 256;
// Uploaded at once: long enough for full speed, short enough to stop soon.
constexpr std::int64_t chunk_floats = std::int64_t{4} << 20;

/// A tensor on its way: from the processor's memory to a place in the block, and who points to it then.
struct Tensor {
    const float* from = nullptr;
    std::int64_t n = 0;
    Stored type = Stored::f32;
    std::size_t offset = 0;
    std::vector<const float**> pointers;
};

/// All tensors of a model. One that several parts use, the tied head, is there once for every type.
class TensorList {
public:
    void add(const float*& pointer, std::int64_t n, Stored type) {
        if (pointer == nullptr) return;
        const auto same = [&](const Tensor& tensor) {
            return tensor.from == pointer && tensor.n == n && tensor.type == type;
        };
        auto found = std::find_if(tensors_.begin(), tensors_.end(), same);
        if (found == tensors_.end()) {
            found = tensors_.insert(found, {pointer, n, type, bytes_, {}});
            reserve(static_cast<std::size_t>(n) * (type == Stored::f32 ? 4 : 2));
        }
        found->pointers.push_back(&pointer);
    }
    /// Room for something else; where it begins.
    std::size_t reserve(std::size_t bytes) {
        const std::size_t offset = bytes_;
        bytes_ += (bytes + alignment - 1) / alignment * alignment;
        return offset;
    }
    std::size_t bytes() const { return bytes_; }
    std::vector<Tensor>& tensors() { return tensors_; }

private:
    std::vector<Tensor> tensors_;
    std::size_t bytes_ = 0;
};

TensorList tensors_of(Weights& weights, WeightType weight_type) {
    const ModelConfig& config = weights.config;
    const Stored type = stored_as(weight_type);
    TensorList list;
    const auto add_norm = [&](Norm& norm) {
        list.add(norm.weight, config.d_model, Stored::f32);
        list.add(norm.bias, config.d_model, Stored::f32);
    };
    const auto add_product = [&](Linear& linear) {
        list.add(linear.weight, std::int64_t{linear.n_in} * linear.n_out, type);
        list.add(linear.bias, linear.n_out, Stored::f32);
        linear.packed = nullptr;
        linear.type = weight_type;
    };
    list.add(weights.token_embedding, std::int64_t{config.vocab} * config.d_model, Stored::f32);
    list.add(weights.position_embedding, std::int64_t{config.n_positions} * config.d_model, Stored::f32);
    for (LayerWeights& layer : weights.layers) {
        add_norm(layer.attn_norm);
        add_norm(layer.ff_norm);
        for_each_product(layer, add_product);
    }
    add_norm(weights.final_norm);
    add_product(weights.head);
    return list;
}

/// Queues the upload of one tensor. 16-bit types are made on the device, of pieces that lie in `scratch` for
/// that long.
Result<void> upload(const Tensor& tensor, std::byte* to, CudaMemory& memory, DeviceBlock& scratch,
                    const std::stop_token& stop) {
    for (std::int64_t begin = 0; begin < tensor.n; begin += chunk_floats) {
        if (stop.stop_requested()) return Error{ErrorKind::cancelled, "Stopped on request."};
        const std::int64_t n = std::min(chunk_floats, tensor.n - begin);
        const auto bytes = static_cast<std::size_t>(n) * sizeof(float);
        if (tensor.type == Stored::f32) {
            DS_CUDA(cudaMemcpyAsync(to + begin * 4, tensor.from + begin, bytes, cudaMemcpyHostToDevice,
                                    memory.stream()));
            continue;
        }
        DS_TRY(scratch.reserve(bytes));
        DS_CUDA(cudaMemcpyAsync(scratch.data(), tensor.from + begin, bytes, cudaMemcpyHostToDevice,
                                memory.stream()));
        convert(memory.stream(), reinterpret_cast<const float*>(scratch.data()), n, to + begin * 2,
                tensor.type);
        DS_CUDA(cudaGetLastError());
    }
    return {};
}

}  // namespace

Result<std::shared_ptr<const Weights>> DeviceModels::get(std::shared_ptr<const Weights> weights,
                                                         WeightType type,
                                                         const std::shared_ptr<MemoryLedger>& ledger,
                                                         std::stop_token stop) {
    std::erase_if(entries_, [](const Entry& entry) { return entry.model.expired(); });
    for (const Entry& entry : entries_) {
        if (entry.from != weights.get() || entry.type != type) continue;
        if (auto uploaded = entry.uploaded.lock()) return uploaded;
    }
    if (has_groups(type)) {
        return Error{ErrorKind::unsupported,
                     fmt::format("Weights as {} cannot be computed with on {}; f32, f16 and bf16 can.",
                                 to_string(type), memory_->name())};
    }
    const int head_dim = weights->config.head_dim;
    if (head_dim < 8 || head_dim > 256 || head_dim % 8 != 0) {
        return Error{ErrorKind::unsupported,
                     fmt::format("Heads of {} have {} values, {} computes those of 8 to 256 in steps of 8.",
                                 weights->source, head_dim, memory_->name())};
    }
    if (ledger->device() != memory_.get()) {
        return Error{ErrorKind::internal,
                     fmt::format("Weights for {} were asked for in other memory.", memory_->name())};
    }
    const Weights* from = weights.get();
    auto view = view_of(std::move(weights));
    view->type = type;
    view->hash = from->hash;
    view->compute_hash = from->compute_hash;
    TensorList list = tensors_of(*view, type);
    const std::size_t n_frequency = view->rotary_frequencies.size();
    const std::size_t frequencies = list.reserve(n_frequency * sizeof(double));

    auto model = std::make_shared<DeviceModel>();
    auto storage = Buffer::allocate(ledger, Owner::weights, list.bytes(), BufferSource::heap);
    if (!storage) return storage.error();
    model->storage = *std::move(storage);
    std::byte* base = model->storage.data();
    DS_TRY(memory_->enter());
    {
        DeviceBlock scratch(memory_);
        for (const Tensor& tensor : list.tensors()) {
            DS_TRY(upload(tensor, base + tensor.offset, *memory_, scratch, stop));
            for (const float** pointer : tensor.pointers)
                *pointer = reinterpret_cast<const float*>(base + tensor.offset);
        }
        if (n_frequency > 0) {
            DS_CUDA(cudaMemcpyAsync(base + frequencies, view->rotary_frequencies.data(),
                                    n_frequency * sizeof(double), cudaMemcpyHostToDevice, memory_->stream()));
            model->frequencies = reinterpret_cast<const double*>(base + frequencies);
        }
    }
    DS_TRY(memory_->wait());
    DS_TRY(from->check_files());  // what was read of a file that changed means nothing
    model->number = ++last_number_;
    view->prepared = model;
    view->prepared_bytes = list.bytes();
    std::shared_ptr<const Weights> uploaded = std::move(view);
    entries_.push_back({from, type, uploaded, model});
    return uploaded;
}

const DeviceModel* DeviceModels::find(const Weights& weights) const {
    for (const Entry& entry : entries_) {
        const auto model = entry.model.lock();
        if (model != nullptr && model.get() == weights.prepared.get()) return model.get();
    }
    return nullptr;
}

}  // namespace decodescope::cuda
