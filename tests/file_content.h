// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QFile>
#include <QTest>

#include <filesystem>

namespace decodescope::test {

/// What a file holds; empty if there is none.
inline QByteArray contentOf(const QString& path) {
    QFile file(path);
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}
inline QByteArray contentOf(const std::filesystem::path& path) {
    return contentOf(QString::fromStdString(path.string()));
}

inline void writeFile(const QString& path, const QByteArray& content) {
    QFile file(path);
    QVERIFY(file.open(QIODevice::WriteOnly));
    QCOMPARE(file.write(content), content.size());
}
inline void writeFile(const std::filesystem::path& path, const QByteArray& content) {
    writeFile(QString::fromStdString(path.string()), content);
}

}  // namespace decodescope::test
