// SPDX-License-Identifier: GPL-3.0-or-later
#include <QTest>

#include <cmath>

#include "engine/experiment/experiment.h"
#include "engine/fault/fault_catalogue.h"

using namespace decodescope;

namespace {

/// One lane with these members besides its name; a cached one gets the cache.
QByteArray lane_of(const QByteArray& mode, const QByteArray& cache, const QByteArray& rest = {}) {
    QByteArray json = "{\"name\": \"b\", \"mode\": \"" + mode + "\"";
    if (!cache.isEmpty()) json += ", \"cache\": {\"kind\": " + cache + "}";
    if (!rest.isEmpty()) json += ", " + rest;
    return json + "}";
}

std::string message_of(const Result<void>& result) {
    return result ? "accepted" : result.error().message;
}

}  // namespace

class TestLaneSettings : public QObject {
    Q_OBJECT

private slots:
    /// Settings that do not fit the lane they are in, or the rest of the experiment.
    void lane_settings_data() {
        QTest::addColumn<QByteArray>("lane");
        QTest::addColumn<QByteArray>("rest");  // further members of the experiment
        QTest::addColumn<QString>("sentence");
        const auto row = [](const char* name, const QByteArray& lane, const char* sentence,
                            const QByteArray& rest = {}) {
            QTest::newRow(name) << lane << rest << QString(sentence);
        };
        const QByteArray sample = "\"sampling\": {\"kind\": \"sample\"}";
        const QByteArray free = "\"drive\": \"free\"";
        const QByteArray two = "\"prompts\": [{\"ids\": [1, 2, 3]}, {\"random\": {\"length\": 9}}]";
        const QByteArray continuous = "\"batch\": {\"kind\": \"continuous\"}";
        const QByteArray gpu = "\"device\": \"cuda\"";
        const QByteArray graph = "\"cuda_graph\": true";
        const QByteArray batch = "\"batch\": {\"kind\": \"static\"}";

        row("weights unknown", lane_of("naive", "", "\"weights\": \"int3\""),
            "lanes[0].weights is \"int3\", expected \"f32\" or \"f16\" or \"bf16\" or \"int8\" or \"int4\".");
        row("weights number", lane_of("naive", "", "\"weights\": 8"),
            "lanes[0].weights is 8, expected \"f32\" or \"f16\" or \"bf16\" or \"int8\" or \"int4\".");
        row("kernels unknown", lane_of("naive", "", "\"kernels\": \"blis\""),
            "lanes[0].kernels is \"blis\", expected \"packed\" or \"openblas\".");
        row("openblas on int8",
            lane_of("cached", "\"static\"", "\"weights\": \"int8\", \"kernels\": \"openblas\""),
            "lanes[0].weights is \"int8\", expected \"f32\" where kernels is \"openblas\".");

        row("device unknown", lane_of("naive", "", "\"device\": \"cuda:x\""),
            "lanes[0].device is \"cuda:x\", expected \"cpu\", \"cuda\" or \"cuda:N\".");
        row("device number", lane_of("naive", "", "\"device\": 1"), "lanes[0].device is 1, expected a text.");
        row("int8 on a GPU", lane_of("naive", "", "\"device\": \"cuda:1\", \"weights\": \"int8\""),
            "lanes[0].weights is \"int8\", expected \"f32\", \"f16\" or \"bf16\" for lane \"b\" on cuda:1.");
        row("int4 on a GPU", lane_of("naive", "", "\"weights\": \"int4\""),
            "lanes[0].weights is \"int4\", expected \"f32\", \"f16\" or \"bf16\" for lane \"b\" on cuda:0.",
            gpu);
        row("openblas on a GPU", lane_of("naive", "", "\"kernels\": \"openblas\""),
            "lanes[0].kernels is \"openblas\", which computes on the CPU alone, expected \"packed\" for lane "
            "\"b\" on cuda:0.",
            gpu);
        row("kivi on a GPU", lane_of("cached", "\"kivi\""),
            "lanes[0].cache.kind is \"kivi\", which is stored on the CPU alone, expected another kind for "
            "lane "
            "\"b\" on cuda:0.",
            gpu);
        row("fault on a GPU", lane_of("cached", "\"static\"", "\"faults\": [\"position-restart\"]"),
            "lanes[0].faults is set, but deliberate faults are made on the CPU alone, expected none for lane "
            "\"b\" on cuda:0.",
            gpu);
        row("graph number", lane_of("cached", "\"static\"", "\"cuda_graph\": 1"),
            "lanes[0].cuda_graph is 1, expected true or false.");
        row("graph on the CPU", lane_of("cached", "\"static\"", graph),
            "lanes[0].cuda_graph is true, but a CUDA graph needs a GPU, expected false for lane \"b\".");
        row("graph of a lane on the CPU", lane_of("cached", "\"static\"", graph + ", \"device\": \"cpu\""),
            "lanes[0].cuda_graph is true, but a CUDA graph needs a GPU, expected false for lane \"b\".", gpu);
        row("graph of naive", lane_of("naive", "", graph),
            "lanes[0].cuda_graph is true, but the steps of a naive lane are not the same calls every time, "
            "expected false for lane \"b\".",
            gpu);
        row("graph of speculative",
            lane_of("speculative", "\"static\"", graph + ", \"draft\": {\"kind\": \"ngram\"}"),
            "lanes[0].cuda_graph is true, but the steps of a speculative lane are not the same calls every "
            "time, expected false for lane \"b\".",
            gpu);
        row("graph of concat", lane_of("cached", "\"concat\"", graph),
            "lanes[0].cuda_graph is true, but a concat cache moves its storage at every step, so that a "
            "captured graph would read freed memory, expected false for lane \"b\".",
            gpu);
        row("graph of paged", lane_of("cached", "\"paged\"", graph),
            "lanes[0].cuda_graph is true, but a paged cache takes blocks as it grows, which a captured graph "
            "does not see, expected false for lane \"b\".",
            gpu);
        row("graph of int8", lane_of("cached", "\"int8\"", graph),
            "lanes[0].cuda_graph is true, but only a static cache stays where it is, and this one is int8, "
            "expected false for lane \"b\".",
            gpu);
        row("graph of continuous", lane_of("cached", "\"static\"", graph + ", " + continuous),
            "lanes[0].cuda_graph is true, but the rows of a continuous batch come and go, which a captured "
            "graph does not see, expected false for lane \"b\".",
            gpu);
        row("graph of fresh buffers", lane_of("cached", "\"static\"", graph + ", \"allocation\": \"fresh\""),
            "lanes[0].cuda_graph is true, but buffers that are allocated afresh move at every step, so that "
            "a "
            "captured graph would write to freed memory, expected false for lane \"b\".",
            gpu);
        const QByteArray tf32 = "\"tf32\": true";
        row("TF32 number", lane_of("naive", "", "\"tf32\": 1"),
            "lanes[0].tf32 is 1, expected true or false.");
        row("TF32 on the CPU", lane_of("naive", "", tf32),
            "lanes[0].tf32 is true, but TF32 needs a GPU, expected false for lane \"b\".");
        row("TF32 of bf16 weights", lane_of("naive", "", tf32 + ", \"weights\": \"bf16\""),
            "lanes[0].tf32 is true, but products with bf16 weights are none of f32, expected false for lane "
            "\"b\".",
            gpu);

        row("window 0", lane_of("naive", "", "\"window\": {\"size\": 0}"),
            "lanes[0].window.size is 0, expected at least 1.");
        row("window negative", lane_of("naive", "", "\"window\": {\"size\": -3}"),
            "lanes[0].window.size is -3, expected at least 1.");
        row("window huge", lane_of("naive", "", "\"window\": {\"size\": 20000000}"),
            "lanes[0].window.size is 20000000, expected at most 16777216.");
        row("window without size", lane_of("naive", "", "\"window\": {\"sinks\": 4}"),
            "lanes[0].window.size is missing.");
        row("window number", lane_of("naive", "", "\"window\": 4"),
            "lanes[0].window is 4, expected an object.");
        row("sinks negative", lane_of("naive", "", "\"window\": {\"size\": 4, \"sinks\": -1}"),
            "lanes[0].window.sinks is -1, expected 0 to 16777216.");

        row("block 0", lane_of("cached", "\"paged\", \"block\": 0"),
            "lanes[0].cache.block is 0, expected 1 to 4096.");
        row("block 4097", lane_of("cached", "\"paged\", \"block\": 4097"),
            "lanes[0].cache.block is 4097, expected 1 to 4096.");
        row("blocks negative", lane_of("cached", "\"paged\", \"blocks\": -1"),
            "lanes[0].cache.blocks is -1, expected 0 to 16777216.");
        row("block of static", lane_of("cached", "\"static\", \"block\": 8"),
            "lanes[0].cache.block is 8, but only a paged cache has blocks.");
        row("blocks of int8", lane_of("cached", "\"int8\", \"blocks\": 8"),
            "lanes[0].cache.blocks is 8, but only a paged cache has blocks.");
        row("sharing of concat", lane_of("cached", "\"concat\", \"share_prefixes\": true"),
            "lanes[0].cache.share_prefixes is true, but only a paged cache can share.");
        row("sharing number", lane_of("cached", "\"paged\", \"share_prefixes\": 1"),
            "lanes[0].cache.share_prefixes is 1, expected true or false.");
        row("sharing of a static batch", lane_of("cached", "\"paged\", \"share_prefixes\": true", batch),
            "lanes[0].batch.kind is \"static\", expected \"continuous\" where cache.share_prefixes is true.");
        row("sharing one after another", lane_of("cached", "\"paged\", \"share_prefixes\": true"),
            "lanes[0].batch.kind is \"single\", expected \"continuous\" where cache.share_prefixes is true.");
        row("pads in kivi",
            lane_of("cached", "\"kivi\"", "\"batch\": {\"kind\": \"static\", \"padding\": \"right\"}"),
            "lanes[0].batch.padding is \"right\", but a kivi cache cannot hold pads, expected \"none\".");
        row("bits 3", lane_of("cached", "\"kivi\", \"bits\": 3"),
            "lanes[0].cache.bits is 3, expected 2 or 4.");
        row("bits of int8", lane_of("cached", "\"int8\", \"bits\": 2"),
            "lanes[0].cache.bits is 2, but only a kivi cache has a choice of them.");
        row("group 12", lane_of("cached", "\"kivi\", \"group\": 12"),
            "lanes[0].cache.group is 12, expected a multiple of 8 from 8 to 1024.");
        row("group 0", lane_of("cached", "\"kivi\", \"group\": 0"),
            "lanes[0].cache.group is 0, expected a multiple of 8 from 8 to 1024.");
        row("group 1032", lane_of("cached", "\"kivi\", \"group\": 1032"),
            "lanes[0].cache.group is 1032, expected a multiple of 8 from 8 to 1024.");
        row("group of static", lane_of("cached", "\"static\", \"group\": 8"),
            "lanes[0].cache.group is 8, but only a kivi cache has groups.");
        row("residual negative", lane_of("cached", "\"kivi\", \"residual\": -1"),
            "lanes[0].cache.residual is -1, expected 0 to 16777216.");
        row("residual of window",
            lane_of("cached", "\"window\", \"residual\": 8", "\"window\": {\"size\": 4}"),
            "lanes[0].cache.residual is 8, but only a kivi cache has a residual window.");
        row("dtype unknown", lane_of("cached", "\"static\", \"dtype\": \"f8\""),
            "lanes[0].cache.dtype is \"f8\", expected \"f32\" or \"f16\" or \"bf16\".");
        row("dtype of kivi", lane_of("cached", "\"kivi\", \"dtype\": \"f16\""),
            "lanes[0].cache.dtype is \"f16\", but only concat, static, paged and window caches have one.");
        row("dtype of naive", lane_of("naive", "\"none\", \"dtype\": \"bf16\""),
            "lanes[0].cache.dtype is \"bf16\", but only concat, static, paged and window caches have one.");
        row("capacity of naive", lane_of("naive", "\"none\", \"capacity\": 5"),
            "lanes[0].cache.capacity is 5, but only static, paged, window, int8 and kivi caches have one.");

        row("batch kind", lane_of("naive", "", "\"batch\": {\"kind\": \"dynamic\"}"),
            "lanes[0].batch.kind is \"dynamic\", expected \"single\" or \"static\" or \"continuous\".");
        row("batch without kind", lane_of("naive", "", "\"batch\": {}"), "lanes[0].batch.kind is missing.");
        row("continuous naive", lane_of("naive", "", continuous),
            "lanes[0].batch.kind is \"continuous\", expected \"single\" or \"static\" for a naive lane.");
        row("continuous concat", lane_of("cached", "\"concat\"", continuous),
            "lanes[0].cache.kind is \"concat\", expected \"static\" or \"paged\" or \"window\" or \"int8\" "
            "or \"kivi\" "
            "for a continuous batch.");
        row("padding of single",
            lane_of("naive", "", "\"batch\": {\"kind\": \"single\", \"padding\": \"right\"}"),
            "lanes[0].batch.padding is \"right\", but only a static batch is padded.");
        row("padding of continuous",
            lane_of("cached", "\"paged\"", "\"batch\": {\"kind\": \"continuous\", \"padding\": \"none\"}"),
            "lanes[0].batch.padding is \"none\", but only a static batch is padded.");
        row("padding unknown",
            lane_of("naive", "", "\"batch\": {\"kind\": \"static\", \"padding\": \"top\"}"),
            "lanes[0].batch.padding is \"top\", expected \"left\" or \"right\" or \"none\".");
        row("rows of static", lane_of("naive", "", "\"batch\": {\"kind\": \"static\", \"max_rows\": 2}"),
            "lanes[0].batch.max_rows is 2, but only a continuous batch has one.");
        row("rows negative",
            lane_of("cached", "\"paged\"", "\"batch\": {\"kind\": \"continuous\", \"max_rows\": -2}"),
            "lanes[0].batch.max_rows is -2, expected 0 to 256.");
        row("budget of static", lane_of("naive", "", "\"batch\": {\"kind\": \"static\", \"budget\": 20}"),
            "lanes[0].batch.budget is 20, but only a continuous batch has one.");
        row("budget negative",
            lane_of("cached", "\"paged\"", "\"batch\": {\"kind\": \"continuous\", \"budget\": -2}"),
            "lanes[0].batch.budget is -2, expected 0 to 16777216.");
        const auto budget = [](const char* cache, const char* tokens) {
            return lane_of("cached", cache,
                           QByteArray("\"batch\": {\"kind\": \"continuous\", \"budget\": ") + tokens + "}");
        };
        row("budget too small", budget("\"static\"", "11"),
            "lanes[0].batch.budget is 11, expected at least 12: prompts[1] and its answer have 12 tokens.",
            two);
        row("budget too small for blocks", budget("\"paged\", \"block\": 8", "15"),
            "lanes[0].batch.budget is 15, expected at least 16: prompts[1] and its answer have 12 tokens in "
            "blocks of 8.",
            two);
        row("budget too small for the capacity", budget("\"int8\", \"capacity\": 10", "9"),
            "lanes[0].batch.budget is 9, expected at least 10: prompts[1] and its answer have 10 tokens.",
            two);

        row("partition of two prompts", lane_of("cached", "\"static\"", "\"prefill_partition\": [3]"),
            "lanes[0].prefill_partition sums to 3, expected the prompt's 9 tokens.", two);
        row("partition of a continuous batch",
            lane_of("cached", "\"static\"", continuous + ", \"prefill_partition\": [3]"),
            "lanes[0].prefill_partition is set, but batch.kind is \"continuous\", expected \"single\" or "
            "\"static\".");
        row("partition of naive", lane_of("naive", "", "\"prefill_partition\": [3]"),
            "lanes[0].prefill_partition is set, but a naive lane cannot prefill in chunks.");
        row("fixed with two prompts", lane_of("naive", ""),
            "drive is \"fixed\", but there are 2 prompts, expected one.",
            two + ", \"drive\": \"fixed\", \"fixed_ids\": [1, 2, 3]");

        row("draft of cached", lane_of("cached", "\"static\"", "\"draft\": {\"kind\": \"ngram\"}"),
            "lanes[0].draft is set, but only a speculative lane drafts.");
        row("draft without kind", lane_of("speculative", "\"static\"", "\"draft\": {}"),
            "lanes[0].draft.kind is missing.");
        row("draft kind", lane_of("speculative", "\"static\"", "\"draft\": {\"kind\": \"oracle\"}"),
            "lanes[0].draft.kind is \"oracle\", expected \"layers\" or \"ngram\" or \"model\".");
        row("draft tokens 0",
            lane_of("speculative", "\"static\"", "\"draft\": {\"kind\": \"ngram\", \"tokens\": 0}"),
            "lanes[0].draft.tokens is 0, expected 1 to 64.");
        row("draft tokens 65",
            lane_of("speculative", "\"static\"", "\"draft\": {\"kind\": \"ngram\", \"tokens\": 65}"),
            "lanes[0].draft.tokens is 65, expected 1 to 64.");
        row("draft layers 0",
            lane_of("speculative", "\"static\"", "\"draft\": {\"kind\": \"layers\", \"layers\": 0}"),
            "lanes[0].draft.layers is 0, expected 1 to 10000.");
        row("draft layers of ngram",
            lane_of("speculative", "\"static\"", "\"draft\": {\"kind\": \"ngram\", \"layers\": 2}"),
            "lanes[0].draft.layers is 2, but draft.kind is \"ngram\".");
        row("ngram 17",
            lane_of("speculative", "\"static\"", "\"draft\": {\"kind\": \"ngram\", \"ngram\": 17}"),
            "lanes[0].draft.ngram is 17, expected 1 to 16.");
        row("ngram of layers",
            lane_of("speculative", "\"static\"", "\"draft\": {\"kind\": \"layers\", \"ngram\": 3}"),
            "lanes[0].draft.ngram is 3, but draft.kind is \"layers\".");
        row("draft without model", lane_of("speculative", "\"static\"", "\"draft\": {\"kind\": \"model\"}"),
            "lanes[0].draft.model names neither a path nor a preset.");
        row("model of ngram draft",
            lane_of("speculative", "\"static\"",
                    "\"draft\": {\"kind\": \"ngram\", \"model\": {\"path\": \"x\"}}"),
            "lanes[0].draft.model is set, but draft.kind is \"ngram\".");
        row("acceptance",
            lane_of("speculative", "\"static\"", "\"draft\": {\"kind\": \"ngram\", \"acceptance\": \"all\"}"),
            "lanes[0].draft.acceptance is \"all\", expected \"match\" or \"rejection\".");
        const QByteArray rejection = "\"draft\": {\"kind\": \"ngram\", \"acceptance\": \"rejection\"}";
        row("rejection of greedy", lane_of("speculative", "\"static\"", rejection),
            "lanes[0].draft.acceptance is \"rejection\", but sampling.kind is \"greedy\", expected "
            "\"sample\".",
            free);
        row("rejection when forced", lane_of("speculative", "\"static\"", rejection),
            "lanes[0].draft.acceptance is \"rejection\", but the drive is \"forced\", expected \"free\".",
            sample);
        row("speculative batch", lane_of("speculative", "\"static\"", batch),
            "lanes[0].batch.kind is \"static\", expected \"single\" for a speculative lane.");
        row("speculative without cache", lane_of("speculative", ""), "lanes[0].cache is missing.");
        row("speculative kivi", lane_of("speculative", "\"kivi\", \"residual\": 4"),
            "lanes[0].cache.residual is 4, expected at least draft.tokens + 1 = 5, so that drafts can be "
            "taken back.");

        row("beams of cached", lane_of("cached", "\"static\"", "\"beams\": 2"),
            "lanes[0].beams is 2, but only a beam lane has them.");
        row("one beam", lane_of("beam", "\"static\"", "\"beams\": 1"),
            "lanes[0].beams is 1, expected 2 to 64.", free);
        row("65 beams", lane_of("beam", "\"static\"", "\"beams\": 65"),
            "lanes[0].beams is 65, expected 2 to 64.", free);
        row("beam when forced", lane_of("beam", "\"static\""),
            "lanes[0].mode is \"beam\", but the drive is \"forced\", expected \"free\".");
        row("beam when sampling", lane_of("beam", "\"static\""),
            "lanes[0].mode is \"beam\", but sampling.kind is \"sample\", expected \"greedy\".",
            free + ", " + sample);
        row("beam with penalty", lane_of("beam", "\"static\""),
            "lanes[0].mode is \"beam\", but sampling.repetition_penalty is 1.5, expected 1.",
            free + ", \"sampling\": {\"kind\": \"greedy\", \"repetition_penalty\": 1.5}");
        row("beam batch", lane_of("beam", "\"static\"", batch),
            "lanes[0].batch.kind is \"static\", expected \"single\" for a beam lane.", free);
        row("beam with int8", lane_of("beam", "\"int8\""),
            "lanes[0].cache.kind is \"int8\", expected \"concat\" or \"static\" or \"paged\" for a beam "
            "lane.",
            free);

        const QByteArray step = "\"interleave\": \"step\"";
        row("steps of continuous", lane_of("cached", "\"paged\"", continuous),
            "interleave is \"step\", but lanes[0].batch.kind is \"continuous\", expected \"automatic\" or "
            "\"repetition\".",
            step);
        row("steps of speculative", lane_of("speculative", "\"static\""),
            "interleave is \"step\", but lanes[0].mode is \"speculative\", expected \"automatic\" or "
            "\"repetition\".",
            step);
        row("steps of beam", lane_of("beam", "\"static\""),
            "interleave is \"step\", but lanes[0].mode is \"beam\", expected \"automatic\" or "
            "\"repetition\".",
            step + ", " + free);
        row("steps of different batching",
            lane_of("naive", "") + ", {\"name\": \"c\", \"mode\": \"naive\", " + batch + "}",
            "interleave is \"step\", but lanes[0] and lanes[1] batch the prompts differently, expected "
            "\"automatic\" or "
            "\"repetition\".",
            step + ", " + two);
    }
    void lane_settings() {
        QFETCH(QByteArray, lane);
        QFETCH(QByteArray, rest);
        QFETCH(QString, sentence);
        QByteArray json =
            "{\"schema\": \"decodescope.experiment/1\", \"new_tokens\": 4, \"lanes\": [" + lane + "]";
        if (!rest.contains("\"prompts\"")) json += ", \"prompts\": [{\"text\": \"a\"}]";
        if (!rest.isEmpty()) json += ", " + rest;
        const auto parsed = parse_experiment((json + "}").toStdString());
        QVERIFY(!parsed.ok());
        QCOMPARE(QString::fromStdString(parsed.error().message), sentence);
        QCOMPARE(exit_code(parsed.error().kind), 2);
    }

