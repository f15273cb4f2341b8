// SPDX-License-Identifier: GPL-3.0-or-later
#include <QTest>

#include "engine/formats/hf_folder.h"
#include "tests/engine/formats/tiny_model.h"

using namespace decodescope;
using namespace decodescope::test;

namespace {

void write_index(const TestFolder& folder, const QJsonObject& map) {
    const QJsonObject index{{"metadata", QJsonObject{{"total_size", 1}}}, {"weight_map", map}};
    folder.write("model.safetensors.index.json", QJsonDocument(index).toJson());
}

}  // namespace

class TestHfShards : public QObject {
    Q_OBJECT

private slots:
    void shards();
    void brokenShards_data();
    void brokenShards();
    void tooManyTensors();
};

void TestHfShards::shards() {
    const TestFolder folder;
    TinyModel model;
    QJsonObject map = write_shards(folder, model);
    write_index(folder, map);
    auto weights = load(folder);
    QVERIFY2(weights, weights ? "" : weights.error().message.c_str());
    QVERIFY(holds_model(**weights));
    QVERIFY((*weights)->notes.empty());
    QVERIFY((*weights)->hash.starts_with("sha256:"));

    // A second copy elsewhere and a tensor the index does not know are left alone, and said.
    model.at("ln_f.bias").data.fill('\0');
    folder.write("a.safetensors", TinyModel::file([&] {
                     std::vector<TinyTensor> first;
                     for (const TinyTensor& t : model.tensors) {
                         if (t.name.startsWith("h.0.") || t.name == "ln_f.bias") first.push_back(t);
                     }
                     first.push_back({"stray", "F32", {1}, QByteArray(4, '\0')});
                     return first;
                 }()));
    weights = load(folder);
    QVERIFY2(weights, weights ? "" : weights.error().message.c_str());
    QVERIFY(holds_model(**weights));
    QCOMPARE((*weights)->notes.size(), std::size_t{1});
    QCOMPARE(
        QString::fromStdString((*weights)->notes[0]),
        QString::fromStdString(folder.path("model.safetensors.index.json").string()) +
            ": tensors that the index places elsewhere or nowhere are ignored: \"ln_f.bias\", \"stray\".");

    TinyModel().write(folder);  // a single file beside the index
    weights = load(folder);
    QVERIFY(weights);
    QCOMPARE(QString::fromStdString((*weights)->notes[0]),
             QString::fromStdString(folder.path("model.safetensors.index.json").string()) +
                 ": not used, because model.safetensors is there.");
}

void TestHfShards::brokenShards_data() {
    QTest::addColumn<QByteArray>("find");  // replaced in the index
    QTest::addColumn<QByteArray>("replacement");
    QTest::addColumn<QString>("sentence");
    const QString place =
        ": weight_map places tensor \"ln_f.bias\" in %1, expected the name of a .safetensors file "
        "beside it.";
    const QByteArray entry = "\"ln_f.bias\": \"b.safetensors\"";
    QTest::newRow("S8 missing shard") << QByteArray("\"b.safetensors\"") << QByteArray("\"c.safetensors\"")
                                      << ": 1 of 2 weight files are missing: \"c.safetensors\".";
    QTest::newRow("one of three is missing")
        << entry << QByteArray("\"ln_f.bias\": \"model-00003-of-00003.safetensors\"")
        << ": 1 of 3 weight files are missing: "
           "\"model-00003-of-00003.safetensors\".";
    QTest::newRow("outside the folder")
        << entry << QByteArray("\"ln_f.bias\": \"../b.safetensors\"") << place.arg("\"../b.safetensors\"");
    QTest::newRow("absolute") << entry << QByteArray("\"ln_f.bias\": \"/etc/b.safetensors\"")
                              << place.arg("\"/etc/b.safetensors\"");
    QTest::newRow("backslash") << entry << QByteArray("\"ln_f.bias\": \"x\\\\b.safetensors\"")
                               << place.arg("\"x\\\\b.safetensors\"");
    QTest::newRow("drive") << entry << QByteArray("\"ln_f.bias\": \"C:b.safetensors\"")
                           << place.arg("\"C:b.safetensors\"");
    QTest::newRow("NUL") << entry << QByteArray("\"ln_f.bias\": \"b\\u0000.safetensors\"")
                         << place.arg("\"b\\x00.safetensors\"");
    QTest::newRow("other suffix") << entry << QByteArray("\"ln_f.bias\": \"b.bin\"")
                                  << place.arg("\"b.bin\"");
    QTest::newRow("number") << entry << QByteArray("\"ln_f.bias\": 1")
                            << place.arg("something that is no name");
    QTest::newRow("tensor not in its shard")
        << entry << QByteArray("\"ln_f.bias\": \"a.safetensors\"")
        << ": weight_map places tensor \"ln_f.bias\" in \"a.safetensors\", which does not hold it.";
    QTest::newRow("no map") << QByteArray("\"weight_map\"") << QByteArray("\"map\"")
                            << ": weight_map is missing, expected an object of tensor and file names.";
    QTest::newRow("not JSON") << QByteArray("{") << QByteArray("") << ": is not valid JSON in line 2.";
}

void TestHfShards::brokenShards() {
    QFETCH(QByteArray, find);
    QFETCH(QByteArray, replacement);
    QFETCH(QString, sentence);
    const TestFolder folder;
    TinyModel model;
    QJsonObject map = write_shards(folder, model);
    const QJsonObject index{{"metadata", QJsonObject()}, {"weight_map", map}};
    QByteArray text = QJsonDocument(index).toJson();
    QVERIFY(text.contains(find));
    text.replace(find, replacement);
    folder.write("model.safetensors.index.json", text);
    const auto opened = open_hf_folder(folder.path());
    QVERIFY(!opened);
    QCOMPARE(QString::fromStdString(opened.error().message),
             QString::fromStdString(folder.path("model.safetensors.index.json").string()) + sentence);
    QCOMPARE(exit_code(opened.error().kind), 2);
}

void TestHfShards::tooManyTensors() {
    const TestFolder folder;
    TinyModel model;
    QJsonObject map = write_shards(folder, model);
    for (const char* name : {"c", "d", "e"}) {
        QByteArray header = "{";
        for (int i = 0; i < 70'000; ++i) {
            header += (i == 0 ? "\"" : ",\"") + QByteArray(name) + QByteArray::number(i) +
                      "\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0]}";
        }
        folder.write(QString(name) + ".safetensors", safetensors(header + "}"));
        map[QString(name) + "0"] = QString(name) + ".safetensors";
    }
    write_index(folder, map);
    const auto opened = open_hf_folder(folder.path());
    QVERIFY(!opened);
    QCOMPARE(QString::fromStdString(opened.error().message),
             QString::fromStdString(folder.path("model.safetensors.index.json").string()) +
                 ": the weight files hold more than 200000 tensors.");
}

QTEST_APPLESS_MAIN(TestHfShards)
#include "tst_hf_shards.moc"
