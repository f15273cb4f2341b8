// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>
#include <QVariant>
#include <QVector>
#include <QWidget>

#include <functional>

#include "ui/chart/table.h"
#include "ui/theme/theme.h"

class QCPPainter;
class QMenu;

namespace decodescope {

/// Which part of a chart's data is meant.
enum class DataRange { all, visible };

/// One entry of a legend.
struct LegendEntry {
    enum class Mark { line, dashed_line, dotted_line, dot, box };
    QString name;
    ColorRef color;
    Mark mark = Mark::box;
    bool shown = true;  ///< false: switched off by a click
};

/// Base of every chart: a card with title, unit, legend and a body. Data may be changed as often as needed;
/// the drawing is brought up to date by `flush`, once per display tick, and only while visible. Colours come
/// from the palette. Every chart can be copied and exported, from code (`ui/chart/export.h`) or from its
/// context menu. GUI thread only.
class Chart : public QWidget {
    Q_OBJECT
public:
    explicit Chart(QWidget* parent = nullptr);
    ~Chart() override;

    /// Also the accessible name.
    void setTitle(const QString& title);
    QString title() const { return m_title; }
    /// Muted text behind the title: the unit and what is counted.
    void setSubtitle(const QString& subtitle);
    QString subtitle() const { return m_subtitle; }
    /// How the numbers are defined; shown as tooltip of the title line.
    void setDefinition(const QString& definition);
    QString definition() const { return m_definition; }
    /// What is shown instead of the body while there is no data.
    void setEmptyText(const QString& text);
    QString emptyText() const { return m_emptyText; }
    /// Without its card (border, surface), e.g. inside another card. Default: with.
    void setFrameVisible(bool visible);
    /// File name without extension that save dialogs propose; default: from the title.
    void setExportName(const QString& name);
    QString exportName() const;

    /// Brings the drawing up to date if something has changed and the chart is visible; returns whether it
    /// drew. Call it from the display tick.
    bool flush();
    bool isDirty() const { return m_dirty; }

    virtual bool isEmpty() const = 0;
    virtual Table table(DataRange range) const = 0;
    /// Back to showing everything (Home key, double click).
    virtual void resetView() {}
    virtual bool isViewChanged() const { return false; }
    /// Which part of the data is shown, and how, as a value to compare and to go back to.
    virtual QVariant view() const { return {}; }
    virtual void setView(const QVariant& /*view*/) {}
    virtual QVector<LegendEntry> legend() const { return {}; }
    /// What the chart shows, in words and numbers: for screen readers, and to be copied. All data, whatever
    /// part of it is in view. Computed when asked for; one statement per line.
    QString summary() const;
    /// What a screen reader says of the chart: the summary, the definition and the keys, or what a key has
    /// just done. Computed when asked for.
    QString spokenDescription() const;

    /// Draws the chart as if it had `size`, in logical pixels; `vectors`: for SVG and PDF.
    void paintOn(QPaintDevice& device, const QSize& size, bool vectors);
    /// The same in the colours of a theme other than the widget's.
    void paintOn(QPaintDevice& device, const QSize& size, bool vectors, const ThemeColors& colors);

    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

signals:
    /// One sentence about a copy or an export that worked or did not, for the status bar.
    void notice(const QString& sentence);
    /// Somebody has changed `view` with mouse, keyboard or menu; `before` is what it was.
    void viewChangedByHand(const QVariant& before);

protected:
    /// Something to draw has changed; `flush` will draw it.
    void markDirty();
    /// Does what was asked for by hand, and reports it if the view is another one then.
    void byHand(const std::function<void()>& change);
    /// Draws now, without waiting for the tick (answers to the mouse).
    void refreshNow();
    /// Takes changed data over into what is drawn.
    virtual void updateDrawing() = 0;
    /// Draws the body; not called on screen where child widgets do it.
    virtual void paintBody(QCPPainter& painter, const QRect& body, const ThemeColors& colors) = 0;
    virtual bool bodyIsChild() const { return false; }
    /// The body's place has changed: move child widgets.
    virtual void layoutBody(const QRect& /*body*/) {}
    /// The palette or font has changed.
    virtual void applyTheme(const ThemeColors& /*colors*/) {}
    virtual void addMenuItems(QMenu& /*menu*/) {}
    /// What keys do in this chart, for screen readers; behind the definition.
    virtual QString keyHelp() const { return {}; }
    /// The summary of a chart that is not empty, without its title.
    virtual QString dataInWords() const = 0;
    virtual bool legendBelow() const { return false; }
    virtual void toggleLegend(int /*index*/) {}

    QRect bodyRect() const { return layout(size()).body; }
    /// Where each legend entry goes, from `rect`'s top left on, wrapping at its right edge.
    QVector<QRect> legendPlaces(const QRect& rect) const;
    int legendHeight(int width) const;
    void paintLegend(QPainter& painter, const QRect& rect, const ThemeColors& colors) const;

    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void showEvent(QShowEvent* event) override;
    void changeEvent(QEvent* event) override;
    bool event(QEvent* event) override;
    void contextMenuEvent(QContextMenuEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;

private:
    struct Layout {
        QRect title;
        QRect legend;
        QRect body;
    };
    Layout layout(const QSize& size) const;
    QString lastingDescription() const;
    int legendLineWidth() const;
    void paintFrame(QPainter& painter, const QSize& size, const ThemeColors& colors) const;
    void saveAs(const QString& suffix, DataRange range, double scale = 2);

    QString m_title;
    QString m_subtitle;
    QString m_definition;
    QString m_emptyText;
    QString m_exportName;
    bool m_frame = true;
    bool m_dirty = true;
};

/// Flushes `root` if it is a chart and every chart below it; returns how many drew.
int flushCharts(QWidget* root);

}  // namespace decodescope
