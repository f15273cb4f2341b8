// SPDX-License-Identifier: GPL-3.0-or-later
#include <QStringList>

#include <algorithm>
#include <cmath>
#include <map>

#include "engine/measure/statistics.h"
#include "ui/chart/bar_chart.h"
#include "ui/chart/line_chart.h"
#include "ui/chart/matrix_chart.h"
#include "ui/chart/small_multiples.h"

// What each kind of chart shows, in words.
namespace decodescope {

namespace {

constexpr std::size_t mostNamedBars = 8;

/// Where two curves cross, over the x that both have.
struct Crossings {
    int n = 0;
    double first = 0;
    bool above = false;  // the first curve is above the second somewhere
    bool below = false;
};

Crossings crossingsOf(const std::vector<double>& x_a, const std::vector<double>& y_a,
                      const std::vector<double>& x_b, const std::vector<double>& y_b) {
    Crossings result;
    double before = 0;
    std::size_t b = 0;
    for (std::size_t a = 0; a < x_a.size(); ++a) {
        while (b < x_b.size() && x_b[b] < x_a[a]) ++b;
        if (b == x_b.size()) break;
        if (x_b[b] != x_a[a]) continue;
        const double difference = y_a[a] - y_b[b];
        if (std::isnan(difference) || difference == 0) continue;
        (difference > 0 ? result.above : result.below) = true;
        if (before * difference < 0 && ++result.n == 1) result.first = x_a[a];
        before = difference;
    }
    return result;
}

}  // namespace

QString LineChart::dataInWords() const {
    QStringList lines;
    const auto value = [this](double y) { return formatValue(y, m_y.unit); };
    const auto place = [this](double x) {
        const QString text = formatValue(x, m_x.unit);
        return m_x.name.isEmpty() ? text : m_x.name + QLatin1Char(' ') + text;
    };
    std::vector<const Series*> curves;
    for (const Series& series : m_series) {
        if (belongsToNext(series) || series.x.empty() || !series.shown) continue;
        std::vector<double> values;
        double last = 0, from = 0, to = 0;
        for (std::size_t i = 0; i < series.y.size(); ++i) {
            if (!std::isfinite(series.y[i])) continue;
            if (values.empty()) from = series.x[i];
            to = series.x[i];
            last = series.y[i];
            values.push_back(series.y[i]);
        }
        if (values.empty()) {
            lines << tr("%1: not measured.").arg(series.name);
            continue;
        }
        if (values.size() == 1) {
            lines << tr("%1: %2 at %3.").arg(series.name, value(last), place(from));
        } else {
            const Summary all = summarize(values);
            lines << tr("%1: %2 points from %3 to %4; last %5, median %6, least %7, most %8.")
                         .arg(series.name, formatCount(static_cast<std::int64_t>(all.n)), place(from),
                              formatValue(to, m_x.unit), value(last), value(all.median), value(all.min),
                              value(all.max));
        }
        if (series.kind == SeriesKind::line || series.kind == SeriesKind::wide_line)
            curves.push_back(&series);
    }
    if (curves.size() == 2) {
        const Series& a = *curves[0];
        const Series& b = *curves[1];
        const double lastA = a.y.back();
        const double lastB = b.y.back();
        if (lastA > 0 && lastB > 0)
            lines << tr("At the end %1 is %2 %3.")
                         .arg(lastA >= lastB ? a.name : b.name,
                              formatRatio(std::max(lastA, lastB) / std::min(lastA, lastB)),
                              lastA >= lastB ? b.name : a.name);
        const Crossings crossings = crossingsOf(a.x, a.y, b.x, b.y);
        if (crossings.n > 0)
            lines << tr("Crossings: %1, the first at %2.")
                         .arg(formatCount(crossings.n), place(crossings.first));
        else if (crossings.above || crossings.below)
            lines << tr("%1 is never above %2.")
                         .arg(crossings.above ? b.name : a.name, crossings.above ? a.name : b.name);
    }
    for (const ChartMark& mark : m_marks) lines << tr("%1 at %2.").arg(mark.text, place(mark.x));
    return lines.join(QLatin1Char('\n'));
}

QString MatrixChart::shapeInWords() const {
    const QString shape = QStringLiteral("%1 × %2").arg(m_rows).arg(m_columns);
    return m_rowName.isEmpty() || m_columnName.isEmpty()
               ? tr("%1 cells").arg(shape)
               : tr("%1 cells, %2 by %3").arg(shape, m_rowName, m_columnName);
}

QString CellGrid::dataInWords() const {
    std::map<std::uint8_t, std::int64_t> counts;
    for (int row = 0; row < rowCount(); ++row)
        for (int column = 0; column < columnCount(); ++column) ++counts[index(row, column)];
    QStringList kinds;
    for (const auto& [kind, n] : counts) {
        if (kind < m_kinds.size() && !m_kinds[kind].name.isEmpty())
            kinds << tr("%1 %2").arg(formatCount(n), m_kinds[kind].name);
    }
    QString text = shapeInWords();
    if (!kinds.isEmpty()) text += QStringLiteral(": ") + kinds.join(QStringLiteral(", "));
    text += QLatin1Char('.');
    const auto marked = std::count_if(m_corrections.begin(), m_corrections.end(),
                                      [](const QString& correction) { return !correction.isEmpty(); });
    if (marked > 0)
        text += QLatin1Char('\n') +
                tr("Not what is expected: %1 of them.").arg(formatCount(static_cast<std::int64_t>(marked)));
    return text;
}

QString HeatMap::dataInWords() const {
    std::size_t low = m_values.size();
    std::size_t high = m_values.size();
    for (std::size_t i = 0; i < m_values.size(); ++i) {
        if (std::isnan(m_values[i])) continue;
        if (low == m_values.size() || m_values[i] < m_values[low]) low = i;
        if (high == m_values.size() || m_values[i] > m_values[high]) high = i;
    }
    const QString name = m_valueName.isEmpty() ? tr("value") : m_valueName;
    if (high == m_values.size()) return tr("%1, all empty.").arg(shapeInWords());
    const auto at = [&](std::size_t i) {
        const auto cell = static_cast<int>(i);
        return tr("%1 at %2")
            .arg(formatValue(static_cast<double>(m_values[i]), m_unit),
                 placeName(cell / columnCount(), cell % columnCount()));
    };
    return tr("%1. Largest %2 %3, smallest %4.").arg(shapeInWords(), name, at(high), at(low));
}

QString BarChart::dataInWords() const {
    std::vector<double> sums(m_parts.size(), 0);
    double all = 0;
    for (int i = 0; i < static_cast<int>(m_bars.size()); ++i) {
        all += total(i);
        const auto& values = m_bars[static_cast<std::size_t>(i)].values;
        for (std::size_t part = 0; part < sums.size() && part < values.size(); ++part)
            sums[part] += values[part];
    }
    QStringList parts;
    for (std::size_t part = 0; part < sums.size(); ++part) {
        if (sums[part] > 0)
            parts << QStringLiteral("%1 %2").arg(m_parts[part].name, formatDuration(sums[part]));
    }
    QStringList lines{tr("In all %1: %2.").arg(formatDuration(all), parts.join(QStringLiteral(", ")))};
    std::vector<int> order(m_bars.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int>(i);
    std::stable_sort(order.begin(), order.end(), [this](int a, int b) { return total(a) > total(b); });
    if (order.size() > mostNamedBars) order.resize(mostNamedBars);
    QStringList longest;
    for (const int bar : order)
        longest << QStringLiteral("%1 %2").arg(m_bars[static_cast<std::size_t>(bar)].name,
                                               formatDuration(total(bar)));
    lines << tr("Longest: %1.").arg(longest.join(QStringLiteral(", ")));
    return lines.join(QLatin1Char('\n'));
}

QString SmallMultiples::dataInWords() const {
    const Tile* highest = nullptr;
    float high = 0;
    for (const Tile& tile : m_tiles) {
        for (const float value : tile.values) {
            if (std::isnan(value) || (highest != nullptr && value <= high)) continue;
            highest = &tile;
            high = value;
        }
    }
    const QString shape = tr("Pictures: %1, of %2 × %3 cells.")
                              .arg(tileCount())
                              .arg(m_tiles.front().rows)
                              .arg(m_tiles.front().columns);
    if (highest == nullptr) return shape + QLatin1Char(' ') + tr("All are empty.");
    return shape + QLatin1Char(' ') +
           tr("Largest value %1 in %2.").arg(formatNumber(static_cast<double>(high)), highest->name);
}

}  // namespace decodescope
