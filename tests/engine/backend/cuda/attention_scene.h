// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <vector>

#include "engine/attention/attention_plan.h"
#include "engine/backend/cuda/kernels.h"
#include "engine/cache/entry_codec.h"
#include "tests/engine/backend/cuda/device_array.h"
#include "tests/engine/backend/random_floats.h"

namespace decodescope::test {

/// Where keys and values lie: [row, head, slot] with room between; in blocks of 8 tokens that are anywhere;
/// or in the output of a projection, token after token, behind the queries.
enum class Place { rows, blocks, tokens };

struct HeadShape {
    int n_head = 4;
    int n_kv_head = 4;
    int head_dim = 8;
};

/// One attention call with random contents, in device memory, and what it should give. Slots that no query
/// sees hold NaN; so do queries' gaps, the scratch and the output.
class AttentionScene {
    static constexpr float nan = std::numeric_limits<float>::quiet_NaN();

public:
    AttentionScene(const HeadShape& shape, cuda::Stored type, Place place, AttentionPlan plan,
                   std::uint64_t stream = 1)
        : shape_(shape), type_(type), plan_(std::move(plan)), n_slot_(plan_.max_slot()) {
        const std::int64_t d = shape.head_dim;
        entries_.type = type;
        std::int64_t n_element = 0;
        if (place == Place::tokens) {
            entries_.slot_stride = (shape.n_head + 2 * shape.n_kv_head) * d;
            entries_.head_stride = d;
            for (int b = 0; b < plan_.batch(); ++b) row_base_.push_back(b * n_slot_);
            n_element = entries_.slot_stride * n_slot_ * plan_.batch();
        } else {
            entries_.slot_stride = d * 2;
            const int slots = place == Place::blocks ? block : n_slot_;
            entries_.head_stride = entries_.slot_stride * slots + d;
            entries_.row_stride = entries_.head_stride * shape.n_kv_head + 3 * d;
            std::int64_t n_place = plan_.batch();
            if (place == Place::blocks) {
                entries_.block = block;
                block_stride_ = (n_slot_ + block - 1) / block + 1;
                const int n = plan_.batch() * block_stride_;
                // An odd factor is prime to the number of blocks when that is a power of 2.
                n_place = 1;
                while (n_place < n) n_place *= 2;
                for (int i = 0; i < n; ++i) blocks_.push_back(static_cast<std::int32_t>(i * 37 % n_place));
            }
            n_element = entries_.row_stride * n_place;
        }
        q_stride_ = shape.n_head * d + 8;
        q_ = random_floats(3 * stream, plan_.n_query() * q_stride_);
        for (std::int64_t i = 0; i < plan_.n_query() * q_stride_; ++i) {
            if (i % q_stride_ >= shape.n_head * d) q_[index(i)] = nan;
        }
        k_.assign(index(n_element), nan);
        v_.assign(index(n_element), nan);
        const auto keys = random_floats(3 * stream + 1, n_element);
        const auto values = random_floats(3 * stream + 2, n_element);
        for (int b = 0; b < plan_.batch(); ++b) {
            for (int q = 0; q < plan_.n_query(b); ++q) {
                row_of_.push_back(b);
                first_range_.push_back(static_cast<std::int32_t>(ranges_.size()));
                for (const SlotRange& range : plan_.visible(b, q)) {
                    ranges_.push_back(range);
                    for (int s = range.begin; s < range.end; ++s) fill(b, s, keys, values);
                }
            }
            row_begin_.push_back(plan_.first_query(b));
        }
        row_begin_.push_back(plan_.n_query());
        first_range_.push_back(static_cast<std::int32_t>(ranges_.size()));
        for (std::size_t i = 0; i < k_.size(); i += index(d)) {
            stored_as_type(k_.data() + i, k_codes_, k_scale_);
            stored_as_type(v_.data() + i, v_codes_, v_scale_);
        }
    }

    const AttentionPlan& plan() const { return plan_; }
    std::size_t width() const { return index(std::int64_t{shape_.n_head} * shape_.head_dim); }

    /// Puts `x` into the key or value of a slot of every kv head; with int8 all of it becomes NaN.
    void spoil_key(int row, int slot, int element, float x = nan) {
        spoil(row, slot, element, x, k_, k_codes_, k_scale_);
    }
    void spoil_value(int row, int slot, int element, float x = nan) {
        spoil(row, slot, element, x, v_, v_codes_, v_scale_);
    }
    void enlarge_queries(float factor) {
        for (float& x : q_) x *= factor;
    }