    void settings_only_code_can_break_data() {
        QTest::addColumn<LaneSpec>("lane");
        QTest::addColumn<QString>("sentence");
        LaneSpec lane = *lane_from_name("static");
        lane.window.sinks = 3;
        QTest::newRow("sinks alone") << lane << "lanes[0].window.sinks is 3, but window.size is missing.";
        lane = *lane_from_name("static");
        lane.draft.tokens = 7;
        QTest::newRow("draft") << lane << "lanes[0].draft is set, but only a speculative lane drafts.";
    }
    void settings_only_code_can_break() {
        QFETCH(LaneSpec, lane);
        QFETCH(QString, sentence);
        Experiment experiment;
        experiment.prompts[0].text = "It is";
        experiment.lanes = {lane};
        QCOMPARE(QString::fromStdString(message_of(experiment.validate())), sentence);
        experiment.lanes = {*lane_from_name("static")};
        QVERIFY(experiment.validate().ok());
        experiment.prompts.clear();
        QCOMPARE(message_of(experiment.validate()),
                 std::string("prompts is empty, expected at least one prompt."));
        experiment.prompts.resize(1);
        experiment.prompts[0].text = "It is";
        experiment.sampling.temperature = std::nan("");
        QVERIFY(!experiment.validate().ok());
    }

