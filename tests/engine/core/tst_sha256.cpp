// SPDX-License-Identifier: GPL-3.0-or-later
#include <QCryptographicHash>
#include <QTest>

#include <algorithm>

#include "engine/core/sha256.h"

using namespace decodescope;

namespace {

std::string hash(const QByteArray& bytes, qsizetype piece) {
    Sha256 sha;
    for (qsizetype i = 0; i < bytes.size(); i += piece) {
        const qsizetype n = std::min(piece, bytes.size() - i);
        sha.update(std::as_bytes(std::span(bytes.constData() + i, static_cast<std::size_t>(n))));
    }
    return sha.finish();
}

}  // namespace

class Sha256Test : public QObject {
    Q_OBJECT

private slots:
    void published_vectors_data() {
        QTest::addColumn<QByteArray>("message");
        QTest::addColumn<QByteArray>("digest");
        QTest::newRow("empty") << QByteArray("")
                               << QByteArray(
                                      "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
        QTest::newRow("abc") << QByteArray("abc")
                             << QByteArray(
                                    "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        QTest::newRow("448 bits") << QByteArray("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq")
                                  << QByteArray(
                                         "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
        QTest::newRow("a million a")
            << QByteArray(1'000'000, 'a')
            << QByteArray("cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
    }
    void published_vectors() {
        QFETCH(QByteArray, message);
        QFETCH(QByteArray, digest);
        QCOMPARE(QByteArray::fromStdString(hash(message, 1 << 20)), digest);
    }

    void every_length_and_split_agrees_with_qt() {
        QByteArray message;
        for (int length = 0; length < 200; ++length) {
            const QByteArray expected = QCryptographicHash::hash(message, QCryptographicHash::Sha256).toHex();
            for (const qsizetype piece : {1, 7, 63, 64, 65, 200}) {
                QCOMPARE(QByteArray::fromStdString(hash(message, piece)), expected);
            }
            message.append(static_cast<char>(length * 37 + 11));
        }
    }
};

QTEST_APPLESS_MAIN(Sha256Test)
#include "tst_sha256.moc"