    /// Copies everything to the device, over what is there already.
    void upload() {
        put(row_of_, row_of_device_);
        put(row_begin_, row_begin_device_);
        put(first_range_, first_range_device_);
        // As many as any call may have.
        std::vector<SlotRange> ranges = ranges_;
        ranges.resize(std::max(ranges.size(), most_ranges), {-1, -1});
        put(ranges, ranges_device_);
        put(row_base_, row_base_device_);
        put(blocks_, blocks_device_);
        put(q_, q_device_);
        put(k_codes_, k_device_);
        put(v_codes_, v_device_);
        put(k_scale_, k_scale_device_);
        put(v_scale_, v_scale_device_);
    }
    /// Puts the contents of another scene of the same shape where this one's are.
    void replace_by(const AttentionScene& other) {
        plan_ = other.plan_;
        first_range_ = other.first_range_, ranges_ = other.ranges_;
        q_ = other.q_, k_ = other.k_, v_ = other.v_;
        k_codes_ = other.k_codes_, v_codes_ = other.v_codes_;
        k_scale_ = other.k_scale_, v_scale_ = other.v_scale_;
        upload();
    }

    /// A fresh output and scratch.
    void make_room(int most_slots = 0) {
        out_.emplace(index(plan_.n_query()) * width());
        scratch_.emplace(index(cuda::attention_floats(plan_.n_query(), slots_or(most_slots), shape_.n_head,
                                                      shape_.n_kv_head, shape_.head_dim)));
    }
    /// Enqueues the call. `most_slots` 0: the plan's.
    void enqueue(cudaStream_t stream, int most_slots = 0) {
        cuda::CallArrays call;
        call.n_token = plan_.n_query();
        call.batch = plan_.batch();
        call.most_slots = slots_or(most_slots);
        call.row_of = row_of_device_->data();
        call.row_begin = row_begin_device_->data();
        call.first_range = first_range_device_->data();
        call.ranges = ranges_device_->data();
        if (!row_base_.empty()) call.row_base = row_base_device_->data();
        if (!blocks_.empty()) call.blocks = blocks_device_->data();
        call.block_stride = block_stride_;
        cuda::Attention attention;
        attention.q = q_device_->data();
        attention.q_stride = q_stride_;
        attention.entries = entries_;
        attention.entries.k = k_device_->data();
        attention.entries.v = v_device_->data();
        attention.entries.k_scales = k_scale_device_->data();
        attention.entries.v_scales = v_scale_device_->data();
        attention.out = out_->data();
        attention.scratch = scratch_->data();
        attention.n_head = shape_.n_head;
        attention.n_kv_head = shape_.n_kv_head;
        attention.head_dim = shape_.head_dim;
        attention.scale = scale();
        cuda::attention(stream, call, attention);
    }
    std::vector<float> output() { return out_->read(); }
    std::vector<float> run(int most_slots = 0) {
        upload();
        make_room(most_slots);
        enqueue(nullptr, most_slots);
        return output();
    }
    /// Whether everything worked and nothing was written but outputs and scratch.
    bool intact() {
        return out_->intact() && scratch_->intact() && k_device_->intact() && v_device_->intact() &&
               k_device_->read() == k_codes_ && v_device_->read() == v_codes_ && q_device_->intact();
    }

    /// In double precision from what is stored, cell by cell, straight from the plan.
    std::vector<double> expected() const {
        std::vector<double> out(index(plan_.n_query()) * width(), 0.0);
        const int d = shape_.head_dim;
        const int group = shape_.n_head / shape_.n_kv_head;
        for (int token = 0; token < plan_.n_query(); ++token) {
            const int row = row_of_[index(token)];
            for (int h = 0; h < shape_.n_head; ++h) {
                std::vector<double> weights;
                std::vector<std::int64_t> entries;
                const float* q = q_.data() + token * q_stride_ + h * d;
                for (int r = first_range_[index(token)]; r < first_range_[index(token + 1)]; ++r) {
                    for (int s = ranges_[index(r)].begin; s < ranges_[index(r)].end; ++s) {
                        entries.push_back(at(row, h / group, s));
                        const float* k = k_.data() + entries.back();
                        double dot = 0;
                        for (int i = 0; i < d; ++i) dot += double{q[i]} * double{k[i]};
                        weights.push_back(dot * double{scale()});
                    }
                }
                if (entries.empty()) continue;
                const double largest = *std::max_element(weights.begin(), weights.end());
                double sum = 0;
                for (double& w : weights) sum += w = std::exp(w - largest);
                double* to = out.data() + index(token) * width() + h * d;
                for (std::size_t j = 0; j < entries.size(); ++j) {
                    const float* v = v_.data() + entries[j];
                    for (int i = 0; i < d; ++i) to[i] += weights[j] / sum * double{v[i]};
                }
            }
        }
        return out;
    }

private:
    static constexpr int block = 8;
    static constexpr std::size_t most_ranges = 64;
    static std::size_t index(std::int64_t i) { return static_cast<std::size_t>(i); }

