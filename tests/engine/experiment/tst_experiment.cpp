// SPDX-License-Identifier: GPL-3.0-or-later
#include <QFile>
#include <QTemporaryDir>
#include <QTest>

#include "engine/core/text_file.h"
#include "engine/experiment/experiment.h"

using namespace decodescope;

namespace {

/// A small experiment whose members can be replaced: `member` is written instead of the one of that name.
QByteArray experiment_with(const QByteArray& name, const QByteArray& value) {
    QList<QPair<QByteArray, QByteArray>> members = {
        {"schema", "\"decodescope.experiment/1\""},
        {"model", "{\"path\": \"demo\"}"},
        {"prompts", "[{\"text\": \"It is\"}]"},
        {"new_tokens", "4"},
        {"lanes",
         "[{\"name\": \"naive\", \"mode\": \"naive\"}, {\"name\": \"cached\", \"mode\": \"cached\", "
         "\"cache\": "
         "{\"kind\": \"static\"}}]"},
    };
    bool replaced = false;
    for (auto& member : members) {
        if (member.first != name) continue;
        member.second = value;
        replaced = true;
    }
    if (!replaced && !name.isEmpty()) members.append({name, value});
    QByteArray json = "{";
    for (const auto& member : members) {
        if (member.second.isEmpty()) continue;
        if (json.size() > 1) json += ", ";
        json += "\"" + member.first + "\": " + member.second;
    }
    return json + "}";
}

QByteArray lanes_with(const QByteArray& second) {
    return "[{\"name\": \"naive\", \"mode\": \"naive\"}, " + second + "]";
}

}  // namespace

