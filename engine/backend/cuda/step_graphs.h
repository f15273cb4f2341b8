// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "engine/backend/cuda/cuda_memory.h"
#include "engine/core/result.h"

namespace decodescope::cuda {

/// Decode steps as graphs: what one step launches is captured once and launched as a whole from then on.
class StepGraphs {
public:
    /// How the work of a step gets to the GPU: as it is asked for, captured while it is asked for, or from a
    /// graph, so that what is asked for is done already.
    enum class Mode { plain, capture, replay };
    /// Everything that the launches of a step depend on: shapes and addresses.
    using Key = std::vector<std::uintptr_t>;

    explicit StepGraphs(std::shared_ptr<CudaMemory> memory) : memory_(std::move(memory)) {}
    ~StepGraphs() { clear(); }
    StepGraphs(const StepGraphs&) = delete;
    StepGraphs& operator=(const StepGraphs&) = delete;

    /// A step begins that may become a graph. The first of its kind is launched plainly: it is what brings
    /// kernels and memory into place. The second is captured.
    Result<Mode> begin(const Key& key);
    /// A step begins that may not.
    void begin_plain() { last_.clear(); }
    /// The step is over; launches its graph unless it was plain. `complete`: nothing of it was left out, else
    /// nothing is launched or kept.
    Result<void> end(bool complete);
    Mode mode() const { return mode_; }
    /// Destroys all graphs.
    void clear();

private:
    struct Graph {
        Key key;
        cudaGraphExec_t exec = nullptr;
        std::uint64_t used = 0;  // when, counted in steps
    };
    Result<void> keep_captured(bool complete);

    std::shared_ptr<CudaMemory> memory_;
    Mode mode_ = Mode::plain;
    std::vector<Graph> graphs_;
    Graph* current_ = nullptr;  // that is launched at the end
    Key last_;                  // of the step before, when that was launched plainly
    Key key_;                   // of the step that is captured
    std::uint64_t steps_ = 0;
};

}  // namespace decodescope::cuda
