// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QSet>
#include <QStringList>
#include <QWidget>

#include <optional>
#include <vector>

#include "ui/report/record_charts.h"

class QListWidget;
class QListWidgetItem;
class QToolButton;

namespace decodescope {

/// The charts of a record as small pictures: which of them are wanted, and in which order. What was chosen
/// holds for the charts of the same name in the next record too.
class ChartPicker : public QWidget {
    Q_OBJECT

public:
    explicit ChartPicker(QWidget* parent = nullptr);

    /// `charts` outlive the picker's use of them.
    void setCharts(const std::vector<RecordChart>& charts);
    /// The wanted ones in order; nothing when it is all of them as they come.
    std::optional<QStringList> picked() const;
    QListWidget* list() const { return m_list; }
    /// One place up (-1) or down (1).
    void move(int direction);

signals:
    void changed();
    /// One sentence for the status bar.
    void notice(const QString& sentence);

protected:
    void changeEvent(QEvent* event) override;

private:
    void fill();
    void drawPictures();
    void remember();
    void updateButtons();
    LineChart* currentChart() const;

    const std::vector<RecordChart>* m_charts = nullptr;
    QStringList m_order;  // of all names ever shown
    QSet<QString> m_off;
    bool m_filling = false;
    QListWidget* m_list;
    QToolButton *m_up, *m_down, *m_copyImage, *m_copyData;
};

}  // namespace decodescope
