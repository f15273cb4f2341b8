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
    const MappedFile* file;  // used in place; null: to be copied
    std::size_t first;
    std::size_t count;

    std::uint64_t bytes() const { return count / tensor->type->block_elements * tensor->type->block_bytes; }
};

/// Reads pieces into their slots through small buffers of its own, and looks at those that stay in a file.
class PieceReader {
public:
    Result<void> read(const Piece& piece) {
        if (piece.file != nullptr) return look_at(piece);
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
    Result<void> look_at(const Piece& piece) {
        const std::uint64_t offset = piece.tensor->offset_in_file + piece.first * sizeof(float);
        DS_TRY(piece.file->populate(offset, piece.bytes()));
        const std::byte* bytes = piece.file->bytes().data() + offset;
        n_non_finite_ += count_non_finite({reinterpret_cast<const float*>(bytes), piece.count});
        return {};
    }
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

void add_pieces(const StoredTensor& tensor, const TensorSlot& slot, const MappedFile* file,
                std::vector<Piece>& pieces) {
    const auto count = static_cast<std::size_t>(slot.rows * slot.columns);
    std::size_t step = piece_floats;
    if (tensor.input_major) {
        // Whole input rows, as many as fit, in multiples of a tile.
        const auto n_out = static_cast<std::size_t>(slot.rows);
        step = std::max<std::size_t>(piece_floats / n_out / 16 * 16, 16) * n_out;
    }
    for (std::size_t first = 0; first < count; first += step) {
        pieces.push_back({&tensor, &slot, file, first, std::min(step, count - first)});
    }
}

/// Maps the files of a model, each when a tensor is to be used in it.
class FileMapper {
public:
    explicit FileMapper(const std::vector<MapFile>& files) : files_(files), mapped_(files.size()) {}

    /// Null when the system does not map that file.
    Result<const MappedFile*> map(std::size_t file) {
        if (!mapped_[file]) {
            auto mapped = files_[file]();
            if (!mapped && mapped.error().kind != ErrorKind::unsupported) return mapped.error();
            mapped_[file] = mapped ? std::make_shared<const MappedFile>(*std::move(mapped)) : nullptr;
        }
        return mapped_[file]->get();
    }
    std::vector<std::shared_ptr<const MappedFile>> mapped() const {
        std::vector<std::shared_ptr<const MappedFile>> mapped;
        for (const auto& file : mapped_) {
            if (file && *file != nullptr) mapped.push_back(*file);
        }
        return mapped;
    }

private:
    const std::vector<MapFile>& files_;
    std::vector<std::optional<std::shared_ptr<const MappedFile>>> mapped_;
};

}  // namespace

bool fits_in_place(const TensorSlot& slot, const GgmlTypeInfo& type, bool input_major,
                   std::uint64_t offset_in_file) {
    return std::endian::native == std::endian::little && static_cast<GgmlType>(type.id) == GgmlType::f32 &&
           offset_in_file % alignof(float) == 0 && !input_major && !slot.part;
}

Result<std::shared_ptr<Weights>> load_weights(const ModelConfig& config,
                                              const std::vector<StoredTensor>& tensors,
                                              const std::vector<MapFile>& files, const std::string& label,
                                              std::shared_ptr<MemoryLedger> ledger, const LoadWatch& watch) {
    const std::vector<TensorSlot> planned = planned_slots(config);
    std::unordered_map<std::string_view, const TensorSlot*> slot_of;
    for (const TensorSlot& slot : planned) slot_of.emplace(slot.name, &slot);
    FileMapper mapper(files);
    TensorsInFiles in_files;
    std::vector<const MappedFile*> file_of;  // of each tensor; null: copied
    for (const StoredTensor& tensor : tensors) {
        const auto slot = slot_of.find(tensor.slot);
        if (slot == slot_of.end()) {
            return Error{ErrorKind::internal,
                         fmt::format("Tensor \"{}\" has no place in the model.", tensor.slot)};
        }
        file_of.push_back(nullptr);
        if (fits_in_place(*slot->second, *tensor.type, tensor.input_major, tensor.offset_in_file)) {
            const auto file = mapper.map(tensor.file);
            if (!file) return file.error();
            file_of.back() = *file;
            if (*file != nullptr) {
                const std::byte* bytes = (*file)->bytes().data() + tensor.offset_in_file;
                in_files.tensors.emplace(tensor.slot, reinterpret_cast<const float*>(bytes));
            }
        }
        slot_of.erase(slot);
    }
    if (!slot_of.empty()) {
        return Error{ErrorKind::internal,
                     fmt::format("Nothing fills tensor \"{}\" of the model.", slot_of.begin()->first)};
    }
    in_files.files = mapper.mapped();
    auto allocated = allocate_weights(config, std::move(ledger), std::move(in_files));
    if (!allocated) return allocated.error();
    std::shared_ptr<Weights> weights = *std::move(allocated);
    const std::vector<TensorSlot> slot_list = tensor_slots(*weights);
    for (const TensorSlot& slot : slot_list) slot_of.emplace(slot.name, &slot);
    std::vector<Piece> pieces;
    for (std::size_t i = 0; i < tensors.size(); ++i)
        add_pieces(tensors[i], *slot_of.at(tensors[i].slot), file_of[i], pieces);
    PieceQueue queue(pieces, watch);
    DS_TRY(queue.run());
    DS_TRY(weights->check_files());
    if (const std::int64_t n = queue.n_non_finite(); n != 0) {
        weights->notes.push_back(fmt::format("{}: {} of the weights are NaN or infinite.", label, n));
    }
    return weights;
}

}  // namespace decodescope
