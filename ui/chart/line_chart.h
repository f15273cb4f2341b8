// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "ui/chart/chart.h"
#include "ui/chart/format.h"

class QCPGraph;
class QCPItemText;
class QCPItemTracer;
class QCustomPlot;

namespace decodescope {

class ChartLink;
class ChartOverlay;

/// What an axis shows.
struct ChartAxis {
    QString name;            ///< e.g. "token"; in value boxes and CSV column names
    Unit unit = Unit::none;  ///< of the values handed over
    bool log = false;
    bool whole = false;       ///< only whole numbers carry ticks
    double minimum = 0;       ///< lower end; on a log axis 0 = below the data
    double expected_max = 0;  ///< the axis reaches at least here, so that nothing moves while data arrives
    bool show_name = false;   ///< write `name` below the x axis
};

/// How a series is drawn.
enum class SeriesKind {
    line,
    wide_line,    ///< stays visible below a line with the same values
    dashed_line,  ///< of another run
    dotted_line,  ///< a bound
    points,
    area,  ///< filled; areas are stacked on each other in the order they were added
    range  ///< a soft band between two values per x (see `setRange`), behind the lines; it does not widen the
           ///< y axis. Without a name it belongs to the series added next: switched off with it, no legend
};

/// A point with a name in the plot, e.g. a peak.
struct ChartMark {
    double x = 0;
    double y = 0;
    QString text;
    ColorRef color;
};

/// Lines over a common x axis, from 0, with ranges that only grow, in calm steps. The mouse shows a crosshair
/// with the values of all series; wheel zooms, dragging pans, Home or double click shows everything again.
/// Keys: W or + and S or - zoom, A and D pan, Left and Right move the crosshair, Home shows everything, L
/// and Shift+L switch the axes' scales. Charts of one `ChartLink` do it together. Legend entries switch
/// series off and on.
class LineChart : public Chart {
    Q_OBJECT
public:
    explicit LineChart(QWidget* parent = nullptr);
    ~LineChart() override;

    void setXAxis(const ChartAxis& axis);
    void setYAxis(const ChartAxis& axis);
    const ChartAxis& xAxis() const { return m_x; }
    const ChartAxis& yAxis() const { return m_y; }

    /// Adds an empty series; returns its index. Names make legend, value box and CSV columns.
    int addSeries(const QString& name, ColorRef color, SeriesKind kind = SeriesKind::line);
    int seriesCount() const { return static_cast<int>(m_series.size()); }
    int pointCount(int series) const;
    /// Appends a point; x must not be below the last one. NaN as y leaves a gap. Costs nothing until `flush`.
    void append(int series, double x, double y);
    /// Replaces point `index`, or appends it when `index` is the number of points.
    void setPoint(int series, int index, double x, double y);
    void setData(int series, std::span<const double> x, std::span<const double> y);
    /// Kind `range` only: replaces everything by a band from `low` to `high` over `x`.
    void setRange(int series, std::span<const double> x, std::span<const double> low,
                  std::span<const double> high);
    /// Removes the points of every series, keeps the series; ranges start anew.
    void clear();
    /// Removes the series too.
    void removeAllSeries();
    void setSeriesShown(int series, bool shown);
    /// Replaces all marks; `clear` and `removeAllSeries` remove them.
    void setMarks(std::vector<ChartMark> marks);
    const std::vector<ChartMark>& marks() const { return m_marks; }

    /// From now on this chart shares its x range, the scale of x and the crosshair with the others of `link`,
    /// and its margins with those of them that have the same parent. Null: it is alone, as in the beginning.
    void setLink(ChartLink* link);
    /// The crosshair at `x` without the mouse, in all linked charts; nullopt = none.
    void setCrosshair(std::optional<double> x);
    /// What the crosshair's value box says; empty without a crosshair.
    QString crosshairText() const;
    /// Range shown now, x then y.
    std::pair<double, double> visibleX() const;
    std::pair<double, double> visibleY() const;
    /// In all linked charts.
    void setVisibleX(double from, double to);
    /// A logarithmic y axis where the chart's own is linear, or the other way round; stays when the axis is
    /// set again. Stacked areas have none.
    void setLogY(bool log);
    bool canLogY() const;
    /// The same of x, in all linked charts.
    void setLogX(bool log);
    /// Left edge of the plot in the chart, in pixels: the same in all linked charts of a page.
    int plotLeft() const;
    /// Milliseconds of the last drawing of the plot.
    double lastReplotMilliseconds() const;

