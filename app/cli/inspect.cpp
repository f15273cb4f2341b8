// SPDX-License-Identifier: GPL-3.0-or-later
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <memory>
#include <string_view>

#include "app/cli/commands.h"
#include "app/cli/options.h"
#include "app/cli/output.h"
#include "engine/core/quote.h"
#include "engine/experiment/text_table.h"
#include "engine/formats/model_source.h"

namespace decodescope::cli {

namespace {

using Json = nlohmann::ordered_json;
using Facts = std::vector<std::pair<std::string, std::string>>;

constexpr const char* notStated = "not stated";
constexpr std::size_t templateStartBytes = 60;

std::string numberOf(std::int64_t stated) {
    return stated == 0 ? notStated : std::to_string(stated);
}

Facts factsOf(const ModelSummary& model) {
    const ModelConfig& config = model.config;
    const std::int64_t kvBytes = config.kv_bytes_per_token(DType::f32);
    return {
        {"name", config.name},
        {"family", model.architecture},
        {"parameters", std::to_string(model.n_parameter)},
        {"layers", numberOf(config.n_layer)},
        {"width (d_model)", numberOf(config.d_model)},
        {"heads (query / KV)", fmt::format("{} / {}", numberOf(config.n_head), numberOf(config.n_kv_head))},
        {"head_dim", numberOf(config.head_dim)},
        {"d_ff", numberOf(config.d_ff)},
        {"vocabulary", numberOf(config.vocab)},
        {"positions", numberOf(config.n_positions)},
        {"activation", model.config_is_complete ? to_string(config.activation) : notStated},
        {"output head", !model.tied_head   ? notStated
                        : *model.tied_head ? "tied to the token embedding"
                                           : "separate"},
        {"stored as", model.config.stored_as},
        {"file size", human_bytes(static_cast<double>(model.file_bytes))},
        {"KV bytes per token (f32)", numberOf(kvBytes)},
        {"KV bytes per token (16 bits)", numberOf(config.kv_bytes_per_token(DType::f16))},
        {"KV bytes at full context (f32)",
         kvBytes == 0 || config.n_positions == 0
             ? notStated
             : human_bytes(static_cast<double>(kvBytes) * config.n_positions)},
        {"end-of-text ids",
         config.eos_ids.empty() ? "none" : fmt::format("{}", fmt::join(config.eos_ids, ", "))},
        {"tokenizer", model.has_tokenizer ? "yes" : "no"},
        {"chat template",
         model.chat_template.empty() ? "none" : quote(model.chat_template, templateStartBytes)},
    };
}

TextTable factTable(const ModelSummary& model) {
    TextTable table;
    table.header = {"property", "value"};
    for (const auto& [name, value] : factsOf(model)) table.rows.push_back({name, value});
    return table;
}

TextTable tensorTable(const ModelSummary& model) {
    TextTable table;
    table.header = {"tensor", "dtype", "shape", "bytes", "use"};
    table.right = {false, false, false, true, false};
    for (const ModelSummary::Tensor& tensor : model.tensors) {
        table.rows.push_back({tensor.name, tensor.dtype, fmt::format("[{}]", fmt::join(tensor.shape, ", ")),
                              std::to_string(tensor.bytes), tensor.use});
    }
    return table;
}

Json jsonOf(const ModelSummary::Tensor& tensor) {
    return {{"name", tensor.name},
            {"dtype", tensor.dtype},
            {"shape", tensor.shape},
            {"bytes", tensor.bytes},
            {"use", tensor.use}};
}

Json jsonOf(const ModelSummary& model) {
    const ModelConfig& config = model.config;
    const auto number = [](std::int64_t stated) { return stated == 0 ? Json() : Json(stated); };
    Json json = {{"schema", "decodescope.model/1"},
                 {"name", config.name},
                 {"family", model.architecture},
                 {"n_parameter", model.n_parameter},
                 {"n_layer", number(config.n_layer)},
                 {"d_model", number(config.d_model)},
                 {"n_head", number(config.n_head)},
                 {"n_kv_head", number(config.n_kv_head)},
                 {"head_dim", number(config.head_dim)},
                 {"d_ff", number(config.d_ff)},
                 {"vocab", number(config.vocab)},
                 {"n_positions", number(config.n_positions)},
                 {"activation", model.config_is_complete ? Json(to_string(config.activation)) : Json()},
                 {"tied_head", model.tied_head ? Json(*model.tied_head) : Json()},
                 {"stored_dtype", model.config.stored_as},
                 {"kv_bytes_per_token", number(config.kv_bytes_per_token(DType::f32))},
                 {"eos_ids", config.eos_ids},
                 {"file_bytes", model.file_bytes},
                 {"has_tokenizer", model.has_tokenizer},
                 {"chat_template", model.chat_template.empty() ? Json() : Json(model.chat_template)},
                 {"notes", model.notes},
                 {"tensors", Json::array()}};
    for (const ModelSummary::Tensor& tensor : model.tensors) json["tensors"].push_back(jsonOf(tensor));
    return json;
}

/// The template line by line. It is text of a foreign file, so nothing in it may reach the terminal as it is.
std::string templateLines(std::string_view text) {
    std::string lines;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        lines += "  " + quote(text.substr(0, end), end) + '\n';
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return lines;
}

std::string textOf(const ModelSummary& model, Format format, bool wholeTemplate) {
    switch (format) {
        case Format::json: return jsonOf(model).dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
        case Format::jsonl: {
            std::string lines;
            for (const ModelSummary::Tensor& tensor : model.tensors) {
                lines += jsonOf(tensor).dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
            }
            return lines;
        }
        case Format::csv: return tensorTable(model).csv();
        case Format::md:
        case Format::table: break;
    }
    const bool markdown = format == Format::md;
    const auto print = [&](const TextTable& table) { return markdown ? table.markdown() : table.plain(); };
    std::string text = print(factTable(model));
    for (const std::string& note : model.notes) text += (markdown ? "\nNote: " : "\nnote: ") + note;
    if (!model.notes.empty()) text += '\n';
    if (wholeTemplate && !model.chat_template.empty())
        text += "\nchat template:\n" + templateLines(model.chat_template);
    if (!model.tensors.empty()) text += '\n' + print(tensorTable(model));
    return text;
}

int inspect(const std::string& modelText, bool wholeTemplate, const Output& output) {
    const auto ref = parse_model_ref(modelText);
    if (!ref) return reportError(ref.error());
    const auto model = inspect_model(*ref);
    if (!model) return reportError(model.error());
    return writeResult(output, textOf(*model, output.format(), wholeTemplate));
}

}  // namespace

void addInspectCommand(CLI::App& app, Session& session) {
    CLI::App* command = app.add_subcommand(
        "inspect", "Print a model's shape, tensors and KV bytes per token without loading its weights");
    auto model = std::make_shared<std::string>("demo");
    auto wholeTemplate = std::make_shared<bool>(false);
    auto output = std::make_shared<Output>();
    command
        ->add_option(
            "-m,--model,model", *model,
            "Model: a folder, a GGUF file, a bundled name, or preset:NAME[,seed=N] with random weights")
        ->option_text("MODEL [demo]");
    command->add_flag("--chat-template", *wholeTemplate,
                      "Print the whole chat template below the notes, not its start alone");
    addOutputOptions(*command, *output);
    command->footer(
        "Example:\n"
        "  decodescope-cli inspect --model demo --format json\n"
        "  decodescope-cli inspect model.gguf\n\n"
        "Exit status: 0 done, 2 bad arguments or unreadable input.");
    command->callback([model, wholeTemplate, output, &session] {
        session.exitCode = inspect(*model, *wholeTemplate, *output);
    });
}

}  // namespace decodescope::cli