    void against_model_data() {
        QTest::addColumn<Experiment>("experiment");
        QTest::addColumn<QString>("sentence");  // empty: accepted
        const auto row = [](const char* name, auto change, const char* sentence) {
            Experiment experiment;
            experiment.prompts[0].kind = PromptSpec::Kind::ids;
            experiment.prompts[0].ids = {1, 60};
            experiment.new_tokens = 2;
            experiment.lanes = {*lane_from_name("naive"), *lane_from_name("kivi")};
            change(experiment);
            QTest::newRow(name) << experiment << QString(sentence);
        };
        row(
            "fits", [](Experiment&) {}, "");
        row(
            "prompt",
            [](Experiment& e) {
                e.prompts.push_back({.kind = PromptSpec::Kind::ids, .ids = {3, 61}});
            },
            "prompts[1].ids[1] is 61, expected a token id below the model's vocabulary of 61.");
        row(
            "fixed", [](Experiment& e) { e.fixed_ids = {61}; },
            "fixed_ids[0] is 61, expected a token id below the model's vocabulary of 61.");
        row(
            "stop",
            [](Experiment& e) {
                e.stop_ids = {5, 99};
            },
            "stop_ids[1] is 99, expected a token id below the model's vocabulary of 61.");
        const Sampling top{.kind = SamplingKind::sample, .top_k = 62};
        row(
            "top_k", [&](Experiment& e) { e.sampling = top; },
            "sampling.top_k is 62, expected at most the model's vocabulary of 61.");
        row(
            "top_k of all", [](Experiment& e) { e.sampling = {.kind = SamplingKind::sample, .top_k = 61}; },
            "");
        row(
            "draft layers",
            [](Experiment& e) {
                e.lanes[0] = *lane_from_name("speculative-layers");
                e.lanes[0].draft.layers = 3;
            },
            "lanes[0].draft.layers is 3, expected fewer than the model's 3.");
        row(
            "draft layers fit", [](Experiment& e) { e.lanes[0] = *lane_from_name("speculative-layers"); },
            "");
        row(
            "group", [](Experiment& e) { e.lanes[1].cache.group = 16; },
            "lanes[1].cache.group is 16, expected at least the model's head_dim of 24 or a divisor of it.");
        row(
            "group divides", [](Experiment& e) { e.lanes[1].cache.group = 8; }, "");
        row(
            "groups of weights", [](Experiment& e) { e.lanes[0] = *lane_from_name("naive+weights-int8"); },
            "lanes[0].weights is \"int8\", which keeps groups of 32 weights, but the n_head * head_dim of "
            "the "
            "model is 48, expected a multiple of 32 for lane \"naive+weights-int8\".");
        row(
            "groups of weights, int4",
            [](Experiment& e) { e.lanes[1] = *lane_from_name("kivi+weights-int4"); },
            "lanes[1].weights is \"int4\", which keeps groups of 32 weights, but the n_head * head_dim of "
            "the "
            "model is 48, expected a multiple of 32 for lane \"kivi+weights-int4\".");
        row(
            "no groups", [](Experiment& e) { e.lanes[0] = *lane_from_name("naive+weights-bf16"); }, "");
    }
    void against_model() {
        QFETCH(Experiment, experiment);
        QFETCH(QString, sentence);
        ModelConfig model;
        model.vocab = 61;
        model.n_layer = 3;
        model.d_model = 64;
        model.d_ff = 96;
        model.n_head = 2;
        model.head_dim = 24;
        const auto checked = check_against_model(experiment, model);
        QCOMPARE(checked ? QString() : QString::fromStdString(checked.error().message), sentence);
    }

