// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>

#include "engine/fault/fault_catalogue.h"

namespace decodescope {

/// The entries of `fault_catalogue`.
extern const std::array<FaultInfo, n_fault> fault_texts;

}  // namespace decodescope
