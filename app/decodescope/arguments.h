// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>
#include <QStringList>

#include <optional>

#include "engine/core/result.h"

namespace decodescope {

/// What the program was asked to do.
struct Arguments {
    enum class Action { window, render, help, version };
    Action action = Action::window;
    QString record;                     ///< render: the record to draw
    QString directory;                  ///< render: where to
    QString compare;                    ///< render: another record to draw dashed; empty = none
    QString title;                      ///< render: of the report; empty = the record's
    QString notes;                      ///< render: a file with notes; empty = the record's
    std::optional<QStringList> charts;  ///< render: names of charts, in order; not set = all
    QString experiment;                 ///< window: experiment file to open
    QString model;                      ///< window: model to select
    QString open;                       ///< window: a record or model given without an option
    QString language;                   ///< "system", "en", "de"; empty: not said
    bool autostart = true;              ///< window: run the demo at once when there is nothing else to show
};

/// Reads the command line, `arguments[0]` being the program. Fails with one sentence.
Result<Arguments> parseArguments(const QStringList& arguments);
/// What `--help` prints. Needs an application object.
QString helpText();

}  // namespace decodescope
