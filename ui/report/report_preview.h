// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QAbstractScrollArea>
#include <QHash>
#include <QPixmap>

#include <memory>

namespace decodescope {

class ReportDocument;

/// The pages of a report below each other, as wide as there is room, as they will be printed.
class ReportPreview : public QAbstractScrollArea {
    Q_OBJECT

public:
    explicit ReportPreview(QWidget* parent = nullptr);
    ~ReportPreview() override;

    /// Stays where it is in the pages. Null: nothing to show.
    void setDocument(std::unique_ptr<ReportDocument> document);
    const ReportDocument* document() const { return m_document.get(); }

    QSize sizeHint() const override;

protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;

private:
    void layoutPages();
    double scale() const;
    QRect pageRect(int page) const;
    const QPixmap& picture(int page, const QSize& size);

    std::unique_ptr<ReportDocument> m_document;
    QHash<int, QPixmap> m_pictures;  // of the pages in view
};

}  // namespace decodescope
