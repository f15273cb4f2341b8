// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/widgets/settings_dialog.h"

#include <QCheckBox>
#include <QComboBox>
#include <QDialogButtonBox>
#include <QFormLayout>
#include <QLabel>
#include <QPushButton>
#include <QVBoxLayout>

#include <algorithm>

#include "ui/theme/card.h"
#include "ui/widgets/labels.h"

namespace decodescope {

SettingsDialog::SettingsDialog(Settings& settings, Theme::Mode theme, QWidget* parent)
    : QDialog(parent),
      m_settings(settings),
      m_startLanguage(settings.get(settings::language)),
      m_startScale(settings.get(settings::scale)) {
    setObjectName(QStringLiteral("settingsDialog"));
    setAttribute(Qt::WA_DeleteOnClose);
    setWindowTitle(tr("Settings"));
    const CardMetrics metrics(font());
    const int margin = metrics.padding * 2;
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(margin, margin, margin, margin);
    column->setSpacing(metrics.padding);

    column->addWidget(sectionLabel(tr("Look"), this));
    auto* form = new QFormLayout;
    form->setHorizontalSpacing(margin);
    m_theme = addList(form, tr("&Theme"), "settingsTheme", tr("Holds at once"));
    m_theme->addItem(tr("As the system"), static_cast<int>(Theme::Mode::System));
    m_theme->addItem(tr("Light"), static_cast<int>(Theme::Mode::Light));
    m_theme->addItem(tr("Dark"), static_cast<int>(Theme::Mode::Dark));
    m_language = addList(form, tr("&Language"), "settingsLanguage",
                         tr("Of the window; files and error sentences are English in every language"));
    m_language->addItem(tr("As the system"), QStringLiteral("system"));
    // Everybody reads the name of their own language.
    m_language->addItem(QStringLiteral("English"), QStringLiteral("en"));
    m_language->addItem(QStringLiteral("Deutsch"), QStringLiteral("de"));
    m_scale = addList(form, tr("&Size"), "settingsScale",
                      tr("Of everything in the window, on top of what the desktop asks for"));
    for (const int percent : {100, 125, 150, 175, 200}) m_scale->addItem(tr("%1 %").arg(percent), percent);
    column->addLayout(form);
    m_restart = mutedLabel(tr("Language and size change with the next start."), this);
    m_restart->setObjectName(QStringLiteral("settingsRestart"));
    QSizePolicy keeps = m_restart->sizePolicy();
    keeps.setRetainSizeWhenHidden(true);
    m_restart->setSizePolicy(keeps);
    column->addWidget(m_restart);

    column->addWidget(sectionLabel(tr("Start and end"), this));
    column->addWidget(addCheck(settings::runDemo, tr("&Run the demo when the window opens on it"),
                               "settingsRunDemo", tr("Otherwise the Run key starts it")));
    column->addWidget(addCheck(settings::askToSave, tr("&Ask about an unsaved run before closing"),
                               "settingsAskToSave",
                               tr("An unsaved run also survives a crash, whatever is chosen here")));

    column->addWidget(sectionLabel(tr("Remembered"), this));
    auto* forget = new QPushButton(tr("&Forget Recent Models and Files"), this);
    forget->setObjectName(QStringLiteral("settingsForget"));
    forget->setToolTip(tr("The files themselves stay"));
    forget->setAutoDefault(false);
    connect(forget, &QPushButton::clicked, this, [this] {
        m_settings.set(settings::recentModels, {});
        m_settings.set(settings::recentFiles, {});
        emit recentForgotten();
    });
    column->addWidget(forget, 0, Qt::AlignLeft);
    QLabel* file = mutedLabel(tr("Kept in %1").arg(m_settings.fileName()), this);
    file->setObjectName(QStringLiteral("settingsFile"));
    file->setWordWrap(true);
    file->setTextInteractionFlags(Qt::TextSelectableByMouse);
    column->addWidget(file);
    column->addStretch(1);

    auto* buttons = new QDialogButtonBox(QDialogButtonBox::RestoreDefaults | QDialogButtonBox::Close, this);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::close);
    connect(buttons->button(QDialogButtonBox::RestoreDefaults), &QPushButton::clicked, this,
            &SettingsDialog::restoreDefaults);
    column->addWidget(buttons);

    m_theme->setFocus();
    setTheme(theme);
    fill();
    connect(m_theme, &QComboBox::currentIndexChanged, this,
            [this] { emit themeChosen(static_cast<Theme::Mode>(m_theme->currentData().toInt())); });
    connect(m_language, &QComboBox::currentIndexChanged, this, [this] {
        m_settings.set(settings::language, m_language->currentData().toString());
        updateRestart();
    });
    connect(m_scale, &QComboBox::currentIndexChanged, this, [this] {
        m_settings.set(settings::scale, m_scale->currentData().toInt());
        updateRestart();
    });
}

QComboBox* SettingsDialog::addList(QFormLayout* form, const QString& label, const char* name,
                                   const QString& toolTip) {
    auto* list = new QComboBox(this);
    list->setObjectName(QLatin1String(name));
    QString plain = label;
    list->setAccessibleName(plain.remove(QLatin1Char('&')));
    list->setToolTip(toolTip);
    form->addRow(label, list);
    return list;
}

QCheckBox* SettingsDialog::addCheck(const Setting<bool>& setting, const QString& text, const char* name,
                                    const QString& toolTip) {
    auto* box = new QCheckBox(text, this);
    box->setObjectName(QLatin1String(name));
    box->setToolTip(toolTip);
    connect(box, &QCheckBox::toggled, this, [this, &setting](bool on) { m_settings.set(setting, on); });
    m_checks.append({box, &setting});
    return box;
}

void SettingsDialog::setTheme(Theme::Mode mode) {
    m_theme->setCurrentIndex(m_theme->findData(static_cast<int>(mode)));
}

void SettingsDialog::fill() {
    m_language->setCurrentIndex(std::max(0, m_language->findData(m_settings.get(settings::language))));
    m_scale->setCurrentIndex(std::max(0, m_scale->findData(m_settings.get(settings::scale))));
    for (const Check& check : m_checks) check.box->setChecked(m_settings.get(*check.setting));
    updateRestart();
}

void SettingsDialog::updateRestart() {
    m_restart->setVisible(m_settings.get(settings::language) != m_startLanguage ||
                          m_settings.get(settings::scale) != m_startScale);
}

void SettingsDialog::restoreDefaults() {
    m_settings.set(settings::language, settings::language.fallback);
    m_settings.set(settings::scale, settings::scale.fallback);
    for (const Check& check : m_checks) m_settings.set(*check.setting, check.setting->fallback);
    setTheme(Theme::modeOf(settings::theme.fallback));
    fill();
}

}  // namespace decodescope
