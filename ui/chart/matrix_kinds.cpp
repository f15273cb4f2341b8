// SPDX-License-Identifier: GPL-3.0-or-later
#include <QFontMetrics>
#include <QLinearGradient>
#include <QPainter>

#include <algorithm>
#include <cmath>

#include "ui/chart/matrix_chart.h"
#include "ui/theme/card.h"

namespace decodescope {

namespace {

// The last index of a heat map stands for "no value".
constexpr int emptyIndex = 255;

QColor mix(const QColor& a, const QColor& b, double t) {
    return QColor::fromRgbF(static_cast<float>(a.redF() + (b.redF() - a.redF()) * t),
                            static_cast<float>(a.greenF() + (b.greenF() - a.greenF()) * t),
                            static_cast<float>(a.blueF() + (b.blueF() - a.blueF()) * t));
}

}  // namespace

CellGrid::CellGrid(QWidget* parent) : MatrixChart(parent) {}

void CellGrid::setKinds(const std::vector<CellKind>& kinds) {
    m_kinds = kinds;
    markDirty();
}

void CellGrid::setCells(int rows, int columns, std::vector<std::uint8_t> kinds) {
    if (rows != rowCount() || columns != columnCount()) {
        m_texts.clear();
        m_corrections.clear();
    }
    setIndices(rows, columns, std::move(kinds));
}

void CellGrid::setCell(int row, int column, std::uint8_t kind) {
    setIndex(row, column, kind);
}

void CellGrid::setTexts(std::vector<QString> texts, std::vector<QString> corrections) {
    m_texts = std::move(texts);
    m_corrections = std::move(corrections);
    markDirty();
}

QVector<LegendEntry> CellGrid::legend() const {
    QVector<LegendEntry> entries;
    for (const CellKind& kind : m_kinds) {
        if (kind.in_legend) entries.append({kind.name, kind.color, LegendEntry::Mark::box, true});
    }
    return entries;
}

QVector<QRgb> CellGrid::colorTable(const ThemeColors& colors) const {
    QVector<QRgb> table(256, colors.card.rgb());
    for (std::size_t i = 0; i < m_kinds.size() && i < 256; ++i) {
        table[static_cast<qsizetype>(i)] = colors.color(m_kinds[i].color).rgb();
    }
    return table;
}

QString CellGrid::cellText(int row, int column) const {
    const auto i = static_cast<std::size_t>(row) * static_cast<std::size_t>(columnCount()) +
                   static_cast<std::size_t>(column);
    return i < m_texts.size() ? m_texts[i] : QString();
}

QString CellGrid::cellNote(int row, int column) const {
    const auto i = static_cast<std::size_t>(row) * static_cast<std::size_t>(columnCount()) +
                   static_cast<std::size_t>(column);
    return i < m_corrections.size() ? m_corrections[i] : QString();
}

bool CellGrid::cellMarked(int row, int column) const {
    return !cellNote(row, column).isEmpty();
}

QString CellGrid::defaultDescription(int row, int column) const {
    const std::uint8_t kind = index(row, column);
    const QString name = kind < m_kinds.size() ? m_kinds[kind].name : QString();
    QString text = placeName(row, column) + QStringLiteral(": ") + name;
    if (!cellText(row, column).isEmpty()) text += QLatin1Char(' ') + cellText(row, column);
    if (!cellNote(row, column).isEmpty()) text += tr(", expected %1").arg(cellNote(row, column));
    return text;
}

QString CellGrid::csvCell(int row, int column) const {
    const std::uint8_t kind = index(row, column);
    if (!cellText(row, column).isEmpty()) return cellText(row, column);
    return kind < m_kinds.size() ? m_kinds[kind].name : QString();
}

HeatMap::HeatMap(QWidget* parent) : MatrixChart(parent) {}

void HeatMap::setValueName(const QString& name, Unit unit) {
    m_valueName = name;
    m_unit = unit;
    markDirty();
}

void HeatMap::setScale(double low, double high) {
    m_fixedScale = true;
    m_low = low;
    m_high = high;
    setValues(rowCount(), columnCount(), std::move(m_values));
}

void HeatMap::setAutomaticScale() {
    m_fixedScale = false;
    setValues(rowCount(), columnCount(), std::move(m_values));
}

void HeatMap::setValues(int rows, int columns, std::vector<float> values) {
    const std::size_t n =
        static_cast<std::size_t>(std::max(0, rows)) * static_cast<std::size_t>(std::max(0, columns));
    values.resize(n, std::nanf(""));
    if (!m_fixedScale) {
        m_low = 0;
        m_high = 0;
        for (const float value : values) {
            if (!std::isfinite(value)) continue;
            m_low = std::min<double>(m_low, value);
            m_high = std::max<double>(m_high, value);
        }
    }
    const float low = static_cast<float>(m_low);
    const float scale = m_high > m_low ? 254.0f / static_cast<float>(m_high - m_low) : 0.0f;
    std::vector<std::uint8_t> indices(n);
    for (std::size_t i = 0; i < n; ++i) {
        const float level = (values[i] - low) * scale + 0.5f;
        // Comparisons with NaN are false, so "no value" falls through to the last index.
        indices[i] = level >= 0.0f ? static_cast<std::uint8_t>(level < 254.0f ? level : 254.0f)
                                   : static_cast<std::uint8_t>(level < 0.0f ? 0 : emptyIndex);
    }
    m_values = std::move(values);
    setIndices(rows, columns, std::move(indices));
}

QVector<QRgb> HeatMap::colorTable(const ThemeColors& colors) const {
    QVector<QRgb> table(256);
    for (int i = 0; i < emptyIndex; ++i) {
        table[i] = mix(colors.heat_low, colors.heat_high, i / 254.0).rgb();
    }
    table[emptyIndex] = colors.panel.rgb();
    return table;
}

QString HeatMap::defaultDescription(int row, int column) const {
    const float value = m_values[static_cast<std::size_t>(row) * static_cast<std::size_t>(columnCount()) +
                                 static_cast<std::size_t>(column)];
    const QString name = m_valueName.isEmpty() ? QString() : m_valueName + QLatin1Char(' ');
    return placeName(row, column) + QStringLiteral(": ") + name +
           (std::isnan(value) ? tr("no value") : formatValue(static_cast<double>(value), m_unit));
}

QString HeatMap::csvCell(int row, int column) const {
    return csvNumber(
        static_cast<double>(m_values[static_cast<std::size_t>(row) * static_cast<std::size_t>(columnCount()) +
                                     static_cast<std::size_t>(column)]));
}

int HeatMap::footerHeight() const {
    return QFontMetrics(CardMetrics(font()).small_text).height() + CardMetrics(font()).padding / 3;
}

void HeatMap::paintFooter(QPainter& painter, const QRect& rect, const ThemeColors& colors) const {
    const CardMetrics metrics(font());
    const QFontMetrics text(metrics.small_text);
    const auto end = [&](double value) {
        return m_unit == Unit::none && value == std::round(value) ? formatValue(value, Unit::count)
                                                                  : formatValue(value, m_unit);
    };
    const QString low = end(m_low);
    const QString high = end(m_high);
    const int gap = metrics.padding / 2;
    const int least = text.horizontalAdvance(low) + text.horizontalAdvance(high) + 2 * gap + 4 * metrics.line;
    QRect line(rect.left(), rect.top(), std::max(rect.width(), least), text.height());
    painter.setFont(metrics.small_text);
    painter.setPen(colors.muted);
    painter.drawText(line, Qt::AlignLeft | Qt::AlignVCenter, low);
    painter.drawText(line, Qt::AlignRight | Qt::AlignVCenter, high);
    QRectF bar(line.left() + text.horizontalAdvance(low) + gap, line.center().y() - text.height() * 0.3,
               line.width() - text.horizontalAdvance(low) - text.horizontalAdvance(high) - 2 * gap,
               text.height() * 0.6);
    QLinearGradient gradient(bar.topLeft(), bar.topRight());
    gradient.setColorAt(0, colors.heat_low);
    gradient.setColorAt(1, colors.heat_high);
    painter.setPen(QPen(colors.border, 1));
    painter.setBrush(gradient);
    painter.drawRoundedRect(bar, 2, 2);
}

}  // namespace decodescope
