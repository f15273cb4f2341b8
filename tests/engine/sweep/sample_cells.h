// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/experiment/experiment.h"
#include "engine/sweep/cell.h"

namespace decodescope::test {

/// A cell that looks measured: `repetitions` samples, `first_ns + per_token_ns * i` for decode step i.
inline Cell sample_cell(const char* lane, const TestShape& shape, double first_ns, double per_token_ns,
                        int repetitions = 3) {
    Cell cell;
    cell.shape = shape;
    cell.lane = *lane_from_name(lane);
    cell.test_time = "2026-01-02T03:04:05Z";
    cell.model = "tiny";
    cell.model_hash = "sha256:1";
    cell.model_source = "preset:tiny";
    cell.model_bytes = 1000;
    cell.model_parameters = 250;
    cell.environment.threads = shape.n_threads;
    cell.environment.cpu_model = "CPU";
    cell.environment.read_bandwidth_gb_s = 10;
    cell.environment.peak_gflop_s = 100;
    cell.reference = "naive";
    cell.warmup = 1;
    for (int r = 0; r < repetitions; ++r) {
        std::vector<double> steps;
        double sum = 0;
        for (int i = 0; i < shape.n_gen; ++i) {
            // Repetitions differ a little, the middle one is exact.
            steps.push_back(first_ns + per_token_ns * i + (r - 1) * 3);
            sum += steps.back();
        }
        cell.step_ns.push_back(steps);
        cell.ttft_ns.push_back(1000 + r);
        cell.samples_ns.push_back(sum + (shape.n_prompt > 0 ? cell.ttft_ns.back() : 0));
    }
    if (shape.n_gen == 0) cell.step_ns.clear();
    cell.step_tokens = shape.n_gen > 0 ? shape.n_parallel : 0;
    cell.bytes_moved = 5000;
    cell.flop = 70'000;
    cell.kv_bytes_live = cell.lane.mode == LaneMode::naive ? 0 : 640;
    cell.kv_bytes_reserved = cell.kv_bytes_live * 2;
    cell.kv_bytes_per_token = cell.lane.mode == LaneMode::naive ? 0 : 64;
    cell.rss_bytes = 1 << 20;
    return cell;
}

}  // namespace decodescope::test
