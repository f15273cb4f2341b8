// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/widgets/help_dialogs.h"

#include <QDialog>
#include <QDialogButtonBox>
#include <QGridLayout>
#include <QLabel>
#include <QVBoxLayout>

#include "engine/measure/environment.h"
#include "ui/actions.h"
#include "ui/text.h"
#include "ui/theme/card.h"
#include "ui/widgets/labels.h"

namespace decodescope {

namespace {

QVBoxLayout* prepare(QDialog* dialog, const QString& title) {
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setWindowTitle(title);
    auto* column = new QVBoxLayout(dialog);
    const int margin = CardMetrics(dialog->font()).padding * 2;
    column->setContentsMargins(margin, margin, margin, margin);
    column->setSpacing(margin / 2);
    return column;
}

void addCloseButton(QDialog* dialog, QVBoxLayout* column) {
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close, dialog);
    QObject::connect(buttons, &QDialogButtonBox::rejected, dialog, &QDialog::close);
    column->addWidget(buttons);
}

}  // namespace

QDialog* shortcutSheet(const Actions& actions, QWidget* parent) {
    auto* dialog = new QDialog(parent);
    dialog->setObjectName(QStringLiteral("shortcutSheet"));
    QVBoxLayout* column = prepare(dialog, tr("Keyboard Shortcuts"));
    // In one column it would be higher than the screen of a laptop.
    constexpr int columns = 3;
    const CardMetrics metrics(dialog->font());
    auto* parts = new QHBoxLayout;
    parts->setSpacing(metrics.padding * 3);
    const QList<Actions::Entry> entries = actions.shortcutEntries();
    QGridLayout* grid = nullptr;
    QString category;
    int row = 0;
    for (qsizetype i = 0; i < entries.size(); ++i) {
        const Actions::Entry& entry = entries[i];
        if (entry.category != category) {
            if (grid == nullptr || i * columns >= entries.size() * parts->count()) {
                auto* part = new QVBoxLayout;
                grid = new QGridLayout;
                grid->setVerticalSpacing(metrics.padding * 2 / 3);
                grid->setHorizontalSpacing(metrics.padding * 2);
                part->addLayout(grid);
                part->addStretch(1);
                parts->addLayout(part);
                row = 0;
            }
            category = entry.category;
            QLabel* head = sectionLabel(category, dialog);
            head->setContentsMargins(0, row == 0 ? 0 : metrics.padding, 0, 0);
            grid->addWidget(head, row++, 0, 1, 2);
        }
        grid->addWidget(new QLabel(entry.text, dialog), row, 0);
        QLabel* keys = new QLabel(entry.keys, dialog);
        keys->setFont(metrics.title);
        grid->addWidget(keys, row++, 1, Qt::AlignRight);
    }
    column->addLayout(parts);
    addCloseButton(dialog, column);
    return dialog;
}

QDialog* aboutDialog(QWidget* parent) {
    auto* dialog = new QDialog(parent);
    dialog->setObjectName(QStringLiteral("aboutDialog"));
    QVBoxLayout* column = prepare(dialog, tr("About DecodeScope"));
    const CardMetrics metrics(dialog->font());
    const Environment environment = read_environment();
    auto* name = new QLabel(
        QStringLiteral("DecodeScope %1").arg(QString::fromStdString(environment.program_version)), dialog);
    QFont large = metrics.title;
    large.setPixelSize(large.pixelSize() * 3 / 2);
    name->setFont(large);
    column->addWidget(name);
    auto* body =
        new QLabel(tr("An oscilloscope for the KV cache: it runs several ways of generating text side by "
                      "side and shows what "
                      "each costs, what each stores and whether each is right.\n\n"
                      "Free software under the GNU General Public License, version 3 or later. It comes "
                      "without any warranty.\n\n"
                      "Built on Qt %1, QCustomPlot and %2.")
                       .arg(QString::fromLatin1(qVersion()), QString::fromStdString(environment.blas)),
                   dialog);
    body->setWordWrap(true);
    body->setMinimumWidth(dialog->fontMetrics().averageCharWidth() * 60);
    body->setTextInteractionFlags(Qt::TextSelectableByMouse);
    column->addWidget(body);
    if (!environment.commit.empty())
        column->addWidget(
            mutedLabel(tr("Built from %1").arg(QString::fromStdString(environment.commit)), dialog));
    addCloseButton(dialog, column);
    return dialog;
}

}  // namespace decodescope
