// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QDialog>
#include <QList>
#include <QString>

class QAction;
class QLineEdit;
class QListView;
class QSortFilterProxyModel;
class QStandardItemModel;

namespace decodescope {

/// Finds a command by a few letters: a line to type into above the list of all commands with their menus and
/// keys. Up and Down choose while one types, Enter does it, Escape leaves. What cannot be done now is grey
/// and last.
class CommandPalette : public QDialog {
    Q_OBJECT
public:
    struct Command {
        QString category;
        QAction* action = nullptr;  // outlives the palette, or is left out once it is gone
    };

    CommandPalette(const QList<Command>& commands, QWidget* parent);

    QLineEdit* line() const { return m_line; }
    QListView* list() const { return m_list; }

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    void filter();
    void trigger();

    QLineEdit* m_line;
    QStandardItemModel* m_model;
    QSortFilterProxyModel* m_found;
    QListView* m_list;
};

}  // namespace decodescope
