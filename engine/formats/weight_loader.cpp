// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/formats/weight_loader.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <mutex>
#include <new>
#include <optional>
#include <thread>
#include <unordered_map>
#include <utility>

#include "engine/core/thread_pool.h"

namespace decodescope {

namespace {

constexpr std::size_t piece_floats = std::size_t{1} << 18;          // 1 MiB stays in the second-level cache
constexpr std::uint64_t bytes_per_thread = std::uint64_t{4} << 20;  // below, starting one costs more

std::int64_t count_non_finite(std::span<const float> values) {
    constexpr std::uint32_t exponent = 0x7f800000u;
    std::int64_t count = 0;
    for (const float value : values) count += (std::bit_cast<std::uint32_t>(value) & exponent) == exponent;
    return count;
}

/// Writes `block` [n_row, n_column] as columns `first` .. `first + n_row` of `out` [n_column, stride]. Tiles
/// of 16 x 16 keep both sides within few cache lines.
void transpose_into(std::span<const float> block, std::size_t n_row, std::size_t n_column, std::size_t first,
                    std::size_t stride, float* out) {
    constexpr std::size_t tile = 16;
    for (std::size_t c0 = 0; c0 < n_column; c0 += tile) {
        const std::size_t c1 = std::min(c0 + tile, n_column);
        for (std::size_t r0 = 0; r0 < n_row; r0 += tile) {
            const std::size_t r1 = std::min(r0 + tile, n_row);
            for (std::size_t c = c0; c < c1; ++c) {
                for (std::size_t r = r0; r < r1; ++r) out[c * stride + first + r] = block[r * n_column + c];
            }
        }
    }
}

/// Elements [first, first + count) of a stored tensor: what one thread reads at a time.
struct Piece {
    const StoredTensor* tensor;
    const TensorSlot* slot;
    std::size_t first;
    std::size_t count;

    std::uint64_t bytes() const { return count / tensor->type->block_elements * tensor->type->block_bytes; }
};

/// Reads pieces into their slots through small buffers of its own.
class PieceReader {
public:
    Result<void> read(const Piece& piece) {
        if (!piece.tensor->input_major) {
            return convert(piece, std::span(piece.slot->data + piece.first, piece.count));
        }
        const auto n_out = static_cast<std::size_t>(piece.slot->rows);
        const auto n_in = static_cast<std::size_t>(piece.slot->columns);
        floats_.resize(piece.count);
        DS_TRY(convert(piece, floats_));
        transpose_into(floats_, piece.count / n_out, n_out, piece.first / n_out, n_in, piece.slot->data);
        return {};
    }
    std::int64_t n_non_finite() const { return n_non_finite_; }

private:
    Result<void> convert(const Piece& piece, std::span<float> out) {
        const GgmlTypeInfo& type = *piece.tensor->type;
        const std::uint64_t offset = piece.first / type.block_elements * std::uint64_t{type.block_bytes};
        if (static_cast<GgmlType>(type.id) == GgmlType::f32) {
            DS_TRY(piece.tensor->read(offset, std::as_writable_bytes(out)));
        } else {
            bytes_.resize(static_cast<std::size_t>(piece.bytes()));
            DS_TRY(piece.tensor->read(offset, bytes_));
            DS_TRY(dequantize(type, bytes_, out));
        }
        n_non_finite_ += count_non_finite(out);
        return {};
    }

    std::vector<std::byte> bytes_;
    std::vector<float> floats_;
    std::int64_t n_non_finite_ = 0;
};

/// Spreads pieces over threads; the first failure ends all of them.
class PieceQueue {
public:
    PieceQueue(const std::vector<Piece>& pieces, const LoadWatch& watch) : pieces_(pieces), watch_(watch) {
        for (const Piece& piece : pieces) bytes_total_ += piece.bytes();
    }

