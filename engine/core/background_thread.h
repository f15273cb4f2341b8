// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

namespace decodescope {

/// Puts the calling thread behind those that people wait for: what computes without a pause must not take a
/// core from a window that has just woken up. Its share of a core beside other busy programs stays that of
/// any thread, and on an idle core it is as fast as before. Linux; elsewhere it does nothing.
void yield_to_windows();

}  // namespace decodescope
