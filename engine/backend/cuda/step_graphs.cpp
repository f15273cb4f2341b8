// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/backend/cuda/step_graphs.h"

#include <algorithm>
#include <utility>

#include "engine/backend/cuda/cuda_check.h"

namespace decodescope::cuda {

namespace {

// A lane has one or two shapes of steps; several lanes share a GPU.
constexpr std::size_t most_graphs = 16;

}  // namespace

Result<StepGraphs::Mode> StepGraphs::begin(const Key& key) {
    ++steps_;
    mode_ = Mode::plain;
    const auto found =
        std::find_if(graphs_.begin(), graphs_.end(), [&](const Graph& graph) { return graph.key == key; });
    if (found != graphs_.end()) {
        current_ = &*found;
        current_->used = steps_;
        mode_ = Mode::replay;
    } else if (key == last_) {
        // Other threads may use CUDA meanwhile.
        DS_CUDA(cudaStreamBeginCapture(memory_->stream(), cudaStreamCaptureModeThreadLocal));
        memory_->set_capturing(true);
        key_ = key;
        mode_ = Mode::capture;
    } else {
        last_ = key;
    }
    return mode_;
}

Result<void> StepGraphs::keep_captured(bool complete) {
    memory_->set_capturing(false);
    cudaGraph_t captured = nullptr;
    DS_CUDA(cudaStreamEndCapture(memory_->stream(), &captured));
    cudaGraphExec_t exec = nullptr;
    const Result<void> made =
        complete ? checked(cudaGraphInstantiateWithFlags(&exec, captured, 0), "cudaGraphInstantiateWithFlags")
                 : Result<void>();
    DS_CUDA(cudaGraphDestroy(captured));
    if (!made || !complete) return made;
    if (graphs_.size() == most_graphs) {
        const auto oldest = std::min_element(graphs_.begin(), graphs_.end(),
                                             [](const Graph& a, const Graph& b) { return a.used < b.used; });
        const cudaGraphExec_t unused = oldest->exec;
        graphs_.erase(oldest);
        DS_CUDA(cudaGraphExecDestroy(unused));
    }
    graphs_.push_back({key_, exec, steps_});
    current_ = &graphs_.back();
    return {};
}

Result<void> StepGraphs::end(bool complete) {
    const Mode mode = std::exchange(mode_, Mode::plain);
    if (mode == Mode::plain) return {};
    if (mode == Mode::capture) DS_TRY(keep_captured(complete));
    const Graph* graph = std::exchange(current_, nullptr);
    if (complete) DS_CUDA(cudaGraphLaunch(graph->exec, memory_->stream()));
    return {};
}

void StepGraphs::clear() {
    for (const Graph& graph : graphs_)
        memory_->note(checked(cudaGraphExecDestroy(graph.exec), "cudaGraphExecDestroy"));
    graphs_.clear();
    last_.clear();
}

}  // namespace decodescope::cuda