class TestExperiment : public QObject {
    Q_OBJECT

private slots:
    void broken_data() {
        QTest::addColumn<QByteArray>("json");
        QTest::addColumn<QString>("sentence");
        const auto row = [](const char* name, const QByteArray& member, const QByteArray& value,
                            const char* sentence) {
            QTest::newRow(name) << experiment_with(member, value) << QString(sentence);
        };
        QTest::newRow("empty") << QByteArray() << "Not valid JSON at line 1, column 1.";
        QTest::newRow("cut") << QByteArray("{\"schema\":\n  ") << "Not valid JSON at line 2, column 3.";
        QTest::newRow("array") << QByteArray("[]") << "The document is an array, expected an object.";
        QTest::newRow("deep") << QByteArray(100'000, '[')
                              << "The JSON document is nested deeper than 64 levels.";
        QTest::newRow("twice") << QByteArray("{\"a\": 1, \"a\": 2}")
                               << "The JSON document names \"a\" twice in one object.";
        QTest::newRow("huge number") << QByteArray("{\"a\": 1e999}")
                                     << "Not valid JSON: it holds a number that is out of range.";
        row("no schema", "schema", "", "schema is missing.");
        row("other schema", "schema", "\"decodescope.experiment/2\"",
            "schema is \"decodescope.experiment/2\", which this version cannot read, expected "
            "\"decodescope.experiment/1\".");
        row("record instead", "schema", "\"decodescope.record/1\"",
            "schema is \"decodescope.record/1\", which this version cannot read, expected "
            "\"decodescope.experiment/1\".");
        row("schema number", "schema", "1", "schema is 1, expected a text.");
        row("model text", "model", "\"demo\"", "model is \"demo\", expected an object.");
        row("model empty", "model", "{}", "model names neither a path nor a preset.");
        row("model both", "model", "{\"path\": \"a\", \"preset\": \"tiny\"}",
            "model names a path and a preset, expected one of them.");
        row("model seed without preset", "model", "{\"path\": \"a\", \"seed\": 1}",
            "model.seed is set, but only a preset has one.");
        row("model seed negative", "model", "{\"preset\": \"tiny\", \"seed\": -1}",
            "model.seed is -1, expected a whole number from 0 to 18446744073709551615.");
        row("device", "device", "\"cuda\"", "device is \"cuda\", but this version runs on \"cpu\" only.");
        row("threads text", "threads", "\"two\"", "threads is \"two\", expected a whole number.");
        row("threads null", "threads", "null", "threads is null, expected a whole number.");
        row("threads fraction", "threads", "1.5", "threads is 1.5, expected a whole number.");
        row("threads huge", "threads", "4294967297",
            "threads is 4294967297, expected a whole number from -2147483648 to 2147483647.");
        row("threads range", "threads", "5000", "threads is 5000, expected 0 to 1024.");
        row("drive", "drive", "\"fast\"", "drive is \"fast\", expected \"forced\" or \"free\" or \"fixed\".");
        row("fixed without ids", "drive", "\"fixed\"", "fixed_ids holds 0 ids, expected new_tokens - 1 = 3.");
        row("ids without fixed", "fixed_ids", "[1, 2, 3]",
            "fixed_ids is set, but the drive is \"forced\", expected \"fixed\".");
        row("no prompts", "prompts", "", "prompts is missing.");
        row("prompts empty", "prompts", "[]", "prompts is empty, expected one prompt.");
        row("prompts two", "prompts", "[{\"text\": \"a\"}, {\"text\": \"b\"}]",
            "prompts holds 2 prompts, but this version runs one at a time.");
        row("prompts object", "prompts", "{\"text\": \"a\"}", "prompts is an object, expected an array.");
        row("prompt text", "prompts", "[\"a\"]", "prompts[0] is \"a\", expected an object.");
        row("prompt of nothing", "prompts", "[{}]",
            "prompts[0].text or ids or random: 0 of them are set, expected one.");
        row("prompt of two kinds", "prompts", "[{\"text\": \"a\", \"ids\": [1]}]",
            "prompts[0].text or ids or random: 2 of them are set, expected one.");
        row("prompt empty text", "prompts", "[{\"text\": \"\"}]",
            "prompts[0].text is empty, expected a text.");
        row("prompt empty ids", "prompts", "[{\"ids\": []}]", "prompts[0].ids is empty, expected token ids.");
        row("prompt id text", "prompts", "[{\"ids\": [1, \"2\"]}]",
            "prompts[0].ids[1] is \"2\", expected a whole number.");
        row("prompt id negative", "prompts", "[{\"ids\": [1, -2]}]",
            "prompts[0].ids[1] is -2, expected a token id (0 or more).");
        row("random without length", "prompts", "[{\"random\": {}}]", "prompts[0].random.length is missing.");
        row("random of 0", "prompts", "[{\"random\": {\"length\": 0}}]",
            "prompts[0].random.length is 0, expected 1 to 16777216.");
        row("new_tokens", "new_tokens", "0", "new_tokens is 0, expected 1 to 16777216.");
        row("sampling kind missing", "sampling", "{}", "sampling.kind is missing.");
        row("sampling kind", "sampling", "{\"kind\": \"beam\"}",
            "sampling.kind is \"beam\", expected \"greedy\" or \"sample\".");
        row("temperature", "sampling", "{\"kind\": \"sample\", \"temperature\": 0}",
            "sampling.temperature is 0, expected more than 0 and at most 100.");
        row("temperature text", "sampling", "{\"kind\": \"sample\", \"temperature\": \"hot\"}",
            "sampling.temperature is \"hot\", expected a number.");
        row("top_k", "sampling", "{\"kind\": \"sample\", \"top_k\": -1}",
            "sampling.top_k is -1, expected 0 to 16777216.");
        row("stop_at_eos", "stop_at_eos", "1", "stop_at_eos is 1, expected true or false.");
        row("no lanes", "lanes", "", "lanes is missing.");
        row("lanes empty", "lanes", "[]", "lanes is empty, expected at least one lane.");
        row("lane without name", "lanes", lanes_with("{\"mode\": \"naive\"}"), "lanes[1].name is missing.");
        row("lane empty name", "lanes", lanes_with("{\"name\": \"\", \"mode\": \"naive\"}"),
            "lanes[1].name is empty, expected a name.");
        row("lane name with line end", "lanes", lanes_with("{\"name\": \"a\\nb\", \"mode\": \"naive\"}"),
            "lanes[1].name is \"a\\x0ab\", expected printable characters.");
        row("same names", "lanes", lanes_with("{\"name\": \"naive\", \"mode\": \"naive\"}"),
            "lanes[1].name is \"naive\" like lanes[0].name, expected a name of its own.");
        row("lane mode", "lanes", lanes_with("{\"name\": \"b\", \"mode\": \"fast\"}"),
            "lanes[1].mode is \"fast\", expected \"naive\" or \"cached\".");
        row("lane without cache", "lanes", lanes_with("{\"name\": \"b\", \"mode\": \"cached\"}"),
            "lanes[1].cache is missing.");
        row("cache none", "lanes",
            lanes_with("{\"name\": \"b\", \"mode\": \"cached\", \"cache\": {\"kind\": \"none\"}}"),
            "lanes[1].cache.kind is \"none\", expected \"concat\" or \"static\" for a cached lane.");
        row("cache kind", "lanes",
            lanes_with("{\"name\": \"b\", \"mode\": \"cached\", \"cache\": {\"kind\": \"paged\"}}"),
            "lanes[1].cache.kind is \"paged\", expected \"none\" or \"concat\" or \"static\".");
        row("cache of naive", "lanes",
            lanes_with("{\"name\": \"b\", \"mode\": \"naive\", \"cache\": {\"kind\": \"static\"}}"),
            "lanes[1].cache.kind is \"static\", but a naive lane has no cache.");
        row("capacity of concat", "lanes",
            lanes_with("{\"name\": \"b\", \"mode\": \"cached\", \"cache\": {\"kind\": \"concat\", "
                       "\"capacity\": 9}}"),
            "lanes[1].cache.capacity is 9, but only a static cache has one.");
        row("capacity negative", "lanes",
            lanes_with("{\"name\": \"b\", \"mode\": \"cached\", \"cache\": {\"kind\": \"static\", "
                       "\"capacity\": -9}}"),
            "lanes[1].cache.capacity is -9, expected 0 to 16777216.");
        row("chunk of naive", "lanes",
            lanes_with("{\"name\": \"b\", \"mode\": \"naive\", \"prefill_chunk\": 4}"),
            "lanes[1].prefill_chunk is 4, but a naive lane cannot prefill in chunks.");
        row("partition of nothing", "lanes",
            lanes_with("{\"name\": \"b\", \"mode\": \"cached\", \"cache\": {\"kind\": \"static\"}, "
                       "\"prefill_partition\": [3, 0]}"),
            "lanes[1].prefill_partition[1] is 0, expected 1 to 16777216.");
        row("allocation", "lanes",
            lanes_with("{\"name\": \"b\", \"mode\": \"naive\", \"allocation\": \"odd\"}"),
            "lanes[1].allocation is \"odd\", expected \"reused\" or \"fresh\".");
        row("fault", "lanes",
            lanes_with("{\"name\": \"b\", \"mode\": \"naive\", \"faults\": [\"top_left\"]}"),
            "lanes[1].faults[0] is an unknown fault \"top_left\".");
        row("fault number", "lanes", lanes_with("{\"name\": \"b\", \"mode\": \"naive\", \"faults\": [1]}"),
            "lanes[1].faults[0] is 1, expected a text.");
        row("reference", "reference", "\"other\"", "reference is \"other\", expected the name of a lane.");
        row("interleave", "interleave", "\"token\"",
            "interleave is \"token\", expected \"step\" or \"repetition\".");
        row("warmup", "warmup", "-1", "warmup is -1, expected 0 to 10000.");
        row("repetitions", "repetitions", "0", "repetitions is 0, expected 1 to 10000.");
    }
    void broken() {
        QFETCH(QByteArray, json);
        QFETCH(QString, sentence);
        const auto parsed = parse_experiment(json.toStdString());
        QVERIFY(!parsed.ok());
        QCOMPARE(QString::fromStdString(parsed.error().message), sentence);
        QCOMPARE(exit_code(parsed.error().kind), 2);
    }

    void partition_must_sum_to_a_known_prompt() {
        const QByteArray lanes = lanes_with(
            "{\"name\": \"b\", \"mode\": \"cached\", \"cache\": {\"kind\": \"static\"}, "
            "\"prefill_partition\": [3, 2]}");
        QByteArray json = experiment_with("lanes", lanes);
        json.replace("{\"text\": \"It is\"}", "{\"random\": {\"length\": 7}}");
        const auto parsed = parse_experiment(json.toStdString());
        QVERIFY(!parsed.ok());
        QCOMPARE(QString::fromStdString(parsed.error().message),
                 QString("lanes[1].prefill_partition sums to 5, expected the prompt's 7 tokens."));
        json.replace("\"length\": 7", "\"length\": 5");
        QVERIFY(parse_experiment(json.toStdString()).ok());
    }

    void defaults() {
        std::vector<std::string> warnings;
        const auto parsed = parse_experiment(experiment_with("", "").toStdString(), &warnings);
        QVERIFY2(parsed.ok(), parsed.ok() ? "" : parsed.error().message.c_str());
        QVERIFY(warnings.empty());
        QVERIFY(parsed->drive == Drive::forced);
        QVERIFY(parsed->sampling.kind == SamplingKind::greedy);
        QCOMPARE(parsed->reference_index(), std::size_t{0});
        QCOMPARE(parsed->warmup, 1);
        QCOMPARE(parsed->lanes[1].cache.capacity, 0);
    }

    void comments_are_ignored_and_unknown_members_warned_about() {
        QByteArray json = experiment_with("model", "{\"path\": \"demo\", \"_\": [1], \"color\": 3}");
        json.replace("\"naive\"}", "\"naive\", \"speed\": null}");
        json.chop(1);
        json += ", \"_p\": \"a comment\", \"batch\": 4}";
        std::vector<std::string> warnings;
        const auto parsed = parse_experiment(json.toStdString(), &warnings);
        QVERIFY2(parsed.ok(), parsed.ok() ? "" : parsed.error().message.c_str());
        QCOMPARE(warnings, (std::vector<std::string>{"model.color is not known and was ignored.",
                                                     "lanes[0].speed is not known and was ignored.",
                                                     "batch is not known and was ignored."}));
    }

    void round_trip() {
        Experiment experiment;
        experiment.model = {.path = {}, .preset = "tiny", .seed = 18446744073709551615u};
        experiment.threads = 3;
        experiment.drive = Drive::fixed;
        experiment.new_tokens = 3;
        experiment.fixed_ids = {7, 9};
        experiment.prompt.kind = PromptSpec::Kind::ids;
        experiment.prompt.ids = {1, 2, 3, 4};
        experiment.sampling = {.kind = SamplingKind::sample, .temperature = 0.7, .top_k = 40, .seed = 5};
        experiment.stop_at_eos = true;
        LaneSpec chunked = *lane_from_name("static");
        chunked.cache.capacity = 99;
        chunked.prefill_chunk = 2;
        LaneSpec split = *lane_from_name("concat");
        split.prefill_partition = {1, 3};
        split.allocation = AllocationPolicy::fresh;
        experiment.lanes = {*lane_from_name("naive"), chunked, split};
        experiment.reference = "static";
        experiment.interleave = Interleave::repetition;
        experiment.warmup = 2;
        experiment.repetitions = 7;

        std::vector<std::string> warnings;
        const std::string json = to_json(experiment);
        const auto parsed = parse_experiment(json, &warnings);
        QVERIFY2(parsed.ok(), parsed.ok() ? "" : parsed.error().message.c_str());
        QVERIFY(warnings.empty());
        QCOMPARE(to_json(*parsed), json);
        QCOMPARE(parsed->model.seed, experiment.model.seed);
        QCOMPARE(parsed->fixed_ids, experiment.fixed_ids);
        QCOMPARE(parsed->sampling.temperature, 0.7);
        QVERIFY(parsed->stop_at_eos);
        QCOMPARE(parsed->lanes[1].cache.capacity, 99);
        QCOMPARE(parsed->lanes[1].prefill_chunk, 2);
        QCOMPARE(parsed->lanes[2].prefill_partition, (std::vector<int>{1, 3}));
        QVERIFY(parsed->lanes[2].allocation == AllocationPolicy::fresh);
        QCOMPARE(parsed->reference_index(), std::size_t{1});
        QVERIFY(parsed->interleave == Interleave::repetition);

        experiment.prompt = {};
        experiment.prompt.kind = PromptSpec::Kind::random;
        experiment.prompt.length = 4;
        experiment.prompt.seed = 11;
        const auto random = parse_experiment(to_json(experiment));
        QVERIFY(random.ok());
        QCOMPARE(random->prompt.length, 4);
        QCOMPARE(random->prompt.seed, std::uint64_t{11});
    }

    void bytes_that_are_not_utf8_do_not_break_the_file() {
        Experiment experiment;
        experiment.prompt.text = "a\xFF z";
        experiment.lanes = {*lane_from_name("naive")};
        const auto parsed = parse_experiment(to_json(experiment));
        QVERIFY(parsed.ok());
        QCOMPARE(parsed->prompt.text, std::string("a\xEF\xBF\xBD z"));
    }

    void lanes_by_name() {
        QVERIFY(lane_from_name("naive")->mode == LaneMode::naive);
        QVERIFY(lane_from_name("concat")->cache.kind == CacheKind::concat);
        QVERIFY(lane_from_name("static")->cache.kind == CacheKind::static_);
        QVERIFY(lane_from_name("cached")->cache.kind == CacheKind::static_);
        const auto unknown = lane_from_name("paged");
        QVERIFY(!unknown.ok());
        QCOMPARE(QString::fromStdString(unknown.error().message),
                 QString("Lane \"paged\" is not known, expected naive, concat, static or cached."));
    }

    void files() {
        QTemporaryDir folder;
        const std::string path = folder.filePath("e.json").toStdString();
        auto loaded = load_experiment(path);
        QVERIFY(!loaded.ok());
        QCOMPARE(QString::fromStdString(loaded.error().message),
                 folder.filePath("e.json") + ": cannot be opened: No such file or directory.");
        QVERIFY(write_file_atomically(path, "{").ok());
        loaded = load_experiment(path);
        QCOMPARE(QString::fromStdString(loaded.error().message),
                 folder.filePath("e.json") + ": Not valid JSON at line 1, column 2.");
    }

    void bundled_experiment() {
        std::vector<std::string> warnings;
        const auto demo =
            load_experiment(DECODESCOPE_SOURCE_DIR "/resources/experiments/demo.json", &warnings);
        QVERIFY2(demo.ok(), demo.ok() ? "" : demo.error().message.c_str());
        QVERIFY(warnings.empty());
    }
};

QTEST_APPLESS_MAIN(TestExperiment)
#include "tst_experiment.moc"