    int slots_or(int most_slots) const { return most_slots > 0 ? most_slots : std::max(n_slot_, 1); }
    float scale() const { return 1.0f / std::sqrt(static_cast<float>(shape_.head_dim)); }
    std::int64_t at(int row, int kv_head, int slot) const {
        const std::int64_t in_head = kv_head * entries_.head_stride;
        if (entries_.block > 0) {
            const int number = blocks_[index(row * block_stride_ + slot / block)];
            return number * entries_.row_stride + in_head + slot % block * entries_.slot_stride;
        }
        const std::int64_t base = row_base_.empty() ? 0 : row_base_[index(row)];
        return row * entries_.row_stride + in_head + (base + slot) * entries_.slot_stride;
    }
    void fill(int row, int slot, const std::vector<float>& keys, const std::vector<float>& values) {
        for (int h = 0; h < shape_.n_kv_head; ++h) {
            const std::int64_t to = at(row, h, slot);
            std::copy_n(keys.data() + to, shape_.head_dim, k_.data() + to);
            std::copy_n(values.data() + to, shape_.head_dim, v_.data() + to);
        }
    }
    /// Appends a vector as it is stored; the floats become what that stands for.
    void stored_as_type(float* x, std::vector<std::byte>& codes, std::vector<float>& scales) const {
        const auto d = index(shape_.head_dim);
        const std::size_t begin = codes.size();
        if (type_ == cuda::Stored::int8) {
            codes.resize(begin + d);
            auto* to = reinterpret_cast<std::int8_t*>(codes.data() + begin);
            scales.push_back(encode_int8(x, shape_.head_dim, to));
            decode_int8(to, shape_.head_dim, scales.back(), x);
            return;
        }
        const DType dtype = type_ == cuda::Stored::f16    ? DType::f16
                            : type_ == cuda::Stored::bf16 ? DType::bf16
                                                          : DType::f32;
        codes.resize(begin + d * size_of(dtype));
        encode_entries(dtype, x, shape_.head_dim, codes.data() + begin);
        decode_entries(dtype, codes.data() + begin, shape_.head_dim, x);
    }
    void spoil(int row, int slot, int element, float bad, std::vector<float>& x,
               std::vector<std::byte>& codes, std::vector<float>& scales) const {
        for (int h = 0; h < shape_.n_kv_head; ++h) {
            const std::int64_t place = at(row, h, slot);
            x[index(place + element)] = bad;
            std::vector<std::byte> bytes;
            std::vector<float> scale;
            stored_as_type(x.data() + place, bytes, scale);
            std::copy(bytes.begin(), bytes.end(),
                      codes.begin() + place / shape_.head_dim * static_cast<std::int64_t>(bytes.size()));
            if (!scale.empty()) scales[index(place / shape_.head_dim)] = scale.front();
        }
    }
    template <class T>
    static void put(const std::vector<T>& content, std::optional<DeviceArray<T>>& device) {
        if (!device || device->size() < content.size()) device.emplace(content.size());
        device->write(content);
    }

    HeadShape shape_;
    cuda::Stored type_;
    AttentionPlan plan_;
    int n_slot_;
    cuda::Entries entries_;
    std::int64_t q_stride_ = 0;
    int block_stride_ = 0;
    std::vector<std::int32_t> blocks_, row_base_, row_of_, row_begin_, first_range_;
    std::vector<SlotRange> ranges_;
    std::vector<float> q_, k_, v_;
    std::vector<std::byte> k_codes_, v_codes_;
    std::vector<float> k_scale_, v_scale_;

    std::optional<DeviceArray<std::int32_t>> blocks_device_, row_base_device_, row_of_device_,
        row_begin_device_, first_range_device_;
    std::optional<DeviceArray<SlotRange>> ranges_device_;
    std::optional<DeviceArray<float>> q_device_, k_scale_device_, v_scale_device_, out_, scratch_;
    std::optional<DeviceArray<std::byte>> k_device_, v_device_;
};

}  // namespace decodescope::test
