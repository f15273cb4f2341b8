// SPDX-License-Identifier: GPL-3.0-or-later
#include <QCryptographicHash>
#include <QTest>
#include <sys/stat.h>

#include "engine/formats/safetensors.h"
#include "tests/engine/formats/test_files.h"

using namespace decodescope;
using namespace decodescope::test;

namespace {

/// A header entry.
QByteArray entry(const QByteArray& name, const QByteArray& dtype, const QByteArray& shape,
                 const QByteArray& offsets) {
    return "\"" + name + "\":{\"dtype\":\"" + dtype + "\",\"shape\":[" + shape + "],\"data_offsets\":[" +
           offsets + "]}";
}

}  // namespace

class SafetensorsTest : public QObject {
    Q_OBJECT

private slots:
    void refuses_broken_files_data();
    void refuses_broken_files();
    void accepts_what_the_format_allows_data();
    void accepts_what_the_format_allows();
    void refuses_what_is_not_a_file_data();
    void refuses_what_is_not_a_file();
    void reads_entries_in_the_order_of_their_data();
    void reads_parts_and_no_further();
    void a_file_cut_short_after_opening_is_an_error();
    void hashes_the_whole_file();
    void a_sparse_file_of_4_gib_opens();
    void a_header_of_100_mb_is_bounded();
};

