// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

namespace decodescope::test {

/// How long a test waits for what takes a moment, in milliseconds. Only a hang may outlast it: beside other
/// programs, or on a machine that lends its processors elsewhere, a second becomes a minute.
inline constexpr int patience = 600'000;

}  // namespace decodescope::test
