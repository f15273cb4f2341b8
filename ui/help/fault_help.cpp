// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/help/fault_help.h"

#include <QCoreApplication>
#include <QDialog>
#include <QDialogButtonBox>
#include <QFile>
#include <QFontDatabase>
#include <QHBoxLayout>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QLabel>
#include <QListWidget>
#include <QPainter>
#include <QScrollArea>
#include <QVBoxLayout>

#include <algorithm>

#include "engine/fault/fault_catalogue.h"
#include "engine/formats/model_source.h"
#include "ui/help/fault_kinds.h"
#include "ui/text.h"
#include "ui/theme/card.h"
#include "ui/widgets/labels.h"
#include "ui/widgets/slim_scroll_bar.h"

namespace decodescope {

namespace {

HelpPicture pictureOf(const QJsonObject& object) {
    HelpPicture picture{bundledText(object.value(QLatin1String("caption")).toString()), {}};
    for (const QJsonValue& value : object.value(QLatin1String("rows")).toArray()) {
        const QStringList parts = bundledText(value.toString()).split(QLatin1Char('|'));
        picture.rows.append({parts.value(0).trimmed(),
                             parts.value(1).simplified().split(QLatin1Char(' '), Qt::SkipEmptyParts)});
    }
    return picture;
}

/// The page of one kind.
class HelpPage : public QWidget {
    Q_DECLARE_TR_FUNCTIONS(decodescope::HelpPage)

public:
    explicit HelpPage(QWidget* parent) : QWidget(parent) {
        const CardMetrics metrics(font());
        auto* column = new QVBoxLayout(this);
        column->setContentsMargins(metrics.padding, 0, metrics.padding, 0);
        column->setSpacing(metrics.padding);
        QFont large = metrics.title;
        large.setPixelSize(large.pixelSize() * 4 / 3);
        m_title = label("helpTitle", large, column);
        m_text = label("helpText", metrics.text, column);
        QFont fixed = QFontDatabase::systemFont(QFontDatabase::FixedFont);
        fixed.setPixelSize(metrics.small_text.pixelSize());
        column->addWidget(sectionLabel(tr("Rule"), this));
        m_formula = label("helpFormula", fixed, column);
        m_pictures = new HelpPictures(this);
        m_pictures->setObjectName(QStringLiteral("helpPictures"));
        column->addWidget(m_pictures);
        column->addWidget(sectionLabel(tr("Known ways to get there, and the fix"), this));
        m_faults = label("helpFaults", metrics.small_text, column);
        column->addStretch(1);
    }

    void show(const HelpEntry& entry) {
        m_title->setText(faultKindTitle(entry.kind));
        m_text->setText(entry.text);
        m_formula->setText(entry.formula);
        m_pictures->setPictures(entry.pictures);
        QStringList faults;
        for (const FaultInfo& info : fault_catalogue()) {
            if (info.kind == entry.kind)
                faults << QStringLiteral("• %1: %2").arg(bundledText(info.title), bundledText(info.fix));
        }
        m_faults->setText(faults.isEmpty() ? tr("None in the Faults list.") : faults.join(QLatin1Char('\n')));
    }

private:
    QLabel* label(const char* objectName, const QFont& font, QVBoxLayout* column) {
        auto* made = new QLabel(this);
        made->setObjectName(QLatin1String(objectName));
        made->setFont(font);
        made->setTextFormat(Qt::PlainText);
        made->setWordWrap(true);
        made->setTextInteractionFlags(Qt::TextSelectableByMouse);
        column->addWidget(made);
        return made;
    }

