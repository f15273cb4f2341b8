// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/chart/chart.h"

#include <QAccessibleWidget>
#include <QClipboard>
#include <QContextMenuEvent>
#include <QFileDialog>
#include <QFileInfo>
#include <QFontMetrics>
#include <QGuiApplication>
#include <QHelpEvent>
#include <QMenu>
#include <QToolTip>
#include <qcustomplot.h>

#include <algorithm>

#include "ui/chart/export.h"
#include "ui/theme/card.h"

namespace decodescope {

namespace {

struct LegendMetrics {
    explicit LegendMetrics(const CardMetrics& metrics)
        : text(metrics.small_text),
          mark(qRound(text.height() * 0.62)),
          gap(metrics.padding / 2),
          between(metrics.padding + metrics.padding / 2),
          row(text.height() + metrics.padding / 3) {}
    int width(const LegendEntry& entry) const { return mark + gap + text.horizontalAdvance(entry.name); }
    QFontMetrics text;
    int mark;
    int gap;
    int between;
    int row;
};

/// Says what a chart shows, and works it out only when somebody listens.
class ChartInterface : public QAccessibleWidget {
public:
    explicit ChartInterface(Chart* chart) : QAccessibleWidget(chart, QAccessible::Chart), m_chart(chart) {}
    QString text(QAccessible::Text text) const override {
        return text == QAccessible::Description ? m_chart->spokenDescription()
                                                : QAccessibleWidget::text(text);
    }

private:
    Chart* m_chart;
};

QAccessibleInterface* chartInterface(const QString&, QObject* object) {
    auto* chart = qobject_cast<Chart*>(object);
    return chart != nullptr ? new ChartInterface(chart) : nullptr;
}

}  // namespace

Chart::Chart(QWidget* parent) : QWidget(parent) {
    static const bool installed = [] {
        QAccessible::installFactory(chartInterface);
        return true;
    }();
    Q_UNUSED(installed)
    setFocusPolicy(Qt::StrongFocus);
    setMouseTracking(true);
    setAttribute(Qt::WA_Hover, false);
}

Chart::~Chart() = default;

void Chart::setTitle(const QString& title) {
    if (title == m_title) return;
    m_title = title;
    setAccessibleName(title);
    layoutBody(bodyRect());
    update();
}

void Chart::setSubtitle(const QString& subtitle) {
    if (subtitle == m_subtitle) return;
    m_subtitle = subtitle;
    layoutBody(bodyRect());
    update();
}

void Chart::setDefinition(const QString& definition) {
    m_definition = definition;
    setAccessibleDescription(lastingDescription());
}

QString Chart::lastingDescription() const {
    const QString keys = keyHelp();
    return keys.isEmpty() ? m_definition : m_definition + QLatin1Char('\n') + keys;
}

QString Chart::summary() const {
    const QString title = m_subtitle.isEmpty() ? m_title : tr("%1 (%2)").arg(m_title, m_subtitle);
    QString words = isEmpty() ? tr("Nothing to show yet.") : dataInWords();
    if (isEmpty() && !m_emptyText.isEmpty()) {
        words += QLatin1Char(' ') + m_emptyText;
        if (!m_emptyText.back().isPunct()) words += QLatin1Char('.');
    }
    return title.isEmpty() ? words : title + QStringLiteral(".\n") + words;
}

QString Chart::spokenDescription() const {
    const QString said = accessibleDescription();
    if (said != lastingDescription()) return said;
    return said.isEmpty() ? summary() : summary() + QLatin1Char('\n') + said;
}

void Chart::setEmptyText(const QString& text) {
    m_emptyText = text;
    markDirty();
}

void Chart::setFrameVisible(bool visible) {
    if (visible == m_frame) return;
    m_frame = visible;
    layoutBody(bodyRect());
    update();
}

void Chart::setExportName(const QString& name) {
    m_exportName = name;
}

QString Chart::exportName() const {
    if (!m_exportName.isEmpty()) return m_exportName;
    const QString name = identifier(m_title);
    return name.isEmpty() ? QStringLiteral("chart") : name;
}

bool Chart::flush() {
    if (!m_dirty || !isVisible()) return false;
    refreshNow();
    return true;
}

void Chart::markDirty() {
    m_dirty = true;
}

void Chart::refreshNow() {
    m_dirty = false;
    updateDrawing();
    update();
}

Chart::Layout Chart::layout(const QSize& size) const {
    const CardMetrics metrics(font());
    const LegendMetrics legend_metrics(metrics);
    const int pad = m_frame ? metrics.padding : 0;
    Layout result;
    const int inner = std::max(0, size.width() - 2 * pad);
    int y = pad;
    if (!m_title.isEmpty()) {
        result.title = QRect(pad, y, inner, metrics.line);
        y += metrics.line;
    }
    const int legend_width = legendBelow() ? 0 : legendLineWidth();
    if (legend_width > 0) {
        const int title_width = QFontMetrics(metrics.title).horizontalAdvance(m_title) + metrics.padding / 2 +
                                QFontMetrics(metrics.small_text).horizontalAdvance(m_subtitle);
        if (!m_title.isEmpty() && title_width + 2 * metrics.padding + legend_width <= inner) {
            const int top = result.title.top() + (metrics.line - legend_metrics.row) / 2;
            result.legend = QRect(pad + inner - legend_width, top, legend_width + 1, legend_metrics.row);
            result.title.setWidth(inner - legend_width - metrics.padding);
        } else {
            y += metrics.padding / 4;
            result.legend = QRect(pad, y, inner, legendHeight(inner));
            y += result.legend.height();
        }
    }
    if (y > pad) y += metrics.padding / 2;
    result.body = QRect(pad, y, inner, std::max(0, size.height() - pad - y));
    return result;
}

int Chart::legendLineWidth() const {
    const QVector<LegendEntry> entries = legend();
    if (entries.isEmpty()) return 0;
    const LegendMetrics metrics{CardMetrics(font())};
    int width = -metrics.between;
    for (const LegendEntry& entry : entries) width += metrics.width(entry) + metrics.between;
    return width;
}

QVector<QRect> Chart::legendPlaces(const QRect& rect) const {
    const LegendMetrics metrics{CardMetrics(font())};
    QVector<QRect> places;
    QPoint at = rect.topLeft();
    for (const LegendEntry& entry : legend()) {
        const int width = metrics.width(entry);
        if (at.x() > rect.left() && at.x() + width > rect.left() + rect.width()) {
            at = QPoint(rect.left(), at.y() + metrics.row);
        }
        places.append(QRect(at, QSize(width, metrics.row)));
        at.rx() += width + metrics.between;
    }
    return places;
}

int Chart::legendHeight(int width) const {
    const QVector<QRect> places = legendPlaces(QRect(0, 0, width, 0));
    return places.isEmpty() ? 0 : places.last().bottom() + 1;
}

void Chart::paintLegend(QPainter& painter, const QRect& rect, const ThemeColors& colors) const {
    const CardMetrics card(font());
    const LegendMetrics metrics(card);
    const QVector<LegendEntry> entries = legend();
    const QVector<QRect> places = legendPlaces(rect);
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setFont(card.small_text);
    for (qsizetype i = 0; i < entries.size(); ++i) {
        const LegendEntry& entry = entries[i];
        const QColor color = entry.shown ? colors.color(entry.color) : colors.border;
        const QRectF mark(places[i].left(), places[i].top() + (metrics.row - metrics.mark) / 2.0,
                          metrics.mark, metrics.mark);
        switch (entry.mark) {
            case LegendEntry::Mark::box:
                // Kinds of cells that are nearly as light as the card need an edge to be seen.
                painter.setPen(std::abs(color.lightness() - colors.card.lightness()) < 20
                                   ? QPen(colors.border, 1)
                                   : QPen(Qt::NoPen));
                painter.setBrush(color);
                painter.drawRoundedRect(mark, 2, 2);
                break;
            case LegendEntry::Mark::dot:
                painter.setPen(Qt::NoPen);
                painter.setBrush(color);
                painter.drawEllipse(mark.center(), mark.width() * 0.38, mark.width() * 0.38);
                break;
            case LegendEntry::Mark::line:
            case LegendEntry::Mark::dashed_line:
            case LegendEntry::Mark::dotted_line:
                QPen pen(color, 2);
                if (entry.mark == LegendEntry::Mark::dashed_line) pen.setDashPattern({2, 1.5});
                if (entry.mark == LegendEntry::Mark::dotted_line) pen.setDashPattern({1, 1});
                pen.setCapStyle(Qt::FlatCap);
                painter.setPen(pen);
                painter.drawLine(QPointF(mark.left(), mark.center().y()),
                                 QPointF(mark.right(), mark.center().y()));
                break;
        }
        const int text_left = metrics.mark + metrics.gap;
        painter.setPen(entry.shown ? colors.muted : colors.border);
        painter.drawText(places[i].adjusted(text_left, 0, 2, 0), Qt::AlignLeft | Qt::AlignVCenter,
                         entry.name);
    }
    painter.restore();
}

void Chart::paintFrame(QPainter& painter, const QSize& size, const ThemeColors& colors) const {
    const CardMetrics metrics(font());
    const Layout places = layout(size);
    if (!m_title.isEmpty()) {
        const QFontMetrics bold(metrics.title);
        const QFontMetrics small_metrics(metrics.small_text);
        QRect line = places.title;
        painter.setFont(metrics.title);
        painter.setPen(colors.text);
        const QString title = bold.elidedText(m_title, Qt::ElideRight, line.width());
        painter.drawText(line, Qt::AlignLeft | Qt::AlignVCenter, title);
        line.setLeft(line.left() + bold.horizontalAdvance(title) + metrics.padding / 2);
        if (line.width() > metrics.line && !m_subtitle.isEmpty()) {
            // On one base line with the title, although the font is smaller.
            painter.setFont(metrics.small_text);
            painter.setPen(colors.muted);
            const int base = places.title.top() + (places.title.height() - bold.height()) / 2 + bold.ascent();
            painter.drawText(QPoint(line.left(), base),
                             small_metrics.elidedText(m_subtitle, Qt::ElideRight, line.width()));
        }
    }
    if (!places.legend.isNull()) paintLegend(painter, places.legend, colors);
}

void Chart::paintEvent(QPaintEvent*) {
    if (m_dirty) {
        m_dirty = false;
        updateDrawing();
    }
    const ThemeColors& colors = themeColors(palette());
    QCPPainter painter(this);
    if (m_frame) {
        const CardMetrics metrics(font());
        paintCard(painter, rect(), colors, metrics.radius);
        if (hasFocus() && property("keyboardFocus").toBool()) {
            painter.setRenderHint(QPainter::Antialiasing);
            painter.setPen(QPen(colors.accent, 1.5));
            painter.setBrush(Qt::NoBrush);
            painter.drawRoundedRect(QRectF(rect()).adjusted(1, 1, -1, -1), metrics.radius, metrics.radius);
        }
    }
    paintFrame(painter, size(), colors);
    if (bodyIsChild()) return;
    if (isEmpty()) {
        painter.setFont(CardMetrics(font()).small_text);
        painter.setPen(colors.muted);
        painter.drawText(bodyRect(), Qt::AlignCenter | Qt::TextWordWrap, m_emptyText);
    } else {
        paintBody(painter, bodyRect(), colors);
    }
}

void Chart::paintOn(QPaintDevice& device, const QSize& size, bool vectors) {
    paintOn(device, size, vectors, themeColors(palette()));
}

void Chart::paintOn(QPaintDevice& device, const QSize& size, bool vectors, const ThemeColors& colors) {
    if (m_dirty) refreshNow();
    const ThemeColors& own = themeColors(palette());
    if (&colors != &own) applyTheme(colors);
    {
        QCPPainter painter(&device);
        painter.setMode(QCPPainter::pmVectorized, vectors);
        painter.setRenderHint(QPainter::Antialiasing);
        painter.fillRect(QRect(QPoint(0, 0), size), colors.card);
        paintFrame(painter, size, colors);
        const QRect body = layout(size).body;
        if (isEmpty() && !m_emptyText.isEmpty()) {
            painter.setFont(CardMetrics(font()).small_text);
            painter.setPen(colors.muted);
            painter.drawText(body, Qt::AlignCenter | Qt::TextWordWrap, m_emptyText);
        } else {
            paintBody(painter, body, colors);
        }
    }
    if (&colors != &own) applyTheme(own);
}

QSize Chart::sizeHint() const {
    const int line = CardMetrics(font()).line;
    return {line * 34, line * 19};
}

QSize Chart::minimumSizeHint() const {
    const int line = CardMetrics(font()).line;
    return {line * 14, line * 8};
}

void Chart::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    layoutBody(bodyRect());
}

