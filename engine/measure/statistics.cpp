// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/measure/statistics.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "engine/core/random.h"

namespace decodescope {

namespace {

constexpr std::size_t n_resample = 2000;
constexpr std::uint64_t resample_seed = 0x626f6f7473747261;

double quantile(std::span<const double> sorted, double q) {
    const double rank = q * static_cast<double>(sorted.size() - 1);
    const auto below = static_cast<std::size_t>(rank);
    const std::size_t above = std::min(below + 1, sorted.size() - 1);
    const double fraction = rank - static_cast<double>(below);
    return sorted[below] + fraction * (sorted[above] - sorted[below]);
}

double take_median(std::vector<double>& values) {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    if (values.size() % 2 == 1) return *middle;
    return (*std::max_element(values.begin(), middle) + *middle) / 2;
}

/// Random indices below n, one stream per resampled sample.
class Resampler {
public:
    explicit Resampler(std::uint64_t stream) : stream_(stream) {}

    std::size_t index(std::size_t n) {
        return static_cast<std::size_t>(random_bits(resample_seed, stream_, i_++) % n);
    }
    void fill(std::span<const double> from, std::vector<double>& into) {
        into.clear();
        for (std::size_t k = 0; k < from.size(); ++k) into.push_back(from[index(from.size())]);
    }

private:
    std::uint64_t stream_;
    std::uint64_t i_ = 0;
};

/// `statistic()` of many resamples, as an interval.
template <class Statistic>
Interval interval_of(Statistic statistic) {
    std::vector<double> values;
    values.reserve(n_resample);
    for (std::size_t i = 0; i < n_resample; ++i) values.push_back(statistic());
    std::sort(values.begin(), values.end());
    return {quantile(values, 0.025), quantile(values, 0.975), true};
}

}  // namespace

Summary summarize(std::span<const double> samples) {
    if (samples.empty()) return {};
    std::vector<double> sorted(samples.begin(), samples.end());
    std::sort(sorted.begin(), sorted.end());
    return {.n = sorted.size(),
            .median = quantile(sorted, 0.5),
            .min = sorted.front(),
            .max = sorted.back(),
            .q1 = quantile(sorted, 0.25),
            .q3 = quantile(sorted, 0.75),
            .p90 = quantile(sorted, 0.90),
            .p95 = quantile(sorted, 0.95),
            .p99 = quantile(sorted, 0.99)};
}

Moments moments(std::span<const double> samples) {
    if (samples.empty()) return {};
    const auto n = static_cast<double>(samples.size());
    double sum = 0;
    for (const double sample : samples) sum += sample;
    const double mean = sum / n;
    double squares = 0;
    for (const double sample : samples) squares += (sample - mean) * (sample - mean);
    return {mean, samples.size() < 2 ? 0 : std::sqrt(squares / (n - 1))};
}

std::vector<std::size_t> outliers(std::span<const double> samples) {
    const Summary summary = summarize(samples);
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < samples.size(); ++i) {
        if (samples[i] < summary.q1 - 1.5 * summary.iqr() || samples[i] > summary.q3 + 1.5 * summary.iqr())
            found.push_back(i);
    }
    return found;
}

double Interval::relative_half_width(double centre) const {
    return (high - low) / 2 / std::abs(centre);
}

Interval bootstrap_median(std::span<const double> samples) {
    if (samples.size() < 2) return {};
    Resampler resampler(0);
    std::vector<double> drawn;
    return interval_of([&] {
        resampler.fill(samples, drawn);
        return take_median(drawn);
    });
}

Interval bootstrap_ratio(std::span<const double> a, std::span<const double> b) {
    if (a.size() < 2 || b.size() < 2) return {};
    Resampler for_a(1);
    Resampler for_b(2);
    std::vector<double> drawn_a;
    std::vector<double> drawn_b;
    return interval_of([&] {
        for_a.fill(a, drawn_a);
        for_b.fill(b, drawn_b);
        return take_median(drawn_a) / take_median(drawn_b);
    });
}

Interval bootstrap_paired_ratio(std::span<const double> a, std::span<const double> b) {
    const std::size_t n = std::min(a.size(), b.size());
    if (n < 2) return {};
    Resampler resampler(3);
    std::vector<double> drawn_a(n);
    std::vector<double> drawn_b(n);
    return interval_of([&] {
        for (std::size_t k = 0; k < n; ++k) {
            const std::size_t i = resampler.index(n);
            drawn_a[k] = a[i];
            drawn_b[k] = b[i];
        }
        return take_median(drawn_a) / take_median(drawn_b);
    });
}

LineFit fit_line(std::span<const double> x, std::span<const double> y) {
    const std::size_t n = std::min(x.size(), y.size());
    const double mean_x = moments(x.first(n)).mean;
    const double mean_y = moments(y.first(n)).mean;
    double xx = 0;
    double xy = 0;
    double yy = 0;
    for (std::size_t i = 0; i < n; ++i) {
        xx += (x[i] - mean_x) * (x[i] - mean_x);
        xy += (x[i] - mean_x) * (y[i] - mean_y);
        yy += (y[i] - mean_y) * (y[i] - mean_y);
    }
    if (n < 2 || !(xx > 0)) return {};
    LineFit fit;
    fit.n = n;
    fit.slope = xy / xx;
    fit.intercept = mean_y - fit.slope * mean_x;
    const double unexplained = std::max(0.0, yy - fit.slope * xy);
    if (n > 2) fit.slope_error = std::sqrt(unexplained / static_cast<double>(n - 2) / xx);
    fit.r_squared = yy > 0 ? 1 - unexplained / yy : 1;
    return fit;
}

LineFit fit_power(std::span<const double> x, std::span<const double> y) {
    std::vector<double> log_x;
    std::vector<double> log_y;
    for (std::size_t i = 0; i < std::min(x.size(), y.size()); ++i) {
        if (!(x[i] > 0) || !(y[i] > 0)) continue;
        log_x.push_back(std::log(x[i]));
        log_y.push_back(std::log(y[i]));
    }
    return fit_line(log_x, log_y);
}

}  // namespace decodescope
