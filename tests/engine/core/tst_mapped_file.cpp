// SPDX-License-Identifier: GPL-3.0-or-later
#include <QTest>

#include <algorithm>

#include "engine/core/mapped_file.h"
#include "engine/formats/input_file.h"
#include "tests/engine/formats/test_files.h"

using namespace decodescope;
using namespace decodescope::test;

namespace {

constexpr qsizetype file_bytes = 20'000;

QByteArray pattern() {
    QByteArray bytes(file_bytes, '\0');
    for (qsizetype i = 0; i < file_bytes; ++i) bytes[i] = static_cast<char>(i % 251);
    return bytes;
}

Result<MappedFile> map(const std::filesystem::path& path) {
    const auto file = InputFile::open(path);
    if (!file) return file.error();
    return file->map();
}

bool holds_pattern(const MappedFile& file) {
    const QByteArray expected = pattern();
    return std::ranges::equal(file.bytes(), std::as_bytes(std::span(expected.constData(), file_bytes)));
}

}  // namespace

class TestMappedFile : public QObject {
    Q_OBJECT

private slots:
    void bytesAreThoseOfTheFile();
    void aFileThatIsDeletedOrRenamedStays_data();
    void aFileThatIsDeletedOrRenamedStays();
    void changesAreFound_data();
    void changesAreFound();
    void aFileThatIsShorterAlreadyIsRefused();
    void missingPagesAreZeros();
};

void TestMappedFile::bytesAreThoseOfTheFile() {
    const TestFolder folder;
    auto mapped = map(folder.write("f", pattern()));
    QVERIFY2(mapped, mapped ? "" : mapped.error().message.c_str());
    MappedFile file = *std::move(mapped);
    QCOMPARE(file.bytes().size(), std::size_t{file_bytes});
    QCOMPARE(reinterpret_cast<std::uintptr_t>(file.bytes().data()) % 64, std::uintptr_t{0});
    QVERIFY(file.check());
    QVERIFY(file.populate(0, file_bytes));
    QVERIFY(file.populate(4097, 1));
    QVERIFY(file.populate(file_bytes - 1, 1));
    QVERIFY(file.populate(file_bytes, 0));
    QVERIFY(holds_pattern(file));
    const MappedFile moved = std::move(file);
    QVERIFY(holds_pattern(moved));
    QVERIFY(moved.check());
}

void TestMappedFile::aFileThatIsDeletedOrRenamedStays_data() {
    QTest::addColumn<int>("what");
    QTest::newRow("deleted") << 0;
    QTest::newRow("renamed") << 1;
    QTest::newRow("replaced by another") << 2;
}

void TestMappedFile::aFileThatIsDeletedOrRenamedStays() {
    QFETCH(int, what);
    const TestFolder folder;
    const auto path = folder.write("f", pattern());
    const auto file = map(path);
    QVERIFY(file);
    if (what == 0) std::filesystem::remove(path);
    if (what == 1) std::filesystem::rename(path, folder.path("g"));
    if (what == 2) std::filesystem::rename(folder.write("new", "short"), path);
    QVERIFY(file->check());
    QVERIFY(holds_pattern(*file));
}

void TestMappedFile::changesAreFound_data() {
    QTest::addColumn<int>("bytes");  // negative: written to, not cut
    QTest::addColumn<QString>("sentence");
    const QString shorter = ": became shorter while it was read: 20000 bytes when opened, %1 now.";
    QTest::newRow("a byte shorter") << 19'999 << shorter.arg(19'999);
    QTest::newRow("half") << 10'000 << shorter.arg(10'000);
    QTest::newRow("empty") << 0 << shorter.arg(0);
    QTest::newRow("written to") << -1 << QString(": was changed while it was in use; open it again.");
}

void TestMappedFile::changesAreFound() {
    QFETCH(int, bytes);
    QFETCH(QString, sentence);
    const TestFolder folder;
    const auto path = folder.write("f", pattern());
    const auto file = map(path);
    QVERIFY(file);
    if (bytes >= 0) {
        std::filesystem::resize_file(path, static_cast<std::uintmax_t>(bytes));
    } else {
        // The system's clock for files may not have ticked since the file was made.
        const auto before = std::filesystem::last_write_time(path);
        std::filesystem::last_write_time(path, before + std::chrono::seconds(1));
    }
    for (const Result<void>& result : {file->check(), file->populate(0, file_bytes)}) {
        QVERIFY(!result);
        QCOMPARE(result.error().kind, ErrorKind::io);
        QCOMPARE(QString::fromStdString(result.error().message),
                 QString::fromStdString(path.string()) + sentence);
    }
}

void TestMappedFile::aFileThatIsShorterAlreadyIsRefused() {
    const TestFolder folder;
    const auto path = folder.write("f", pattern());
    const auto opened = InputFile::open(path);
    QVERIFY(opened);
    std::filesystem::resize_file(path, 100);
    const auto mapped = opened->map();
    QVERIFY(!mapped);
    QCOMPARE(mapped.error().kind, ErrorKind::io);
}

void TestMappedFile::missingPagesAreZeros() {
    survive_shrinking_files();
    const TestFolder folder;
    const auto path = folder.write("f", pattern());
    const auto file = map(path);
    QVERIFY(file);
    QVERIFY(holds_pattern(*file));
    std::filesystem::resize_file(path, 100);
    const auto n_zero = std::ranges::count(file->bytes(), std::byte{0});
    QVERIFY(n_zero >= file_bytes - 100);
    QVERIFY(!file->check());
}

QTEST_APPLESS_MAIN(TestMappedFile)
#include "tst_mapped_file.moc"
