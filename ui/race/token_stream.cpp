// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/race/token_stream.h"

#include <QClipboard>
#include <QContextMenuEvent>
#include <QFontMetrics>
#include <QGuiApplication>
#include <QHelpEvent>
#include <QMenu>
#include <QPainter>
#include <QScrollBar>
#include <QTextLayout>
#include <QToolTip>

#include <algorithm>

#include "ui/widgets/slim_scroll_bar.h"

namespace decodescope {

TokenStream::TokenStream(QWidget* parent) : QAbstractScrollArea(parent) {
    setFrameShape(QFrame::NoFrame);
    SlimScrollBar::install(this);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setFocusPolicy(Qt::StrongFocus);
    viewport()->setCursor(Qt::IBeamCursor);
    viewport()->setBackgroundRole(QPalette::Base);
}

void TokenStream::begin(const QString& prompt, ColorRef cursorColor) {
    m_text = prompt;
    m_promptEnd = prompt.size();
    m_tokens.clear();
    m_utf8 = Utf8Stream();
    m_cursorColor = cursorColor;
    m_writing = true;
    m_anchor = m_caret = 0;
    relayout();
    verticalScrollBar()->setValue(0);
}

void TokenStream::appendToken(std::int32_t id, std::string_view bytes) {
    m_tokens.push_back({id, m_text.size(), false});
    append(QString::fromStdString(m_utf8.push(bytes)));
}

void TokenStream::appendNumber(std::int32_t id) {
    m_tokens.push_back({id, m_text.size(), false});
    append(QStringLiteral(" %1").arg(id));
}

void TokenStream::appendText(const QString& text) {
    append(text);
}

void TokenStream::markDifferent(int index) {
    if (index < 0 || index >= tokenCount()) return;
    m_tokens[static_cast<std::size_t>(index)].differs = true;
    viewport()->update();
}

void TokenStream::append(const QString& characters) {
    m_text += characters;
    m_pending = m_pending || !characters.isEmpty();
}

void TokenStream::flush() {
    if (!m_pending) return;
    const bool follow = verticalScrollBar()->value() == verticalScrollBar()->maximum();
    m_pending = false;
    breakLinesFrom(m_lines.size() - 1);
    updateScrollBar(follow);
    viewport()->update();
}

void TokenStream::finish() {
    if (!m_writing) return;
    append(QString::fromStdString(m_utf8.finish()));
    m_writing = false;
    flush();
    setAccessibleDescription(m_text);
    viewport()->update();
}

int TokenStream::lineHeight() const {
    // A little more air than the font asks for: this text is read, not scanned.
    return fontMetrics().lineSpacing() * 5 / 4;
}

int TokenStream::textWidth() const {
    return std::max(1, viewport()->width() - fontMetrics().averageCharWidth());
}

qsizetype TokenStream::lineEnd(std::size_t line) const {
    return line + 1 < m_lines.size() ? m_lines[line + 1] : m_text.size();
}

// Lays out everything from the beginning of `line`; earlier lines cannot change by appending.
void TokenStream::breakLinesFrom(std::size_t line) {
    qsizetype begin = m_lines[line];
    m_lines.resize(line + 1);
    while (true) {
        const qsizetype newline = m_text.indexOf(QLatin1Char('\n'), begin);
        const qsizetype end = newline < 0 ? m_text.size() : newline;
        QTextLayout layout(m_text.mid(begin, end - begin), font());
        QTextOption option;
        option.setWrapMode(QTextOption::WrapAtWordBoundaryOrAnywhere);
        layout.setTextOption(option);
        layout.beginLayout();
        for (int n = 0;; ++n) {
            QTextLine textLine = layout.createLine();
            if (!textLine.isValid()) break;
            textLine.setLineWidth(textWidth());
            if (n > 0) m_lines.push_back(begin + textLine.textStart());
        }
        layout.endLayout();
        if (newline < 0) return;
        begin = newline + 1;
        m_lines.push_back(begin);
    }
}

void TokenStream::relayout() {
    const bool follow = verticalScrollBar()->value() == verticalScrollBar()->maximum();
    m_pending = false;
    m_lines.assign(1, 0);
    breakLinesFrom(0);
    updateScrollBar(follow);
    viewport()->update();
}

void TokenStream::updateScrollBar(bool follow) {
    const int height = static_cast<int>(m_lines.size()) * lineHeight();
    verticalScrollBar()->setRange(0, std::max(0, height - viewport()->height()));
    verticalScrollBar()->setPageStep(viewport()->height());
    verticalScrollBar()->setSingleStep(lineHeight());
    if (follow) verticalScrollBar()->setValue(verticalScrollBar()->maximum());
}

void TokenStream::layoutLine(QTextLayout& layout, std::size_t line, bool formats) const {
    const qsizetype begin = m_lines[line];
    const qsizetype end = lineEnd(line);
    QString characters = m_text.mid(begin, end - begin);
    if (characters.endsWith(QLatin1Char('\n'))) characters.chop(1);
    layout.setFont(font());
    layout.setText(characters);
    if (formats) {
        const ThemeColors& colors = themeColors(palette());
        QList<QTextLayout::FormatRange> ranges;
        const auto mark = [&](qsizetype from, qsizetype to, const QTextCharFormat& format) {
            from = std::max(from, begin);
            to = std::min(to, begin + characters.size());
            if (from < to)
                ranges.append({static_cast<int>(from - begin), static_cast<int>(to - from), format});
        };
        QTextCharFormat muted;
        muted.setForeground(colors.muted);
        mark(0, m_promptEnd, muted);
        QTextCharFormat different;
        different.setUnderlineStyle(QTextCharFormat::SingleUnderline);
        different.setUnderlineColor(colors.bad);
        different.setForeground(colors.bad);
        auto token = std::upper_bound(m_tokens.begin(), m_tokens.end(), begin,
                                      [](qsizetype at, const Token& t) { return at < t.begin; });
        if (token != m_tokens.begin()) --token;
        for (; token != m_tokens.end() && token->begin < end; ++token) {
            const auto next = token + 1;
            if (token->differs)
                mark(token->begin, next == m_tokens.end() ? m_text.size() : next->begin, different);
        }
        QTextCharFormat selected;
        selected.setBackground(palette().color(QPalette::Highlight));
        selected.setForeground(palette().color(QPalette::HighlightedText));
        mark(std::min(m_anchor, m_caret), std::max(m_anchor, m_caret), selected);
        layout.setFormats(ranges);
    }
    QTextOption option;
    option.setWrapMode(QTextOption::NoWrap);
    layout.setTextOption(option);
    layout.beginLayout();
    QTextLine textLine = layout.createLine();
    if (textLine.isValid()) textLine.setLineWidth(textWidth());
    layout.endLayout();
}

void TokenStream::paintEvent(QPaintEvent* event) {
    const ThemeColors& colors = themeColors(palette());
    QPainter painter(viewport());
    painter.fillRect(event->rect(), colors.card);
    painter.setPen(colors.text);
    const int height = lineHeight();
    const int offset = verticalScrollBar()->value();
    const int leading = (height - fontMetrics().height()) / 2;
    const auto first = static_cast<std::size_t>(std::max(0, (offset + event->rect().top()) / height));
    for (std::size_t line = first; line < m_lines.size(); ++line) {
        const int top = static_cast<int>(line) * height - offset;
        if (top > event->rect().bottom()) break;
        QTextLayout layout;
        layoutLine(layout, line, true);
        layout.draw(&painter, QPointF(0, top + leading));
        if (m_writing && line + 1 == m_lines.size()) {
            const QTextLine textLine = layout.lineCount() > 0 ? layout.lineAt(0) : QTextLine();
            const qreal x =
                textLine.isValid() ? textLine.cursorToX(static_cast<int>(layout.text().size())) : 0;
            QColor cursor = colors.color(m_cursorColor);
            cursor.setAlphaF(0.4f);
            painter.fillRect(
                QRectF(x + 1, top + leading, fontMetrics().averageCharWidth() * 0.6, fontMetrics().height()),
                cursor);
        }
    }
    if (hasFocus() && window()->testAttribute(Qt::WA_KeyboardFocusChange)) {
        painter.setPen(QPen(colors.accent, 1));
        painter.drawLine(0, viewport()->height() - 1, viewport()->width(), viewport()->height() - 1);
    }
}

void TokenStream::resizeEvent(QResizeEvent*) {
    relayout();
}

void TokenStream::changeEvent(QEvent* event) {
    QAbstractScrollArea::changeEvent(event);
    if (event->type() == QEvent::FontChange) relayout();
    if (event->type() == QEvent::PaletteChange) viewport()->update();
}

qsizetype TokenStream::positionAt(const QPoint& point) const {
    const int row = std::max(0, (point.y() + verticalScrollBar()->value()) / lineHeight());
    if (static_cast<std::size_t>(row) >= m_lines.size()) return m_text.size();
    const auto line = static_cast<std::size_t>(row);
    QTextLayout layout;
    layoutLine(layout, line, false);
    if (layout.lineCount() == 0) return m_lines[line];
    return m_lines[line] + layout.lineAt(0).xToCursor(point.x());
}

const TokenStream::Token* TokenStream::tokenAt(qsizetype position) const {
    const auto next = std::upper_bound(m_tokens.begin(), m_tokens.end(), position,
                                       [](qsizetype at, const Token& t) { return at < t.begin; });
    return next == m_tokens.begin() || position >= m_text.size() ? nullptr : &*(next - 1);
}

QString TokenStream::selectedText() const {
    return m_text.mid(std::min(m_anchor, m_caret), std::abs(m_caret - m_anchor));
}

void TokenStream::selectAll() {
    m_anchor = 0;
    m_caret = m_text.size();
    viewport()->update();
}

void TokenStream::copy() const {
    const QString selected = selectedText();
    QGuiApplication::clipboard()->setText(selected.isEmpty() ? m_text : selected);
}

void TokenStream::keyPressEvent(QKeyEvent* event) {
    if (event->matches(QKeySequence::Copy))
        copy();
    else if (event->matches(QKeySequence::SelectAll))
        selectAll();
    else
        QAbstractScrollArea::keyPressEvent(event);
}

void TokenStream::mousePressEvent(QMouseEvent* event) {
    if (event->button() != Qt::LeftButton) return;
    m_caret = positionAt(event->pos());
    if (!(event->modifiers() & Qt::ShiftModifier)) m_anchor = m_caret;
    viewport()->update();
}

void TokenStream::mouseMoveEvent(QMouseEvent* event) {
    if (!(event->buttons() & Qt::LeftButton)) return;
    m_caret = positionAt(event->pos());
    viewport()->update();
}

void TokenStream::mouseDoubleClickEvent(QMouseEvent* event) {
    const Token* token = tokenAt(positionAt(event->pos()));
    if (token == nullptr) return;
    m_anchor = token->begin;
    m_caret = token == &m_tokens.back() ? m_text.size() : (token + 1)->begin;
    viewport()->update();
}

void TokenStream::contextMenuEvent(QContextMenuEvent* event) {
    QMenu menu(this);
    menu.addAction(selectedText().isEmpty() ? tr("Copy Text") : tr("Copy Selection"), this,
                   [this] { copy(); });
    menu.addAction(tr("Select All"), this, &TokenStream::selectAll);
    menu.exec(event->globalPos());
}

void TokenStream::focusOutEvent(QFocusEvent* event) {
    QAbstractScrollArea::focusOutEvent(event);
    viewport()->update();
}

bool TokenStream::viewportEvent(QEvent* event) {
    if (event->type() == QEvent::ToolTip) {
        const auto* help = static_cast<QHelpEvent*>(event);
        const Token* token = tokenAt(positionAt(help->pos()));
        if (token == nullptr) {
            QToolTip::hideText();
        } else {
            const auto number = token - m_tokens.data() + 1;
            QToolTip::showText(
                help->globalPos(),
                token->differs
                    ? tr("token %1, id %2: the reference has another one here").arg(number).arg(token->id)
                    : tr("token %1, id %2").arg(number).arg(token->id),
                viewport());
        }
        return true;
    }
    return QAbstractScrollArea::viewportEvent(event);
}

QSize TokenStream::sizeHint() const {
    return {fontMetrics().averageCharWidth() * 60, lineHeight() * 8};
}

QSize TokenStream::minimumSizeHint() const {
    return {fontMetrics().averageCharWidth() * 16, lineHeight() * 3};
}

}  // namespace decodescope
