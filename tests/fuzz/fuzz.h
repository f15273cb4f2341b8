// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <utility>

#include "engine/core/result.h"

/// What every target defines: runs the code under test on one input. Returns 0; a broken promise aborts.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace decodescope::fuzz {

/// Ends the program when `held` is false, so that the fuzzer keeps the input.
inline void require(bool held, const char* promise) {
    if (held) return;
    std::fprintf(stderr, "broken promise: %s\n", promise);
    std::abort();
}

/// A refused input ends in one printable sentence and never in a broken invariant.
inline void require_sentence(const Error& error) {
    require(error.kind != ErrorKind::internal, error.message.c_str());
    require(error.message.size() > 3 && error.message.size() < 2000 && error.message.back() == '.',
            "an error is one sentence of reasonable length");
    for (const char c : error.message) {
        require(static_cast<unsigned char>(c) >= 0x20, "an error has no control characters");
    }
}

/// A temporary folder that lives as long as the object.
class Folder {
public:
    Folder() {
        std::string name = (std::filesystem::temp_directory_path() / "decodescope-fuzz-XXXXXX").string();
        require(mkdtemp(name.data()) != nullptr, "a temporary folder can be made");
        path_ = name;
    }
    Folder(Folder&& other) noexcept : path_(std::exchange(other.path_, {})) {}
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
    ~Folder() {
        std::error_code ignored;
        if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
    }

    const std::filesystem::path& path() const { return path_; }
    void write(const char* name, std::string_view bytes) const {
        std::ofstream file(path_ / name, std::ios::binary | std::ios::trunc);
        file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
        require(file.good(), "a file can be written");
    }

private:
    std::filesystem::path path_;
};

}  // namespace decodescope::fuzz