    QLabel* m_title;
    QLabel* m_text;
    QLabel* m_formula;
    HelpPictures* m_pictures;
    QLabel* m_faults;
};

}  // namespace

Result<QVector<HelpEntry>> faultHelpEntries() {
    const auto path = bundled_file("help/faults.json");
    if (!path) return path.error();
    QFile file(QString::fromStdString(path->string()));
    const auto refuse = [&](const QString& what) {
        return Error{ErrorKind::bad_input, QStringLiteral("%1: %2").arg(file.fileName(), what).toStdString()};
    };
    if (!file.open(QIODevice::ReadOnly)) return refuse(tr("cannot be read."));
    const QJsonDocument document = QJsonDocument::fromJson(file.readAll());
    QVector<HelpEntry> entries;
    for (int i = 0; i < n_fault_kind; ++i) {
        const auto kind = static_cast<FaultKind>(i);
        const QString name = QString::fromLatin1(to_string(kind)).replace(QLatin1Char(' '), QLatin1Char('_'));
        for (const QJsonValue& value : document.object().value(QLatin1String("kinds")).toArray()) {
            const QJsonObject object = value.toObject();
            if (object.value(QLatin1String("kind")).toString() != name) continue;
            HelpEntry entry{kind,
                            bundledText(object.value(QLatin1String("text")).toString()),
                            bundledText(object.value(QLatin1String("formula")).toString()),
                            {}};
            for (const QJsonValue& picture : object.value(QLatin1String("pictures")).toArray())
                entry.pictures.append(pictureOf(picture.toObject()));
            entries.append(entry);
        }
        if (entries.size() != i + 1) return refuse(tr("expected one entry for the kind \"%1\".").arg(name));
    }
    return entries;
}

HelpPictures::HelpPictures(QWidget* parent) : QWidget(parent) {
    QSizePolicy policy(QSizePolicy::Preferred, QSizePolicy::Minimum);
    policy.setHeightForWidth(true);
    setSizePolicy(policy);
}

void HelpPictures::setPictures(const QVector<HelpPicture>& pictures) {
    m_pictures = pictures;
    QStringList words;
    for (const HelpPicture& picture : pictures) {
        words << picture.caption;
        for (const HelpPicture::Row& row : picture.rows)
            words << QStringLiteral("%1: %2").arg(row.label, row.cells.join(QLatin1Char(' ')));
    }
    setAccessibleName(words.join(QStringLiteral("; ")));
    updateGeometry();
    update();
}

int HelpPictures::labelWidth(const HelpPicture& picture) const {
    const CardMetrics metrics(font());
    int width = 0;
    for (const HelpPicture::Row& row : picture.rows)
        width = std::max(width, QFontMetrics(metrics.small_text).horizontalAdvance(row.label));
    return width + metrics.padding / 2;
}

int HelpPictures::cellWidth(const HelpPicture& picture) const {
    const CardMetrics metrics(font());
    int width = metrics.line * 3 / 2;
    for (const HelpPicture::Row& row : picture.rows) {
        for (const QString& cell : row.cells)
            width = std::max(width,
                             QFontMetrics(metrics.small_text).horizontalAdvance(cell) + metrics.padding / 2);
    }
    return width;
}

QSize HelpPictures::sizeOf(const HelpPicture& picture) const {
    const CardMetrics metrics(font());
    qsizetype cells = 0;
    for (const HelpPicture::Row& row : picture.rows) cells = std::max(cells, row.cells.size());
    const int grid = labelWidth(picture) + static_cast<int>(cells) * cellWidth(picture);
    const int caption = QFontMetrics(metrics.small_text).horizontalAdvance(picture.caption);
    return {
        std::max(grid, caption) + 1,
        metrics.line + static_cast<int>(picture.rows.size()) * metrics.line * 3 / 2 + metrics.padding / 2};
}

int HelpPictures::place(int width, QVector<QPoint>* places) const {
    const CardMetrics metrics(font());
    QPoint at;
    int height = 0;
    for (const HelpPicture& picture : m_pictures) {
        const QSize size = sizeOf(picture);
        if (at.x() > 0 && at.x() + size.width() > width) at = {0, at.y() + height + metrics.padding};
        if (at.x() == 0) height = 0;
        if (places != nullptr) places->append(at);
        height = std::max(height, size.height());
        at.rx() += size.width() + metrics.padding * 3;
    }
    return at.y() + height;
}

QSize HelpPictures::sizeHint() const {
    const int width = fontMetrics().averageCharWidth() * 70;
    return {width, heightForWidth(width)};
}

QSize HelpPictures::minimumSizeHint() const {
    int width = 0;
    for (const HelpPicture& picture : m_pictures) width = std::max(width, sizeOf(picture).width());
    return {width, CardMetrics(font()).line};
}

void HelpPictures::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    QVector<QPoint> places;
    place(width(), &places);
    for (qsizetype i = 0; i < m_pictures.size(); ++i) paint(painter, m_pictures[i], places[i]);
}

