// SPDX-License-Identifier: GPL-3.0-or-later
#include <QTest>

#include <bit>

#include "engine/formats/ggml_types.h"
#include "engine/formats/safetensors.h"

using namespace decodescope;

namespace {

const char* const readable_types[] = {"F32",  "F16",  "BF16", "Q4_0", "Q4_1", "Q5_0", "Q5_1",
                                      "Q8_0", "Q2_K", "Q3_K", "Q4_K", "Q5_K", "Q6_K"};

std::vector<std::byte> bytes_of(const SafetensorsFile& file, const std::string& name) {
    const SafetensorsEntry* entry = file.find(name);
    if (entry == nullptr) return {};
    std::vector<std::byte> bytes(entry->size());
    if (!file.read(*entry, 0, bytes)) return {};
    return bytes;
}

const GgmlTypeInfo* type_named(std::string_view name) {
    for (std::uint32_t id = 0; id < 100; ++id) {
        const GgmlTypeInfo* type = find_ggml_type(id);
        if (type != nullptr && type->name == name) return type;
    }
    return nullptr;
}

}  // namespace

class GgmlTypesTest : public QObject {
    Q_OBJECT

private slots:
    void equals_the_reference_bit_for_bit_data();
    void equals_the_reference_bit_for_bit();
    void knows_the_numbers_of_the_format_data();
    void knows_the_numbers_of_the_format();
    void unknown_numbers_have_no_type_data();
    void unknown_numbers_have_no_type();
    void names_every_type_for_messages();
    void only_whole_blocks_of_readable_types();
};

void GgmlTypesTest::equals_the_reference_bit_for_bit_data() {
    QTest::addColumn<QString>("name");
    for (const char* name : readable_types) QTest::newRow(name) << name;
}

void GgmlTypesTest::equals_the_reference_bit_for_bit() {
    QFETCH(QString, name);
    const auto golden = SafetensorsFile::open(DECODESCOPE_SOURCE_DIR "/tests/data/ggml_types.safetensors");
    QVERIFY2(golden, golden ? "" : golden.error().message.c_str());
    const GgmlTypeInfo* type = type_named(name.toStdString());
    QVERIFY(type != nullptr && type->readable);
    // One byte further on, so that nothing in the blocks is aligned.
    std::vector<std::byte> blocks = bytes_of(**golden, name.toStdString() + ".blocks");
    QVERIFY(!blocks.empty());
    blocks.insert(blocks.begin(), std::byte{0});
    const std::vector<std::byte> expected = bytes_of(**golden, name.toStdString() + ".values");
    QCOMPARE(expected.size() / 4 / type->block_elements, (blocks.size() - 1) / type->block_bytes);
    std::vector<float> values(expected.size() / 4, 77.f);
    const auto done = dequantize(*type, std::span(blocks).subspan(1), values);
    QVERIFY2(done, done ? "" : done.error().message.c_str());
    for (std::size_t i = 0; i < values.size(); ++i) {
        std::uint32_t bits = 0;
        for (std::size_t b = 0; b < 4; ++b)
            bits |= std::to_integer<std::uint32_t>(expected[4 * i + b]) << (8 * b);
        if (std::bit_cast<std::uint32_t>(values[i]) != bits) {
            QFAIL(qPrintable(QString("element %1 is %2, the reference has %3")
                                 .arg(i)
                                 .arg(static_cast<double>(values[i]))
                                 .arg(static_cast<double>(std::bit_cast<float>(bits)))));
        }
    }
}

