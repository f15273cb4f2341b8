// SPDX-License-Identifier: GPL-3.0-or-later
#include <QFontMetrics>
#include <QLinearGradient>
#include <QPainter>

#include <algorithm>
#include <array>
#include <climits>
#include <cmath>
#include <tuple>
#include <utility>

#include "ui/chart/matrix_chart.h"
#include "ui/theme/card.h"

namespace decodescope {

namespace {

// The last index of a heat map stands for "no value".
constexpr int emptyIndex = 255;

/// Smallest and largest of the finite values and 0.
std::pair<double, double> finiteRange(const std::vector<float>& values) {
    constexpr std::size_t n_lane = 16;  // independent lanes, so that the loop is vectorised
    std::array<float, n_lane> low{};
    std::array<float, n_lane> high{};
    const float* data = values.data();
    std::size_t i = 0;
    for (; i + n_lane <= values.size(); i += n_lane) {
        for (std::size_t lane = 0; lane < n_lane; ++lane) {
            const float value = data[i + lane];
            low[lane] = value < low[lane] ? value : low[lane];  // false for NaN
            high[lane] = value > high[lane] ? value : high[lane];
        }
    }
    for (; i < values.size(); ++i) {
        low[0] = data[i] < low[0] ? data[i] : low[0];
        high[0] = data[i] > high[0] ? data[i] : high[0];
    }
    const std::pair<float, float> range(*std::min_element(low.begin(), low.end()),
                                        *std::max_element(high.begin(), high.end()));
    if (std::isfinite(range.first) && std::isfinite(range.second))
        return {static_cast<double>(range.first), static_cast<double>(range.second)};
    float finite_low = 0;
    float finite_high = 0;
    for (const float value : values) {
        if (!std::isfinite(value)) continue;
        finite_low = std::min(finite_low, value);
        finite_high = std::max(finite_high, value);
    }
    return {static_cast<double>(finite_low), static_cast<double>(finite_high)};
}

}  // namespace

CellGrid::CellGrid(QWidget* parent) : MatrixChart(parent) {}

void CellGrid::setKinds(const std::vector<CellKind>& kinds) {
    m_kinds = kinds;
    markDirty();
}

void CellGrid::setCells(int rows, int columns, const std::vector<std::uint8_t>& kinds) {
    if (rows != rowCount() || columns != columnCount()) {
        m_texts.clear();
        m_corrections.clear();
    }
    std::vector<std::uint8_t>& indices = resetIndices(rows, columns);
    const std::size_t n = std::min(indices.size(), kinds.size());
    std::copy_n(kinds.begin(), n, indices.begin());
    std::fill(indices.begin() + static_cast<std::ptrdiff_t>(n), indices.end(), std::uint8_t{0});
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

std::array<std::uint8_t, 256> CellGrid::ranks() const {
    std::array<std::uint8_t, 256> order{};
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<std::uint8_t>(i);
    const auto rank_of = [this](std::uint8_t kind) {
        return kind < m_kinds.size() ? m_kinds[kind].rank : INT_MIN;
    };
    std::stable_sort(order.begin(), order.end(),
                     [&](std::uint8_t a, std::uint8_t b) { return rank_of(a) < rank_of(b); });
    std::array<std::uint8_t, 256> ranks{};
    for (std::size_t i = 0; i < order.size(); ++i) ranks[order[i]] = static_cast<std::uint8_t>(i);
    return ranks;
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
    updateIndices();
}

void HeatMap::setAutomaticScale() {
    m_fixedScale = false;
    updateIndices();
}

void HeatMap::setValues(int rows, int columns, const std::vector<float>& values) {
    const std::size_t n = resetIndices(rows, columns).size();
    m_values.assign(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(std::min(n, values.size())));
    m_values.resize(n, std::nanf(""));
    updateIndices();
}

void HeatMap::updateIndices() {
    if (!m_fixedScale) std::tie(m_low, m_high) = finiteRange(m_values);
    const auto low = static_cast<float>(m_low);
    const float scale = m_high > m_low ? 254.0f / static_cast<float>(m_high - m_low) : 0.0f;
    std::vector<std::uint8_t>& indices = resetIndices(rowCount(), columnCount());
    // Plain pointers and no branches: this loop is vectorised, and it runs over a million values.
    const float* values = m_values.data();
    std::uint8_t* out = indices.data();
    const std::size_t n = indices.size();
    for (std::size_t i = 0; i < n; ++i) {
        const float level = (values[i] - low) * scale + 0.5f;
        const float inside = level > 0.0f ? (level < 254.0f ? level : 254.0f) : 0.0f;
        out[i] = static_cast<std::uint8_t>(values[i] == values[i] ? static_cast<int>(inside) : emptyIndex);
    }
}

// A number before no number, a large one before a small one.
std::array<std::uint8_t, 256> HeatMap::ranks() const {
    std::array<std::uint8_t, 256> ranks{};
    for (std::size_t i = 0; i < ranks.size(); ++i) ranks[i] = static_cast<std::uint8_t>(i + 1);
    return ranks;
}

QVector<QRgb> HeatMap::colorTable(const ThemeColors& colors) const {
    QVector<QRgb> table(256);
    for (int i = 0; i < emptyIndex; ++i) {
        table[i] = colors.heat(i / 254.0).rgb();
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
