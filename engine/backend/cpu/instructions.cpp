// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/backend/cpu/instructions.h"

#include <fmt/format.h>
#include <hwy/highway.h>
#include <hwy/targets.h>

#if defined(__x86_64__) && defined(__linux__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "engine/backend/cpu/vector_math.h"

namespace decodescope {

namespace {

/// Targets that a word allows; 0 = unknown word.
std::int64_t targets_of(std::string_view word) {
    constexpr std::int64_t plain = HWY_EMU128 | HWY_SCALAR;
    if (word == "plain") return plain;
    if (word == "avx2") return plain | HWY_AVX2;
    if (word == "avx512") return plain | HWY_AVX2 | HWY_AVX3 | HWY_AVX3_DL;
    return 0;
}

Result<void> apply() {
    const char* given = std::getenv("DECODESCOPE_SIMD");
    const std::string_view word = given == nullptr ? "" : given;
    if (word.empty() || word == "best") return {};
    const std::int64_t targets = targets_of(word);
    if (targets == 0) {
        return Error{ErrorKind::bad_input,
                     fmt::format("DECODESCOPE_SIMD is \"{}\", expected best, avx512, avx2 or plain.", word)};
    }
    const std::int64_t best = targets & -targets & ~std::int64_t{HWY_AVX3_DL};
    const std::int64_t wanted = word == "avx512" ? std::int64_t{HWY_AVX3} : best;
    if (word != "plain" && (hwy::SupportedTargets() & wanted) == 0) {
        return Error{
            ErrorKind::unsupported,
            fmt::format("DECODESCOPE_SIMD is \"{}\", which this processor does not have, expected best.",
                        word)};
    }
    hwy::DisableTargets(~targets);
    return {};
}

bool uses_avx512() {
    return std::string_view(vector_math::target_name()).starts_with("AVX3");
}

}  // namespace

Result<void> choose_instructions() {
    static const Result<void> done = apply();
    return done;
}

bool has_byte_dots() {
#if defined(__x86_64__)
    return uses_avx512() && __builtin_cpu_supports("avx512vnni");
#else
    return false;
#endif
}

bool has_bf16_dots() {
#if defined(__x86_64__)
    return uses_avx512() && __builtin_cpu_supports("avx512bf16");
#else
    return false;
#endif
}

bool has_fast_bf16_dots() {
#if defined(__x86_64__)
    return has_bf16_dots() && !__builtin_cpu_is("intel");
#else
    return false;
#endif
}

bool has_tiles() {
#if defined(__x86_64__) && defined(__linux__)
    static const bool granted = [] {
        unsigned a = 0, b = 0, c = 0, d = 0;
        constexpr unsigned tile = 1u << 24, tile_int8 = 1u << 25, tile_bf16 = 1u << 22;
        constexpr unsigned all = tile | tile_int8 | tile_bf16;
        if (__get_cpuid_count(7, 0, &a, &b, &c, &d) == 0 || (d & all) != all) return false;
        // Tiles are off until a process asks for them: ARCH_REQ_XCOMP_PERM of XFEATURE_XTILEDATA.
        return syscall(SYS_arch_prctl, 0x1023, 18) == 0;
    }();
    return granted && has_byte_dots() && has_bf16_dots();
#else
    return false;
#endif
}

std::string instructions_in_use() {
    const std::string_view target = vector_math::target_name();
    if (uses_avx512()) {
        std::string extras = has_byte_dots() ? "VNNI" : "";
        if (has_bf16_dots()) extras += extras.empty() ? "BF16" : ", BF16";
        if (has_tiles()) extras += ", AMX";
        return extras.empty() ? "AVX-512" : fmt::format("AVX-512 ({})", extras);
    }
    if (target == "EMU128" || target == "SCALAR") return "plain";
    return std::string(target);
}

}  // namespace decodescope
