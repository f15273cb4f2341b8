// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QByteArray>
#include <QFile>
#include <QString>
#include <QTemporaryDir>
#include <QTest>

#include <cstdint>
#include <filesystem>
#include <stdexcept>

namespace decodescope::test {

/// `value` as 8 bytes, least significant first.
inline QByteArray little_endian64(std::uint64_t value) {
    QByteArray bytes(8, '\0');
    for (int i = 0; i < 8; ++i) bytes[i] = static_cast<char>(value >> (8 * i));
    return bytes;
}

/// A safetensors file of that header and data.
inline QByteArray safetensors(const QByteArray& header, const QByteArray& data = {}) {
    return little_endian64(static_cast<std::uint64_t>(header.size())) + header + data;
}

/// A temporary folder with short-cuts for files in it.
class TestFolder {
public:
    std::filesystem::path path(const QString& name = {}) const {
        return std::filesystem::path(folder_.filePath(name).toStdString());
    }
    std::filesystem::path write(const QString& name, const QByteArray& bytes) const {
        QFile file(folder_.filePath(name));
        if (!file.open(QIODevice::WriteOnly) || file.write(bytes) != bytes.size()) {
            throw std::runtime_error("cannot write " + name.toStdString());
        }
        return path(name);
    }

private:
    QTemporaryDir folder_;
};

}  // namespace decodescope::test
