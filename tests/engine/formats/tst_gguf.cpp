// SPDX-License-Identifier: GPL-3.0-or-later
#include <QCryptographicHash>
#include <QElapsedTimer>
#include <QTest>
#include <sys/stat.h>

#include <cmath>
#include <limits>

#include "engine/formats/gguf_file.h"
#include "tests/engine/formats/gguf_bytes.h"
#include "tests/engine/formats/test_files.h"

using namespace decodescope;
using namespace decodescope::test;

namespace {

constexpr std::uint32_t f32_type = 0;
constexpr std::uint32_t q4_0_type = 2;
constexpr std::uint32_t q8_0_type = 8;
constexpr std::uint64_t far = std::uint64_t{1} << 63;

QByteArray u32(std::uint64_t value) {
    return GgufBytes::u32(value);
}
QByteArray u64(std::uint64_t value) {
    return GgufBytes::u64(value);
}

/// The first 24 bytes of a file.
QByteArray start(std::uint64_t n_tensor, std::uint64_t n_key) {
    return "GGUF" + u32(3) + u64(n_tensor) + u64(n_key);
}

}  // namespace

class GgufTest : public QObject {
    Q_OBJECT

private slots:
    void refuses_broken_files_data();
    void refuses_broken_files();
    void refuses_every_file_cut_short();
    void refuses_what_is_not_a_file_data();
    void refuses_what_is_not_a_file();
    void accepts_what_the_format_allows_data();
    void accepts_what_the_format_allows();
    void reads_metadata_of_every_type();
    void getters_convert_only_what_fits();
    void reads_arrays();
    void lists_tensors_in_the_order_of_their_data();
    void reads_parts_and_no_further();
    void a_file_cut_short_after_opening_is_an_error();
    void hashes_the_whole_file();
    void huge_headers_are_bounded();
    void a_sparse_file_of_8_gib_opens();
    void reads_a_real_file_data();
    void reads_a_real_file();
};

