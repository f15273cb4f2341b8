// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace decodescope {

/// Order statistics of a sample; quantiles by linear interpolation between closest ranks. All 0 when `n` is
/// 0.
struct Summary {
    std::size_t n = 0;
    double median = 0;
    double min = 0;
    double max = 0;
    double q1 = 0;
    double q3 = 0;
    double p90 = 0;
    double p95 = 0;
    double p99 = 0;
    double iqr() const { return q3 - q1; }
};
Summary summarize(std::span<const double> samples);
/// Its median alone.
inline double median_of(std::span<const double> samples) {
    return summarize(samples).median;
}

/// Mean and standard deviation of a sample (n - 1 in the denominator; 0 for one value). Only ever shown
/// beside a median.
struct Moments {
    double mean = 0;
    double deviation = 0;
};
Moments moments(std::span<const double> samples);

/// Indices of the values outside Tukey's fences, [q1 - 1.5 IQR, q3 + 1.5 IQR]. They are shown, never
/// dropped.
std::vector<std::size_t> outliers(std::span<const double> samples);

/// A 95 % confidence interval.
struct Interval {
    double low = 0;
    double high = 0;
    bool known = false;  ///< false with fewer than two samples: nothing can be said

    bool contains(double value) const { return known && low <= value && value <= high; }
    /// Half the width, as a share of `centre`.
    double relative_half_width(double centre) const;
};
/// Of the median, by the percentile bootstrap (2000 resamples; Efron and Tibshirani 1993). The same samples
/// give the same interval.
Interval bootstrap_median(std::span<const double> samples);
/// Of median(a) / median(b) for samples that were made independently of each other.
Interval bootstrap_ratio(std::span<const double> a, std::span<const double> b);
/// Of median(a) / median(b) where a[i] and b[i] were made side by side: pairs are resampled, so that what
/// slowed both down cancels. As long as the shorter of the two.
Interval bootstrap_paired_ratio(std::span<const double> a, std::span<const double> b);

/// y = intercept + slope * x by least squares.
struct LineFit {
    std::size_t n = 0;  ///< points; 0 = fewer than two different x, nothing was fitted
    double slope = 0;
    double intercept = 0;
    double slope_error = 0;  ///< standard error of the slope; 0 with two points, where there is none
    double r_squared = 0;
};
LineFit fit_line(std::span<const double> x, std::span<const double> y);
/// log y against log x: the slope is the exponent k of y = c x^k. Points that are not positive are left out.
LineFit fit_power(std::span<const double> x, std::span<const double> y);

}  // namespace decodescope
