// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>
#include <QWidget>

#include <cstdint>
#include <vector>

#include "ui/theme/theme.h"

namespace decodescope {

/// Parts of a memory side by side, as long as they are large: what is used from the left, what is not to be
/// used at the right end, free between. What does not fit is marked. Parts tell their bytes as tooltips.
class MemoryBar : public QWidget {
    Q_OBJECT

public:
    struct Part {
        QString name;
        ColorRef color;
        std::int64_t bytes = 0;
    };

    explicit MemoryBar(QWidget* parent = nullptr);

    /// `memory`: bytes there are; 0 = not known, then the bar is as long as its parts.
    void setParts(std::vector<Part> parts, std::int64_t memory, std::int64_t reserve);
    const std::vector<Part>& parts() const { return m_parts; }

    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

protected:
    bool event(QEvent* event) override;
    void paintEvent(QPaintEvent* event) override;

private:
    enum class Kind { part, free, reserve };
    struct Segment {
        double from = 0;
        double to = 0;
        QString text;
        ColorRef color;
        Kind kind = Kind::part;
    };
    std::vector<Segment> segments() const;
    double memoryEnd() const;

    std::vector<Part> m_parts;
    std::int64_t m_memory = 0;
    std::int64_t m_reserve = 0;
};

}  // namespace decodescope
