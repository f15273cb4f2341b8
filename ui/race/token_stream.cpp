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
    connect(verticalScrollBar(), &QScrollBar::valueChanged, this, [this](int value) {
        if (!m_moving) m_follow = value == verticalScrollBar()->maximum();
    });
}

void TokenStream::begin(const QStringList& prompts, ColorRef cursorColor) {
    m_paragraphs.clear();
    for (const QString& prompt : prompts) {
        const auto number = m_paragraphs.size() + 1;
        m_paragraphs.emplace_back(prompts.size() > 1 ? tr("%1.").arg(number) + QLatin1Char(' ') + prompt
                                                     : prompt);
    }
    if (m_paragraphs.empty()) m_paragraphs.emplace_back(QString());
    m_cursorColor = cursorColor;
    m_writing = true;
    m_written = 0;
    m_anchor = m_caret = {};
    relayout();
    verticalScrollBar()->setValue(0);
    m_follow = true;
}

TokenParagraph* TokenStream::paragraph(int request) {
    if (request < 0 || request >= requestCount()) return nullptr;
    m_written = request;
    return &m_paragraphs[static_cast<std::size_t>(request)];
}

void TokenStream::appendToken(int request, std::int32_t id, std::string_view bytes, bool drafted) {
    if (TokenParagraph* to = paragraph(request)) to->appendToken(id, bytes, drafted);
}

void TokenStream::appendNumber(int request, std::int32_t id, bool drafted) {
    if (TokenParagraph* to = paragraph(request)) to->appendNumber(id, drafted);
}

void TokenStream::appendText(int request, const QString& text) {
    if (TokenParagraph* to = paragraph(request)) to->appendText(text);
}

void TokenStream::markDifferent(int request, int index) {
    if (request < 0 || request >= requestCount()) return;
    m_paragraphs[static_cast<std::size_t>(request)].markDifferent(index);
    viewport()->update();
}

void TokenStream::flush() {
    bool changed = false;
    for (TokenParagraph& each : m_paragraphs) changed = each.breakNewLines(font(), textWidth()) || changed;
    if (!changed) return;
    updateScrollBar();
    viewport()->update();
}

void TokenStream::finish() {
    if (!m_writing) return;
    for (TokenParagraph& each : m_paragraphs) each.finish();
    m_writing = false;
    flush();
    setAccessibleDescription(text());
    viewport()->update();
}

int TokenStream::tokenCount() const {
    std::size_t n = 0;
    for (const TokenParagraph& each : m_paragraphs) n += each.tokens().size();
    return static_cast<int>(n);
}

QString TokenStream::text() const {
    QStringList texts;
    for (const TokenParagraph& each : m_paragraphs) texts << each.text();
    return texts.join(QStringLiteral("\n\n"));
}

int TokenStream::lineHeight() const {
    // A little more air than the font asks for: this text is read, not scanned.
    return fontMetrics().lineSpacing() * 5 / 4;
}

int TokenStream::paragraphGap() const {
    return lineHeight() / 2;
}

int TokenStream::textWidth() const {
    return std::max(1, viewport()->width() - fontMetrics().averageCharWidth());
}

int TokenStream::heightOf(const TokenParagraph& each) const {
    return each.lineCount() * lineHeight();
}

int TokenStream::topOf(int number) const {
    int top = 0;
    for (int i = 0; i < number; ++i)
        top += heightOf(m_paragraphs[static_cast<std::size_t>(i)]) + paragraphGap();
    return top;
}

void TokenStream::relayout() {
    for (TokenParagraph& each : m_paragraphs) each.breakAllLines(font(), textWidth());
    updateScrollBar();
    viewport()->update();
}

void TokenStream::updateScrollBar() {
    const int height = topOf(requestCount() - 1) + heightOf(m_paragraphs.back());
    m_moving = true;
    verticalScrollBar()->setRange(0, std::max(0, height - viewport()->height()));
    verticalScrollBar()->setPageStep(viewport()->height());
    verticalScrollBar()->setSingleStep(lineHeight());
    if (m_follow) scrollToWritten();
    m_moving = false;
}

// The end of the paragraph that was written last comes into sight, and no more than that moves.
void TokenStream::scrollToWritten() {
    const int bottom = topOf(m_written) + heightOf(m_paragraphs[static_cast<std::size_t>(m_written)]);
    const int value = verticalScrollBar()->value();
    if (bottom > value + viewport()->height() || bottom - lineHeight() < value || requestCount() == 1)
        verticalScrollBar()->setValue(bottom - viewport()->height());
}

std::pair<qsizetype, qsizetype> TokenStream::selectionIn(int number) const {
    const auto [first, last] = std::minmax(m_anchor, m_caret);
    if (number < first.first || number > last.first) return {0, 0};
    const qsizetype size = m_paragraphs[static_cast<std::size_t>(number)].text().size();
    return {number == first.first ? first.second : 0, number == last.first ? last.second : size};
}

