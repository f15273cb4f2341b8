// SPDX-License-Identifier: GPL-3.0-or-later
#include <bit>
#include <cstring>
#include <fstream>

#include "engine/core/text_file.h"
#include "engine/experiment/json_fields.h"
#include "engine/verify/trace_file.h"

namespace decodescope {

namespace {

std::string tensor_name(std::size_t call) {
    return fmt::format("logits.{}", call);
}

template <class T>
OrderedJson matrix(const std::vector<T>& values, int batch) {
    OrderedJson rows = OrderedJson::array();
    const std::size_t columns = values.size() / static_cast<std::size_t>(batch);
    for (std::size_t b = 0; b < static_cast<std::size_t>(batch); ++b) {
        OrderedJson row = OrderedJson::array();
        for (std::size_t i = 0; i < columns; ++i) row.push_back(std::int64_t{values[b * columns + i]});
        rows.push_back(std::move(row));
    }
    return rows;
}

template <class T>
void add(OrderedJson& json, const char* name, const std::vector<T>& values) {
    if (!values.empty()) json[name] = values;
}

void add(OrderedJson& json, const char* name, const std::optional<std::int64_t>& value) {
    if (value) json[name] = *value;
}

OrderedJson call_json(const TraceCall& call, std::size_t index) {
    OrderedJson json;
    add(json, "requests", call.requests);
    add(json, "parents", call.parents);
    json["input_ids"] = matrix(call.input_ids, call.batch);
    add(json, "text_start", call.text_start);
    if (!call.real.empty()) json["real"] = matrix(call.real, call.batch);
    if (call.mask_known) {
        if (call.attention_mask.empty())
            json["attention_mask"] = nullptr;
        else
            json["attention_mask"] = matrix(call.attention_mask, call.batch);
    }
    if (!call.position_ids.empty()) json["position_ids"] = matrix(call.position_ids, call.batch);
    add(json, "cache_positions", call.cache_positions);
    add(json, "cache_length_before", call.cache_length_before);
    add(json, "cache_length_after", call.cache_length_after);
    add(json, "cache_seen_before", call.cache_seen_before);
    add(json, "cache_seen_after", call.cache_seen_after);
    add(json, "cache_bytes", call.cache_bytes);
    add(json, "cache_bytes_reserved", call.cache_bytes_reserved);
    add(json, "cache_capacity", call.cache_capacity);
    if (call.logits != LogitRows::none) {
        json["logits"] = tensor_name(index);
        json["logits_rows"] = call.logits == LogitRows::all ? "all" : "last";
    }
    add(json, "logits_columns", call.logits_columns);
    add(json, "accepted", call.accepted);
    if (!call.error.empty()) json["error"] = call.error;
    add(json, "step_ns", call.step_ns);
    add(json, "rss", call.rss);
    if (!call.note.empty()) json["note"] = call.note;
    return json;
}

/// The header of a safetensors file with one F32 tensor per call that has logits.
std::string header_of(const Trace& trace) {
    OrderedJson header = OrderedJson::object();
    std::uint64_t at = 0;
    for (std::size_t c = 0; c < trace.calls.size(); ++c) {
        const int columns = logit_columns(trace.calls[c]);
        if (columns == 0) continue;
        const std::uint64_t bytes = std::uint64_t{4} * static_cast<std::uint64_t>(trace.calls[c].batch) *
                                    static_cast<std::uint64_t>(columns) *
                                    static_cast<std::uint64_t>(trace.vocab);
        header[tensor_name(c)] = {{"dtype", "F32"},
                                  {"shape", {trace.calls[c].batch, columns, trace.vocab}},
                                  {"data_offsets", {at, at + bytes}}};
        at += bytes;
    }
    std::string text = dump_json_line(header);
    text.resize((text.size() + 7) / 8 * 8, ' ');
    return text;
}

Result<void> write_logits(const Trace& trace, const std::filesystem::path& path) {
    const auto refuse = [&] {
        return Error{ErrorKind::io, fmt::format("{} cannot be written.", path.string())};
    };
    std::filesystem::path part = path;
    part += ".part";
    std::ofstream file(part, std::ios::binary | std::ios::trunc);
    const std::string header = header_of(trace);
    std::uint64_t length = header.size();
    char bytes[8];
    for (char& byte : bytes) {
        byte = static_cast<char>(length & 0xff);
        length >>= 8;
    }
    file.write(bytes, sizeof bytes);
    file.write(header.data(), static_cast<std::streamsize>(header.size()));
    std::vector<float> row(static_cast<std::size_t>(trace.vocab));
    static_assert(std::endian::native == std::endian::little);
    for (std::size_t c = 0; c < trace.calls.size(); ++c) {
        const TraceCall& call = trace.calls[c];
        for (int b = 0; b < call.batch; ++b) {
            for (int i = 0; i < logit_columns(call); ++i) {
                DS_TRY(trace.logits->read(static_cast<int>(c), b, i, row));
                file.write(reinterpret_cast<const char*>(row.data()),
                           static_cast<std::streamsize>(row.size() * sizeof(float)));
            }
        }
    }
    file.close();
    if (!file) return refuse();
    std::error_code failed;
    std::filesystem::rename(part, path, failed);
    if (failed) return refuse();
    return {};
}

}  // namespace

std::string trace_json(const Trace& trace) {
    OrderedJson json = {{"schema", "decodescope.trace/1"}};
    if (trace.model && !trace.model->preset.empty())
        json["model"] = {{"preset", trace.model->preset}, {"seed", trace.model->seed}};
    else if (trace.model)
        json["model"] = {{"path", trace.model->path}};
    if (!trace.texts.empty()) {
        OrderedJson& texts = json["texts"] = OrderedJson::object();
        for (const auto& [name, text] : trace.texts)
            texts[name] = {{"ids", text.ids}, {"prompt_length", text.prompt_length}};
    }
    if (trace.window) json["window"] = {{"size", trace.window->size}, {"sinks", trace.window->sinks}};
    // One line per call: the text stays short and can be read by eye.
    std::string text = dump_json(json);
    text.resize(text.rfind("\n}"));
    text += ",\n  \"calls\": [";
    for (std::size_t c = 0; c < trace.calls.size(); ++c) {
        text += c == 0 ? "\n    " : ",\n    ";
        text += dump_json_line(call_json(trace.calls[c], c));
    }
    return text + "\n  ]\n}\n";
}

Result<void> write_trace(const Trace& trace, const std::filesystem::path& folder) {
    std::error_code failed;
    std::filesystem::create_directories(folder, failed);
    if (failed) {
        return Error{ErrorKind::io,
                     fmt::format("The folder {} cannot be made: {}.", folder.string(), failed.message())};
    }
    if (trace.logits != nullptr) DS_TRY(write_logits(trace, folder / "trace.safetensors"));
    return write_file_atomically(folder / "trace.json", trace_json(trace));
}

}  // namespace decodescope
