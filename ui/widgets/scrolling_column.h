// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

class QVBoxLayout;
class QWidget;

namespace decodescope {

/// Makes `page` scroll from top to bottom: the column of cards that it is filled with, spaced as cards are.
/// The widget in it is the layout's parent.
QVBoxLayout* scrollingColumn(QWidget* page);

}  // namespace decodescope
