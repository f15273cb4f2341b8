// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>
#include <QVector>
#include <QWidget>

#include "engine/core/result.h"
#include "engine/verify/verdict.h"

class QDialog;

namespace decodescope {

/// One small drawing: rows of cells.
struct HelpPicture {
    struct Row {
        QString label;
        QStringList cells;
    };
    QString caption;
    QVector<Row> rows;
};

/// What the help says about a kind of fault; from `help/faults.json` of the bundled files.
struct HelpEntry {
    FaultKind kind{};
    QString text;
    QString formula;
    QVector<HelpPicture> pictures;
};

/// All entries, one per kind; an error names what is missing in the file.
Result<QVector<HelpEntry>> faultHelpEntries();

/// Draws pictures side by side, wrapped to its width. Cells: `#` seen, `.` nothing, `o` missing, `!` wrongly
/// seen; others are texts, with `!` behind them wrong, `+` right and worth a look, `~` in the background.
class HelpPictures : public QWidget {
    Q_OBJECT

public:
    explicit HelpPictures(QWidget* parent = nullptr);
    void setPictures(const QVector<HelpPicture>& pictures);

    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;
    bool hasHeightForWidth() const override { return true; }
    int heightForWidth(int width) const override { return place(width, nullptr); }

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    QSize sizeOf(const HelpPicture& picture) const;
    int labelWidth(const HelpPicture& picture) const;
    int cellWidth(const HelpPicture& picture) const;
    int place(int width, QVector<QPoint>* places) const;
    void paint(QPainter& painter, const HelpPicture& picture, QPoint at) const;

    QVector<HelpPicture> m_pictures;
};

/// Shows the explanation of a kind in a window of its own beside `parent`, or in the one that is open.
QDialog* showFaultHelp(FaultKind kind, QWidget* parent);

}  // namespace decodescope
