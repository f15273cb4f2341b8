// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <qcustomplot.h>

#include "ui/chart/format.h"

namespace decodescope {

/// Ticks of a linear axis at readable steps, labelled by `formatTick`.
class UnitTicker : public QCPAxisTicker {
public:
    UnitTicker(Unit unit, bool whole) : m_unit(unit), m_whole(whole) {}
    void setMaxIntervals(int n) { m_intervals = n; }
    int maxIntervals() const { return m_intervals; }

protected:
    double getTickStep(const QCPRange& range) override;
    int getSubTickCount(double) override { return 0; }
    QString getTickLabel(double tick, const QLocale&, QChar, int) override;

private:
    Unit m_unit;
    bool m_whole;
    int m_intervals = 4;
    double m_step = 1;
    double m_largest = 1;
};

/// Ticks of a logarithmic axis at powers of ten, never more than `setMaxIntervals` + 1 of them.
class LogTicker : public QCPAxisTicker {
public:
    explicit LogTicker(Unit unit) : m_unit(unit) {}
    void setMaxIntervals(int n) { m_intervals = n; }
    /// The tick at `value` is labelled "0", because zeros are drawn there; 0 = none.
    void setZeroAt(double value) { m_zeroAt = value; }

protected:
    int getSubTickCount(double) override { return 0; }
    QVector<double> createTickVector(double step, const QCPRange& range) override;
    QString getTickLabel(double tick, const QLocale&, QChar, int) override;

private:
    Unit m_unit;
    int m_intervals = 8;
    double m_zeroAt = 0;
};

/// Where `value` lies on `axis`: 0 = lower end, 1 = upper end.
double axisShare(const QCPAxis& axis, double value);

}  // namespace decodescope