void TokenStream::paintParagraph(QPainter& painter, const QRect& area, int number, int top) const {
    const TokenParagraph& each = m_paragraphs[static_cast<std::size_t>(number)];
    const int height = lineHeight();
    const int leading = (height - fontMetrics().height()) / 2;
    for (int line = std::max(0, (area.top() - top) / height); line < each.lineCount(); ++line) {
        const int y = top + line * height;
        if (y > area.bottom()) break;
        QTextLayout layout;
        each.layoutLine(layout, line, font(), each.lineFormats(line, palette(), selectionIn(number)));
        layout.draw(&painter, QPointF(0, y + leading));
        if (!m_writing || line + 1 != each.lineCount()) continue;
        const QTextLine textLine = layout.lineCount() > 0 ? layout.lineAt(0) : QTextLine();
        const qreal x = textLine.isValid() ? textLine.cursorToX(static_cast<int>(layout.text().size())) : 0;
        QColor cursor = themeColors(palette()).color(m_cursorColor);
        cursor.setAlphaF(0.4f);
        painter.fillRect(
            QRectF(x + 1, y + leading, fontMetrics().averageCharWidth() * 0.6, fontMetrics().height()),
            cursor);
    }
}

void TokenStream::paintEvent(QPaintEvent* event) {
    const ThemeColors& colors = themeColors(palette());
    QPainter painter(viewport());
    painter.fillRect(event->rect(), colors.card);
    painter.setPen(colors.text);
    int top = -verticalScrollBar()->value();
    for (int i = 0; i < requestCount(); ++i) {
        const int height = heightOf(m_paragraphs[static_cast<std::size_t>(i)]);
        if (top <= event->rect().bottom() && top + height >= event->rect().top())
            paintParagraph(painter, event->rect(), i, top);
        top += height + paragraphGap();
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

TokenStream::Place TokenStream::placeAt(const QPoint& point) const {
    int y = point.y() + verticalScrollBar()->value();
    for (int i = 0; i < requestCount(); ++i) {
        const TokenParagraph& each = m_paragraphs[static_cast<std::size_t>(i)];
        const int height = heightOf(each);
        if (y >= height) {
            y -= height + paragraphGap();
            if (y < 0) return {i, each.text().size()};
            continue;
        }
        const int line = std::max(0, y / lineHeight());
        QTextLayout layout;
        each.layoutLine(layout, line, font());
        const qsizetype begin = each.line(line).first;
        return {i, layout.lineCount() == 0 ? begin : begin + layout.lineAt(0).xToCursor(point.x())};
    }
    return {requestCount() - 1, m_paragraphs.back().text().size()};
}

const TokenParagraph::Token* TokenStream::tokenAt(Place place) const {
    return m_paragraphs[static_cast<std::size_t>(place.first)].tokenAt(place.second);
}

QString TokenStream::selectedText() const {
    QStringList texts;
    const auto [first, last] = std::minmax(m_anchor.first, m_caret.first);
    for (int i = first; i <= last; ++i) {
        const auto [begin, end] = selectionIn(i);
        texts << m_paragraphs[static_cast<std::size_t>(i)].text().mid(begin, end - begin);
    }
    return texts.join(QStringLiteral("\n\n"));
}

void TokenStream::selectAll() {
    m_anchor = {};
    m_caret = {requestCount() - 1, m_paragraphs.back().text().size()};
    viewport()->update();
}

void TokenStream::copy() const {
    const QString selected = selectedText();
    QGuiApplication::clipboard()->setText(selected.isEmpty() ? text() : selected);
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
    m_caret = placeAt(event->pos());
    if (!(event->modifiers() & Qt::ShiftModifier)) m_anchor = m_caret;
    viewport()->update();
}

void TokenStream::mouseMoveEvent(QMouseEvent* event) {
    if (!(event->buttons() & Qt::LeftButton)) return;
    m_caret = placeAt(event->pos());
    viewport()->update();
}

void TokenStream::mouseDoubleClickEvent(QMouseEvent* event) {
    const Place place = placeAt(event->pos());
    const TokenParagraph::Token* token = tokenAt(place);
    if (token == nullptr) return;
    m_anchor = {place.first, token->begin};
    m_caret = {place.first, m_paragraphs[static_cast<std::size_t>(place.first)].tokenEnd(*token)};
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
        const Place place = placeAt(help->pos());
        const TokenParagraph::Token* token = tokenAt(place);
        if (token == nullptr) {
            QToolTip::hideText();
        } else {
            const auto& tokens = m_paragraphs[static_cast<std::size_t>(place.first)].tokens();
            QString sentence = tr("token %1, id %2").arg(token - tokens.data() + 1).arg(token->id);
            if (requestCount() > 1)
                sentence = tr("request %1, %2").arg(QString::number(place.first + 1), sentence);
            if (token->drafted) sentence += tr(": a draft that was kept");
            if (token->differs) sentence += tr(": the reference has another one here");
            QToolTip::showText(help->globalPos(), sentence, viewport());
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
