// SPDX-License-Identifier: GPL-3.0-or-later
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <memory>

#include "app/cli/commands.h"
#include "app/cli/options.h"
#include "app/cli/output.h"
#include "engine/core/quote.h"
#include "engine/core/text_file.h"
#include "engine/experiment/text_table.h"
#include "engine/formats/model_source.h"
#include "engine/tokenizer/tokenizer.h"

namespace decodescope::cli {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::uint64_t maxTextBytes = std::uint64_t{64} << 20;

struct TokenizeOptions {
    std::string model = "demo";
    std::string text;
    std::string file;
    bool control = false;
};

Result<std::shared_ptr<const Tokenizer>> loadTokenizer(const std::string& text) {
    const auto ref = parse_model_ref(text);
    return ref ? load_tokenizer(*ref) : ref.error();
}

std::string hexOf(std::string_view bytes) {
    std::string hex;
    for (const char c : bytes) hex += fmt::format("{:02x}", static_cast<unsigned char>(c));
    return hex;
}

Json jsonOf(const Tokenizer& tokenizer, std::int32_t id) {
    const std::int32_t one[] = {id};
    return {{"id", id},
            {"piece", tokenizer.decode(one)},
            {"bytes_hex", hexOf(tokenizer.token_bytes(id))},
            {"special", tokenizer.is_special(id)}};
}

TextTable tableOf(const Tokenizer& tokenizer, const std::vector<std::int32_t>& ids) {
    TextTable table;
    table.header = {"index", "id", "piece", "special"};
    table.right = {true, true, false, false};
    for (std::size_t i = 0; i < ids.size(); ++i) {
        table.rows.push_back({std::to_string(i), std::to_string(ids[i]), quote(tokenizer.token_bytes(ids[i])),
                              tokenizer.is_special(ids[i]) ? "yes" : ""});
    }
    return table;
}

std::string textOf(const Tokenizer& tokenizer, const std::vector<std::int32_t>& ids, Format format) {
    const std::string count = fmt::format("{} token{}\n", ids.size(), ids.size() == 1 ? "" : "s");
    switch (format) {
        case Format::json: {
            Json json = {{"n_token", ids.size()}, {"ids", ids}, {"tokens", Json::array()}};
            for (const std::int32_t id : ids) json["tokens"].push_back(jsonOf(tokenizer, id));
            return json.dump(2) + "\n";
        }
        case Format::jsonl: {
            std::string lines;
            for (const std::int32_t id : ids) lines += jsonOf(tokenizer, id).dump() + "\n";
            return lines;
        }
        case Format::csv: {
            TextTable table;
            table.header = {"index", "id", "bytes_hex", "piece", "special"};
            for (std::size_t i = 0; i < ids.size(); ++i) {
                table.rows.push_back(
                    {std::to_string(i), std::to_string(ids[i]), hexOf(tokenizer.token_bytes(ids[i])),
                     tokenizer.decode(std::span(&ids[i], 1)), tokenizer.is_special(ids[i]) ? "1" : "0"});
            }
            return table.csv();
        }
        case Format::md: return tableOf(tokenizer, ids).markdown() + "\n" + count;
        case Format::table: break;
    }
    return tableOf(tokenizer, ids).plain() + "\n" + count;
}

int tokenize(const TokenizeOptions& options, bool textGiven, const Output& output) {
    const auto tokenizer = loadTokenizer(options.model);
    if (!tokenizer) return reportError(tokenizer.error());
    const auto text = textGiven ? Result<std::string>(options.text)
                      : options.file.empty() || options.file == "-"
                          ? readStandardInput()
                          : read_text_file(options.file, maxTextBytes);
    if (!text) return reportError(text.error());
    const auto ids = options.control ? (*tokenizer)->encode_prompt(*text) : (*tokenizer)->encode_text(*text);
    return writeResult(output, textOf(**tokenizer, ids, output.format()));
}

}  // namespace

void addTokenizeCommand(CLI::App& app, Session& session) {
    CLI::App* command = app.add_subcommand("tokenize", "Print the token ids and pieces of a text");
    auto options = std::make_shared<TokenizeOptions>();
    auto output = std::make_shared<Output>();
    addModelOption(*command, options->model);
    auto* text = command->add_option("-p,--text", options->text, "The text")->option_text("TEXT");
    command
        ->add_option("--file", options->file,
                     "Read the text from a file; without --text and --file, standard input")
        ->option_text("FILE")
        ->excludes(text);
    command->add_flag("--control", options->control,
                      "Take control tokens such as <|endoftext|> in the text as such, and put the\n"
                      "tokens around it that the model's files ask for");
    addOutputOptions(*command, *output);
    command->footer(
        "Example:\n"
        "  decodescope-cli tokenize --text \"It is a truth\"\n\n"
        "Exit status: 0 done, 2 bad arguments or input.");
    command->callback([options, output, text, &session] {
        session.exitCode = tokenize(*options, text->count() > 0, *output);
    });
}

}  // namespace decodescope::cli
