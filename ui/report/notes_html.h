// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

namespace decodescope {

/// Notes in Markdown (headings, lists, emphasis, code, quotes, links, tables) as plain HTML without styles.
/// HTML in them stays text, pictures become their description, and only links to the web or to mail are kept:
/// a report loads nothing and runs nothing. Empty when there is nothing to say.
QString notesHtml(const QString& markdown);

}  // namespace decodescope
