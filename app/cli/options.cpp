// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/options.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <limits>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "engine/core/quote.h"

namespace decodescope::cli {

namespace {

constexpr std::size_t maxInputBytes = std::size_t{64} << 20;

/// The number that is the whole of `text`.
template <class Number>
std::optional<Number> numberOf(const std::string& text) {
    Number value{};
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (code != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return value;
}

/// The numbers of "FIRST" or "FIRST,key=SECOND"; `key` with its comma and equals sign.
template <class First, class Second>
std::optional<std::pair<First, Second>> numbersOf(const std::string& text, std::string_view key) {
    const std::size_t comma = std::min(text.find(','), text.size());
    const auto first = numberOf<First>(text.substr(0, comma));
    std::optional<Second> second(Second{});
    if (comma < text.size()) {
        const bool named = text.compare(comma, key.size(), key) == 0;
        second = named ? numberOf<Second>(text.substr(comma + key.size())) : std::nullopt;
    }
    if (!first || !second) return std::nullopt;
    return std::pair(*first, *second);
}

Error optionError(const std::string& option, const std::string& what) {
    return Error{ErrorKind::bad_input, fmt::format("{}: {}.", option, what)};
}

/// Validators answer with a sentence, or with nothing when the text is fine.
CLI::Validator validator(std::function<std::string(std::string&)> check) {
    return CLI::Validator(std::move(check), "");
}

}  // namespace

CLI::Validator wholeNumber(std::int64_t lowest, std::int64_t highest) {
    return validator([=](std::string& text) {
        const auto value = numberOf<std::int64_t>(text);
        if (value && *value >= lowest && *value <= highest) return std::string();
        return fmt::format("{} is not a whole number from {} to {}", quote(text), lowest, highest);
    });
}

CLI::Validator seedNumber() {
    return validator([](std::string& text) {
        if (numberOf<std::uint64_t>(text)) return std::string();
        return fmt::format("{} is not a whole number from 0 to {}", quote(text),
                           std::numeric_limits<std::uint64_t>::max());
    });
}

CLI::Validator numberFrom(double lowest, double highest) {
    return validator([=](std::string& text) {
        const auto value = numberOf<double>(text);
        if (value && *value >= lowest && *value <= highest) return std::string();
        return fmt::format("{} is not a number from {} to {}", quote(text), lowest, highest);
    });
}

CLI::Validator oneOf(std::vector<std::string> words) {
    return validator([words = std::move(words)](std::string& text) {
        std::string list;
        for (const std::string& word : words) {
            if (word == text) return std::string();
            list += (list.empty() ? "" : ", ") + word;
        }
        return fmt::format("{} is not one of {}", quote(text), list);
    });
}

Result<std::vector<std::int32_t>> idsFromText(const std::string& option, const std::string& text) {
    std::vector<std::int32_t> ids;
    constexpr const char* separators = ", \t\r\n";
    std::size_t at = text.find_first_not_of(separators);
    while (at != std::string::npos) {
        const std::size_t end = std::min(text.find_first_of(separators, at), text.size());
        const std::string part = text.substr(at, end - at);
        const auto id = numberOf<std::int32_t>(part);
        if (!id || *id < 0) return optionError(option, fmt::format("{} is not a token id", quote(part)));
        ids.push_back(*id);
        at = text.find_first_not_of(separators, end);
    }
    if (ids.empty()) return optionError(option, "holds no token ids");
    return ids;
}

Result<std::vector<std::string>> listFromText(const std::string& option, const std::string& text) {
    std::vector<std::string> parts;
    for (std::size_t at = 0; at <= text.size();) {
        const std::size_t end = std::min(text.find(',', at), text.size());
        parts.push_back(text.substr(at, end - at));
        if (parts.back().empty()) {
            return optionError(
                option,
                fmt::format("{} has an empty entry, expected names separated by commas", quote(text)));
        }
        at = end + 1;
    }
    return parts;
}

Result<RandomPrompt> randomPromptFromText(const std::string& option, const std::string& text) {
    const auto numbers = numbersOf<int, std::uint64_t>(text, ",seed=");
    if (!numbers || numbers->first < 1) {
        return optionError(option,
                           fmt::format("{} is not LENGTH or LENGTH,seed=N with whole numbers", quote(text)));
    }
    return RandomPrompt{numbers->first, numbers->second};
}

Result<Window> windowFromText(const std::string& option, const std::string& text) {
    const auto numbers = numbersOf<int, int>(text, ",sinks=");
    if (!numbers || numbers->first < 1 || numbers->second < 0) {
        return optionError(
            option,
            fmt::format("{} is not SIZE or SIZE,sinks=N with whole numbers, SIZE at least 1", quote(text)));
    }
    return Window{.size = numbers->first, .sinks = numbers->second};
}

CLI::Option* addModelOption(CLI::App& command, std::string& target) {
    return command
        .add_option(
            "-m,--model", target,
            "Model: a folder, a GGUF file, a bundled name, or preset:NAME[,seed=N] with random weights")
        ->option_text("MODEL [demo]");
}

CLI::Option* addDeviceOption(CLI::App& command, std::string& target) {
    return command
        .add_option("--device", target,
                    "Where to compute: cpu, or a GPU as cuda:N, see decodescope-cli devices")
        ->option_text("DEVICE [cpu]");
}

Result<Device> deviceFromText(const std::string& name) {
    const auto device = parse_device(name);
    if (device) return device;
    return optionError("--device", fmt::format("{} is not known, expected {}", quote(name), device_words));
}

Result<std::string> readStandardInput() {
    std::string text;
    std::array<char, 65536> block{};
    while (const std::size_t n = std::fread(block.data(), 1, block.size(), stdin)) {
        text.append(block.data(), n);
        if (text.size() > maxInputBytes) {
            return Error{
                ErrorKind::bad_input,
                fmt::format("Standard input holds more than the {} bytes accepted here.", maxInputBytes)};
        }
    }
    if (std::ferror(stdin) != 0) return Error{ErrorKind::io, "Standard input cannot be read."};
    return text;
}

}  // namespace decodescope::cli