    Result<void> run() {
        const auto n_core = std::max<std::uint64_t>(1, std::thread::hardware_concurrency());
        ThreadPool threads(
            static_cast<int>(std::clamp<std::uint64_t>(bytes_total_ / bytes_per_thread, 1, n_core)));
        threads.run([this](int worker) { work(worker == 0); });
        if (error_) return *error_;
        if (watch_.stop.stop_requested()) return stopped();
        if (watch_.progress) watch_.progress({bytes_total_, bytes_total_, "Loading weights"});
        return {};
    }
    std::int64_t n_non_finite() const { return n_non_finite_.load(); }

private:
    void work(bool tells) {
        PieceReader reader;
        try {
            while (!ended_.load(std::memory_order_relaxed)) {
                const std::size_t i = next_.fetch_add(1, std::memory_order_relaxed);
                if (i >= pieces_.size()) break;
                if (watch_.stop.stop_requested()) {
                    fail(stopped());
                } else if (const auto read = reader.read(pieces_[i]); !read) {
                    fail(read.error());
                }
                const std::uint64_t bytes = pieces_[i].bytes();
                const std::uint64_t done = bytes_done_.fetch_add(bytes, std::memory_order_relaxed) + bytes;
                if (tells && watch_.progress) watch_.progress({done, bytes_total_, "Loading weights"});
            }
        } catch (const std::bad_alloc&) {
            fail({ErrorKind::out_of_memory, "No memory left to read the weights."});
        }
        n_non_finite_.fetch_add(reader.n_non_finite());
    }
    static Error stopped() { return {ErrorKind::cancelled, "Loading the model was stopped."}; }
    void fail(Error error) {
        const std::lock_guard lock(mutex_);
        if (!error_) error_ = std::move(error);
        ended_.store(true, std::memory_order_relaxed);
    }

    const std::vector<Piece>& pieces_;
    const LoadWatch& watch_;
    std::uint64_t bytes_total_ = 0;
    std::atomic<std::size_t> next_{0};
    std::atomic<std::uint64_t> bytes_done_{0};
    std::atomic<std::int64_t> n_non_finite_{0};
    std::atomic<bool> ended_{false};
    std::mutex mutex_;
    std::optional<Error> error_;
};

void add_pieces(const StoredTensor& tensor, const TensorSlot& slot, std::vector<Piece>& pieces) {
    const auto count = static_cast<std::size_t>(slot.rows * slot.columns);
    std::size_t step = piece_floats;
    if (tensor.input_major) {
        // Whole input rows, as many as fit, in multiples of a tile.
        const auto n_out = static_cast<std::size_t>(slot.rows);
        step = std::max<std::size_t>(piece_floats / n_out / 16 * 16, 16) * n_out;
    }
    for (std::size_t first = 0; first < count; first += step) {
        pieces.push_back({&tensor, &slot, first, std::min(step, count - first)});
    }
}

}  // namespace

Result<std::shared_ptr<Weights>> load_weights(const ModelConfig& config,
                                              const std::vector<StoredTensor>& tensors,
                                              const std::string& label, std::shared_ptr<MemoryLedger> ledger,
                                              const LoadWatch& watch) {
    auto allocated = allocate_weights(config, std::move(ledger));
    if (!allocated) return allocated.error();
    std::shared_ptr<Weights> weights = *std::move(allocated);
    const std::vector<TensorSlot> slot_list = tensor_slots(*weights);
    std::unordered_map<std::string_view, const TensorSlot*> slot_of;
    for (const TensorSlot& slot : slot_list) slot_of.emplace(slot.name, &slot);
    std::vector<Piece> pieces;
    for (const StoredTensor& tensor : tensors) {
        const auto slot = slot_of.find(tensor.slot);
        if (slot == slot_of.end()) {
            return Error{ErrorKind::internal,
                         fmt::format("Tensor \"{}\" has no place in the model.", tensor.slot)};
        }
        add_pieces(tensor, *slot->second, pieces);
        slot_of.erase(slot);
    }
    if (!slot_of.empty()) {
        return Error{ErrorKind::internal,
                     fmt::format("Nothing fills tensor \"{}\" of the model.", slot_of.begin()->first)};
    }
    PieceQueue queue(pieces, watch);
    DS_TRY(queue.run());
    if (const std::int64_t n = queue.n_non_finite(); n != 0) {
        weights->notes.push_back(fmt::format("{}: {} of the weights are NaN or infinite.", label, n));
    }
    return weights;
}

}  // namespace decodescope
