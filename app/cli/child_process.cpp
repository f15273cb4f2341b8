// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/child_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>

#include "engine/core/quote.h"

extern char** environ;

namespace decodescope::cli {

namespace {

constexpr int tickMs = 200;
constexpr std::size_t mostKept = 64 * 1024;  // of what the program says

std::vector<char*> pointersTo(std::vector<std::string>& texts) {
    std::vector<char*> pointers;
    for (std::string& text : texts) pointers.push_back(text.data());
    pointers.push_back(nullptr);
    return pointers;
}

/// This program's environment, of which the names in `changes` are replaced.
std::vector<std::string> environmentWith(const std::vector<std::string>& changes) {
    std::vector<std::string> all = changes;
    for (char** entry = environ; *entry != nullptr; ++entry) {
        const std::string_view text = *entry;
        const std::string_view name = text.substr(0, text.find('=') + 1);
        bool replaced = false;
        for (const std::string& change : changes) replaced = replaced || change.starts_with(name);
        if (!replaced) all.emplace_back(text);
    }
    return all;
}

std::string lastLine(std::string_view text) {
    while (!text.empty()) {
        const std::size_t end = text.find_last_not_of(" \r\n\t");
        if (end == std::string_view::npos) break;
        text = text.substr(0, end + 1);
        const std::size_t begin = text.find_last_of('\n');
        return std::string(begin == std::string_view::npos ? text : text.substr(begin + 1));
    }
    return {};
}

}  // namespace

Result<ChildResult> runChild(const std::vector<std::string>& command,
                             const std::vector<std::string>& environment, const std::function<void()>& tick,
                             const std::stop_token& stop) {
    std::array<int, 2> pipe{-1, -1};
    if (::pipe2(pipe.data(), O_CLOEXEC) != 0)
        return Error{ErrorKind::io, fmt::format("No pipe could be made: {}.", std::strerror(errno))};
    std::vector<std::string> arguments = command;
    std::vector<std::string> variables = environmentWith(environment);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, pipe[1], STDERR_FILENO);
    // A group of its own, so that what it starts in turn can be ended with it.
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
    posix_spawnattr_setpgroup(&attributes, 0);
    pid_t pid = -1;
    const int error = posix_spawnp(&pid, arguments.front().c_str(), &actions, &attributes,
                                   pointersTo(arguments).data(), pointersTo(variables).data());
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    ::close(pipe[1]);
    if (error != 0) {
        ::close(pipe[0]);
        return Error{ErrorKind::io, fmt::format("{} could not be started: {}.", quote(command.front()),
                                                std::strerror(error))};
    }

    std::string said;
    // Reads what there is; false when nobody writes any more.
    const auto listen = [&](int timeoutMs) {
        pollfd wait{pipe[0], POLLIN, 0};
        if (::poll(&wait, 1, timeoutMs) <= 0) return true;
        std::array<char, 4096> some{};
        const ssize_t n = ::read(pipe[0], some.data(), some.size());
        if (n > 0) said.append(some.data(), static_cast<std::size_t>(n));
        if (said.size() > mostKept) said.erase(0, said.size() - mostKept);
        return n > 0 || (n < 0 && errno == EINTR);
    };
    bool stopping = false;
    bool open = true;
    int status = 0;
    while (true) {
        if (open)
            open = listen(tickMs);
        else
            ::poll(nullptr, 0, tickMs);
        const pid_t done = ::waitpid(pid, &status, WNOHANG);
        if (done == pid || (done < 0 && errno != EINTR)) break;
        if (stop.stop_requested() && !stopping) {
            ::kill(-pid, SIGTERM);
            stopping = true;
        }
        tick();
    }
    // Its last words; a program that it left running may hold the pipe open.
    while (open && said.size() < mostKept) {
        const std::size_t before = said.size();
        open = listen(0);
        if (said.size() == before) break;
    }
    ::close(pipe[0]);
    const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return ChildResult{code, lastLine(said)};
}

}  // namespace decodescope::cli
