// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QByteArray>

#include <cstdint>
#include <cstring>
#include <vector>

#include "engine/formats/gguf_value.h"

namespace decodescope::test {

/// Builds GGUF files piece by piece, broken ones too.
class GgufBytes {
public:
    static QByteArray number(std::uint64_t value, int n_byte) {
        QByteArray bytes(n_byte, '\0');
        for (int i = 0; i < n_byte; ++i) bytes[i] = static_cast<char>(value >> (8 * i));
        return bytes;
    }
    static QByteArray u32(std::uint64_t value) { return number(value, 4); }
    static QByteArray u64(std::uint64_t value) { return number(value, 8); }
    static QByteArray f32(float value) {
        QByteArray bytes(4, '\0');
        std::memcpy(bytes.data(), &value, 4);
        return bytes;
    }
    static QByteArray string(const QByteArray& text) { return u64(text.size()) + text; }

    /// A metadata entry of any type whose bytes are given.
    GgufBytes& key(const QByteArray& name, GgufType type, const QByteArray& value) {
        metadata_ += string(name) + u32(static_cast<std::uint32_t>(type)) + value;
        ++n_key_;
        return *this;
    }
    GgufBytes& key(const QByteArray& name, std::uint32_t value) {
        return key(name, GgufType::u32, u32(value));
    }
    GgufBytes& key(const QByteArray& name, const char* value) {
        return key(name, GgufType::string, string(value));
    }
    GgufBytes& key(const QByteArray& name, float value) { return key(name, GgufType::f32, f32(value)); }
    GgufBytes& array(const QByteArray& name, GgufType element, std::uint64_t count, const QByteArray& bytes) {
        return key(name, GgufType::array, u32(static_cast<std::uint32_t>(element)) + u64(count) + bytes);
    }
    /// A tensor's record. `dimensions` as in the file, innermost first.
    GgufBytes& tensor(const QByteArray& name, const std::vector<std::uint64_t>& dimensions,
                      std::uint32_t type, std::uint64_t offset) {
        tensors_ += string(name) + u32(dimensions.size());
        for (const std::uint64_t dimension : dimensions) tensors_ += u64(dimension);
        tensors_ += u32(type) + u64(offset);
        ++n_tensor_;
        return *this;
    }
    GgufBytes& version(std::uint32_t value) {
        version_ = value;
        return *this;
    }

    /// Everything before the padding.
    QByteArray header() const {
        return "GGUF" + u32(version_) + u64(n_tensor_) + u64(n_key_) + metadata_ + tensors_;
    }
    /// The whole file.
    QByteArray file(const QByteArray& data = {}, qsizetype alignment = 32) const {
        QByteArray bytes = header();
        bytes.append((alignment - bytes.size() % alignment) % alignment, '\0');
        return bytes + data;
    }

private:
    std::uint32_t version_ = 3;
    std::uint64_t n_tensor_ = 0;
    std::uint64_t n_key_ = 0;
    QByteArray metadata_;
    QByteArray tensors_;
};

}  // namespace decodescope::test
