// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/sweep/grid_choices.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "engine/core/quote.h"
#include "engine/experiment/field_check.h"
#include "engine/measure/environment.h"
#include "engine/plan/memory_plan.h"

namespace decodescope {

namespace {

constexpr int max_parallel = 256;
constexpr int max_threads = 1024;
constexpr std::size_t most_numbers = 10'000;
constexpr double gib = 1024.0 * 1024.0 * 1024.0;
constexpr double usable_share = 0.9;  // of the memory there is, so that the system is left something

std::optional<std::int64_t> number_of(std::string_view text) {
    std::int64_t value = 0;
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (code != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return value;
}

Error list_error(std::string_view name, const std::string& what) {
    return {ErrorKind::bad_input, fmt::format("{}: {}.", name, what)};
}

}  // namespace

Result<std::vector<int>> numbers_from_text(std::string_view name, std::string_view text, int lowest,
                                           int highest) {
    std::vector<int> numbers;
    const auto refuse = [&](std::string_view part) {
        return list_error(name, fmt::format("{} is not a whole number from {} to {}, nor a range like "
                                            "16..1024*2 or 100..500+100",
                                            quote(part), lowest, highest));
    };
    const auto in_range = [&](std::int64_t n) { return n >= lowest && n <= highest; };
    for (std::size_t at = 0; at <= text.size();) {
        const std::size_t comma = std::min(text.find(',', at), text.size());
        const std::string_view part = text.substr(at, comma - at);
        at = comma + 1;
        if (part.empty()) {
            return list_error(name, fmt::format("{} has an empty entry, expected numbers separated by commas",
                                                quote(text)));
        }
        const std::size_t dots = part.find("..");
        if (dots == std::string_view::npos) {
            const auto one = number_of(part);
            if (!one || !in_range(*one)) return refuse(part);
            numbers.push_back(static_cast<int>(*one));
            continue;
        }
        const std::size_t sign = part.find_first_of("*+", dots);
        if (sign == std::string_view::npos) return refuse(part);
        const auto first = number_of(part.substr(0, dots));
        const auto last = number_of(part.substr(dots + 2, sign - dots - 2));
        const auto by = number_of(part.substr(sign + 1));
        const bool times = part[sign] == '*';
        if (!first || !last || !by || !in_range(*first) || !in_range(*last) || *last < *first)
            return refuse(part);
        if (*by < (times ? 2 : 1) || (times && *first < 1)) return refuse(part);
        for (std::int64_t n = *first; n <= *last; n = times ? n * *by : n + *by) {
            numbers.push_back(static_cast<int>(n));
            if (numbers.size() > most_numbers)
                return list_error(name, fmt::format("{} has more than {} values", quote(text), most_numbers));
        }
    }
    return numbers;
}

Result<Grid> grid_of(const GridChoices& choices) {
    Grid grid;
    const std::string threads =
        choices.threads.empty() ? std::to_string(physical_core_count()) : choices.threads;
    struct List {
        const char* name;
        const std::string& text;
        std::vector<int>& into;
        int lowest;
        int highest;
    };
    for (const List& list : {List{"n-prompt", choices.prompts, grid.n_prompt, 0, max_tokens},
                             List{"n-gen", choices.generations, grid.n_gen, 0, max_tokens},
                             List{"n-depth", choices.depths, grid.n_depth, 0, max_tokens},
                             List{"n-parallel", choices.parallel, grid.n_parallel, 1, max_parallel},
                             List{"threads", threads, grid.n_threads, 1, max_threads}}) {
        auto numbers = numbers_from_text(choices.prefix + list.name, list.text, list.lowest, list.highest);
        if (!numbers) return numbers.error();
        list.into = *std::move(numbers);
    }
    DS_TRY(grid.validate());
    return grid;
}

CellSettings cell_settings_of(const GridChoices& choices) {
    CellSettings settings;
    settings.seed = choices.seed;
    settings.warmup = choices.warmup;
    settings.repetitions = choices.repetitions;
    if (choices.seconds > 0)
        settings.precision = {choices.interval / 100, choices.interval > 0 ? choices.seconds : 0};
    const std::int64_t available = available_memory();
    if (choices.memory > 0) {
        settings.memory = static_cast<std::uint64_t>(choices.memory * gib);
    } else if (available > 0) {
        settings.memory = static_cast<std::uint64_t>(usable_share * static_cast<double>(available));
    }
    return settings;
}

}  // namespace decodescope
