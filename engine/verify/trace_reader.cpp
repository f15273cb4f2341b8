// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>

#include "engine/core/quote.h"
#include "engine/core/text_file.h"
#include "engine/experiment/field_check.h"
#include "engine/experiment/json_fields.h"
#include "engine/formats/input_file.h"
#include "engine/verify/trace_file.h"

namespace decodescope {

namespace {

constexpr const char* schema = "decodescope.trace/1";
constexpr std::uint64_t max_file_bytes = std::uint64_t{256} << 20;

/// A tensor of logits in a file.
struct LogitTensor {
    const SafetensorsEntry* entry = nullptr;
    DType dtype = DType::f32;
    int columns = 0;
};

class FileLogits final : public TraceLogits {
public:
    FileLogits(std::shared_ptr<const SafetensorsFile> file, int vocab, std::vector<LogitTensor> tensors)
        : file_(std::move(file)), vocab_(vocab), tensors_(std::move(tensors)) {}

    DType dtype(int call) const override { return tensors_[static_cast<std::size_t>(call)].dtype; }
    Result<void> read(int call, int row, int column, std::span<float> out) const override {
        const LogitTensor& tensor = tensors_[static_cast<std::size_t>(call)];
        if (tensor.entry == nullptr || column >= tensor.columns) {
            return Error{ErrorKind::internal, fmt::format("Trace: call {} has no such logits.", call)};
        }
        const std::uint64_t bytes = static_cast<std::uint64_t>(vocab_) * size_of(tensor.dtype);
        std::vector<std::byte> raw(static_cast<std::size_t>(bytes));
        const auto at = static_cast<std::uint64_t>(row) * static_cast<std::uint64_t>(tensor.columns) +
                        static_cast<std::uint64_t>(column);
        DS_TRY(file_->read(*tensor.entry, at * bytes, raw));
        convert_to_f32(tensor.dtype, raw.data(), out);
        return {};
    }

private:
    std::shared_ptr<const SafetensorsFile> file_;
    int vocab_;
    std::vector<LogitTensor> tensors_;  // [calls]
};

/// Members of one call whose shape depends on what else it says.
class CallReader {
public:
    CallReader(const Json& value, JsonFields& fields, JsonReport& report, TraceCall& call)
        : value_(value), fields_(fields), report_(report), call_(call) {}

    void read() {
        read_ids();
        if (report_.error) return;
        read_requests();
        per_row("parents", call_.parents, 0, max_tokens);
        per_row("text_start", call_.text_start, 0, max_tokens);
        int columns = 0;
        matrix("real", call_.real, call_.width, columns, 0, 1);
        read_mask();
        columns = 0;
        matrix("position_ids", call_.position_ids, call_.width, columns,
               std::numeric_limits<std::int32_t>::min(), std::numeric_limits<std::int32_t>::max());
        read_cache_positions();
        per_row("cache_length_before", call_.cache_length_before, 0, most);
        per_row("cache_length_after", call_.cache_length_after, 0, most);
        per_row("cache_seen_before", call_.cache_seen_before, 0, most);
        per_row("cache_seen_after", call_.cache_seen_after, 0, most);
        number("cache_bytes", call_.cache_bytes);
        number("cache_bytes_reserved", call_.cache_bytes_reserved);
        number("cache_capacity", call_.cache_capacity);
        per_row("logits_columns", call_.logits_columns, -1, call_.width - 1);
        per_row("accepted", call_.accepted, 0, call_.width - 1);
        fields_.text("error", call_.error);
        number("step_ns", call_.step_ns);
        number("rss", call_.rss);
        fields_.text("note", call_.note);
    }

private:
    static constexpr std::int64_t most = std::int64_t{1} << 53;

    const Json* find(const char* name) { return fields_.has(name) ? &value_.at(name) : nullptr; }