void Chart::showEvent(QShowEvent* event) {
    QWidget::showEvent(event);
    flush();
}

void Chart::changeEvent(QEvent* event) {
    QWidget::changeEvent(event);
    switch (event->type()) {
        case QEvent::PaletteChange:
        case QEvent::FontChange:
        case QEvent::StyleChange:
            applyTheme(themeColors(palette()));
            layoutBody(bodyRect());
            markDirty();
            update();
            break;
        default: break;
    }
}

bool Chart::event(QEvent* event) {
    if (event->type() == QEvent::ToolTip) {
        const auto* help = static_cast<QHelpEvent*>(event);
        if (!m_definition.isEmpty() && help->pos().y() < bodyRect().top()) {
            QToolTip::showText(help->globalPos(), m_definition, this);
            return true;
        }
    } else if (event->type() == QEvent::FocusIn) {
        // A ring shows where the keyboard is; a click needs none.
        const Qt::FocusReason reason = static_cast<QFocusEvent*>(event)->reason();
        setProperty("keyboardFocus", reason == Qt::TabFocusReason || reason == Qt::BacktabFocusReason);
        setAccessibleDescription(lastingDescription());
        update();
    } else if (event->type() == QEvent::FocusOut) {
        update();
    }
    switch (event->type()) {
        case QEvent::MouseMove:
            // Without a button it reads values, many times a second.
            if (static_cast<QMouseEvent*>(event)->buttons() == Qt::NoButton) return QWidget::event(event);
            [[fallthrough]];
        case QEvent::MouseButtonPress:
        case QEvent::MouseButtonRelease:
        case QEvent::MouseButtonDblClick:
        case QEvent::Wheel:
        case QEvent::KeyPress: {
            bool handled = false;
            byHand([&] { handled = QWidget::event(event); });
            return handled;
        }
        default: return QWidget::event(event);
    }
}

