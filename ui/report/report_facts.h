// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QList>
#include <QString>

#include "engine/experiment/record.h"

namespace decodescope {

/// One line of a report: a name and what is known under it.
struct Fact {
    QString name;
    QString value;
};

/// What was run: model, prompt, sampling, lanes.
QList<Fact> runFacts(const Record& record);
/// Where it was run: program, machine, libraries. What is not known says so.
QList<Fact> environmentFacts(const Environment& environment);
/// "7 prompt tokens", "4 requests of 3 to 19 prompt tokens".
QString promptsText(const Record& record);

}  // namespace decodescope
