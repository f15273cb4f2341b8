// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QAbstractScrollArea>

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "ui/race/token_paragraph.h"
#include "ui/theme/theme.h"

namespace decodescope {

/// A lane's text as it is written, one paragraph per request: the prompt in muted type, then token after
/// token, with a cursor in the lane's colour at the end. Tokens that differ from the reference lane's are
/// underlined, drafts that were kept have a tint. Text can be selected and copied. While nobody scrolls, it
/// follows what is written.
class TokenStream : public QAbstractScrollArea {
    Q_OBJECT

public:
    explicit TokenStream(QWidget* parent = nullptr);

    /// Starts anew with a prompt per request; they are numbered when there are several.
    void begin(const QStringList& prompts, ColorRef cursorColor);
    void begin(const QString& prompt, ColorRef cursorColor) { begin(QStringList{prompt}, cursorColor); }
    /// Appends a token's bytes to a request; characters appear when they are complete.
    void appendToken(int request, std::int32_t id, std::string_view bytes, bool drafted = false);
    /// Appends a token of a model without a tokenizer, by its number.
    void appendNumber(int request, std::int32_t id, bool drafted = false);
    /// Underlines a request's token `index`: the reference lane has another one there.
    void markDifferent(int request, int index);
    /// Appends text that is not known token by token.
    void appendText(int request, const QString& text);
    /// No more tokens come: what is left of an unfinished character is shown, the cursor goes.
    void finish();

    /// Lays out and draws what was appended; call it once per batch.
    void flush();

    /// Tokens of all requests.
    int tokenCount() const;
    int requestCount() const { return static_cast<int>(m_paragraphs.size()); }
    /// Prompts and tokens as they stand; paragraphs are separated by an empty line.
    QString text() const;
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
    /// A place in the text: paragraph, then characters in it.
    using Place = std::pair<int, qsizetype>;

    TokenParagraph* paragraph(int request);
    void relayout();
    void updateScrollBar();
    void scrollToWritten();
    int lineHeight() const;
    int paragraphGap() const;
    int textWidth() const;
    int topOf(int paragraph) const;
    int heightOf(const TokenParagraph& paragraph) const;
    Place placeAt(const QPoint& point) const;
    const TokenParagraph::Token* tokenAt(Place place) const;
    std::pair<qsizetype, qsizetype> selectionIn(int paragraph) const;
    void paintParagraph(QPainter& painter, const QRect& area, int number, int top) const;

    std::vector<TokenParagraph> m_paragraphs{TokenParagraph({})};
    ColorRef m_cursorColor;
    bool m_writing = false;
    int m_written = 0;      // request that was written last
    bool m_follow = true;   // nobody has scrolled away from what is written
    bool m_moving = false;  // the scroll bar is moved by us
    Place m_anchor;         // selection
    Place m_caret;
};

}  // namespace decodescope
