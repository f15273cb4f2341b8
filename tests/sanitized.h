// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

namespace decodescope::test {

/// Whether a sanitizer looks on: memory is then not ours alone, as it keeps shadows and quarantines, and what
/// takes a minute takes ten.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool sanitized = true;
#else
inline constexpr bool sanitized = false;
#endif

}  // namespace decodescope::test