    void interleave_data() {
        QTest::addColumn<QString>("lanes");
        QTest::addColumn<int>("prompts");
        QTest::addColumn<bool>("steps");
        QTest::newRow("one prompt") << "naive,static" << 1 << true;
        QTest::newRow("one prompt, batched and not") << "naive,batch" << 1 << true;
        QTest::newRow("one after another") << "naive,static,kivi" << 3 << true;
        QTest::newRow("static batches") << "naive-batch,batch,batch-right" << 3 << true;
        QTest::newRow("mixed") << "naive,batch" << 3 << false;
        QTest::newRow("continuous") << "continuous" << 1 << false;
        QTest::newRow("speculative") << "naive,speculative" << 1 << false;
        QTest::newRow("beam") << "beam" << 1 << false;
    }
    void interleave() {
        QFETCH(QString, lanes);
        QFETCH(int, prompts);
        QFETCH(bool, steps);
        Experiment experiment;
        experiment.drive = Drive::free;
        experiment.prompts.assign(static_cast<std::size_t>(prompts), PromptSpec{.text = "a"});
        for (const QString& name : lanes.split(',')) {
            experiment.lanes.push_back(*lane_from_name(name.toStdString()));
        }
        QCOMPARE(message_of(experiment.validate()), std::string("accepted"));
        QCOMPARE(experiment.effective_interleave() == Interleave::step, steps);
        experiment.interleave = Interleave::step;
        QCOMPARE(experiment.validate().ok(), steps);
        QVERIFY(experiment.effective_interleave() == Interleave::step);
        experiment.interleave = Interleave::repetition;
        QVERIFY(experiment.validate().ok());
        QVERIFY(experiment.effective_interleave() == Interleave::repetition);
    }

