// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/settings.h"

#include <QFileInfo>

namespace decodescope {

namespace {

constexpr int recentCount = 8;

QString userFile() {
    return QSettings(QSettings::IniFormat, QSettings::UserScope, QStringLiteral("decodescope"),
                     QStringLiteral("decodescope"))
        .fileName();
}

}  // namespace

Settings::Settings(const QString& path) : m_file(path.isEmpty() ? userFile() : path, QSettings::IniFormat) {}

QString Settings::folder() const {
    return QFileInfo(m_file.fileName()).absolutePath();
}

void Settings::addRecent(const Setting<QStringList>& setting, const QString& entry) {
    QStringList list = get(setting);
    list.removeAll(entry);
    list.prepend(entry);
    while (list.size() > recentCount) list.removeLast();
    set(setting, list);
}

}  // namespace decodescope
