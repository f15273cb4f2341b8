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
    void precisionIsReadAndWritten() {
        const auto parse = [](const char* precision) {
            return parse_experiment(
                std::string(R"({"schema": "decodescope.experiment/1", "prompts": [{"ids": [1]}],
                "lanes": [{"name": "a", "mode": "naive"}], "precision": )") +
                precision + "}");
        };
        const auto experiment = parse(R"({"interval": 0.02, "seconds": 30})");
        QVERIFY(experiment);
        QCOMPARE(experiment->precision.interval, 0.02);
        const auto again = parse_experiment(to_json(*experiment));
        QVERIFY(again);
        QCOMPARE(again->precision.interval, 0.02);
        QCOMPARE(again->precision.seconds, 30.0);
        QCOMPARE(
            parse(R"({"interval": 0.02})").error().message,
            std::string("precision.seconds is 0, expected a limit for the time that the interval may take to "
                        "be reached."));
        QCOMPARE(parse(R"({"interval": 1})").error().message,
                 std::string("precision.interval is 1, expected 0 or more and less than 1."));
        QCOMPARE(parse(R"({"seconds": -1})").error().message,
                 std::string("precision.seconds is -1, expected 0 to 1000000."));
    }

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
        row("device", "device", "\"opencl\"",
            "device is \"opencl\", expected \"cpu\", \"cuda\" or \"cuda:N\".");
        row("device without number", "device", "\"cuda:\"",
            "device is \"cuda:\", expected \"cpu\", \"cuda\" or \"cuda:N\".");
        row("device empty", "device", "\"\"", "device is \"\", expected \"cpu\", \"cuda\" or \"cuda:N\".");
        row("device number", "device", "0", "device is 0, expected a text.");
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
        row("prompts empty", "prompts", "[]", "prompts is empty, expected at least one prompt.");
        row("prompts 257", "prompts",
            "[" + QByteArray("{\"text\": \"a\"}, ").repeated(256) + "{\"text\": \"b\"}]",
            "prompts holds 257, expected at most 256.");
        row("second prompt", "prompts", "[{\"text\": \"a\"}, {\"ids\": [-1]}]",
            "prompts[1].ids[0] is -1, expected a token id (0 or more).");
        row("control tokens of ids", "prompts", "[{\"ids\": [1], \"control\": true}]",
            "prompts[0].control is set, but only a text has control tokens.");
        row("isolation number", "prompts", "[{\"text\": \"a\", \"isolation\": 1}]",
            "prompts[0].isolation is 1, expected a text.");
        row("isolation with line end", "prompts", "[{\"text\": \"a\", \"isolation\": \"\\n\"}]",
            "prompts[0].isolation is \"\\x0a\", expected printable characters.");
        row("arrival negative", "prompts", "[{\"text\": \"a\", \"arrival_step\": -1}]",
            "prompts[0].arrival_step is -1, expected 0 to 16777216.");
        row("arrival without continuous", "prompts",
            "[{\"text\": \"a\"}, {\"text\": \"b\", \"arrival_step\": 3}]",
            "prompts[1].arrival_step is 3, but no lane has a continuous batch, expected 0.");
        row("cancel negative", "prompts", "[{\"text\": \"a\", \"cancel_after\": -1}]",
            "prompts[0].cancel_after is -1, expected 0 to new_tokens = 4.");
        row("cancel too late", "prompts", "[{\"text\": \"a\", \"cancel_after\": 5}]",
            "prompts[0].cancel_after is 5, expected 0 to new_tokens = 4.");
        row("stop id negative", "stop_ids", "[4, -4]", "stop_ids[1] is -4, expected a token id (0 or more).");
        row("stop id text", "stop_ids", "\"4\"", "stop_ids is \"4\", expected an array.");
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
        row("temperature negative", "sampling", "{\"kind\": \"sample\", \"temperature\": -0.5}",
            "sampling.temperature is -0.5, expected more than 0 and at most 100.");
        row("greedy temperature negative", "sampling", "{\"kind\": \"greedy\", \"temperature\": -1}",
            "sampling.temperature is -1, expected more than 0 and at most 100.");
        row("temperature 101", "sampling", "{\"kind\": \"sample\", \"temperature\": 101}",
            "sampling.temperature is 101, expected more than 0 and at most 100.");
        row("top_p 0", "sampling", "{\"kind\": \"sample\", \"top_p\": 0}",
            "sampling.top_p is 0, expected more than 0 and at most 1.");
        row("top_p above 1", "sampling", "{\"kind\": \"sample\", \"top_p\": 1.5}",
            "sampling.top_p is 1.5, expected more than 0 and at most 1.");
        row("min_p negative", "sampling", "{\"kind\": \"sample\", \"min_p\": -0.1}",
            "sampling.min_p is -0.1, expected 0 or more and less than 1.");
        row("min_p 1", "sampling", "{\"kind\": \"sample\", \"min_p\": 1}",
            "sampling.min_p is 1, expected 0 or more and less than 1.");
        row("penalty 0", "sampling", "{\"kind\": \"greedy\", \"repetition_penalty\": 0}",
            "sampling.repetition_penalty is 0, expected more than 0 and at most 10.");
        row("penalty 11", "sampling", "{\"kind\": \"sample\", \"repetition_penalty\": 11}",
            "sampling.repetition_penalty is 11, expected more than 0 and at most 10.");
        row("penalty text", "sampling", "{\"kind\": \"sample\", \"repetition_penalty\": \"x\"}",
            "sampling.repetition_penalty is \"x\", expected a number.");
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
            "lanes[1].mode is \"fast\", expected \"naive\" or \"cached\" or \"speculative\" or \"beam\".");
        row("lane without cache", "lanes", lanes_with("{\"name\": \"b\", \"mode\": \"cached\"}"),
            "lanes[1].cache is missing.");
        row("cache none", "lanes",
            lanes_with("{\"name\": \"b\", \"mode\": \"cached\", \"cache\": {\"kind\": \"none\"}}"),
            "lanes[1].cache.kind is \"none\", expected \"concat\" or \"static\" or \"paged\" or \"window\" "
            "or \"int8\" or "
            "\"kivi\" for a cached lane.");
        row("cache kind", "lanes",
            lanes_with("{\"name\": \"b\", \"mode\": \"cached\", \"cache\": {\"kind\": \"ring\"}}"),
            "lanes[1].cache.kind is \"ring\", expected \"none\" or \"concat\" or \"static\" or \"paged\" or "
            "\"window\" "
            "or \"int8\" or \"kivi\".");
        row("cache of naive", "lanes",
            lanes_with("{\"name\": \"b\", \"mode\": \"naive\", \"cache\": {\"kind\": \"static\"}}"),
            "lanes[1].cache.kind is \"static\", but a naive lane has no cache.");
        row("capacity of concat", "lanes",
            lanes_with("{\"name\": \"b\", \"mode\": \"cached\", \"cache\": {\"kind\": \"concat\", "
                       "\"capacity\": 9}}"),
            "lanes[1].cache.capacity is 9, but only static, paged, window, int8 and kivi caches have one.");
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
            "lanes[1].faults[0] is an unknown fault \"top_left\", perhaps mask-upper-left is meant.");
        row("fault that does not fit", "lanes",
            lanes_with("{\"name\": \"b\", \"mode\": \"naive\", \"faults\": [\"cache-kept\"]}"),
            "lanes[1].faults[0] is \"cache-kept\", which needs a cached lane that serves one request after "
            "another.");
        row("faulty reference", "lanes",
            "[{\"name\": \"a\", \"mode\": \"naive\", \"faults\": [\"dropout-on\"]}, "
            "{\"name\": \"b\", \"mode\": \"naive\"}]",
            "lanes[0].faults[0] is \"dropout-on\", but \"a\" is the reference, expected one without faults.");
        row("fault number", "lanes", lanes_with("{\"name\": \"b\", \"mode\": \"naive\", \"faults\": [1]}"),
            "lanes[1].faults[0] is 1, expected a text.");
        row("reference", "reference", "\"other\"", "reference is \"other\", expected the name of a lane.");
        row("interleave", "interleave", "\"token\"",
            "interleave is \"token\", expected \"automatic\" or \"step\" or \"repetition\".");
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
        experiment.prompts[0].kind = PromptSpec::Kind::ids;
        experiment.prompts[0].ids = {1, 2, 3, 4};
        experiment.stop_ids = {7, 8};
        experiment.sampling = {.kind = SamplingKind::sample,
                               .temperature = 0.7,
                               .top_k = 40,
                               .seed = 5,
                               .top_p = 0.9,
                               .min_p = 0.05,
                               .repetition_penalty = 1.2};
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
        QCOMPARE(parsed->stop_ids, experiment.stop_ids);
        QCOMPARE(parsed->sampling.temperature, 0.7);
        QCOMPARE(parsed->sampling.top_p, 0.9);
        QCOMPARE(parsed->sampling.min_p, 0.05);
        QCOMPARE(parsed->sampling.repetition_penalty, 1.2);
        QVERIFY(parsed->stop_at_eos);
        QCOMPARE(parsed->lanes[1].cache.capacity, 99);
        QCOMPARE(parsed->lanes[1].prefill_chunk, 2);
        QCOMPARE(parsed->lanes[2].prefill_partition, (std::vector<int>{1, 3}));
        QVERIFY(parsed->lanes[2].allocation == AllocationPolicy::fresh);
        QCOMPARE(parsed->reference_index(), std::size_t{1});
        QVERIFY(parsed->interleave == Interleave::repetition);

        experiment.prompts[0] = {.kind = PromptSpec::Kind::random, .length = 4, .seed = 11};
        const auto random = parse_experiment(to_json(experiment));
        QVERIFY(random.ok());
        QCOMPARE(random->prompts[0].length, 4);
        QCOMPARE(random->prompts[0].seed, std::uint64_t{11});
    }

    void bytes_that_are_not_utf8_do_not_break_the_file() {
        Experiment experiment;
        experiment.prompts[0].text = "a\xFF z";
        experiment.lanes = {*lane_from_name("naive")};
        const auto parsed = parse_experiment(to_json(experiment));
        QVERIFY(parsed.ok());
        QCOMPARE(parsed->prompts[0].text, std::string("a\xEF\xBF\xBD z"));
    }

    /// Every setting of every kind of lane survives, and short files stay short.
    void lanes_round_trip() {
        Experiment experiment;
        experiment.drive = Drive::free;
        experiment.sampling = {.kind = SamplingKind::sample};
        experiment.prompts = {{.text = "a", .control = true, .isolation = "x"},
                              {.text = "b", .isolation = "y", .arrival_step = 3, .cancel_after = 5}};
        const auto add = [&](const char* word, const char* name) -> LaneSpec& {
            LaneSpec& lane = experiment.lanes.emplace_back(*lane_from_name(word));
            lane.name = name;
            return lane;
        };
        add("continuous", "a").cache = {.kind = CacheKind::paged,
                                        .dtype = DType::bf16,
                                        .capacity = 70,
                                        .block = 4,
                                        .blocks = 99,
                                        .share_prefixes = true};
        add("kivi2", "b").cache.group = 64;
        experiment.lanes.back().cache.residual = 7;
        add("window", "c").window = {.size = 9, .sinks = 2};
        add("naive", "d").window = {.size = 9};
        add("batch-right", "e").allocation = AllocationPolicy::fresh;
        add("continuous", "f").max_rows = 3;
        experiment.lanes.back().budget = 200;
        add("speculative", "g").draft = {.tokens = 6, .ngram = 3, .acceptance = Acceptance::rejection};
        add("speculative", "h").draft = {.kind = DraftKind::model, .model = {.preset = "tiny", .seed = 4}};
        add("speculative-layers", "i").draft.layers = 2;
        const std::string json = to_json(experiment);
        std::vector<std::string> warnings;
        const auto parsed = parse_experiment(json, &warnings);
        QVERIFY2(parsed.ok(), parsed.ok() ? "" : parsed.error().message.c_str());
        QCOMPARE(warnings, std::vector<std::string>());
        QCOMPARE(to_json(*parsed), json);
        QCOMPARE(parsed->prompts[0].isolation, std::string("x"));
        QVERIFY(parsed->prompts[0].control && !parsed->prompts[1].control);
        QCOMPARE(parsed->prompts[1].arrival_step, 3);
        QCOMPARE(parsed->prompts[1].cancel_after, 5);
        const auto& lanes = parsed->lanes;
        QVERIFY(lanes[0].cache.dtype == DType::bf16);
        QCOMPARE(lanes[0].cache.capacity, 70);
        QCOMPARE(lanes[0].cache.block, 4);
        QCOMPARE(lanes[0].cache.blocks, 99);
        QVERIFY(lanes[0].cache.share_prefixes);
        QCOMPARE(lanes[1].cache.bits, 2);
        QCOMPARE(lanes[1].cache.group, 64);
        QCOMPARE(lanes[1].cache.residual, 7);
        QVERIFY((lanes[2].window == Window{9, 2}));
        QVERIFY((lanes[3].window == Window{9, 0}));
        QVERIFY(lanes[4].batching == Batching::static_ && lanes[4].padding == Padding::right);
        QVERIFY(lanes[4].allocation == AllocationPolicy::fresh);
        QVERIFY(lanes[5].batching == Batching::continuous);
        QCOMPARE(lanes[5].max_rows, 3);
        QCOMPARE(lanes[5].budget, 200);
        for (std::size_t i = 6; i < 9; ++i) QVERIFY(lanes[i].draft == experiment.lanes[i].draft);

        experiment = {};
        experiment.drive = Drive::free;
        experiment.prompts[0].text = "It is";
        add("beam", "beam").beams = 7;
        const auto beam = parse_experiment(to_json(experiment));
        QVERIFY2(beam.ok(), beam.ok() ? "" : beam.error().message.c_str());
        QVERIFY(beam->lanes[0].mode == LaneMode::beam);
        QCOMPARE(beam->lanes[0].beams, 7);

        experiment.lanes = {*lane_from_name("static")};
        const QByteArray plain = QByteArray::fromStdString(to_json(experiment));
        for (const char* word :
             {"window", "batch", "draft", "beams", "dtype", "block", "bits", "top_p", "repetition_penalty",
              "interleave", "stop_ids", "isolation", "arrival_step"}) {
            QVERIFY2(!plain.contains(word), word);
        }
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