    /// Where lanes compute: their own device, or the experiment's; what they are called after it.
    void devices() {
        Experiment experiment;
        experiment.prompts[0].text = "a";
        experiment.device = {Device::Kind::cuda, 1};
        for (const char* name : {"naive+cpu", "static", "concat", "static+cuda:0+graph"})
            experiment.lanes.push_back(*lane_from_name(name));
        QCOMPARE(message_of(experiment.validate()), std::string("accepted"));
        QVERIFY(experiment.devices() ==
                (std::vector<Device>{{}, {Device::Kind::cuda, 1}, {Device::Kind::cuda, 0}}));
        const auto words = [&](std::size_t i) { return weights_words(experiment, experiment.lanes[i]); };
        QCOMPARE(words(0), std::string("f32, cpu"));
        QCOMPARE(words(1), std::string("f32, cuda:1"));
        QCOMPARE(words(3), std::string("f32, cuda:0, graph"));
        const auto placed = experiment.placed_lanes();
        QVERIFY(placed[0].device == Device{});
        QVERIFY(placed[1].device == experiment.device);
        QVERIFY(placed[3].device == (Device{Device::Kind::cuda, 0}));

        const auto again = parse_experiment(to_json(experiment));
        QVERIFY(again);
        QVERIFY(again->device == experiment.device);
        for (std::size_t i = 0; i < experiment.lanes.size(); ++i) {
            QVERIFY(again->lanes[i].device == experiment.lanes[i].device);
            QCOMPARE(again->lanes[i].cuda_graph, experiment.lanes[i].cuda_graph);
            QCOMPARE(again->lanes[i].tf32, experiment.lanes[i].tf32);
        }
        experiment.device = {};
        QVERIFY(!experiment.placed_lanes()[1].device);
        QCOMPARE(words(1), std::string("f32"));
    }

