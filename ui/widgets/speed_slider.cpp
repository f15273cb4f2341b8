// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/widgets/speed_slider.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QSlider>

#include <array>

#include "ui/theme/card.h"
#include "ui/widgets/labels.h"

namespace decodescope {

namespace {

// Steps a second at each notch of the slider but the last, which is full speed.
constexpr std::array<int, 6> speeds = {1, 2, 4, 8, 16, 32};
constexpr int fullSpeed = static_cast<int>(speeds.size());

}  // namespace

SpeedSlider::SpeedSlider(QWidget* parent) : QWidget(parent) {
    const CardMetrics metrics(font());
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(metrics.padding / 2);
    m_slider = new QSlider(Qt::Horizontal, this);
    m_slider->setObjectName(QStringLiteral("speedSlider"));
    m_slider->setAccessibleName(tr("Speed"));
    m_slider->setToolTip(
        tr("Slow motion: how many steps a second a run makes at most. At the right end it goes as fast as it "
           "can; "
           "only then are its times worth comparing"));
    m_slider->setRange(0, fullSpeed);
    m_slider->setPageStep(1);
    m_slider->setValue(fullSpeed);
    m_slider->setFixedWidth(metrics.line * 5);
    QLabel* name = mutedLabel(tr("Speed"), this);
    name->setBuddy(m_slider);
    m_value = mutedLabel({}, this);
    m_value->setObjectName(QStringLiteral("speedValue"));
    m_value->setMinimumWidth(std::max(m_value->fontMetrics().horizontalAdvance(tr("full")),
                                      m_value->fontMetrics().horizontalAdvance(tr("%1 / s").arg(32))));
    row->addWidget(name);
    row->addWidget(m_slider);
    row->addWidget(m_value);
    connect(m_slider, &QSlider::valueChanged, this, [this](int notch) {
        show(notch);
        emit speedChanged(stepsPerSecond());
    });
    show(fullSpeed);
}

double SpeedSlider::stepsPerSecond() const {
    const int notch = m_slider->value();
    return notch == fullSpeed ? 0 : speeds.at(static_cast<std::size_t>(notch));
}

void SpeedSlider::slower() {
    m_slider->setValue(m_slider->value() - 1);
}

void SpeedSlider::faster() {
    m_slider->setValue(m_slider->value() + 1);
}

void SpeedSlider::show(int notch) {
    m_value->setText(notch == fullSpeed ? tr("full")
                                        : tr("%1 / s").arg(speeds.at(static_cast<std::size_t>(notch))));
    m_slider->setAccessibleDescription(notch == fullSpeed ? tr("As fast as it goes")
                                                          : tr("Steps a second: %1").arg(stepsPerSecond()));
}

}  // namespace decodescope
