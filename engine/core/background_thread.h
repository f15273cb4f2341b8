// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

namespace decodescope {

/// Puts the calling thread behind those that people wait for: what computes without a pause must not keep a
/// window from a core. On an idle core it is as fast as before. Linux; elsewhere it does nothing.
void yield_to_windows();

}  // namespace decodescope
