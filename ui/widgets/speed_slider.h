// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

class QLabel;
class QSlider;

namespace decodescope {

/// How fast a run goes on: from one step a second to as fast as it goes, at the right end.
class SpeedSlider : public QWidget {
    Q_OBJECT

public:
    explicit SpeedSlider(QWidget* parent = nullptr);

    /// Steps a second; 0 = as fast as it goes.
    double stepsPerSecond() const;
    void slower();
    void faster();

signals:
    void speedChanged(double stepsPerSecond);

private:
    void show(int notch);

    QSlider* m_slider;
    QLabel* m_value;
};

}  // namespace decodescope
