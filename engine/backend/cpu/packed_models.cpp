// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/backend/cpu/packed_models.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/backend/cpu/packed_matrix.h"

namespace decodescope {

namespace {

/// The matrices of a packed model, and what they lie in.
struct Panels {
    Buffer storage;
    std::vector<PackedMatrix> matrices;
};

/// All products of a model that has its weights as f32.
std::vector<Linear*> products_of(Weights& weights) {
    std::vector<Linear*> products;
    for (LayerWeights& layer : weights.layers) {
        for_each_product(layer, [&](Linear& linear) {
            if (linear.weight != nullptr) products.push_back(&linear);
        });
    }
    products.push_back(&weights.head);
    return products;
}

}  // namespace

Result<std::shared_ptr<const Weights>> PackedModels::get(std::shared_ptr<const Weights> weights,
                                                         WeightType type,
                                                         const std::shared_ptr<MemoryLedger>& ledger,
                                                         ThreadPool& pool, std::stop_token stop) {
    std::erase_if(entries_, [](const Entry& entry) { return entry.packed.expired(); });
    for (const Entry& entry : entries_) {
        if (entry.from != weights.get() || entry.type != type) continue;
        if (auto packed = entry.packed.lock()) return packed;
    }
    const Weights* from = weights.get();
    auto view = view_of(std::move(weights));
    view->type = type;
    view->hash = from->hash;
    view->compute_hash = from->compute_hash;
    const std::vector<Linear*> products = products_of(*view);
    std::size_t bytes = 0;
    for (const Linear* linear : products) {
        if (!PackedMatrix::fits(type, linear->n_in)) {
            return Error{
                ErrorKind::unsupported,
                fmt::format("Weights as {} need rows of whole groups of {}, and a matrix of {} has {}.",
                            to_string(type), weight_group, from->source, linear->n_in)};
        }
        bytes += PackedMatrix::bytes(type, linear->n_in, linear->n_out);
    }
    auto panels = std::make_shared<Panels>();
    auto storage = Buffer::allocate(ledger, Owner::weights, bytes);
    if (!storage) return storage.error();
    panels->storage = *std::move(storage);
    panels->matrices.reserve(products.size());
    std::byte* data = panels->storage.data();
    for (Linear* linear : products) {
        if (stop.stop_requested()) return Error{ErrorKind::cancelled, "Stopped on request."};
        PackedMatrix& matrix = panels->matrices.emplace_back(type, linear->n_in, linear->n_out, data);
        data += matrix.bytes();
        pool.split(matrix.n_panel(), 1, [&](std::int64_t begin, std::int64_t end, int) {
            for (std::int64_t i = begin; i < end; ++i) matrix.pack(linear->weight, static_cast<int>(i));
        });
        linear->packed = &matrix;
    }
    DS_TRY(from->check_files());  // what was read of a file that changed means nothing
    view->prepared = panels;
    view->prepared_bytes = bytes;
    std::shared_ptr<const Weights> packed = std::move(view);
    entries_.push_back({from, type, packed});
    return packed;
}

}  // namespace decodescope