    std::int64_t whole(const Json& value, const std::string& path, std::int64_t lowest,
                       std::int64_t highest) {
        if (value.is_boolean()) return value.get<bool>() ? 1 : 0;
        if (!value.is_number_integer()) {
            report_.fail(path, fmt::format("is {}, expected a whole number", brief(value)));
            return lowest;
        }
        const bool fits =
            value.is_number_unsigned() ? std::in_range<std::int64_t>(value.get<std::uint64_t>()) : true;
        const std::int64_t number = fits ? value.get<std::int64_t>() : 0;
        if (fits && number >= lowest && number <= highest) return number;
        report_.fail(path, fmt::format("is {}, expected {} to {}", brief(value), lowest, highest));
        return lowest;
    }

    template <class T>
    void list(const Json& value, const std::string& path, std::vector<T>& out, std::int64_t lowest,
              std::int64_t highest) {
        for (std::size_t i = 0; i < value.size() && !report_.error; ++i) {
            out.push_back(static_cast<T>(whole(value[i], fmt::format("{}[{}]", path, i), lowest, highest)));
        }
    }

    /// [batch, columns]; `columns` 0 = as the first row has it.
    template <class T>
    void matrix(const char* name, std::vector<T>& out, int expected, int& columns, std::int64_t lowest,
                std::int64_t highest) {
        const Json* value = find(name);
        if (value == nullptr) return;
        const std::string path = fields_.path_of(name);
        if (!value->is_array() || value->empty()) {
            return report_.fail(path, fmt::format("is {}, expected one array per row",
                                                  value->is_array() ? "empty" : brief(*value)));
        }
        if (call_.batch != 0 && value->size() != static_cast<std::size_t>(call_.batch)) {
            return report_.fail(path, fmt::format("has {} rows, expected {}", value->size(), call_.batch));
        }
        columns = expected;
        for (std::size_t b = 0; b < value->size() && !report_.error; ++b) {
            const Json& row = (*value)[b];
            const std::string row_path = fmt::format("{}[{}]", path, b);
            if (!row.is_array()) {
                return report_.fail(row_path, fmt::format("is {}, expected an array", brief(row)));
            }
            if (row.size() > static_cast<std::size_t>(max_tokens)) {
                return report_.fail(
                    row_path, fmt::format("has {} columns, expected at most {}", row.size(), max_tokens));
            }
            if (columns == 0) columns = static_cast<int>(row.size());
            if (row.empty() || row.size() != static_cast<std::size_t>(columns)) {
                return report_.fail(
                    row_path, fmt::format("has {} columns, expected {}", row.size(), std::max(columns, 1)));
            }
            list(row, row_path, out, lowest, highest);
        }
    }

    /// One number for all rows, or one per row.
    template <class T>
    void per_row(const char* name, std::vector<T>& out, std::int64_t lowest, std::int64_t highest) {
        const Json* value = find(name);
        if (value == nullptr) return;
        const std::string path = fields_.path_of(name);
        if (!value->is_array()) {
            out.assign(static_cast<std::size_t>(call_.batch),
                       static_cast<T>(whole(*value, path, lowest, highest)));
        } else if (value->size() != static_cast<std::size_t>(call_.batch)) {
            report_.fail(path,
                         fmt::format("has {} values, expected one per row ({})", value->size(), call_.batch));
        } else {
            list(*value, path, out, lowest, highest);
        }
    }

    void number(const char* name, std::optional<std::int64_t>& out) {
        if (const Json* value = find(name)) out = whole(*value, fields_.path_of(name), 0, most);
    }

    void read_ids() {
        fields_.require("input_ids");
        int columns = 0;
        matrix("input_ids", call_.input_ids, 0, columns, 0, std::numeric_limits<std::int32_t>::max());
        if (report_.error) return;
        call_.width = columns;
        call_.batch = static_cast<int>(call_.input_ids.size() / static_cast<std::size_t>(columns));
    }