void Chart::byHand(const std::function<void()>& change) {
    const QVariant before = view();
    change();
    if (view() != before) emit viewChangedByHand(before);
}

void Chart::mousePressEvent(QMouseEvent* event) {
    const Layout places = layout(size());
    if (event->button() == Qt::LeftButton && places.legend.contains(event->pos())) {
        const QVector<QRect> marks = legendPlaces(places.legend);
        for (int i = 0; i < marks.size(); ++i) {
            if (marks[i].contains(event->pos())) toggleLegend(i);
        }
    }
    event->accept();
}

void Chart::mouseDoubleClickEvent(QMouseEvent* event) {
    if (event->button() == Qt::LeftButton && bodyRect().contains(event->pos())) resetView();
}

void Chart::keyPressEvent(QKeyEvent* event) {
    if (event->key() == Qt::Key_Home) {
        resetView();
    } else {
        QWidget::keyPressEvent(event);
    }
}

void Chart::contextMenuEvent(QContextMenuEvent* event) {
    auto* menu = new QMenu(this);
    menu->setAttribute(Qt::WA_DeleteOnClose);
    menu->setObjectName(QStringLiteral("chartMenu"));
    const auto add = [&](const QString& text, const char* name, auto&& slot) {
        QAction* action = menu->addAction(text, this, slot);
        action->setObjectName(QLatin1String(name));
        return action;
    };
    const bool empty = isEmpty();
    add(tr("Copy image"), "copyImage", [this] {
        copyImage(*this);
        emit notice(tr("Image copied."));
    });
    add(tr("Copy data"), "copyData", [this] {
        copyData(*this);
        emit notice(tr("Data copied."));
    })->setEnabled(!empty);
    add(tr("Copy visible data"), "copyVisible", [this] {
        copyData(*this, DataRange::visible);
        emit notice(tr("Data copied."));
    })->setEnabled(!empty && isViewChanged());
    add(tr("Copy summary"), "copySummary", [this] {
        QGuiApplication::clipboard()->setText(summary());
        emit notice(tr("Summary copied."));
    })->setEnabled(!empty);
    menu->addSeparator();
    QMenu* png = menu->addMenu(tr("Save as PNG"));
    for (const int scale : {1, 2, 3, 4}) {
        QAction* action = png->addAction(tr("%1× ...").arg(scale), this, [this, scale] {
            saveAs(QStringLiteral("png"), DataRange::all, scale);
        });
        action->setObjectName(QStringLiteral("savePng%1").arg(scale));
    }
    add(tr("Save as SVG..."), "saveSvg", [this] { saveAs(QStringLiteral("svg"), DataRange::all); });
    add(tr("Save as PDF..."), "savePdf", [this] { saveAs(QStringLiteral("pdf"), DataRange::all); });
    menu->addSeparator();
    add(tr("Export visible range as CSV..."), "csvVisible", [this] {
        saveAs(QStringLiteral("csv"), DataRange::visible);
    })->setEnabled(!empty && isViewChanged());
    add(tr("Export all data as CSV..."), "csvAll", [this] {
        saveAs(QStringLiteral("csv"), DataRange::all);
    })->setEnabled(!empty);
    menu->addSeparator();
    QAction* reset = add(tr("Show everything"), "resetView", [this] { byHand([this] { resetView(); }); });
    reset->setEnabled(isViewChanged());
    reset->setShortcut(Qt::Key_Home);
    addMenuItems(*menu);
    menu->popup(event->globalPos());
}

void Chart::saveAs(const QString& suffix, DataRange range, double scale) {
    auto* dialog = new QFileDialog(this, tr("Save chart"));
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setAcceptMode(QFileDialog::AcceptSave);
    dialog->setDefaultSuffix(suffix);
    dialog->setNameFilter(tr("%1 file (*.%2)").arg(suffix.toUpper(), suffix));
    dialog->selectFile(exportName() + QLatin1Char('.') + suffix);
    connect(dialog, &QFileDialog::fileSelected, this, [this, range, scale](const QString& path) {
        ExportOptions options;
        options.range = range;
        options.scale = scale;
        const Result<void> result = exportChart(*this, path, options);
        emit notice(result ? tr("Saved %1.").arg(QFileInfo(path).fileName())
                           : QString::fromStdString(result.error().message));
    });
    dialog->open();
}

int flushCharts(QWidget* root) {
    auto* own = qobject_cast<Chart*>(root);
    int n = own != nullptr && own->flush() ? 1 : 0;
    for (Chart* chart : root->findChildren<Chart*>()) n += chart->flush() ? 1 : 0;
    return n;
}

}  // namespace decodescope