    void lanes_by_name() {
        const QString words = QString::fromStdString(lane_words());
        QCOMPARE(words.split(", ").size(), 20);
        for (const QString& word : words.split(", ")) {
            const auto lane = lane_from_name(word.toStdString());
            QVERIFY2(lane.ok(), qPrintable(word));
            QCOMPARE(QString::fromStdString(lane->name), word);
            Experiment experiment;
            experiment.drive = Drive::free;
            experiment.prompts[0].text = "It is";
            experiment.lanes = {*lane};
            QCOMPARE(message_of(experiment.validate()), std::string("accepted"));
        }
        QVERIFY(lane_from_name("naive")->mode == LaneMode::naive);
        QVERIFY(lane_from_name("concat")->cache.kind == CacheKind::concat);
        QVERIFY(lane_from_name("static")->cache.kind == CacheKind::static_);
        QVERIFY(lane_from_name("cached")->cache.kind == CacheKind::static_);
        QVERIFY(lane_from_name("paged")->cache.kind == CacheKind::paged);
        QVERIFY((lane_from_name("window")->window == Window{64, 4}));
        QVERIFY(lane_from_name("int8")->cache.kind == CacheKind::int8);
        QCOMPARE(lane_from_name("kivi")->cache.bits, 4);
        QCOMPARE(lane_from_name("kivi2")->cache.bits, 2);
        QVERIFY(lane_from_name("f16")->cache.dtype == DType::f16);
        QVERIFY(lane_from_name("bf16")->cache.dtype == DType::bf16);
        QVERIFY(lane_from_name("batch")->padding == Padding::left);
        QVERIFY(lane_from_name("batch-right")->padding == Padding::right);
        QVERIFY(lane_from_name("batch-packed")->padding == Padding::none);
        QVERIFY(lane_from_name("naive-batch")->batching == Batching::static_);
        QVERIFY(lane_from_name("continuous")->batching == Batching::continuous);
        QVERIFY(lane_from_name("speculative")->draft.kind == DraftKind::ngram);
        QVERIFY(lane_from_name("speculative-layers")->draft.kind == DraftKind::layers);
        QVERIFY(lane_from_name("beam")->mode == LaneMode::beam);
        const auto plain = lane_from_name("static");
        QVERIFY(plain->weights == WeightType::f32 && plain->kernels == Kernels::packed);
        for (const WeightType type : all_weight_types) {
            const std::string name = std::string("static+weights-") + to_string(type);
            const auto lane = lane_from_name(name);
            QVERIFY2(lane.ok(), name.c_str());
            QVERIFY(lane->weights == type);
            QCOMPARE(lane->name, name);
        }
        const auto both = lane_from_name("paged+weights-bf16+position-restart");
        QVERIFY(both->weights == WeightType::bf16);
        QVERIFY(both->cache.kind == CacheKind::paged);
        QCOMPARE(both->faults, std::vector<std::string>{"position-restart"});
        QVERIFY(lane_from_name("naive+openblas")->kernels == Kernels::openblas);
        QCOMPARE(
            lane_from_name("naive+weights-int3").error().message,
            std::string("Lane \"naive+weights-int3\": what follows the + is \"weights-int3\", expected one "
                        "of weights-f32, weights-f16, weights-bf16, weights-int8, weights-int4, openblas, "
                        "graph, tf32."));
        const auto graph = lane_from_name("static+weights-bf16+cuda:2+graph");
        QVERIFY(graph->device == (Device{Device::Kind::cuda, 2}));
        QVERIFY(graph->cuda_graph);
        QCOMPARE(lane_modifiers(*graph), std::string("+weights-bf16+cuda:2+graph"));
        const auto tf32 = lane_from_name("static+cuda:1+graph+tf32");
        QVERIFY(tf32->tf32 && tf32->cuda_graph && !graph->tf32);
        QCOMPARE(lane_modifiers(*tf32), std::string("+cuda:1+graph+tf32"));
        QVERIFY(lane_from_name("naive+cuda")->device == (Device{Device::Kind::cuda, 0}));
        QVERIFY(lane_from_name("naive+cpu")->device == Device{});
        QVERIFY(!lane_from_name("naive")->device);
        QCOMPARE(
            lane_from_name("naive+cuda:").error().message,
            std::string("Lane \"naive+cuda:\": what follows the + is \"cuda:\", expected \"cpu\", \"cuda\" "
                        "or \"cuda:N\"."));
        // No mistake that a lane can make is called like a setting.
        for (const FaultInfo& fault : fault_catalogue()) {
            const std::string_view id = fault.id;
            QVERIFY2(id != "openblas" && id != "graph" && id != "tf32" && id != "cpu" &&
                         !id.starts_with("cuda") && !id.starts_with("weights-"),
                     fault.id);
        }
        const auto unknown = lane_from_name("ring");
        QVERIFY(!unknown.ok());
        QCOMPARE(QString::fromStdString(unknown.error().message),
                 QString("Lane \"ring\" is not known, expected one of %1.").arg(words));
    }
};

QTEST_APPLESS_MAIN(TestLaneSettings)
#include "tst_lane_settings.moc"