void HelpPictures::paint(QPainter& painter, const HelpPicture& picture, QPoint at) const {
    const CardMetrics metrics(font());
    const ThemeColors& colors = themeColors(palette());
    painter.setFont(metrics.small_text);
    painter.setPen(colors.muted);
    painter.drawText(QRect(at, QSize(sizeOf(picture).width(), metrics.line)), Qt::AlignLeft, picture.caption);
    const int cell = cellWidth(picture);
    const int side = metrics.line * 3 / 2;
    int y = at.y() + metrics.line + metrics.padding / 4;
    for (const HelpPicture::Row& row : picture.rows) {
        painter.setPen(colors.muted);
        painter.drawText(QRect(at.x(), y, labelWidth(picture), side), Qt::AlignLeft | Qt::AlignVCenter,
                         row.label);
        int x = at.x() + labelWidth(picture);
        for (QString text : row.cells) {
            const QRectF box = QRectF(x, y, cell, side).adjusted(1.5, 1.5, -1.5, -1.5);
            x += cell;
            QColor fill = colors.card;
            QColor edge = colors.border;
            QColor ink = colors.text;
            const QChar mark = text.back();
            if (text == QLatin1String("#")) {
                fill = colors.cells[0];
            } else if (text == QLatin1String("!")) {
                fill = colors.bad_soft;
                edge = colors.bad;
                ink = colors.bad;
            } else if (text == QLatin1String(".")) {
                fill = colors.cells[1];
            } else if (text == QLatin1String("o")) {
                fill = colors.cells[1];
                edge = colors.bad;
            } else if (mark == QLatin1Char('!')) {
                fill = colors.bad_soft;
                edge = ink = colors.bad;
            } else if (mark == QLatin1Char('+')) {
                fill = colors.good_soft;
                edge = ink = colors.good;
            } else if (mark == QLatin1Char('~')) {
                fill = colors.cells[1];
                ink = colors.muted;
            }
            const bool wrong = edge == colors.bad;
            painter.setPen(QPen(edge, wrong ? 1.6 : 1.0));
            painter.setBrush(fill);
            painter.drawRoundedRect(box, metrics.radius / 2.0, metrics.radius / 2.0);
            if (text == QLatin1String("#") || text == QLatin1String(".") || text == QLatin1String("o"))
                continue;
            if (text.size() > 1 &&
                (mark == QLatin1Char('!') || mark == QLatin1Char('+') || mark == QLatin1Char('~')))
                text.chop(1);
            painter.setPen(ink);
            painter.drawText(box, Qt::AlignCenter, text);
        }
        y += side;
    }
}

QDialog* showFaultHelp(FaultKind kind, QWidget* parent) {
    auto* dialog = parent->findChild<QDialog*>(QStringLiteral("faultHelp"), Qt::FindDirectChildrenOnly);
    if (dialog == nullptr) {
        dialog = new QDialog(parent);
        dialog->setObjectName(QStringLiteral("faultHelp"));
        dialog->setAttribute(Qt::WA_DeleteOnClose);
        dialog->setWindowTitle(tr("Kinds of Faults"));
        const CardMetrics metrics(dialog->font());
        auto* column = new QVBoxLayout(dialog);
        column->setContentsMargins(metrics.padding * 2, metrics.padding * 2, metrics.padding * 2,
                                   metrics.padding);
        column->setSpacing(metrics.padding);
        auto* row = new QHBoxLayout;
        row->setSpacing(metrics.padding);
        auto* list = new QListWidget(dialog);
        list->setObjectName(QStringLiteral("helpKinds"));
        list->setAccessibleName(tr("Kinds of faults"));
        list->setFrameShape(QFrame::NoFrame);
        list->setSpacing(metrics.padding / 5);
        list->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
        SlimScrollBar::install(list);
        auto* scroll = new QScrollArea(dialog);
        scroll->setFrameShape(QFrame::NoFrame);
        scroll->setWidgetResizable(true);
        scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
        SlimScrollBar::install(scroll);
        auto* page = new HelpPage(scroll);
        scroll->setWidget(page);
        row->addWidget(list);
        row->addWidget(scroll, 1);
        column->addLayout(row, 1);
        auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close, dialog);
        QObject::connect(buttons, &QDialogButtonBox::rejected, dialog, &QDialog::close);
        column->addWidget(buttons);
        const auto entries = faultHelpEntries();
        if (entries) {
            for (const HelpEntry& entry : *entries) list->addItem(faultKindTitle(entry.kind));
            QObject::connect(list, &QListWidget::currentRowChanged, page, [page, all = *entries](int at) {
                if (at >= 0 && at < all.size()) page->show(all[at]);
            });
        } else {
            list->hide();
            scroll->setWidget(new QLabel(QString::fromStdString(entries.error().message)));
        }
        list->setFixedWidth(list->sizeHintForColumn(0) + metrics.padding * 2);
        dialog->resize(dialog->fontMetrics().averageCharWidth() * 125, metrics.line * 34);
    }
    auto* list = dialog->findChild<QListWidget*>(QStringLiteral("helpKinds"));
    list->setCurrentRow(static_cast<int>(kind));
    dialog->show();
    dialog->raise();
    dialog->activateWindow();
    list->setFocus();
    return dialog;
}

}  // namespace decodescope
