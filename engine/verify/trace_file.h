// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/core/result.h"
#include "engine/formats/safetensors.h"
#include "engine/verify/trace.h"

namespace decodescope {

/// Reads a trace: a folder with `trace.json` and `trace.safetensors`, or its `trace.json`. Everything that
/// the files say is checked against each other before it is believed; logits stay in the file. A path of the
/// model that is relative counts from the trace's folder when something lies there. Errors are one sentence
/// that names the file and the field. `warnings`: members that are not known.
Result<Trace> load_trace(const std::filesystem::path& path, std::vector<std::string>* warnings = nullptr);

/// The text of `trace.json` alone. `file` is null when there is no file of logits: naming one is an error
/// then. The sentence begins with the field.
Result<Trace> parse_trace(std::string_view json, std::shared_ptr<const SafetensorsFile> file,
                          std::vector<std::string>* warnings = nullptr);

/// Text of the `trace.json` that `write_trace` writes for `trace`.
std::string trace_json(const Trace& trace);

/// Writes `trace.json` and, when there are logits, `trace.safetensors` (F32) into `folder`, which is made
/// when it is missing. Logits are copied row by row, so that a trace may be larger than memory.
Result<void> write_trace(const Trace& trace, const std::filesystem::path& folder);

/// Columns of the logits that call `call` has of each row: 0, 1 or its width.
inline int logit_columns(const TraceCall& call) {
    return call.logits == LogitRows::none ? 0 : call.logits == LogitRows::last ? 1 : call.width;
}

/// Logits that lie in memory, filled while a run is recorded.
class StoredLogits final : public TraceLogits {
public:
    explicit StoredLogits(int vocab) : vocab_(vocab) {}

    /// Adds the next call's: [batch, columns, vocab]; empty when it has none.
    void add_call(int columns, std::vector<float> values) { calls_.push_back({columns, std::move(values)}); }

    DType dtype(int) const override { return DType::f32; }
    Result<void> read(int call, int row, int column, std::span<float> out) const override;

private:
    struct Call {
        int columns = 0;
        std::vector<float> values;
    };
    int vocab_;
    std::vector<Call> calls_;
};

}  // namespace decodescope
