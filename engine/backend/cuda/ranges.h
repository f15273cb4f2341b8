// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <fmt/format.h>
#include <nvtx3/nvToolsExt.h>

#include <array>

namespace decodescope::cuda {

/// What a profiler is told about the work that is being queued: steps, their layers, the blocks of these.
/// Costs next to nothing where no profiler is attached, and leaves nothing open.
class ProfilerRanges {
public:
    ProfilerRanges() = default;
    ~ProfilerRanges() { end(); }
    ProfilerRanges(const ProfilerRanges&) = delete;
    ProfilerRanges& operator=(const ProfilerRanges&) = delete;

    void begin_step(int n_token) {
        close_to(0);
        open("step of {} tokens", n_token);
    }
    void begin_layer(int layer) {
        close_to(1);
        open("layer {}", layer);
    }
    /// A block of the layer that is open, or of the step after its layers.
    void begin_block(const char* name) {
        if (in_block_) pop();
        nvtxRangePushA(name);
        ++depth_;
        in_block_ = true;
    }
    /// The layers are over, the step goes on.
    void end_layers() { close_to(1); }
    void end() { close_to(0); }

private:
    void open(fmt::format_string<int&> format, int number) {
        std::array<char, 40> text{};
        fmt::format_to_n(text.data(), text.size() - 1, format, number);
        nvtxRangePushA(text.data());
        ++depth_;
    }
    void close_to(int depth) {
        while (depth_ > depth) pop();
    }
    void pop() {
        nvtxRangePop();
        --depth_;
        in_block_ = false;
    }

    int depth_ = 0;
    bool in_block_ = false;
};

}  // namespace decodescope::cuda