    void read_requests() {
        const bool one = fields_.has("request");
        if (one && fields_.has("requests")) return fields_.fail("request", "and requests are both set");
        if (one) {
            std::string name;
            fields_.text("request", name);
            if (call_.batch != 1) {
                return fields_.fail("request", fmt::format("names one request, but the call has {} rows: "
                                                           "expected requests with one name per row",
                                                           call_.batch));
            }
            call_.requests = {name};
            return;
        }
        fields_.texts("requests", call_.requests);
        if (!call_.requests.empty() && call_.requests.size() != static_cast<std::size_t>(call_.batch)) {
            fields_.fail("requests", fmt::format("has {} names, expected one per row ({})",
                                                 call_.requests.size(), call_.batch));
        }
    }

    void read_mask() {
        // Written as null, it says that the program used none.
        call_.mask_known = value_.contains("attention_mask");
        matrix("attention_mask", call_.attention_mask, 0, call_.mask_columns, 0, 1);
    }

    void read_cache_positions() {
        const Json* value = find("cache_positions");
        if (value == nullptr) return;
        const std::string path = fields_.path_of("cache_positions");
        if (!value->is_array() || value->size() != static_cast<std::size_t>(call_.batch)) {
            return report_.fail(path, fmt::format("is not one array per row ({})", call_.batch));
        }
        for (std::size_t b = 0; b < value->size() && !report_.error; ++b) {
            const std::string row_path = fmt::format("{}[{}]", path, b);
            if (!(*value)[b].is_array()) {
                return report_.fail(row_path, fmt::format("is {}, expected an array", brief((*value)[b])));
            }
            list((*value)[b], row_path, call_.cache_positions.emplace_back(),
                 std::numeric_limits<std::int32_t>::min(), std::numeric_limits<std::int32_t>::max());
        }
    }

