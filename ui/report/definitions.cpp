// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/report/definitions.h"

#include <QCoreApplication>

namespace decodescope {

namespace {

QString tr(const char* text) {
    return QCoreApplication::translate("decodescope::definitions", text);
}

}  // namespace

const QVector<Definition>& definitions() {
    static const QVector<Definition> all{
        {QStringLiteral("ttft_ns"), tr("First token"),
         tr("From the start of the first forward call to the first token being chosen from its logits. "
            "Loading "
            "and tokenizing are excluded.")},
        {QStringLiteral("step_ns"), tr("Latency per token"),
         tr("One decode forward call and the choice of the token. N new tokens are one prefill and N - 1 "
            "decode "
            "steps.")},
        {QStringLiteral("tpot_ns"), tr("Time per token (TPOT)"),
         tr("Sum of a repetition's decode steps divided by their number, one sample per repetition. Median, "
            "minimum, maximum and interquartile range are over repetitions.")},
        {QStringLiteral("decode_tok_s"), tr("Tokens per second"),
         tr("Decode steps divided by the sum of their times. The first token is not one of them.")},
        {QStringLiteral("e2e_ns"), tr("Total time"),
         tr("Time to the first token and all decode steps, added up.")},
        {QStringLiteral("speed_up"), tr("Speed-up"),
         tr("Median TPOT of the reference lane divided by this lane's. Shown only where both did the same "
            "steps "
            "and gave the same output.")},
        {QStringLiteral("positions_forwarded"), tr("Positions forwarded"),
         tr("Token rows pushed through the blocks: for a prompt of P tokens, a naive lane forwards P, P + 1, "
            "...; "
            "a cached lane P, then 1 per step.")},
        {QStringLiteral("score_cells"), tr("Score cells"),
         tr("Query-key pairs that causality allows, and those actually computed, per head and layer.")},
        {QStringLiteral("kv_bytes_live"), tr("KV live"),
         tr("2 x layers x KV heads x head dimension x valid tokens x bytes per element, checked against the "
            "tensors after every append.")},
        {QStringLiteral("kv_bytes_reserved"), tr("KV reserved"),
         tr("Bytes the cache has allocated, used or not.")},
        {QStringLiteral("kv_bytes_copied"), tr("KV copied"),
         tr("Bytes moved because the cache had to grow, since the start of the request.")},
        {QStringLiteral("tensor_bytes"), tr("Tensor bytes"),
         tr("Live bytes of the tensors of all lanes, by owner: weights, kv, activations, logits, "
            "workspace.")},
        {QStringLiteral("rss"), tr("Resident memory (RSS)"),
         tr("Pages of the process that are in memory, as the system counts them.")},
        {QStringLiteral("minor_faults"), tr("Page faults"),
         tr("Minor page faults of the process during the timed part of a step.")},
        {QStringLiteral("gb_s"), tr("Read rate"),
         tr("Weights and keys and values a decode step must read at least, divided by its time; 1 GB = 10^9 "
            "bytes. The limit is the read bandwidth of main memory measured on this machine before the run; "
            "weights that fit into the processor's caches can be read faster.")},
        {QStringLiteral("relative_error"), tr("Logit error"),
         tr("Largest difference of a step's logits from the reference lane's, divided by the standard "
            "deviation "
            "of the reference's logits.")},
    };
    return all;
}

QString definitionOf(const QString& name) {
    for (const Definition& definition : definitions()) {
        if (definition.name == name) return definition.text;
    }
    return {};
}

}  // namespace decodescope