void GgmlTypesTest::knows_the_numbers_of_the_format_data() {
    QTest::addColumn<quint32>("id");
    QTest::addColumn<QString>("name");
    QTest::addColumn<quint32>("elements");
    QTest::addColumn<quint32>("bytes");
    QTest::addColumn<bool>("readable");
    const auto row = [](quint32 id, const char* name, quint32 elements, quint32 bytes, bool readable) {
        QTest::newRow(name) << id << QString(name) << elements << bytes << readable;
    };
    row(0, "F32", 1, 4, true);
    row(1, "F16", 1, 2, true);
    row(30, "BF16", 1, 2, true);
    row(2, "Q4_0", 32, 2 + 16, true);
    row(3, "Q4_1", 32, 2 + 2 + 16, true);
    row(6, "Q5_0", 32, 2 + 4 + 16, true);
    row(7, "Q5_1", 32, 2 + 2 + 4 + 16, true);
    row(8, "Q8_0", 32, 2 + 32, true);
    row(9, "Q8_1", 32, 2 + 2 + 32, false);
    row(10, "Q2_K", 256, 16 + 64 + 2 + 2, true);
    row(11, "Q3_K", 256, 32 + 64 + 12 + 2, true);
    row(12, "Q4_K", 256, 2 + 2 + 12 + 128, true);
    row(13, "Q5_K", 256, 2 + 2 + 12 + 32 + 128, true);
    row(14, "Q6_K", 256, 128 + 64 + 16 + 2, true);
    row(15, "Q8_K", 256, 4 + 256 + 32, false);
    row(20, "IQ4_NL", 32, 2 + 16, false);
    row(27, "I64", 1, 8, false);
    row(39, "MXFP4", 32, 1 + 16, false);
}

void GgmlTypesTest::knows_the_numbers_of_the_format() {
    QFETCH(quint32, id);
    const GgmlTypeInfo* type = find_ggml_type(id);
    QVERIFY(type != nullptr);
    QCOMPARE(quint32{type->id}, id);
    QTEST(QString::fromUtf8(type->name.data(), static_cast<qsizetype>(type->name.size())), "name");
    QTEST(quint32{type->block_elements}, "elements");
    QTEST(quint32{type->block_bytes}, "bytes");
    QTEST(type->readable, "readable");
}

void GgmlTypesTest::unknown_numbers_have_no_type_data() {
    QTest::addColumn<quint32>("id");
    for (const quint32 id : {4u, 5u, 31u, 32u, 33u, 36u, 37u, 38u, 40u, 41u, 42u, 43u, 256u, 0xffffffffu})
        QTest::addRow("%u", id) << id;
}

void GgmlTypesTest::unknown_numbers_have_no_type() {
    QFETCH(quint32, id);
    QVERIFY(find_ggml_type(id) == nullptr);
}

void GgmlTypesTest::names_every_type_for_messages() {
    const std::string names = known_ggml_types();
    QVERIFY(names.starts_with("F32 (0), F16 (1), Q4_0 (2), "));
    for (const char* name : readable_types) {
        const std::string text = std::string(name) + " (" + std::to_string(type_named(name)->id) + ")";
        QVERIFY2(names.find(text) != names.npos, text.c_str());
    }
}

void GgmlTypesTest::only_whole_blocks_of_readable_types() {
    std::vector<std::byte> blocks(68);
    std::vector<float> values(64);
    const GgmlTypeInfo& q8_0 = *find_ggml_type(8);
    QVERIFY(dequantize(q8_0, blocks, values));
    QVERIFY(dequantize(q8_0, {}, {}));
    const auto kind = [&](std::size_t n_byte, std::size_t n_value) {
        const auto done = dequantize(q8_0, std::span(blocks).first(n_byte), std::span(values).first(n_value));
        return done ? -1 : static_cast<int>(done.error().kind);
    };
    QCOMPARE(kind(34, 64), static_cast<int>(ErrorKind::internal));
    QCOMPARE(kind(67, 64), static_cast<int>(ErrorKind::internal));
    QCOMPARE(kind(68, 32), static_cast<int>(ErrorKind::internal));
    QCOMPARE(kind(68, 63), static_cast<int>(ErrorKind::internal));
    for (std::uint32_t id = 0; id < 100; ++id) {
        const GgmlTypeInfo* type = find_ggml_type(id);
        if (type == nullptr || type->readable) continue;
        std::vector<std::byte> block(type->block_bytes);
        std::vector<float> out(type->block_elements);
        const auto done = dequantize(*type, block, out);
        QVERIFY(!done);
        QCOMPARE(done.error().kind, ErrorKind::unsupported);
        QCOMPARE(done.error().message,
                 "Weights of type " + std::string(type->name) + " cannot be read by this version.");
    }
}

QTEST_APPLESS_MAIN(GgmlTypesTest)
#include "tst_ggml_types.moc"
