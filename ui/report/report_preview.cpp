// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/report/report_preview.h"

#include <QKeyEvent>
#include <QPainter>
#include <QScrollBar>

#include <algorithm>

#include "ui/report/report_document.h"
#include "ui/theme/card.h"
#include "ui/theme/theme.h"
#include "ui/widgets/slim_scroll_bar.h"

namespace decodescope {

namespace {

constexpr double largestScale = 1.3;  // beyond it lines get too long to read

}  // namespace

ReportPreview::ReportPreview(QWidget* parent) : QAbstractScrollArea(parent) {
    setFrameShape(QFrame::NoFrame);
    setFocusPolicy(Qt::StrongFocus);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    SlimScrollBar::install(this);
    // Always there, so that the pages keep their width when there is one more.
    setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOn);
    setAccessibleName(tr("Preview of the report"));
    viewport()->setAutoFillBackground(false);
}

ReportPreview::~ReportPreview() = default;

void ReportPreview::setDocument(std::unique_ptr<ReportDocument> document) {
    m_document = std::move(document);
    m_pictures.clear();
    setAccessibleDescription(m_document == nullptr ? QString() : m_document->text());
    layoutPages();
    viewport()->update();
}

QSize ReportPreview::sizeHint() const {
    const int line = fontMetrics().lineSpacing();
    return {line * 30, line * 30};
}

double ReportPreview::scale() const {
    const double width = ReportDocument::pageSize().width();
    return std::clamp(viewport()->width() / width, 0.1, largestScale);
}

QRect ReportPreview::pageRect(int page) const {
    const CardMetrics metrics(font());
    const QSize size = ReportDocument::pageSize() * scale();
    return {(viewport()->width() - size.width()) / 2,
            page * (size.height() + metrics.spacing) - verticalScrollBar()->value(), size.width(),
            size.height()};
}

void ReportPreview::layoutPages() {
    const int pages = m_document == nullptr ? 0 : m_document->pageCount();
    const int end = pages == 0 ? 0 : pageRect(pages - 1).bottom() + 1 + verticalScrollBar()->value();
    verticalScrollBar()->setRange(0, std::max(0, end - viewport()->height()));
    verticalScrollBar()->setPageStep(viewport()->height());
    verticalScrollBar()->setSingleStep(fontMetrics().lineSpacing() * 3);
}

void ReportPreview::resizeEvent(QResizeEvent* event) {
    QAbstractScrollArea::resizeEvent(event);
    const int height = std::max(1, event->oldSize().height());
    const double place = verticalScrollBar()->value() / (1.0 * verticalScrollBar()->maximum() + height);
    m_pictures.clear();
    layoutPages();
    verticalScrollBar()->setValue(
        static_cast<int>(place * (verticalScrollBar()->maximum() + viewport()->height())));
}

void ReportPreview::keyPressEvent(QKeyEvent* event) {
    if (event->key() == Qt::Key_Home)
        verticalScrollBar()->setValue(0);
    else if (event->key() == Qt::Key_End)
        verticalScrollBar()->setValue(verticalScrollBar()->maximum());
    else
        QAbstractScrollArea::keyPressEvent(event);
}

const QPixmap& ReportPreview::picture(int page, const QSize& size) {
    QPixmap& picture = m_pictures[page];
    const double ratio = devicePixelRatioF();
    if (!picture.isNull() && picture.size() == size * ratio) return picture;
    picture = QPixmap(size * ratio);
    picture.fill(themeColors(false).card);
    QPainter painter(&picture);
    painter.setRenderHints(QPainter::Antialiasing | QPainter::TextAntialiasing);
    painter.scale(scale() * ratio, scale() * ratio);
    m_document->drawPage(painter, page);
    return picture;
}

void ReportPreview::paintEvent(QPaintEvent* event) {
    if (m_document == nullptr) return;
    QPainter painter(viewport());
    const ThemeColors& colors = themeColors(palette());
    for (int page = 0; page < m_document->pageCount(); ++page) {
        const QRect rect = pageRect(page);
        if (!rect.intersects(viewport()->rect())) {
            m_pictures.remove(page);
            continue;
        }
        if (!rect.intersects(event->rect())) continue;
        painter.drawPixmap(rect, picture(page, rect.size()));
        painter.setPen(colors.border);
        painter.drawRect(rect.adjusted(0, 0, -1, -1));
    }
}

}  // namespace decodescope
