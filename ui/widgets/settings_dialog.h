// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QDialog>

#include "ui/settings.h"
#include "ui/theme/theme.h"

class QCheckBox;
class QComboBox;
class QFormLayout;
class QLabel;

namespace decodescope {

/// What the window remembers about its user's wishes. Everything holds at once and is kept at once; what
/// needs a new start says so. Not modal.
class SettingsDialog : public QDialog {
    Q_OBJECT
public:
    /// `settings` outlives the dialog. `theme`: the mode that holds now.
    SettingsDialog(Settings& settings, Theme::Mode theme, QWidget* parent);

    /// The theme was switched elsewhere.
    void setTheme(Theme::Mode mode);

signals:
    void themeChosen(decodescope::Theme::Mode mode);
    /// The lists of recent models and files are empty now.
    void recentForgotten();

private:
    QComboBox* addList(QFormLayout* form, const QString& label, const char* name, const QString& toolTip);
    QCheckBox* addCheck(const Setting<bool>& setting, const QString& text, const char* name,
                        const QString& toolTip);
    void updateRestart();
    void restoreDefaults();
    void fill();

    Settings& m_settings;
    QComboBox* m_theme;
    QComboBox* m_language;
    QComboBox* m_scale;
    QLabel* m_restart;
    struct Check {
        QCheckBox* box;
        const Setting<bool>* setting;
    };
    QList<Check> m_checks;
    QString m_startLanguage;
    int m_startScale;
};

}  // namespace decodescope
