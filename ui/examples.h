// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>
#include <QVector>

namespace decodescope {

/// An experiment that comes with the program.
struct Example {
    QString path;
    QString title;  ///< "_title" of the file, else its name
    QString about;  ///< "_about" of the file: what it shows, one or two sentences; may be empty
};

/// The experiments in the bundled folder "experiments", the demo first, then by file name. Files that are not
/// JSON objects are left out.
QVector<Example> bundledExamples();

}  // namespace decodescope