void GgufTest::refuses_broken_files_data() {
    QTest::addColumn<QByteArray>("file");
    QTest::addColumn<ErrorKind>("kind");
    QTest::addColumn<QString>("sentence");  // after the path
    const auto bad = [](const char* name, const QByteArray& file, const char* sentence) {
        QTest::newRow(name) << file << ErrorKind::bad_input << sentence;
    };
    const auto unsupported = [](const char* name, const QByteArray& file, const QString& sentence) {
        QTest::newRow(name) << file << ErrorKind::unsupported << sentence;
    };
    using B = GgufBytes;

    bad("empty", "", ": is empty (0 bytes); the download did not finish.");
    bad("three bytes", "GGU", ": does not begin with \"GGUF\", expected a GGUF file.");
    bad("other bytes", QByteArray(40, 'x'), ": does not begin with \"GGUF\", expected a GGUF file.");
    bad("Git LFS pointer", "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 5\n",
        ": is a Git LFS pointer, not the file itself; fetch it with \"git lfs pull\".");
    bad("web page", "<!doctype html><html>",
        ": is a web page (HTML), not the file itself; download it again.");
    bad("S9 magic only", "GGUF",
        ": is cut short or damaged: the version takes 4 bytes, of which the file holds 0.");
    unsupported("S9 version 1", "GGUF" + u32(1) + u32(0) + u32(0),
                ": is a GGUF file of version 1, expected 2 or 3.");
    unsupported("S9 big-endian", "GGUF" + u32(0x03000000) + QByteArray(16, '\0'),
                ": is a big-endian GGUF file, expected little-endian.");
    unsupported("version 4", B().version(4).file(), ": is a GGUF file of version 4, expected 2 or 3.");
    unsupported("version 0", B().version(0).file(), ": is a GGUF file of version 0, expected 2 or 3.");
    bad("counts missing", "GGUF" + u32(3) + QByteArray(7, '\0'),
        ": is cut short or damaged: the number of tensors takes 8 bytes, of which the file holds 7.");
    bad("2^64 - 1 tensors", start(~std::uint64_t{0}, 0),
        ": says that it has 18446744073709551615 tensors, more than fit into the 8 bytes that follow.");
    bad("2^63 keys", start(0, far) + QByteArray(100, '\0'),
        ": says that it has 9223372036854775808 metadata keys, more than fit into the 100 bytes that "
        "follow.");
    bad("as many tensors as wrap to a small size", start(0x0800000000000001, 0) + QByteArray(100, '\0'),
        ": says that it has 576460752303423489 tensors, more than fit into the 108 bytes that follow.");
    unsupported("65,537 keys", start(0, 65'537) + QByteArray(1'000'000, '\0'),
                ": has 65537 metadata keys, the limit is 65536.");
    unsupported("100,001 tensors", start(100'001, 0) + QByteArray(4'000'000, '\0'),
                ": has 100001 tensors, the limit is 100000.");

    bad("S10 key of 2^63 bytes", start(0, 1) + u64(far) + QByteArray(16, 'k'),
        ": is cut short or damaged: metadata key 1 of 1 takes 9223372036854775808 bytes, of which the file "
        "holds 16.");
    bad("key of 2^64 - 1 bytes", start(0, 1) + u64(~std::uint64_t{0}) + QByteArray(16, 'k'),
        ": is cut short or damaged: metadata key 1 of 1 takes 18446744073709551615 bytes, of which the file "
        "holds 16.");
    bad("empty key", B().key("", 1u).file(),
        ": metadata key 1 of 1 is \"\", expected 1 to 65535 bytes of printable UTF-8.");
    bad("long key", B().key(QByteArray(65'536, 'k'), 1u).file(),
        (": metadata key 1 of 1 is \"" + QByteArray(96, 'k') +
         "...\", expected 1 to 65535 bytes of printable UTF-8.")
            .constData());
    bad("key with a line feed", B().key("a\nb", 1u).file(),
        ": metadata key 1 of 1 is \"a\\x0ab\", expected 1 to 65535 bytes of printable UTF-8.");
    bad("key that is not UTF-8", B().key("a\xff", 1u).file(),
        ": metadata key 1 of 1 is \"a\\xff\", expected 1 to 65535 bytes of printable UTF-8.");
    bad("key twice", B().key("a.b", 1u).key("a.c", 1u).key("a.b", "x").file(),
        ": has the metadata key \"a.b\" twice.");
    bad("unknown value type", B().key("a", static_cast<GgufType>(13), u32(0)).file(),
        ": the type of \"a\" is 13, expected 0 to 12.");
    bad("string value of 2^63 bytes", B().key("a", GgufType::string, u64(far)).header(),
        ": is cut short or damaged: the value of \"a\" takes 9223372036854775808 bytes, of which the file "
        "holds 0.");
    bad("bool of 2", B().key("a", GgufType::boolean, "\2").file(),
        ": \"a\" holds 2 as a bool, expected 0 or 1.");
    bad("bool of 255 in an array", B().array("a", GgufType::boolean, 2, "\1\xff").file(),
        ": \"a\" holds 255 as a bool, expected 0 or 1.");
    bad("array of 2^63", B().array("a", GgufType::u8, far, {}).file(),
        ": the array \"a\" says that it has 9223372036854775808 elements, more than fit into the 15 bytes "
        "that follow.");
    bad("array whose size wraps", B().array("a", GgufType::f64, 0x2000000000000001, {}).file(),
        ": the array \"a\" says that it has 2305843009213693953 elements, more than fit into the 15 bytes "
        "that follow.");
    bad("array of strings, each too short to be one", B().array("a", GgufType::string, 3, {}).file(),
        ": the array \"a\" says that it has 3 elements, more than fit into the 15 bytes that follow.");
    bad("string in an array beyond the file",
        B().array("a", GgufType::string, 2, B::string("x") + u64(1000)).header(),
        ": is cut short or damaged: element 2 of the array \"a\" takes 1000 bytes, of which the file holds "
        "0.");
    bad("array of an unknown type", B().array("a", static_cast<GgufType>(99), 1, u32(0)).file(),
        ": the element type of the array \"a\" is 99, expected 0 to 12.");
    {
        QByteArray nested;
        for (int depth = 0; depth < 4; ++depth) nested += u32(9) + u64(1);
        unsupported("arrays 5 deep", B().array("a", GgufType::array, 1, nested + u32(0) + u64(0)).file(),
                    ": nests the array \"a\" more than 4 arrays deep.");
        nested.clear();
        for (int depth = 0; depth < 100'000; ++depth) nested += u32(9) + u64(1);
        unsupported("arrays 100,000 deep", B().array("a", GgufType::array, 1, nested).file(),
                    ": nests the array \"a\" more than 4 arrays deep.");
    }

    bad("S12 alignment 0", B().key("general.alignment", 0u).file(),
        ": general.alignment is 0, expected a power of two from 8 to 65536.");
    bad("S12 alignment 24", B().key("general.alignment", 24u).file(),
        ": general.alignment is 24, expected a power of two from 8 to 65536.");
    bad("alignment 4", B().key("general.alignment", 4u).file(),
        ": general.alignment is 4, expected a power of two from 8 to 65536.");
    bad("alignment 2^31", B().key("general.alignment", 0x80000000u).file(),
        ": general.alignment is 2147483648, expected a power of two from 8 to 65536.");
    bad("S12 alignment as i32", B().key("general.alignment", GgufType::i32, u32(32)).file(),
        ": general.alignment is of type i32, expected u32.");
    bad("alignment as an array", B().array("general.alignment", GgufType::u32, 1, u32(32)).file(),
        ": general.alignment is of type array, expected u32.");
    unsupported("split", B().key("split.count", GgufType::u16, B::number(3, 2)).file(),
                ": is one of 3 parts of a split GGUF file (split.count), expected the whole model in one "
                "file; merge the parts first.");
    bad("split count is text", B().key("split.count", "3").file(),
        ": split.count is of type string, expected a whole number.");

    const QByteArray data(256, 'd');
    bad("tensor name of 2^63 bytes", start(1, 0) + u64(far) + QByteArray(40, 'n'),
        ": is cut short or damaged: the name of tensor 1 of 1 takes 9223372036854775808 bytes, of which the "
        "file holds 40.");
    bad("tensor without a name", B().tensor("", {4}, f32_type, 0).file(data),
        ": the name of tensor 1 of 1 is \"\", expected 1 to 63 bytes of printable UTF-8.");
    bad("tensor name of 64 bytes", B().tensor(QByteArray(64, 'n'), {4}, f32_type, 0).file(data),
        (": the name of tensor 1 of 1 is \"" + QByteArray(64, 'n') +
         "\", expected 1 to 63 bytes of printable UTF-8.")
            .constData());
    bad("tensor name that is not UTF-8", B().tensor("\xc3(", {4}, f32_type, 0).file(data),
        ": the name of tensor 1 of 1 is \"\\xc3(\", expected 1 to 63 bytes of printable UTF-8.");
    bad("tensor twice", B().tensor("a", {4}, f32_type, 0).tensor("a", {4}, f32_type, 32).file(data),
        ": lists tensor \"a\" twice.");
    bad("no dimensions", B().tensor("a", {}, f32_type, 0).file(data),
        ": gives tensor \"a\" 0 dimensions, expected 1 to 4.");
    bad("5 dimensions", B().tensor("a", {1, 1, 1, 1, 4}, f32_type, 0).file(data),
        ": gives tensor \"a\" 5 dimensions, expected 1 to 4.");
    bad("2^32 - 1 dimensions", start(1, 0) + B::string("a") + u32(0xffffffff) + QByteArray(60, '\0'),
        ": gives tensor \"a\" 4294967295 dimensions, expected 1 to 4.");
    bad("a dimension of 0", B().tensor("a", {4, 0}, f32_type, 0).file(data),
        ": gives tensor \"a\" the shape [0, 4], expected no zeros.");
    bad("elements that overflow", B().tensor("a", {far, 2}, f32_type, 0).file(data),
        ": gives tensor \"a\" the shape [2, 9223372036854775808], whose size overflows 64 bits.");
    bad("bytes that overflow", B().tensor("a", {0x4000000000000001}, f32_type, 0).file(data),
        ": gives tensor \"a\" the shape [4611686018427387905], whose size overflows 64 bits.");
    bad("S11 rows of half a block", B().tensor("a", {33, 2}, q4_0_type, 0).file(data),
        ": gives tensor \"a\" rows of 33 elements, expected a multiple of 32 for type Q4_0.");
    bad("whole blocks, but not in each row", B().tensor("a", {16, 2}, q4_0_type, 0).file(data),
        ": gives tensor \"a\" rows of 16 elements, expected a multiple of 32 for type Q4_0.");
    for (const std::uint32_t id : {4u, 31u, 40u, 42u, 0xffffffffu}) {
        unsupported(qPrintable(QString("tensor type %1").arg(id)), B().tensor("a", {32}, id, 0).file(data),
                    QString(": gives tensor \"a\" the type %1, expected one of ").arg(id) +
                        QString::fromStdString(known_ggml_types()) + ".");
    }
    bad("offset between two multiples", B().tensor("a", {4}, f32_type, 8).file(data),
        ": puts tensor \"a\" at offset 8, expected a multiple of the alignment 32.");
    bad("offset beyond the file", B().tensor("a", {4}, f32_type, 256).file(data),
        ": puts tensor \"a\" (16 bytes) at offset 256, beyond the 256 bytes of data that the file holds (cut "
        "short?).");
    bad("offset near 2^64", B().tensor("a", {8}, f32_type, ~std::uint64_t{31}).file(data),
        ": puts tensor \"a\" (32 bytes) at offset 18446744073709551584, beyond the 256 bytes of data that "
        "the file holds (cut short?).");
    bad("end beyond the file", B().tensor("a", {65}, f32_type, 0).file(data),
        ": puts tensor \"a\" (260 bytes) at offset 0, beyond the 256 bytes of data that the file holds (cut "
        "short?).");
    bad("no data section", B().tensor("a", {4}, f32_type, 0).header(),
        ": puts tensor \"a\" (16 bytes) at offset 0, beyond the 0 bytes of data that the file holds (cut "
        "short?).");
    bad("the same place", B().tensor("a", {4}, f32_type, 0).tensor("b", {4}, f32_type, 0).file(data),
        ": lets tensors \"a\" and \"b\" overlap at offset 0.");
    bad("overlap by one element, the later one listed first",
        B().tensor("b", {4}, f32_type, 32).tensor("a", {9}, f32_type, 0).file(data),
        ": lets tensors \"a\" and \"b\" overlap at offset 32.");
    bad("through a text filter",
        B().key("a", QByteArray(200, 'x').constData())
            .header()
            .replace(u64(200), "\xef\xbf\xbd" + QByteArray(7, '\0')),
        ": is cut short or damaged: the value of \"a\" takes 12435439 bytes, of which the file holds 202.");
}

void GgufTest::refuses_broken_files() {
    QFETCH(QByteArray, file);
    QFETCH(ErrorKind, kind);
    QFETCH(QString, sentence);
    const TestFolder folder;
    const auto path = folder.write("model.gguf", file);
    const auto opened = GgufFile::open(path);
    QVERIFY(!opened);
    QCOMPARE(QString::fromStdString(opened.error().message),
             QString::fromStdString(path.string()) + sentence);
    QCOMPARE(opened.error().kind, kind);
}

void GgufTest::refuses_every_file_cut_short() {
    const QByteArray whole =
        GgufBytes()
            .key("general.architecture", "llama")
            .key("x", GgufType::boolean, "\1")
            .array("tokens", GgufType::string, 2, GgufBytes::string("a") + GgufBytes::string("bc"))
            .array("nested", GgufType::array, 1, u32(5) + u64(2) + u64(7))
            .tensor("a", {4, 2}, f32_type, 0)
            .tensor("b", {32}, q8_0_type, 32)
            .file(QByteArray(32 + 34, 'd'));
    const TestFolder folder;
    QVERIFY(GgufFile::open(folder.write("model.gguf", whole)));
    for (qsizetype size = 1; size < whole.size(); ++size) {
        const auto opened = GgufFile::open(folder.write("model.gguf", whole.first(size)));
        QVERIFY2(!opened, qPrintable(QString("%1 of %2 bytes").arg(size).arg(whole.size())));
        QCOMPARE(opened.error().kind, ErrorKind::bad_input);
        QCOMPARE(opened.error().message.back(), '.');
    }
}

void GgufTest::refuses_what_is_not_a_file_data() {
    QTest::addColumn<QString>("name");
    QTest::addColumn<ErrorKind>("kind");
    QTest::addColumn<QString>("sentence");
    QTest::newRow("missing") << "missing.gguf" << ErrorKind::io << ": there is no such file.";
    QTest::newRow("dangling link") << "dangling.gguf" << ErrorKind::io
                                   << ": links to ../blobs/abc, which does not exist; the download is "
                                      "incomplete.";
    QTest::newRow("folder") << "folder.gguf" << ErrorKind::bad_input << ": is a folder, expected a file.";
    QTest::newRow("named pipe") << "pipe.gguf" << ErrorKind::bad_input
                                << ": is a device or pipe, expected a regular file.";
}

void GgufTest::refuses_what_is_not_a_file() {
    QFETCH(QString, name);
    QFETCH(ErrorKind, kind);
    QFETCH(QString, sentence);
    const TestFolder folder;
    std::filesystem::create_symlink("../blobs/abc", folder.path("dangling.gguf"));
    std::filesystem::create_directory(folder.path("folder.gguf"));
    QCOMPARE(mkfifo(folder.path("pipe.gguf").c_str(), 0600), 0);
    const auto opened = GgufFile::open(folder.path(name));
    QVERIFY(!opened);
    QCOMPARE(QString::fromStdString(opened.error().message),
             QString::fromStdString(folder.path(name).string()) + sentence);
    QCOMPARE(opened.error().kind, kind);
}

void GgufTest::accepts_what_the_format_allows_data() {
    QTest::addColumn<QByteArray>("file");
    QTest::addColumn<QStringList>("notes");
    const QString gaps = "the tensors' data does not follow the order of the list without gaps.";
    using B = GgufBytes;
    QTest::newRow("nothing at all") << B().file() << QStringList{"holds no tensors."};
    QTest::newRow("nothing, not even padding") << B().header() << QStringList{"holds no tensors."};
    QTest::newRow("version 2") << B().version(2).tensor("a", {4}, f32_type, 0).file(QByteArray(16, 'd'))
                               << QStringList{};
    QTest::newRow("last tensor padded")
        << B().tensor("a", {4}, f32_type, 0).file(QByteArray(32, 'd')) << QStringList{};
    QTest::newRow("bytes after the last tensor")
        << B().tensor("a", {4}, f32_type, 0).file(QByteArray(35, 'd'))
        << QStringList{"3 bytes follow the last tensor."};
    QTest::newRow("a gap") << B().tensor("a", {4}, f32_type, 64).file(QByteArray(80, 'd'))
                           << QStringList{gaps};
    QTest::newRow("another order")
        << B().tensor("a", {4}, f32_type, 32).tensor("b", {4}, f32_type, 0).file(QByteArray(48, 'd'))
        << QStringList{gaps};
    QTest::newRow("alignment 8") << B().key("general.alignment", 8u)
                                        .tensor("a", {2}, f32_type, 0)
                                        .tensor("b", {2}, f32_type, 8)
                                        .file(QByteArray(16, 'd'), 8)
                                 << QStringList{};
    QTest::newRow("alignment 65536") << B().key("general.alignment", 65'536u)
                                            .tensor("a", {2}, f32_type, 0)
                                            .file(QByteArray(8, 'd'), 65'536)
                                     << QStringList{};
    QTest::newRow("one part of one") << B().key("split.count", GgufType::u16, B::number(1, 2))
                                            .tensor("a", {4}, f32_type, 0)
                                            .file(QByteArray(16, 'd'))
                                     << QStringList{};
    QTest::newRow("name of 63 bytes, type that is not read")
        << B().tensor(QByteArray(63, 'n'), {32, 1, 1, 1}, 20, 0).file(QByteArray(18, 'd')) << QStringList{};
    QTest::newRow("empty strings and arrays, 4 deep")
        << B().key("a", "")
               .array("b", GgufType::string, 0, {})
               .array("c", GgufType::array, 1, u32(9) + u64(1) + u32(9) + u64(1) + u32(0) + u64(0))
               .tensor("a", {4}, f32_type, 0)
               .file(QByteArray(16, 'd'))
        << QStringList{};
}

void GgufTest::accepts_what_the_format_allows() {
    QFETCH(QByteArray, file);
    QFETCH(QStringList, notes);
    const TestFolder folder;
    const auto opened = GgufFile::open(folder.write("model.gguf", file));
    QVERIFY2(opened, opened ? "" : opened.error().message.c_str());
    QStringList got;
    for (const std::string& note : (*opened)->header().notes) got << QString::fromStdString(note);
    QCOMPARE(got, notes);
    QCOMPARE((*opened)->file_size(), static_cast<std::uint64_t>(file.size()));
}

void GgufTest::reads_metadata_of_every_type() {
    using B = GgufBytes;
    const QByteArray file = B().key("u8", GgufType::u8, B::number(200, 1))
                                .key("i8", GgufType::i8, B::number(200, 1))
                                .key("u16", GgufType::u16, B::number(65'000, 2))
                                .key("i16", GgufType::i16, B::number(65'000, 2))
                                .key("u32", GgufType::u32, u32(4'000'000'000))
                                .key("i32", GgufType::i32, u32(4'000'000'000))
                                .key("u64", GgufType::u64, u64(5'000'000'000))
                                .key("i64", GgufType::i64, u64(~std::uint64_t{0}))
                                .key("f32", 0.1f)
                                .key("f64", GgufType::f64, u64(0x3fb999999999999a))
                                .key("bool", GgufType::boolean, "\1")
                                .key("string", "h\xc3\xa9llo")
                                .file();
    const TestFolder folder;
    const auto opened = GgufFile::open(folder.write("model.gguf", file));
    QVERIFY2(opened, opened ? "" : opened.error().message.c_str());
    const GgufHeader& header = (*opened)->header();
    QCOMPARE(header.version, 3u);
    QCOMPARE(header.metadata.size(), std::size_t{12});
    const auto whole = [&](const char* key) { return header.find(key)->integer(); };
    QVERIFY(whole("u8") == 200);
    QVERIFY(whole("i8") == -56);
    QVERIFY(whole("u16") == 65'000);
    QVERIFY(whole("i16") == -536);
    QVERIFY(whole("u32") == 4'000'000'000);
    QVERIFY(whole("i32") == -294'967'296);
    QVERIFY(whole("u64") == 5'000'000'000);
    QVERIFY(whole("i64") == -1);
    QVERIFY(header.find("f32")->number() == double{0.1f});
    QVERIFY(header.find("f64")->number() == 0.1);
    QVERIFY(header.find("i16")->number() == -536.0);
    QVERIFY(header.find("bool")->boolean() == true);
    QVERIFY(header.find("string")->text() == "h\xc3\xa9llo");
    QCOMPARE(header.find("string")->type(), GgufType::string);
    QVERIFY(header.find("none") == nullptr);
}

void GgufTest::getters_convert_only_what_fits() {
    const QByteArray huge = u64(~std::uint64_t{0});
    const GgufValue large(GgufType::u64, {huge.constData(), 8});
    QVERIFY(!large.integer());
    QVERIFY(large.number() == std::pow(2.0, 64));
    QVERIFY(!large.boolean() && !large.text() && !large.integers() && !large.numbers() && !large.texts());
    const GgufValue real(GgufType::f32, {huge.constData(), 4});
    QVERIFY(!real.integer());
    QVERIFY(std::isnan(*real.number()));
    const GgufValue yes(GgufType::boolean, {"\1", 1});
    QVERIFY(!yes.integer() && !yes.number());
    const GgufValue text(GgufType::string, "12");
    QVERIFY(!text.integer() && !text.number() && !text.boolean() && !text.texts());
    const GgufValue list(GgufType::u64, 1, {huge.constData(), 8});
    QVERIFY(!list.integer() && !list.number() && !list.text() && !list.boolean());
    QVERIFY(!list.integers());  // 2^64 - 1 does not fit
    QCOMPARE(list.numbers()->size(), std::size_t{1});
    QVERIFY(!list.texts());
    const GgufValue nested(GgufType::array, 1, {huge.constData(), 8});
    QVERIFY(!nested.integers() && !nested.numbers() && !nested.texts());
}

void GgufTest::reads_arrays() {
    using B = GgufBytes;
    const QByteArray file =
        B().array("ids", GgufType::i32, 3, u32(1) + u32(0xffffffff) + u32(7))
            .array("bytes", GgufType::u8, 2, "\x01\xff")
            .array("scores", GgufType::f32, 2, B::f32(-0.5f) + B::f32(2.f))
            .array("tokens", GgufType::string, 3, B::string("a") + B::string("") + B::string("\xff\xfe"))
            .array("none", GgufType::string, 0, {})
            .array("nested", GgufType::array, 2, u32(0) + u64(1) + "x" + u32(8) + u64(1) + B::string("y"))
            .key("after", 5u)
            .file();
    const TestFolder folder;
    const auto opened = GgufFile::open(folder.write("model.gguf", file));
    QVERIFY2(opened, opened ? "" : opened.error().message.c_str());
    const GgufHeader& header = (*opened)->header();
    QVERIFY(header.find("ids")->integers() == (std::vector<std::int64_t>{1, -1, 7}));
    QVERIFY(header.find("ids")->numbers() == (std::vector<double>{1, -1, 7}));
    QVERIFY(header.find("bytes")->integers() == (std::vector<std::int64_t>{1, 255}));
    QVERIFY(header.find("scores")->numbers() == (std::vector<double>{-0.5, 2}));
    QVERIFY(!header.find("scores")->integers());
    QVERIFY(header.find("tokens")->texts() == (std::vector<std::string_view>{"a", "", "\xff\xfe"}));
    QVERIFY(header.find("none")->texts()->empty());
    QCOMPARE(header.find("nested")->element(), GgufType::array);
    QCOMPARE(header.find("nested")->count(), std::uint64_t{2});
    QVERIFY(!header.find("nested")->texts());
    QVERIFY(header.find("after")->integer() == 5);
}

void GgufTest::lists_tensors_in_the_order_of_their_data() {
    const QByteArray header_bytes =
        GgufBytes().tensor("second", {32, 2}, q8_0_type, 32).tensor("first", {3, 2}, f32_type, 0).file();
    const TestFolder folder;
    const auto opened = GgufFile::open(folder.write("model.gguf", header_bytes + QByteArray(100, 'd')));
    QVERIFY2(opened, opened ? "" : opened.error().message.c_str());
    const GgufHeader& header = (*opened)->header();
    QCOMPARE(header.data_start, static_cast<std::uint64_t>(header_bytes.size()));
    QCOMPARE(header.tensors.size(), std::size_t{2});
    const GgufTensor& first = header.tensors[0];
    QCOMPARE(first.name, std::string("first"));
    QCOMPARE(first.shape, (std::vector<std::uint64_t>{2, 3}));
    QCOMPARE(first.bytes, std::uint64_t{24});
    const GgufTensor& second = header.tensors[1];
    QCOMPARE(second.name, std::string("second"));
    QCOMPARE(second.type->name, std::string_view("Q8_0"));
    QCOMPARE(second.shape, (std::vector<std::uint64_t>{2, 32}));
    QCOMPARE(second.bytes, std::uint64_t{68});
    QCOMPARE((*opened)->find("second"), &second);
    QVERIFY((*opened)->find("third") == nullptr);
}

void GgufTest::reads_parts_and_no_further() {
    const TestFolder folder;
    const QByteArray data = "abcdefgh" + QByteArray(24, '.') + "ijklmnop";
    const auto opened = GgufFile::open(folder.write(
        "model.gguf", GgufBytes().tensor("a", {2}, f32_type, 0).tensor("b", {2}, f32_type, 32).file(data)));
    QVERIFY(opened);
    const GgufTensor& b = *(*opened)->find("b");
    QByteArray bytes(9, '\0');
    const auto out = std::as_writable_bytes(std::span(bytes.data(), 9));
    QVERIFY((*opened)->read(b, 0, out.first(8)));
    QCOMPARE(bytes.first(8), QByteArray("ijklmnop"));
    QVERIFY((*opened)->read(b, 6, out.first(2)));
    QCOMPARE(bytes.first(2), QByteArray("op"));
    QVERIFY((*opened)->read(b, 8, out.first(0)));
    const GgufTensor& a = *(*opened)->find("a");
    QCOMPARE((*opened)->read(a, 0, out).error().kind, ErrorKind::internal);
    QCOMPARE((*opened)->read(a, 7, out.first(2)).error().kind, ErrorKind::internal);
    QCOMPARE((*opened)->read(a, ~std::uint64_t{0}, out.first(2)).error().kind, ErrorKind::internal);
}

void GgufTest::a_file_cut_short_after_opening_is_an_error() {
    const TestFolder folder;
    const QByteArray bytes = GgufBytes().tensor("a", {25'000}, f32_type, 0).file(QByteArray(100'000, 'x'));
    const auto path = folder.write("model.gguf", bytes);
    const auto file = GgufFile::open(path);
    QVERIFY(file);
    std::filesystem::resize_file(path, 1000);
    std::vector<std::byte> out(100'000);
    const auto read = (*file)->read((*file)->header().tensors[0], 0, out);
    QVERIFY(!read);
    QCOMPARE(QString::fromStdString(read.error().message),
             QString("%1: became shorter while it was read: %2 bytes when opened, 1000 now.")
                 .arg(QString::fromStdString(path.string()))
                 .arg(bytes.size()));
    QCOMPARE((*file)->sha256().error().kind, ErrorKind::io);
}

void GgufTest::hashes_the_whole_file() {
    const TestFolder folder;
    const QByteArray bytes = GgufBytes().tensor("a", {4}, f32_type, 0).file(QByteArray(16, 'x'));
    const auto file = GgufFile::open(folder.write("model.gguf", bytes));
    QVERIFY(file);
    const auto hash = (*file)->sha256();
    QVERIFY(hash);
    QCOMPARE(*hash,
             "sha256:" + QCryptographicHash::hash(bytes, QCryptographicHash::Sha256).toHex().toStdString());
}

void GgufTest::huge_headers_are_bounded() {
    const TestFolder folder;
    const auto path = folder.path("model.gguf");
    const auto refusal = [&](const QByteArray& bytes) {
        const auto opened = GgufFile::open(folder.write("model.gguf", bytes));
        return opened ? QString()
                      : QString::fromStdString(opened.error().message.substr(path.string().size()));
    };
    const QByteArray large(70 << 20, '\0');
    QCOMPARE(refusal(GgufBytes().key("a", GgufType::string, GgufBytes::string(large)).file()),
             ": has a header larger than the limit of 67108864 bytes (at the value of \"a\").");
    // Empty strings, one after the other: the most elements that so many bytes can hold.
    QCOMPARE(
        refusal(GgufBytes()
                    .array("a", GgufType::string, static_cast<std::uint64_t>(large.size() / 8), large)
                    .file()),
        ": has a header larger than the limit of 67108864 bytes (at the length of element 8388602 of the "
        "array \"a\").");
    // Empty arrays in an array.
    QCOMPARE(
        refusal(GgufBytes()
                    .array("a", GgufType::array, static_cast<std::uint64_t>(large.size() / 12), large)
                    .file()),
        ": has a header larger than the limit of 67108864 bytes (at the element type of the array \"a\").");
    GgufBytes keys;
    for (int i = 0; i < 80; ++i) keys.key(QByteArray::number(i) + QByteArray(60'000, 'k'), 1u);
    QCOMPARE(refusal(keys.file()), ": has more than 4194304 bytes of metadata keys.");
}

void GgufTest::a_sparse_file_of_8_gib_opens() {
    const TestFolder folder;
    const QByteArray header = GgufBytes().tensor("a", {std::uint64_t{1} << 31}, f32_type, 0).file();
    const auto path = folder.write("model.gguf", header);
    std::error_code error;
    std::filesystem::resize_file(path, static_cast<std::uintmax_t>(header.size()) + (std::uint64_t{1} << 33),
                                 error);
    if (error) QSKIP("this file system does not hold sparse files of 8 GiB");
    const auto file = GgufFile::open(path);
    QVERIFY2(file, file ? "" : file.error().message.c_str());
    std::array<std::byte, 4> last{};
    QVERIFY((*file)->read((*file)->header().tensors[0], (std::uint64_t{1} << 33) - 4, last));
}

void GgufTest::reads_a_real_file_data() {
    QTest::addColumn<QString>("name");
    QTest::addColumn<QString>("type");
    QTest::addColumn<quint64>("bytes");
    QTest::newRow("F32") << "stories260K-f32.gguf"
                         << "F32" << quint64{512 * 64 * 4};
    QTest::newRow("Q8_0") << "stories260K-q8_0.gguf"
                          << "Q8_0" << quint64{512 * 64 / 32 * 34};
}

void GgufTest::reads_a_real_file() {
    QFETCH(QString, name);
    const std::filesystem::path path =
        std::filesystem::path(DECODESCOPE_SOURCE_DIR) / "../shared/data/stories260K" / name.toStdString();
    if (!std::filesystem::exists(path)) QSKIP("the stories260K files are not there");
    const auto file = GgufFile::open(path);
    QVERIFY2(file, file ? "" : file.error().message.c_str());
    const GgufHeader& header = (*file)->header();
    QVERIFY(header.notes.empty());
    QVERIFY(header.find("general.architecture")->text() == "llama");
    QVERIFY(header.find("llama.attention.head_count_kv")->integer() == 4);
    QCOMPARE(header.find("tokenizer.ggml.tokens")->texts()->size(), std::size_t{512});
    const GgufTensor* embedding = (*file)->find("token_embd.weight");
    QVERIFY(embedding != nullptr);
    QCOMPARE(embedding->shape, (std::vector<std::uint64_t>{512, 64}));
    QTEST(QString::fromStdString(std::string(embedding->type->name)), "type");
    QTEST(quint64{embedding->bytes}, "bytes");
}

QTEST_APPLESS_MAIN(GgufTest)
#include "tst_gguf.moc"