    bool isEmpty() const override;
    Table table(DataRange range) const override;
    void resetView() override;
    bool isViewChanged() const override;
    QVariant view() const override;
    void setView(const QVariant& view) override;
    QVector<LegendEntry> legend() const override;

signals:
    /// The mouse is at the data point with this x; NaN when it has left.
    void hovered(double x);

protected:
    void updateDrawing() override;
    void paintBody(QCPPainter& painter, const QRect& body, const ThemeColors& colors) override;
    bool bodyIsChild() const override { return true; }
    void layoutBody(const QRect& body) override;
    void applyTheme(const ThemeColors& colors) override;
    void toggleLegend(int index) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void wheelEvent(QWheelEvent* event) override;
    void leaveEvent(QEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void addMenuItems(QMenu& menu) override;
    QString keyHelp() const override;
    QString dataInWords() const override;

private:
    struct Series {
        QString name;
        ColorRef color;
        SeriesKind kind = SeriesKind::line;
        bool shown = true;
        std::vector<double> x;
        std::vector<double> y;
        std::vector<double> low;    // kind range
        std::vector<double> top;    // kind area: own values plus those of the areas below
        QCPGraph* graph = nullptr;  // owned by the plot
        QCPGraph* base = nullptr;   // kind range: the lower edge
        std::size_t n_seen = 0;     // points that `top`, `max_y` and `variation` know, unless `rebuild`
        bool rebuild = false;
        double max_y = 0;      // of the finite values drawn
        double variation = 0;  // sum of the differences between neighbours
    };

    struct MarkItems {  // owned by the plot
        QCPItemTracer* dot = nullptr;
        QCPItemText* label = nullptr;
    };

    static bool belongsToNext(const Series& series);
    void rebuildStack();
    void takeOver(Series& series);
    std::pair<std::size_t, std::size_t> visiblePoints(const Series& series) const;
    void drawLine(Series& series);
    void drawFilled(Series& series);
    QString columnName(std::size_t series) const;
    void stylePen(Series& series);
    double crossings(const Series& series) const;
    void updateLogFloor();
    void updateRanges();
    void drawVisible();
    void clipToView();
    void drawMarks();
    void styleMarks(const ThemeColors& colors);
    void fitTo(const QSize& size);
    int labelWidth(Unit unit) const;
    void updateMargins();
    void setMargins(int label_width);
    void applyXScale();
    void restyle(const ThemeColors& colors);
    double drawnY(double y) const;
    std::optional<double> nearestX(double x) const;
    void updateCrosshair();
    void moveCrosshair(int direction);
    void zoom(double factor, QPointF center, bool vertical);
    void pan(QPointF delta);
    void linkedRangeChanged(const QString& axis);
    void linkedLogChanged(const QString& axis);
    void linkedCrosshairMoved(const QString& axis);
    double xLow() const;
    QString rangeText() const;
    QRect plotArea() const;

    ChartAxis m_x;
    ChartAxis m_y;
    std::vector<Series> m_series;
    std::vector<ChartMark> m_marks;
    std::vector<MarkItems> m_markItems;
    QCustomPlot* m_plot = nullptr;  // owned as child widget
    ChartOverlay* m_overlay = nullptr;
    ChartLink* m_ownLink = nullptr;
    ChartLink* m_link = nullptr;
    bool m_xLogOfAxis = false;  // as `setXAxis` said; the link may say otherwise
    std::optional<bool> m_yLogByUser;
    bool m_userY = false;  // the y range was chosen; that of x stands in the link
    double m_xMax = 0;     // ends of the automatic ranges; they only grow until `clear`
    double m_yMax = 0;
    double m_logFloor = 0;  // lower end of a log y axis; 0 = not known yet
    QSize m_bodySize;
    std::optional<QPoint> m_dragFrom;
};

/// Stacked areas (e.g. tensor bytes by owner) with lines over them (e.g. resident memory).
class StackedChart : public LineChart {
    Q_OBJECT
public:
    using LineChart::LineChart;
    /// Replaces all series by one area per name, bottom first.
    void setLayers(const QStringList& names, const std::vector<ColorRef>& colors);
    /// Appends one value per layer.
    void appendLayers(double x, std::span<const double> values);
    int layerCount() const { return m_layers; }

private:
    int m_layers = 0;
};

}  // namespace decodescope
