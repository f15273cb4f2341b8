// SPDX-License-Identifier: GPL-3.0-or-later
// Input: the text of a trace.json, read beside a file with two tensors, and without a file. What can be read
// is diagnosed with a model of a few numbers.
#include <string_view>

#include "engine/model/preset.h"
#include "engine/verify/diagnose.h"
#include "engine/verify/trace_file.h"
#include "tests/fuzz/fuzz.h"

using namespace decodescope;

namespace {

/// "a" [1, 3, 4] and "b" [2, 1, 4] of F32, all zero.
std::shared_ptr<const SafetensorsFile> logits_file() {
    static const fuzz::Folder folder;
    std::string header = R"({"a":{"dtype":"F32","shape":[1,3,4],"data_offsets":[0,48]},)"
                         R"("b":{"dtype":"F32","shape":[2,1,4],"data_offsets":[48,80]}})";
    header.resize((header.size() + 7) / 8 * 8, ' ');
    std::string bytes(8, '\0');
    bytes[0] = static_cast<char>(header.size());
    folder.write("trace.safetensors", bytes + header + std::string(80, '\0'));
    auto file = SafetensorsFile::open(folder.path() / "trace.safetensors");
    fuzz::require(file.ok(), "the file of logits can be opened");
    return *file;
}

void check(const Trace& trace) {
    std::vector<float> row(static_cast<std::size_t>(trace.vocab));
    for (std::size_t c = 0; c < trace.calls.size(); ++c) {
        const TraceCall& call = trace.calls[c];
        const auto cells = static_cast<std::size_t>(call.batch) * static_cast<std::size_t>(call.width);
        fuzz::require(cells > 0 && call.input_ids.size() == cells, "every call has its tokens");
        fuzz::require(call.position_ids.empty() || call.position_ids.size() == cells, "positions fit");
        fuzz::require(call.real.empty() || call.real.size() == cells, "pads fit");
        for (int b = 0; b < call.batch; ++b)
            for (int i = 0; i < logit_columns(call); ++i)
                fuzz::require(trace.logits->read(static_cast<int>(c), b, i, row).ok(), "logits can be read");
    }
}

/// Whatever a trace says, it is judged or refused in one sentence.
void judge(const Trace& trace, bool rotary) {
    static const auto ledger = std::make_shared<MemoryLedger>();
    static const auto backend = make_cpu_backend(1);
    static const auto models = [] {
        std::vector<std::shared_ptr<const Weights>> made;
        for (const char* name : {"tiny", "tiny-llama"}) {
            ModelConfig config = *preset_config(name);
            config.vocab = 4;
            config.n_positions = 12;
            made.push_back(*random_weights(config, 1, ledger));
        }
        return made;
    }();
    const auto verdict = diagnose(trace, models[rotary ? 1 : 0], *backend, ledger);
    if (!verdict) return fuzz::require_sentence(verdict.error());
    fuzz::require(!verdict->summary.empty(), "a verdict says something");
    fuzz::require(verdict->word != VerdictWord::fault || verdict->kind, "a fault has a kind");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const auto file = logits_file();
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    for (const auto& tensors : {file, std::shared_ptr<const SafetensorsFile>()}) {
        std::vector<std::string> warnings;
        const auto trace = parse_trace(text, tensors, &warnings);
        if (!trace) {
            fuzz::require_sentence(trace.error());
            continue;
        }
        check(*trace);
        judge(*trace, size % 2 == 0);
        if (trace->vocab > 0) continue;  // written under other tensor names
        const std::string written = trace_json(*trace);
        const auto again = parse_trace(written, nullptr);
        fuzz::require(again.ok(), "what was written can be read");
        fuzz::require(trace_json(*again) == written, "and is the same");
    }
    return 0;
}
