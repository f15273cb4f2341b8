// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QByteArray>
#include <QSettings>
#include <QString>
#include <QStringList>

namespace decodescope {

/// One remembered value: its key in the settings file and what holds until it is set.
template <class T>
struct Setting {
    const char* key;
    T fallback;
};

/// Everything the window remembers between two starts.
namespace settings {
inline const Setting<QByteArray> windowGeometry{"window/geometry", {}};
inline const Setting<QByteArray> splitterState{"window/splitter", {}};
inline const Setting<QString> theme{"window/theme", "system"};        // system, light or dark
inline const Setting<QString> language{"window/language", "system"};  // system, en or de
inline const Setting<int> scale{"window/scale", 100};                 // percent, 100 to 200
inline const Setting<QString> screen{"window/screen", "race"};
inline const Setting<bool> panelShown{"window/panel", true};
inline const Setting<bool> tourSeen{"window/tour", false};
inline const Setting<bool> runDemo{"run/demo", true};         // when the window opens on it
inline const Setting<bool> askToSave{"run/askToSave", true};  // an unsaved run, when the window closes
inline const Setting<QStringList> recentModels{"recent/models", {}};
inline const Setting<QStringList> recentFiles{"recent/files", {}};  // experiments and records
inline const Setting<QString> lastFolder{"recent/folder", {}};
inline const Setting<QByteArray> lastExperiment{"panel/experiment", {}};  // decodescope.experiment/1
}  // namespace settings

/// The settings file of this user, or another one. GUI thread.
class Settings {
public:
    /// `path` empty: the user's own file.
    explicit Settings(const QString& path = {});

    template <class T>
    T get(const Setting<T>& setting) const {
        const QVariant value = m_file.value(QLatin1String(setting.key));
        return value.canConvert<T>() ? value.value<T>() : setting.fallback;
    }
    template <class T>
    void set(const Setting<T>& setting, const T& value) {
        m_file.setValue(QLatin1String(setting.key), QVariant::fromValue(value));
    }
    QString fileName() const { return m_file.fileName(); }
    /// The folder that the file is in, for what is kept beside it.
    QString folder() const;
    /// Puts `entry` first in a list of recent things, which keeps eight of them.
    void addRecent(const Setting<QStringList>& setting, const QString& entry);

private:
    QSettings m_file;
};

}  // namespace decodescope
