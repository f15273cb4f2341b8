// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

class QDialog;
class QWidget;

namespace decodescope {

class Actions;

/// The sheet of all keys. It does not block the window; owned by `parent`, deletes itself when closed.
QDialog* shortcutSheet(const Actions& actions, QWidget* parent);
/// Name, version, licence and the libraries in use. Same ownership.
QDialog* aboutDialog(QWidget* parent);

}  // namespace decodescope
