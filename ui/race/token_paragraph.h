// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QFont>
#include <QPalette>
#include <QString>
#include <QTextLayout>

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/tokenizer/tokenizer.h"

namespace decodescope {

/// The text of one request as it is written: a number and the prompt in muted type, then token after token.
/// Knows where its lines break; what was appended is laid out once, beginning with the last line, so that a
/// long text costs no more than a short one.
class TokenParagraph {
public:
    struct Token {
        std::int32_t id = -1;
        qsizetype begin = 0;   ///< in `text()`
        bool differs = false;  ///< the reference lane has another one there
        bool drafted = false;  ///< it was guessed, and the guess was kept
    };

    /// `prefix` is what stands before the first token.
    explicit TokenParagraph(const QString& prefix) : m_text(prefix), m_prefixEnd(prefix.size()) {}

    /// Appends a token's bytes; characters appear when they are complete.
    void appendToken(std::int32_t id, std::string_view bytes, bool drafted);
    void appendNumber(std::int32_t id, bool drafted);
    void appendText(const QString& characters);
    void markDifferent(int index);
    /// What is left of an unfinished character is shown.
    void finish();

    const QString& text() const { return m_text; }
    const std::vector<Token>& tokens() const { return m_tokens; }
    /// The token that covers a position in the text, or null.
    const Token* tokenAt(qsizetype position) const;
    /// Where a token ends in the text.
    qsizetype tokenEnd(const Token& token) const;

    /// Lays out what was appended since the last call; false when there was nothing.
    bool breakNewLines(const QFont& font, int width);
    /// Lays out everything anew.
    void breakAllLines(const QFont& font, int width);
    int lineCount() const { return static_cast<int>(m_lines.size()); }
    /// First position of a line, and the position behind its last one.
    std::pair<qsizetype, qsizetype> line(int number) const;
    /// Colours of a line's characters, with the positions between `selected` marked.
    QList<QTextLayout::FormatRange> lineFormats(int number, const QPalette& palette,
                                                std::pair<qsizetype, qsizetype> selected) const;
    /// Lays one line out for drawing and measuring.
    void layoutLine(QTextLayout& layout, int number, const QFont& font,
                    const QList<QTextLayout::FormatRange>& formats = {}) const;

private:
    void breakLinesFrom(std::size_t line, const QFont& font, int width);

    QString m_text;
    qsizetype m_prefixEnd = 0;
    std::vector<Token> m_tokens;
    std::vector<qsizetype> m_lines{0};  // where each line begins
    Utf8Stream m_utf8;
    bool m_pending = true;  // appended, not laid out
};

}  // namespace decodescope
