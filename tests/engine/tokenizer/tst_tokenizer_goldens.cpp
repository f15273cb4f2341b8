// SPDX-License-Identifier: GPL-3.0-or-later
#include <QFile>
#include <QTest>
#include <nlohmann/json.hpp>

#include <memory>
#include <string>
#include <vector>

#include "engine/tokenizer/sentence_piece_bpe.h"
#include "engine/tokenizer/tokenizer_json.h"

using namespace decodescope;
using Ids = std::vector<std::int32_t>;
using Json = nlohmann::json;

namespace {

Json read_json(const QString& name) {
    QFile file(QStringLiteral(DECODESCOPE_SOURCE_DIR "/tests/data/tokenizer/") + name);
    return file.open(QIODevice::ReadOnly) ? Json::parse(file.readAll().toStdString()) : Json();
}

QByteArray shown(const Ids& ids) {
    QByteArray text;
    for (const std::int32_t id : ids) text += QByteArray::number(id) + ' ';
    return text;
}

Result<std::shared_ptr<const Tokenizer>> with_scores(const Json& golden) {
    SentencePieceSpec spec;
    for (const auto& token : golden.at("tokens")) {
        spec.tokens.add(spec.tokens.n_token(), token.get_ref<const std::string&>());
    }
    for (const auto& score : golden.at("scores")) spec.scores.push_back(score.get<float>());
    for (const auto& type : golden.at("types")) spec.types.push_back(static_cast<PieceType>(type.get<int>()));
    spec.before = {1};
    spec.label = "scores";
    return make_sentence_piece_bpe(std::move(spec));
}

}  // namespace

/// Ids and texts as the reference program gives them; see tests/data/make_tokenizer_goldens.py.
class TestTokenizerGoldens : public QObject {
    Q_OBJECT

private slots:
    void initTestCase() {
        m_texts = read_json("strings.json").get<std::vector<std::string>>();
        QVERIFY(m_texts.size() >= 300);
    }

    void ids_data() {
        QTest::addColumn<QString>("name");
        for (const char* name :
             {"gpt2", "prefixed", "llama3", "qwen2", "smollm2", "llama2", "metaspace", "scores"}) {
            QTest::newRow(name) << name;
        }
    }
    void ids() {
        QFETCH(QString, name);
        const Json golden = read_json(name + ".golden.json");
        std::vector<std::string> notes;
        const auto loaded =
            name == "scores"
                ? with_scores(golden)
                : load_tokenizer_json(std::string(DECODESCOPE_SOURCE_DIR "/tests/data/tokenizer/") +
                                          name.toStdString() + ".tokenizer.json",
                                      &notes);
        QVERIFY2(loaded.ok(), loaded.ok() ? "" : loaded.error().message.c_str());
        const Tokenizer& tokenizer = **loaded;
        int n_wrong = 0;
        for (std::size_t i = 0; i < m_texts.size(); ++i) {
            const auto compare = [&](const char* kind, const Ids& is) {
                const Ids expected = golden.at(kind)[i].get<Ids>();
                if (is == expected) return;
                ++n_wrong;
                qWarning("%s %s %zu %s: got %s expected %s", qPrintable(name), kind, i,
                         Json(m_texts[i]).dump(-1, ' ', true).c_str(), shown(is).data(),
                         shown(expected).data());
            };
            compare("text", tokenizer.encode_text(m_texts[i]));
            compare("prompt", tokenizer.encode_prompt(m_texts[i]));
        }
        QCOMPARE(n_wrong, 0);
    }

private:
    std::vector<std::string> m_texts;
};

QTEST_APPLESS_MAIN(TestTokenizerGoldens)
#include "tst_tokenizer_goldens.moc"
