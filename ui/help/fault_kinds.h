// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

#include <string>
#include <vector>

#include "engine/verify/verdict.h"

namespace decodescope {

/// A kind of fault as a heading: "Position ids".
QString faultKindTitle(FaultKind kind);
/// The titles of a lane's faults, those unknown by their ids: "Positions restart with every call, ...".
QString faultTitles(const std::vector<std::string>& ids);

}  // namespace decodescope