void SafetensorsTest::refuses_broken_files_data() {
    QTest::addColumn<QByteArray>("file");
    QTest::addColumn<ErrorKind>("kind");
    QTest::addColumn<QString>("sentence");  // after the path
    const auto bad = [](const char* name, const QByteArray& file, const char* sentence) {
        QTest::newRow(name) << file << ErrorKind::bad_input << sentence;
    };
    const auto unsupported = [](const char* name, const QByteArray& file, const char* sentence) {
        QTest::newRow(name) << file << ErrorKind::unsupported << sentence;
    };
    const QByteArray eight(8, 'x');

    bad("S1 empty", "", ": is empty (0 bytes); the download did not finish.");
    bad("S1 seven bytes", QByteArray(7, '\1'),
        ": has 7 bytes, too small for a safetensors file (at least 8 bytes and a header).");
    bad("S1 eight bytes of FF", QByteArray(8, '\xff'),
        ": says that its header has 18446744073709551615 bytes, too large for safetensors (the limit is "
        "100000000).");
    bad("header one byte above the limit", little_endian64(100'000'001) + "{}",
        ": says that its header has 100000001 bytes, too large for safetensors (the limit is 100000000).");
    bad("S2 header longer than the file", little_endian64(3) + "{}",
        ": says that its header has 3 bytes, longer than the file, which holds 2 after the length field.");
    bad("header of 0 bytes", safetensors(""), ": the header is empty, expected a JSON object.");
    bad("S4 overlap",
        safetensors("{" + entry("b", "F32", "2,2", "0,16") + "," + entry("a", "F32", "2,2", "0,16") + "}",
                    QByteArray(16, '\0')),
        ": the header lets tensors \"b\" (bytes 0 to 16) and \"a\" (bytes 0 to 16) overlap.");
    bad("partial overlap",
        safetensors("{" + entry("a", "U8", "8", "0,8") + "," + entry("b", "U8", "8", "4,12") + "}",
                    QByteArray(12, '\0')),
        ": the header lets tensors \"a\" (bytes 0 to 8) and \"b\" (bytes 4 to 12) overlap.");
    bad("an empty tensor inside another",
        safetensors("{" + entry("a", "U8", "8", "0,8") + "," + entry("b", "U8", "0", "4,4") + "}", eight),
        ": the header lets tensors \"a\" (bytes 0 to 8) and \"b\" (bytes 4 to 4) overlap.");
    bad("S5 size overflow",
        safetensors("{" + entry("a", "I32", "2,18446744073709551614", "0,16") + "}", eight + eight),
        ": the header gives tensor \"a\" the shape [2, 18446744073709551614], whose size overflows 64 bits.");
    bad("S5 size overflow in bytes",
        safetensors("{" + entry("a", "I32", "2,9223372036854775807", "0,16") + "}", eight + eight),
        ": the header gives tensor \"a\" the shape [2, 9223372036854775807], whose size overflows 64 bits.");
    bad("size that wraps to the right number",
        safetensors("{" + entry("a", "I32", "4611686018427387905,4", "0,16") + "}", eight + eight),
        ": the header gives tensor \"a\" the shape [4611686018427387905, 4], whose size overflows 64 bits.");
    bad("S6 cut short by 2 bytes",
        safetensors("{" + entry("a", "F32", "2,2", "0,16") + "}", QByteArray(14, '\0')),
        ": the header describes 16 bytes of data, but the file holds 14 (2 missing: cut short?).");
    bad("S6 3 bytes too many",
        safetensors("{" + entry("a", "F32", "2,2", "0,16") + "}", QByteArray(19, '\0')),
        ": the header describes 16 bytes of data, but the file holds 19 (3 bytes after the last tensor).");
    bad("bytes without a tensor", safetensors("{}", eight),
        ": the header describes 0 bytes of data, but the file holds 8 (8 bytes after the last tensor).");
    bad("hole at the start", safetensors("{" + entry("a", "U8", "4", "4,8") + "}", eight),
        ": the header leaves bytes 0 to 4 unused, before tensor \"a\".");
    bad("hole in the middle",
        safetensors("{" + entry("a", "U8", "2", "0,2") + "," + entry("b", "U8", "4", "4,8") + "}", eight),
        ": the header leaves bytes 2 to 4 unused, between tensors \"a\" and \"b\".");
    bad("offsets run backwards", safetensors("{" + entry("a", "U8", "4", "8,4") + "}", eight),
        ": the header gives tensor \"a\" the data_offsets [8, 4], which run backwards.");
    bad("shape and offsets differ",
        safetensors("{" + entry("a", "F32", "2", "0,4") + "}", QByteArray(4, '\0')),
        ": the header gives tensor \"a\" 4 bytes of data, but F32 [2] needs 8.");
    bad("half a byte", safetensors("{" + entry("a", "F4", "3", "0,2") + "}", QByteArray(2, '\0')),
        ": the header gives tensor \"a\" 2 bytes of data, but F4 [3] needs 12 bits.");
    bad("duplicate name",
        safetensors("{" + entry("a", "U8", "8", "0,8") + "," + entry("a", "U8", "8", "0,8") + "}", eight),
        ": the header lists tensor \"a\" twice.");
    bad("duplicate name of two empty tensors",
        safetensors("{" + entry("a", "U8", "0", "0,0") + "," + entry("\\u0061", "U8", "0", "0,0") + "}"),
        ": the header lists tensor \"a\" twice.");
    bad("duplicate dtype",
        safetensors("{\"a\":{\"dtype\":\"U8\",\"dtype\":\"U8\",\"shape\":[8],\"data_offsets\":[0,8]}}",
                    eight),
        ": the header has the dtype of tensor \"a\" twice.");
    bad("duplicate shape",
        safetensors("{\"a\":{\"dtype\":\"U8\",\"shape\":[8],\"shape\":[8],\"data_offsets\":[0,8]}}", eight),
        ": the header has the shape of tensor \"a\" twice.");
    bad("metadata twice", safetensors("{\"__metadata__\":{},\"__metadata__\":{}}"),
        ": the header has \"__metadata__\" twice.");
    bad("metadata key twice", safetensors("{\"__metadata__\":{\"x\":\"1\",\"x\":\"2\"}}"),
        ": the header has the __metadata__ key \"x\" twice.");
    bad("metadata number", safetensors("{\"__metadata__\":{\"x\":1}}"),
        ": the header has a number as the __metadata__ value \"x\", expected a string.");
    bad("metadata null", safetensors("{\"__metadata__\":{\"x\":null}}"),
        ": the header has null as the __metadata__ value \"x\", expected a string.");
    bad("metadata object", safetensors("{\"__metadata__\":{\"x\":{\"dtype\":\"U8\"}}}"),
        ": the header has an object as the __metadata__ value \"x\", expected a string.");
    bad("metadata list", safetensors("{\"__metadata__\":[]}"),
        ": the header has an array for \"__metadata__\", expected an object.");
    unsupported("unknown dtype", safetensors("{" + entry("wte.weight", "F2", "8", "0,8") + "}", eight),
                ": the header gives tensor \"wte.weight\" the unknown dtype \"F2\".");
    unsupported("rank 9", safetensors("{" + entry("a", "U8", "1,1,1,1,1,1,1,1,8", "0,8") + "}", eight),
                ": the header gives tensor \"a\" more than 8 dimensions.");
    bad("negative dimension", safetensors("{" + entry("a", "U8", "-8", "0,8") + "}", eight),
        ": the header has \"-8\" in the shape of tensor \"a\", expected whole numbers from 0 to 2^64 - 1.");
    bad("negative zero", safetensors("{" + entry("a", "U8", "8", "-0,8") + "}", eight),
        ": the header has \"0\" in the data_offsets of tensor \"a\", expected whole numbers from 0 to 2^64 - "
        "1.");
    bad("fraction", safetensors("{" + entry("a", "U8", "8.0", "0,8") + "}", eight),
        ": the header has \"8.0\" in the shape of tensor \"a\", expected whole numbers from 0 to 2^64 - 1.");
    bad("exponent", safetensors("{" + entry("a", "U8", "8e0", "0,8") + "}", eight),
        ": the header has \"8e0\" in the shape of tensor \"a\", expected whole numbers from 0 to 2^64 - 1.");
    bad("2^64", safetensors("{" + entry("a", "U8", "18446744073709551616", "0,8") + "}", eight),
        ": the header has \"18446744073709551616\" in the shape of tensor \"a\", expected whole numbers from "
        "0 to "
        "2^64 - 1.");
    bad("2^53 + 1 is not rounded",
        safetensors("{" + entry("a", "U8", "9007199254740993", "0,9007199254740992") + "}"),
        ": the header gives tensor \"a\" 9007199254740992 bytes of data, but U8 [9007199254740993] needs "
        "9007199254740993.");
    bad("number as string", safetensors("{" + entry("a", "U8", "\"8\"", "0,8") + "}", eight),
        ": the header has a string in the shape of tensor \"a\", expected a list of whole numbers.");
    bad("shape is a number",
        safetensors("{\"a\":{\"dtype\":\"U8\",\"shape\":8,\"data_offsets\":[0,8]}}", eight),
        ": the header has a number in the shape of tensor \"a\", expected a list of whole numbers.");
    bad("shape is nested", safetensors("{" + entry("a", "U8", "[8]", "0,8") + "}", eight),
        ": the header has an array in the shape of tensor \"a\", expected a list of whole numbers.");
    bad("dtype is a number", safetensors("{\"a\":{\"dtype\":1,\"shape\":[8],\"data_offsets\":[0,8]}}", eight),
        ": the header has a number in the dtype of tensor \"a\", expected a string.");
    bad("one offset", safetensors("{" + entry("a", "U8", "8", "8") + "}", eight),
        ": the header has 1 data_offsets for tensor \"a\", expected 2.");
    bad("three offsets", safetensors("{" + entry("a", "U8", "8", "0,8,8") + "}", eight),
        ": the header has more than 2 data_offsets for tensor \"a\".");
    bad("no dtype", safetensors("{\"a\":{\"shape\":[8],\"data_offsets\":[0,8]}}", eight),
        ": the header lacks the dtype of tensor \"a\".");
    bad("no shape", safetensors("{\"a\":{\"dtype\":\"U8\",\"data_offsets\":[0,8]}}", eight),
        ": the header lacks the shape of tensor \"a\".");
    bad("no data_offsets", safetensors("{\"a\":{\"dtype\":\"U8\",\"shape\":[8]}}", eight),
        ": the header lacks the data_offsets of tensor \"a\".");
    bad("entry is a list", safetensors("{\"a\":[1]}"),
        ": the header has an array for \"a\", expected an object.");
    bad("entry is null", safetensors("{\"a\":null}"), ": the header has null for \"a\", expected an object.");
    bad("header is a list", safetensors("[]"), ": the header does not start with {.");
    bad("header is blank", safetensors("  \n"), ": the header is empty, expected a JSON object.");
    bad("byte order mark", safetensors("\xef\xbb\xbf{}"), ": the header does not start with {.");
    bad("not UTF-8", safetensors("{\"a\xff\":1}"), ": the header is not valid UTF-8 at byte 3.");
    bad("NUL after the object", safetensors(QByteArray("{}\0", 3)),
        ": the header is not valid JSON at byte 2.");
    bad("text after the object", safetensors("{}x"), ": the header is not valid JSON at byte 2.");
    bad("two objects", safetensors("{}{}"), ": the header is not valid JSON at byte 2.");
    bad("trailing comma", safetensors("{\"__metadata__\":{},}"),
        ": the header is not valid JSON at byte 19.");
    bad("unclosed", safetensors("{\"__metadata__\":{"), ": the header is not valid JSON at byte 17.");
    bad("lone surrogate", safetensors("{\"\\ud800\":1}"), ": the header is not valid JSON at byte 8.");
    bad("depth bomb of lists", safetensors("{\"a\":{\"x\":" + QByteArray(100'000, '[')),
        ": the header is nested deeper than 4 levels.");
    bad("depth bomb of objects", safetensors("{\"a\":" + QByteArray("{\"x\":").repeated(100'000)),
        ": the header is nested deeper than 4 levels.");
    bad("odd name is escaped and cut", safetensors("{\"a\\u0000\\n" + QByteArray(200, 'b') + "\":1}"),
        qPrintable(": the header has a number for \"a\\x00\\x0a" + QString(93, 'b') +
                   "...\", expected an object."));
    bad("S14 Git LFS pointer",
        "version https://git-lfs.github.com/spec/v1\noid sha256:"
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1\nsize 548105171\n",
        ": is a Git LFS pointer, not the file itself; fetch it with \"git lfs pull\".");
    bad("web page", "\n<!DOCTYPE html><html><head><title>Not found</title></head></html>",
        ": is a web page (HTML), not the file itself; download it again.");
    bad("web page without a declaration", "<HTML><body>Sign in</body></HTML>",
        ": is a web page (HTML), not the file itself; download it again.");
    unsupported("zip", QByteArray("PK\x03\x04\0\0\0\0\0\0", 10),
                ": is a zip archive (PyTorch's own format?), expected safetensors.");
    unsupported("gguf", QByteArray("GGUF\3\0\0\0", 8), ": is a GGUF file, expected safetensors.");
}

void SafetensorsTest::refuses_broken_files() {
    QFETCH(QByteArray, file);
    QFETCH(ErrorKind, kind);
    QFETCH(QString, sentence);
    const TestFolder folder;
    const auto path = folder.write("model.safetensors", file);
    const auto opened = SafetensorsFile::open(path);
    QVERIFY(!opened);
    QCOMPARE(QString::fromStdString(opened.error().message),
             QString::fromStdString(path.string()) + sentence);
    QCOMPARE(opened.error().kind, kind);
}

void SafetensorsTest::accepts_what_the_format_allows_data() {
    QTest::addColumn<QByteArray>("file");
    QTest::addColumn<int>("n_entry");
    const QByteArray eight(8, 'x');
    QTest::newRow("S3 no tensors") << safetensors("{}") << 0;
    QTest::newRow("metadata only") << safetensors("{\"__metadata__\":{\"format\":\"pt\"}}") << 0;
    QTest::newRow("S7 blanks around the header")
        << safetensors("\t\n " + ("{" + entry("a", "U8", "8", "0,8") + "}") + "\r\n \t", eight) << 1;
    QTest::newRow("scalar") << safetensors("{" + entry("a", "F64", "", "0,8") + "}", eight) << 1;
    QTest::newRow("empty tensors") << safetensors("{" + entry("a", "F32", "4,0", "0,0") + "," +
                                                      entry("b", "U8", "8", "0,8") + "," +
                                                      entry("c", "U8", "0", "8,8") + "}",
                                                  eight)
                                   << 3;
    QTest::newRow("zero first, then huge")
        << safetensors("{" + entry("a", "F32", "0,9223372036854775807,4", "0,0") + "}") << 1;
    QTest::newRow("odd offsets") << safetensors("{" + entry("a", "U8", "3", "0,3") + "," +
                                                    entry("b", "F32", "1", "3,7") + "," +
                                                    entry("c", "BOOL", "1", "7,8") + "}",
                                                eight)
                                 << 3;
    QTest::newRow("4 bits an element") << safetensors("{" + entry("a", "F4", "4,4", "0,8") + "}", eight) << 1;
    QTest::newRow("6 bits an element")
        << safetensors("{" + entry("a", "F6_E2M3", "4", "0,3") + "," + entry("b", "U8", "5", "3,8") + "}",
                       eight)
        << 2;
    QTest::newRow("rank 8") << safetensors("{" + entry("a", "U8", "1,1,1,2,1,2,1,2", "0,8") + "}", eight)
                            << 1;
    QTest::newRow("unknown fields are ignored") << safetensors(
                                                       "{\"a\":{\"x\":[1,-2.5,[null]],\"dtype\":\"U8\",\"y\":"
                                                       "{\"shape\":[7]},\"shape\":[8],\"z\":true,"
                                                       "\"data_offsets\":[0,8]}}",
                                                       eight)
                                                << 1;
    QTest::newRow("a name with NUL and line feed")
        << safetensors("{" + entry("a\\u0000\\n", "U8", "8", "0,8") + "}", eight) << 1;
    for (const char* dtype :
         {"BOOL", "U8", "I8", "F8_E5M2", "F8_E4M3", "F8_E8M0", "F8_E4M3FNUZ", "F8_E5M2FNUZ"}) {
        QTest::newRow(dtype) << safetensors("{" + entry("a", dtype, "8", "0,8") + "}", eight) << 1;
    }
    for (const char* dtype : {"I16", "U16", "F16", "BF16"}) {
        QTest::newRow(dtype) << safetensors("{" + entry("a", dtype, "4", "0,8") + "}", eight) << 1;
    }
    for (const char* dtype : {"I32", "U32", "F32"}) {
        QTest::newRow(dtype) << safetensors("{" + entry("a", dtype, "2", "0,8") + "}", eight) << 1;
    }
    for (const char* dtype : {"C64", "F64", "I64", "U64"}) {
        QTest::newRow(dtype) << safetensors("{" + entry("a", dtype, "1", "0,8") + "}", eight) << 1;
    }
}

void SafetensorsTest::accepts_what_the_format_allows() {
    QFETCH(QByteArray, file);
    QFETCH(int, n_entry);
    const TestFolder folder;
    const auto opened = SafetensorsFile::open(folder.write("model.safetensors", file));
    QVERIFY2(opened, opened ? "" : opened.error().message.c_str());
    QCOMPARE(static_cast<int>((*opened)->entries().size()), n_entry);
    QCOMPARE((*opened)->file_size(), static_cast<std::uint64_t>(file.size()));
}

void SafetensorsTest::refuses_what_is_not_a_file_data() {
    QTest::addColumn<QString>("name");
    QTest::addColumn<ErrorKind>("kind");
    QTest::addColumn<QString>("sentence");
    QTest::newRow("missing") << "missing.safetensors" << ErrorKind::io << ": there is no such file.";
    QTest::newRow("dangling link")
        << "dangling.safetensors" << ErrorKind::io
        << ": links to ../../blobs/abc, which does not exist; the download is incomplete.";
    QTest::newRow("link to an unfinished download")
        << "unfinished.safetensors" << ErrorKind::bad_input
        << ": is an unfinished download (.incomplete); fetch it again.";
    QTest::newRow("unfinished download") << "abc.incomplete" << ErrorKind::bad_input
                                         << ": is an unfinished download (.incomplete); fetch it again.";
    QTest::newRow("folder") << "folder.safetensors" << ErrorKind::bad_input
                            << ": is a folder, expected a file.";
    QTest::newRow("named pipe") << "pipe.safetensors" << ErrorKind::bad_input
                                << ": is a device or pipe, expected a regular file.";
}

void SafetensorsTest::refuses_what_is_not_a_file() {
    QFETCH(QString, name);
    QFETCH(ErrorKind, kind);
    QFETCH(QString, sentence);
    const TestFolder folder;
    std::filesystem::create_symlink("../../blobs/abc", folder.path("dangling.safetensors"));
    folder.write("abc.incomplete", safetensors("{}"));
    std::filesystem::create_symlink("abc.incomplete", folder.path("unfinished.safetensors"));
    std::filesystem::create_directory(folder.path("folder.safetensors"));
    QCOMPARE(mkfifo(folder.path("pipe.safetensors").c_str(), 0600), 0);
    const auto opened = SafetensorsFile::open(folder.path(name));
    QVERIFY(!opened);
    QCOMPARE(QString::fromStdString(opened.error().message),
             QString::fromStdString(folder.path(name).string()) + sentence);
    QCOMPARE(opened.error().kind, kind);
}

void SafetensorsTest::reads_entries_in_the_order_of_their_data() {
    const TestFolder folder;
    const QByteArray data = "abcdefgh";
    const auto path = folder.write("m.safetensors", safetensors("{" + entry("second", "U8", "2,3", "2,8") +
                                                                    ",\"__metadata__\":{\"format\":\"pt\"}," +
                                                                    entry("first", "F16", "1", "0,2") + "}",
                                                                data));
    const auto file = SafetensorsFile::open(path);
    QVERIFY(file);
    const auto& entries = (*file)->entries();
    QCOMPARE(entries.size(), std::size_t{2});
    QCOMPARE(entries[0].name, std::string("first"));
    QCOMPARE(entries[0].dtype, std::string("F16"));
    QCOMPARE(entries[1].name, std::string("second"));
    QCOMPARE(entries[1].shape, (std::vector<std::uint64_t>{2, 3}));
    QCOMPARE((*file)->metadata().at("format"), std::string("pt"));
    QCOMPARE((*file)->find("second"), &entries[1]);
    QVERIFY((*file)->find("third") == nullptr);
    QByteArray bytes(6, '\0');
    QVERIFY((*file)->read(entries[1], 0, std::as_writable_bytes(std::span(bytes.data(), 6))));
    QCOMPARE(bytes, QByteArray("cdefgh"));
}

void SafetensorsTest::reads_parts_and_no_further() {
    const TestFolder folder;
    const auto file = SafetensorsFile::open(folder.write(
        "m.safetensors",
        safetensors("{" + entry("a", "U8", "4", "0,4") + "," + entry("b", "U8", "4", "4,8") + "}",
                    "abcdefgh")));
    QVERIFY(file);
    const SafetensorsEntry& a = *(*file)->find("a");
    std::array<std::byte, 5> bytes{};
    QVERIFY((*file)->read(a, 2, std::span(bytes).first(2)));
    QCOMPARE(static_cast<char>(bytes[0]), 'c');
    QVERIFY((*file)->read(a, 4, std::span(bytes).first(0)));
    QCOMPARE((*file)->read(a, 0, bytes).error().kind, ErrorKind::internal);
    QCOMPARE((*file)->read(a, 3, std::span(bytes).first(2)).error().kind, ErrorKind::internal);
    QCOMPARE((*file)->read(a, ~std::uint64_t{0}, std::span(bytes).first(2)).error().kind,
             ErrorKind::internal);
}

void SafetensorsTest::a_file_cut_short_after_opening_is_an_error() {
    const TestFolder folder;
    const QByteArray bytes =
        safetensors("{" + entry("a", "U8", "100000", "0,100000") + "}", QByteArray(100'000, 'x'));
    const auto path = folder.write("m.safetensors", bytes);
    const auto file = SafetensorsFile::open(path);
    QVERIFY(file);
    std::filesystem::resize_file(path, 1000);
    std::vector<std::byte> out(100'000);
    const auto read = (*file)->read((*file)->entries()[0], 0, out);
    QVERIFY(!read);
    QCOMPARE(QString::fromStdString(read.error().message),
             QString("%1: became shorter while it was read: %2 bytes when opened, 1000 now.")
                 .arg(QString::fromStdString(path.string()))
                 .arg(bytes.size()));
    QCOMPARE((*file)->sha256().error().kind, ErrorKind::io);
}

void SafetensorsTest::hashes_the_whole_file() {
    const TestFolder folder;
    const QByteArray bytes =
        safetensors("{" + entry("a", "U8", "3000000", "0,3000000") + "}", QByteArray(3'000'000, 'x'));
    const auto file = SafetensorsFile::open(folder.write("m.safetensors", bytes));
    QVERIFY(file);
    const std::string expected =
        "sha256:" + QCryptographicHash::hash(bytes, QCryptographicHash::Sha256).toHex().toStdString();
    for (int call = 0; call < 2; ++call) {
        const auto hash = (*file)->sha256();
        QVERIFY(hash);
        QCOMPARE(*hash, expected);
    }
}

void SafetensorsTest::a_sparse_file_of_4_gib_opens() {
    const TestFolder folder;
    const QByteArray header = "{" + entry("a", "F32", "1073741824", "0,4294967296") + "}";
    const auto path = folder.write("m.safetensors", safetensors(header));
    std::error_code error;
    std::filesystem::resize_file(path, 8 + static_cast<std::uintmax_t>(header.size()) + 4294967296u, error);
    if (error) QSKIP("this file system does not hold sparse files of 4 GiB");
    const auto file = SafetensorsFile::open(path);
    QVERIFY2(file, file ? "" : file.error().message.c_str());
    QCOMPARE((*file)->entries()[0].size(), std::uint64_t{4294967296});
    std::array<std::byte, 4> last{};
    QVERIFY((*file)->read((*file)->entries()[0], 4294967292u, last));
}

void SafetensorsTest::a_header_of_100_mb_is_bounded() {
    const TestFolder folder;
    QByteArray many = "{";
    for (int i = 0; i <= 100'000; ++i) many += entry("t" + QByteArray::number(i), "U8", "0", "0,0") + ",";
    const auto path = folder.write("m.safetensors", safetensors(many + "\"z\":{}}"));
    auto opened = SafetensorsFile::open(path);
    QVERIFY(!opened);
    QCOMPARE(QString::fromStdString(opened.error().message),
             QString::fromStdString(path.string()) + ": the header lists more than 100000 tensors.");
    const auto refusal = [&](const QByteArray& header) {
        folder.write("m.safetensors", safetensors(header));
        opened = SafetensorsFile::open(path);
        return opened ? QString()
                      : QString::fromStdString(opened.error().message.substr(path.string().size()));
    };
    QCOMPARE(refusal("{\"" + QByteArray(5 << 20, 'a') + "\":1}"),
             ": the header holds a string of more than 4194304 bytes.");
    QCOMPARE(refusal("{" + QByteArray(5 << 20, ' ') + "}"),
             ": the header holds a gap of more than 4194304 bytes.");
    QByteArray metadata = "{\"__metadata__\":{\"x\":\"\"";
    for (int i = 0; i < 5; ++i)
        metadata += ",\"" + QByteArray::number(i) + "\":\"" + QByteArray(4'000'000, 'a') + "\"";
    QCOMPARE(refusal(metadata + "}}"), ": the header holds more than 16777216 bytes of names and metadata.");
    QCOMPARE(refusal("{}" + QByteArray(99'999'998, ' ')), QString());
}

QTEST_APPLESS_MAIN(SafetensorsTest)
#include "tst_safetensors.moc"
