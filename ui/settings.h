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
inline const Setting<QString> theme{"window/theme", "system"};  // system, light or dark
inline const Setting<QString> screen{"window/screen", "race"};
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
    /// Puts `entry` first in a list of recent things, which keeps eight of them.
    void addRecent(const Setting<QStringList>& setting, const QString& entry);

private:
    QSettings m_file;
};

}  // namespace decodescope