    const Json& value_;
    JsonFields& fields_;
    JsonReport& report_;
    TraceCall& call_;
};

Result<DType> dtype_of(const std::string& name) {
    if (name == "F32") return DType::f32;
    if (name == "F16") return DType::f16;
    if (name == "BF16") return DType::bf16;
    return Error{ErrorKind::unsupported,
                 fmt::format("has the type {}, expected F32, F16 or BF16", quote(name))};
}

/// Finds a call's logits in the file and checks their shape; `path` is that of the field.
Result<LogitTensor> find_logits(const std::string& path, const std::string& name, TraceCall& call,
                                std::optional<LogitRows> stated, const SafetensorsFile* file, int& vocab) {
    const auto refuse = [&](std::string_view what) { return field_error(path, what); };
    if (file == nullptr) {
        return refuse(fmt::format("names the tensor {}, but there is no trace.safetensors", quote(name)));
    }
    LogitTensor found;
    found.entry = file->find(name);
    if (found.entry == nullptr) {
        return refuse(fmt::format("names the tensor {}, which trace.safetensors does not hold", quote(name)));
    }
    const auto dtype = dtype_of(found.entry->dtype);
    if (!dtype)
        return refuse(fmt::format("names the tensor {}, which {}", quote(name), dtype.error().message));
    found.dtype = *dtype;
    const auto& shape = found.entry->shape;
    const auto width = static_cast<std::uint64_t>(call.width);
    const bool fits = shape.size() == 3 && shape[0] == static_cast<std::uint64_t>(call.batch) &&
                      (shape[1] == 1 || shape[1] == width) && shape[2] >= 1 && shape[2] <= max_tokens;
    const std::uint64_t expected_columns = !stated                      ? shape.size() == 3 ? shape[1] : 0
                                           : *stated == LogitRows::last ? 1
                                                                        : width;
    if (!fits || shape[1] != expected_columns) {
        std::string text;
        for (const std::uint64_t n : shape) text += fmt::format("{}{}", text.empty() ? "" : ", ", n);
        const std::string columns = stated ? fmt::format("{}", *stated == LogitRows::last ? 1 : call.width)
                                    : call.width == 1 ? std::string("1")
                                                      : fmt::format("1 or {}", call.width);
        return refuse(fmt::format("names the tensor {}, whose shape is [{}], expected [{}, {}, vocabulary]",
                                  quote(name), text, call.batch, columns));
    }
    found.columns = static_cast<int>(shape[1]);
    if (vocab == 0) vocab = static_cast<int>(shape[2]);
    if (shape[2] != static_cast<std::uint64_t>(vocab)) {
        return refuse(
            fmt::format("names the tensor {}, which has a vocabulary of {}, but those before have {}",
                        quote(name), shape[2], vocab));
    }
    call.logits = stated ? *stated : shape[1] == width ? LogitRows::all : LogitRows::last;
    return found;
}

Result<void> check_trace(const Trace& trace) {
    for (const auto& [name, text] : trace.texts) {
        const std::string path = fmt::format("texts.{}", quote(name));
        DS_TRY(check_ids(path + ".ids", text.ids));
        DS_TRY(
            check_range(path + ".prompt_length", text.prompt_length, 0, static_cast<int>(text.ids.size())));
        for (std::size_t i = 0; trace.vocab > 0 && i < text.ids.size(); ++i) {
            if (text.ids[i] < trace.vocab) continue;
            return field_error(
                fmt::format("{}.ids[{}]", path, i),
                fmt::format("is {}, but the logits have a vocabulary of {}", text.ids[i], trace.vocab));
        }
    }
    for (std::size_t c = 0; c < trace.calls.size(); ++c) {
        const TraceCall& call = trace.calls[c];
        const std::string path = fmt::format("calls[{}]", c);
        for (std::size_t i = 0; trace.vocab > 0 && i < call.input_ids.size(); ++i) {
            if (call.input_ids[i] < trace.vocab) continue;
            const auto width = static_cast<std::size_t>(call.width);
            return field_error(
                fmt::format("{}.input_ids[{}][{}]", path, i / width, i % width),
                fmt::format("is {}, but the logits have a vocabulary of {}", call.input_ids[i], trace.vocab));
        }
        const int before = c == 0 ? 0 : trace.calls[c - 1].batch;
        for (std::size_t b = 0; b < call.parents.size(); ++b) {
            if (call.parents[b] < before) continue;
            return field_error(
                fmt::format("{}.parents[{}]", path, b),
                fmt::format("is {}, but the call before has {} rows", call.parents[b], before));
        }
        for (std::size_t b = 0; b < call.text_start.size() && !call.requests.empty(); ++b) {
            const auto text = trace.texts.find(call.requests[b]);
            if (text == trace.texts.end()) continue;
            if (static_cast<std::size_t>(call.text_start[b]) <= text->second.ids.size()) continue;
            return field_error(fmt::format("{}.text_start[{}]", path, b),
                               fmt::format("is {}, beyond the {} tokens of {}", call.text_start[b],
                                           text->second.ids.size(), quote(text->first)));
        }
        if (!call.error.empty() && call.logits != LogitRows::none) {
            return field_error(path + ".logits", "is set, but the call failed with an error");
        }
    }
    return {};
}

void read_texts(const Json& value, JsonReport& report, std::map<std::string, TraceText>& texts) {
    if (!value.is_object()) {
        return report.fail("texts", fmt::format("is {}, expected an object", brief(value)));
    }
    for (const auto& [name, text] : value.items()) {
        JsonFields fields(text, "texts." + quote(name), report);
        TraceText& out = texts[name];
        fields.require("ids");
        fields.integers("ids", out.ids);
        fields.integer("prompt_length", out.prompt_length);
        if (!fields.has("prompt_length")) out.prompt_length = 0;
        fields.finish();
    }
}

}  // namespace

Result<void> StoredLogits::read(int call, int row, int column, std::span<float> out) const {
    const auto vocab = static_cast<std::size_t>(vocab_);
    const Call& from = calls_[static_cast<std::size_t>(call)];
    const std::size_t at = (static_cast<std::size_t>(row) * static_cast<std::size_t>(from.columns) +
                            static_cast<std::size_t>(column)) *
                           vocab;
    if (column >= from.columns || at + vocab > from.values.size() || out.size() != vocab) {
        return Error{ErrorKind::internal, fmt::format("Trace: call {} has no such logits.", call)};
    }
    std::copy_n(from.values.begin() + static_cast<std::ptrdiff_t>(at), vocab, out.begin());
    return {};
}

Result<Trace> parse_trace(std::string_view json, std::shared_ptr<const SafetensorsFile> file,
                          std::vector<std::string>* warnings) {
    const auto document = parse_json(json);
    if (!document) return document.error();
    JsonReport report{.error = {}, .warnings = warnings, .null_is_absent = true};
    Trace trace;
    std::vector<LogitTensor> tensors;
    JsonFields fields(*document, "", report);
    std::string found = schema;
    fields.require("schema");
    fields.text("schema", found);
    if (found != schema) {
        fields.fail("schema", fmt::format("is {}, which this version cannot read, expected \"{}\"",
                                          brief(found), schema));
    }
    fields.object("model", [&](JsonFields& model) {
        ModelRef& ref = trace.model.emplace();
        model.text("path", ref.path);
        model.text("preset", ref.preset);
        model.integer("seed", ref.seed);
    });
    if (fields.has("texts")) read_texts(document->at("texts"), report, trace.texts);
    fields.object("window", [&](JsonFields& window) {
        Window& out = trace.window.emplace();
        window.require("size");
        window.integer("size", out.size);
        window.integer("sinks", out.sinks);
        if (out.size < 1 || out.sinks < 0) {
            window.fail("size",
                        "and sinks are not a window: expected a size of at least 1, sinks of at "
                        "least 0");
        }
    });
    fields.ignore({"created_by", "note"});
    fields.require("calls");
    std::size_t n_call = 0;
    fields.objects("calls", [&](JsonFields& call_fields) {
        const Json& value = document->at("calls")[n_call++];
        TraceCall& call = trace.calls.emplace_back();
        CallReader(value, call_fields, report, call).read();
        std::optional<LogitRows> stated;
        if (call_fields.has("logits_rows")) {
            LogitRows rows = LogitRows::all;
            call_fields.choice("logits_rows", rows, {{"all", LogitRows::all}, {"last", LogitRows::last}});
            stated = rows;
        }
        std::string name;
        call_fields.text("logits", name);
        tensors.emplace_back();
        if (!call_fields.has("logits") || report.error) return;
        const auto tensor =
            find_logits(call_fields.path_of("logits"), name, call, stated, file.get(), trace.vocab);
        if (tensor)
            tensors.back() = *tensor;
        else
            report.error = tensor.error();
    });
    if (trace.calls.empty() && !report.error) fields.fail("calls", "is empty, expected at least one call");
    fields.finish();
    if (report.error) return *report.error;
    if (trace.model) DS_TRY(check_model("model", *trace.model));
    DS_TRY(check_trace(trace));
    if (trace.vocab > 0) {
        trace.logits = std::make_shared<FileLogits>(std::move(file), trace.vocab, std::move(tensors));
    }
    return trace;
}

Result<Trace> load_trace(const std::filesystem::path& path, std::vector<std::string>* warnings) {
    std::error_code ignored;
    const bool is_folder = std::filesystem::is_directory(path, ignored);
    const std::filesystem::path json_path = is_folder ? path / "trace.json" : path;
    const std::filesystem::path folder = json_path.parent_path();
    const auto text = read_text_file(json_path, max_file_bytes);
    if (!text) return text.error();
    std::shared_ptr<const SafetensorsFile> file;
    const std::filesystem::path tensors = folder / "trace.safetensors";
    if (is_there(tensors)) {
        auto opened = SafetensorsFile::open(tensors);
        if (!opened) return opened.error();
        file = *std::move(opened);
    }
    auto trace = parse_trace(*text, std::move(file), warnings);
    if (!trace) return Error{trace.error().kind, json_path.string() + ": " + trace.error().message};
    trace->label = path.string();
    if (trace->model && !trace->model->path.empty()) {
        const std::filesystem::path model = trace->model->path;
        if (model.is_relative() && std::filesystem::exists(folder / model, ignored)) {
            trace->model->path = (folder / model).string();
        }
    }
    return trace;
}

}  // namespace decodescope
