// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QAbstractScrollArea>

#include <cstdint>
#include <string_view>
#include <vector>

#include "engine/tokenizer/tokenizer.h"
#include "ui/theme/theme.h"

class QTextLayout;

namespace decodescope {

/// A lane's text as it is written: the prompt in muted type, then token after token, with a cursor in the
/// lane's colour at the end. Tokens that differ from the reference lane's are underlined. What was appended
/// is laid out once before the next drawing, beginning with the last line, so a long text costs no more than
/// a short one. Text can be selected and copied.
class TokenStream : public QAbstractScrollArea {
    Q_OBJECT

public:
    explicit TokenStream(QWidget* parent = nullptr);

    /// Starts anew with a prompt.
    void begin(const QString& prompt, ColorRef cursorColor);
    /// Appends a token's bytes; characters appear when they are complete.
    void appendToken(std::int32_t id, std::string_view bytes);
    /// Appends a token of a model without a tokenizer, by its number.
    void appendNumber(std::int32_t id);
    /// Underlines token `index`: the reference lane has another one there.
    void markDifferent(int index);
    /// Appends text that is not known token by token.
    void appendText(const QString& text);
    /// No more tokens come: what is left of an unfinished character is shown, the cursor goes.
    void finish();

    /// Lays out and draws what was appended; call it once per batch.
    void flush();

    int tokenCount() const { return static_cast<int>(m_tokens.size()); }
    /// Prompt and tokens as they stand.
    QString text() const { return m_text; }
    QString selectedText() const;
    void selectAll();
    void copy() const;

    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void changeEvent(QEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;
    void contextMenuEvent(QContextMenuEvent* event) override;
    void focusOutEvent(QFocusEvent* event) override;
    bool viewportEvent(QEvent* event) override;

private:
    struct Token {
        std::int32_t id = -1;
        qsizetype begin = 0;  // in m_text
        bool differs = false;
    };

    void append(const QString& characters);
    void breakLinesFrom(std::size_t line);
    void relayout();
    void updateScrollBar(bool follow);
    qsizetype lineEnd(std::size_t line) const;
    int lineHeight() const;
    int textWidth() const;
    void layoutLine(QTextLayout& layout, std::size_t line, bool formats) const;
    qsizetype positionAt(const QPoint& point) const;
    const Token* tokenAt(qsizetype position) const;

    QString m_text;
    qsizetype m_promptEnd = 0;
    std::vector<Token> m_tokens;
    std::vector<qsizetype> m_lines{0};  // where each line begins in m_text
    Utf8Stream m_utf8;
    ColorRef m_cursorColor;
    bool m_writing = false;
    bool m_pending = false;  // appended, not laid out
    qsizetype m_anchor = 0;  // selection, in m_text
    qsizetype m_caret = 0;
};

}  // namespace decodescope
