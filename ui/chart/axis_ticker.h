// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <qcustomplot.h>

#include "ui/chart/format.h"

namespace decodescope {

/// Smallest readable tick step that divides `span` into at most `max_intervals`. Byte axes step in binary
/// units; `whole` allows no fractions.
double niceStep(double span, int max_intervals, Unit unit, bool whole);
/// Smallest readable end of an axis from 0 that is at least `value`: four steps of `niceStep`. Grows by at
/// most half of itself from one end to the next.
double niceMaximum(double value, Unit unit, bool whole);

/// Ticks of a linear axis at readable steps, labelled by `formatTick`.
class UnitTicker : public QCPAxisTicker {
public:
    UnitTicker(Unit unit, bool whole) : m_unit(unit), m_whole(whole) {}
    void setMaxIntervals(int n) { m_intervals = n; }

protected:
    double getTickStep(const QCPRange& range) override;
    int getSubTickCount(double) override { return 0; }
    QString getTickLabel(double tick, const QLocale&, QChar, int) override;

private:
    Unit m_unit;
    bool m_whole;
    int m_intervals = 4;
    double m_step = 1;
};

/// Ticks of a logarithmic axis at powers of ten, never more than `setMaxIntervals` + 1 of them.
class LogTicker : public QCPAxisTicker {
public:
    explicit LogTicker(Unit unit) : m_unit(unit) {}
    void setMaxIntervals(int n) { m_intervals = n; }

protected:
    int getSubTickCount(double) override { return 0; }
    QVector<double> createTickVector(double step, const QCPRange& range) override;
    QString getTickLabel(double tick, const QLocale&, QChar, int) override;

private:
    Unit m_unit;
    int m_intervals = 8;
};

}  // namespace decodescope
