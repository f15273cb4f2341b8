// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/report/definitions.h"

#include "ui/text.h"

namespace decodescope {

const QVector<Definition>& definitions() {
    static const QVector<Definition> all{
        {QStringLiteral("ttft_ns"), tr("First token"),
         tr("From the start of the first forward call to the first token being chosen from its logits. "
            "Loading "
            "and tokenizing are excluded.")},
        {QStringLiteral("step_ns"), tr("Latency per token"),
         tr("One decode forward call and the choice of the token. N new tokens are one prefill and N - 1 "
            "decode steps. Where a step serves several requests or chooses several tokens: its time x "
            "requests "
            "served / tokens chosen, which is what a request waits for one token.")},
        {QStringLiteral("tpot_ns"), tr("Time per token (TPOT)"),
         tr("Sum over a repetition's decode steps of time x requests served, divided by the tokens they "
            "chose: the "
            "mean time that a request waits for one token. Median, minimum, maximum and interquartile range "
            "are "
            "over repetitions.")},
        {QStringLiteral("decode_tok_s"), tr("Tokens per second"),
         tr("Tokens of all requests chosen in decode steps, divided by the sum of these steps' times. First "
            "tokens "
            "are not among them.")},
        {QStringLiteral("total_tok_s"), tr("Tokens per second, prefill included"),
         tr("All new tokens of all requests, divided by the sum of the times of all steps.")},
        {QStringLiteral("queue_ns"), tr("Queue wait"),
         tr("From a request's arrival to the start of its first forward call. Median over requests and "
            "repetitions.")},
        {QStringLiteral("e2e_ns"), tr("Total time"),
         tr("Time to the first token and all decode steps, added up.")},
        {QStringLiteral("speed_up"), tr("Speed-up"),
         tr("How many times faster than the reference lane a lane makes tokens: decode time per token, "
            "median over "
            "repetitions. Shown where both made the same tokens, or where the lane is not meant to be equal, "
            "which "
            "is then said.")},
        {QStringLiteral("positions_forwarded"), tr("Positions forwarded"),
         tr("Token rows pushed through the blocks: for a prompt of P tokens, a naive lane forwards P, P + 1, "
            "...; "
            "a cached lane P, then 1 per step.")},
        {QStringLiteral("score_cells"), tr("Score cells"),
         tr("Query-key pairs that causality allows, and those actually computed, per head and layer.")},
        {QStringLiteral("kv_bytes_live"), tr("KV live"),
         tr("2 x layers x KV heads x head dimension x valid tokens x bytes per element, with scales and "
            "recent "
            "entries in full precision where a cache has them; checked against the tensors after every "
            "append.")},
        {QStringLiteral("kv_bytes_reserved"), tr("KV reserved"),
         tr("Bytes the cache has allocated, used or not.")},
        {QStringLiteral("kv_bytes_copied"), tr("KV copied"),
         tr("Bytes moved because the cache had to grow, a shared block was written or rows were reordered, "
            "since "
            "the start of the repetition.")},
        {QStringLiteral("kv_bytes_meta"), tr("KV tables"),
         tr("Block tables, reference counts, the index of prefixes and the positions of slots.")},
        {QStringLiteral("tensor_bytes"), tr("Tensor bytes"),
         tr("Live bytes of the tensors of all lanes, by owner: weights, kv, activations, logits, "
            "workspace.")},
        {QStringLiteral("rss"), tr("Resident memory (RSS)"),
         tr("Pages of the process that are in memory, as the system counts them.")},
        {QStringLiteral("heap"), tr("Allocator"),
         tr("The C library's own figures: bytes handed out (in use), freed but kept for the next request "
            "(keeps), and in large blocks mapped one by one (mapped).")},
        {QStringLiteral("unaccounted"), tr("Unaccounted"),
         tr("Resident memory less tensors, less what the allocator keeps: program, libraries, window, "
            "tokenizer. Negative where tensors have pages that are not resident.")},
        {QStringLiteral("memory_share"), tr("Share"),
         tr("Bytes divided by the resident memory at the same moment, in per cent. More than 100 % together "
            "where tensors have pages that are not resident.")},
        {QStringLiteral("memory_peak"), tr("Peaks"),
         tr("Most resident and most tensor bytes at the end of any step, warm-up excluded; of equal ones the "
            "first.")},
        {QStringLiteral("minor_faults_run"), tr("Page faults of the run"),
         tr("Minor page faults of the process since the end of the run's first step.")},
        {QStringLiteral("minor_faults"), tr("Page faults"),
         tr("Minor page faults of the process during the timed part of a step.")},
        {QStringLiteral("gb_s"), tr("Read rate"),
         tr("Weights and keys and values a decode step must read at least, divided by its time; 1 GB = 10^9 "
            "bytes. The limit is the read bandwidth of main memory measured on this machine before the run; "
            "weights that fit into the processor's caches can be read faster.")},
        {QStringLiteral("drafts"), tr("Drafts kept"),
         tr("Tokens per decode step of a speculative lane, and how often the first, second, ... token of a "
            "draft "
            "was kept when it was checked.")},
        {QStringLiteral("quality"), tr("Distance of an approximate lane"),
         tr("Over all compared tokens: mean Kullback-Leibler divergence of the lane's probabilities from the "
            "reference's in nats, share of tokens with the same likeliest token, and root mean square change "
            "of "
            "the probability of the token that the reference chose.")},
        {QStringLiteral("relative_error"), tr("Logit error"),
         tr("Largest difference of a step's logits from the reference lane's, divided by the standard "
            "deviation "
            "of the reference's logits.")},
        {QStringLiteral("top2_margin"), tr("Margin of the top token"),
         tr("Largest minus second largest logit of the reference. An error of half the margin can put "
            "another "
            "token on top.")},
        {QStringLiteral("call_error"), tr("Logit error by call"),
         tr("Largest difference of a forward call's logits from those that its tokens give when they are "
            "recomputed "
            "in one call without a cache, divided by the standard deviation of the latter.")},
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
