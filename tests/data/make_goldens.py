#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes the reference numbers that the engine is compared with.

The numbers come from an independent implementation, PyTorch and Hugging Face transformers:

    pip install torch transformers safetensors
    python3 make_goldens.py                          # the tiny random models: gpt2/*/ and llama/*/
    python3 make_goldens.py --llama                  # llama/*/ only
    python3 make_goldens.py --sampling               # sampling.safetensors
    python3 make_goldens.py --demo ../../resources/models/demo   # demo*.safetensors
    pip install gguf && python3 make_goldens.py --gguf           # ggml_types.safetensors

The tests need none of these packages: they read the committed files.

Each folder gpt2/NAME or llama/NAME is a model as Hugging Face programs write it, with `golden.safetensors` beside it:
`prompt.I` (I64, [T]) and `logits.I` (F32, [T, vocab]) for several prompts. Weights stored in F16 or BF16
are read back from the file first, so the reference sees the rounded weights; it then computes in F64.
Every parameter is random, biases and norms included, so that a part which is left out shows.

`sampling.safetensors` holds what the logits processors and warpers of transformers make of rows of logits:
`logits` (F32, [rows, vocab]), `history` (I64, [rows, 24], -1 = nothing), `settings` (F64, [cases, 5]: top_k,
top_p, min_p, temperature, repetition penalty; 0 or 1 = off) and `log_probs` (F32, [cases, rows, vocab], -inf =
filtered out).

`ggml_types.safetensors` holds, for each tensor type of GGUF files that the engine reads, `TYPE.blocks` (U8, [n]), bytes
of whole blocks, and `TYPE.values` (F32, [m]), what the package gguf makes of them.

`demo_generations.safetensors` and `demo_beams.safetensors`: see make_demo_generations and make_demo_beams.
"""

import argparse
import hashlib
import importlib.metadata
import json
import shutil
from pathlib import Path

import torch
import transformers
from safetensors.torch import load_file, save_file

HERE = Path(__file__).resolve().parent
VOCAB = 61
N_POSITIONS = 32

CASES = {
    # 2 layers of 2 heads, 8 wide: the plainest form, names without a prefix
    "plain-f32": dict(config=dict(n_layer=2, n_embd=16, n_head=2), dtype=torch.float32, prefix=False),
    # 3 layers, head_dim 32, a head of its own, exact GELU
    "untied-f32": dict(
        config=dict(n_layer=3, n_embd=32, n_head=1, n_inner=48, activation_function="gelu", tie_word_embeddings=False),
        dtype=torch.float32,
        prefix=True,
    ),
    "inner-f16": dict(config=dict(n_layer=2, n_embd=24, n_head=3, n_inner=40), dtype=torch.float16, prefix=True),
    # attention also scaled by the layer's number, and an epsilon that differs from the default
    "scaled-bf16": dict(
        config=dict(
            n_layer=3, n_embd=64, n_head=2, n_inner=64, scale_attn_by_inverse_layer_idx=True, layer_norm_epsilon=3e-3
        ),
        dtype=torch.bfloat16,
        prefix=False,
    ),
    # as old exports look: mask buffers and the tied head are stored too; scores are not scaled
    "buffers-f32": dict(
        config=dict(n_layer=2, n_embd=16, n_head=2, activation_function="relu", scale_attn_weights=False),
        dtype=torch.float32,
        prefix=True,
        buffers=True,
    ),
    "sharded-f16": dict(
        config=dict(n_layer=2, n_embd=16, n_head=2, tie_word_embeddings=False),
        dtype=torch.float16,
        prefix=True,
        shards="6KB",
    ),
}


def randomise(model, seed):
    """Random values for every parameter, large enough that no part of the model is negligible."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            noise = torch.randn(parameter.shape, generator=generator)
            if ("ln_" in name or "norm" in name) and name.endswith("weight"):
                parameter.copy_(1 + 0.2 * noise)
            elif name.endswith("bias"):
                parameter.copy_(0.2 * noise)
            elif "wte" in name or "wpe" in name or "embed_tokens" in name or "lm_head" in name:
                parameter.copy_(0.5 * noise)
            else:
                n_in = parameter.shape[0] if ".h." in name else parameter.shape[1]  # GPT-2 keeps it first
                parameter.copy_(noise / n_in**0.5)


def save_model(model, case, folder):
    model = model.to(case["dtype"])
    if "shards" in case:
        model.save_pretrained(folder, max_shard_size=case["shards"])
        return
    model.config.save_pretrained(folder)
    tensors = {}
    for name, tensor in model.state_dict().items():
        if name == "lm_head.weight" and model.config.tie_word_embeddings and not case.get("buffers"):
            continue
        tensors[name if case["prefix"] else name.removeprefix("transformer.")] = tensor.clone().contiguous()
    if case.get("buffers"):
        for layer in range(model.config.n_layer):
            mask = torch.tril(torch.ones(N_POSITIONS, N_POSITIONS, dtype=torch.uint8))
            tensors[f"transformer.h.{layer}.attn.bias"] = mask.view(1, 1, N_POSITIONS, N_POSITIONS)
            tensors[f"transformer.h.{layer}.attn.masked_bias"] = torch.tensor(-1e4)
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})


def read_back(folder):
    """The model as stored, in F64. The weights are placed by name here, so that a loader which leaves some
    of them at their initial values cannot pass."""
    config = transformers.AutoConfig.from_pretrained(folder)
    config._attn_implementation = "eager"
    model = transformers.GPT2LMHeadModel(config)
    stored = {}
    for file in sorted(folder.glob("model*.safetensors")):
        stored.update(load_file(file))
    named = {}
    for name, tensor in stored.items():
        if name.endswith((".attn.bias", ".attn.masked_bias")):
            continue
        known = name.startswith("transformer.") or name == "lm_head.weight"
        named[name if known else "transformer." + name] = tensor.double()
    if config.tie_word_embeddings:
        named["lm_head.weight"] = named["transformer.wte.weight"]
    model = model.double()
    model.load_state_dict(named, strict=True)
    return model.eval()


def reference_logits(model, prompts):
    with torch.no_grad():
        return [model(torch.tensor([ids])).logits[0] for ids in prompts]


def save_golden(path, prompts, logits, **metadata):
    tensors = {}
    for i, (ids, rows) in enumerate(zip(prompts, logits)):
        tensors[f"prompt.{i}"] = torch.tensor(ids, dtype=torch.int64)
        tensors[f"logits.{i}"] = rows.float().contiguous()
    save_file(tensors, path, metadata=metadata | versions())


def versions():
    return {"torch": torch.__version__, "transformers": transformers.__version__}


def make_tiny_models():
    for seed, (name, case) in enumerate(CASES.items(), start=1):
        folder = HERE / "gpt2" / name
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        config = transformers.GPT2Config(
            vocab_size=VOCAB,
            n_positions=N_POSITIONS,
            bos_token_id=VOCAB - 1,
            eos_token_id=VOCAB - 1,
            **case["config"],
        )
        config.architectures = ["GPT2LMHeadModel"]
        model = transformers.GPT2LMHeadModel(config)
        randomise(model, seed)
        save_model(model, case, folder)
        generator = torch.Generator().manual_seed(100 + seed)
        prompts = [torch.randint(VOCAB, (n,), generator=generator).tolist() for n in (1, 7, N_POSITIONS)]
        logits = reference_logits(read_back(folder), prompts)
        save_golden(folder / "golden.safetensors", prompts, logits)
        size = sum(file.stat().st_size for file in folder.iterdir())
        print(f"{name}: {size} bytes, standard deviation of the logits {logits[-1].std():.3g}")


ROPE_LINEAR = {"rope_type": "linear", "factor": 4.0}
ROPE_LLAMA3 = {
    "rope_type": "llama3",
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 16,
}
ROPE_YARN = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 16, "beta_fast": 4.0}
YARN_MSCALE = {"mscale": 1.3, "mscale_all_dim": 0.7, "truncate": False}

# `old` writes the rope fields of config.json as transformers 4 did: rope_theta beside rope_scaling
LLAMA_CASES = {
    "one-kv-head-f32": dict(
        kind="Llama", heads=4, kv_heads=1, head_dim=4, tied=True, dtype=torch.float32, prefix=False, buffers=True
    ),
    "two-kv-heads-bf16": dict(kind="Llama", heads=4, kv_heads=2, head_dim=8, tied=True, dtype=torch.bfloat16),
    # the heads are narrower than the model together, and the head is apart
    "untied-f16": dict(kind="Llama", heads=3, kv_heads=3, head_dim=10, hidden=24, theta=500.0, dtype=torch.float16),
    "biases-f32": dict(kind="Llama", heads=2, kv_heads=2, biases=True, dtype=torch.float32),
    "linear-old-f32": dict(
        kind="Llama", heads=2, kv_heads=1, positions=64, rope=ROPE_LINEAR, old="type", dtype=torch.float32
    ),
    "llama3-old-f32": dict(
        kind="Llama", heads=2, kv_heads=1, head_dim=16, positions=64, rope=ROPE_LLAMA3, old="rope_type",
        dtype=torch.float32,
    ),
    "llama3-f32": dict(
        kind="Llama", heads=2, kv_heads=2, head_dim=16, positions=64, rope=ROPE_LLAMA3, dtype=torch.float32
    ),
    "yarn-f32": dict(kind="Llama", heads=2, kv_heads=1, head_dim=16, positions=64, rope=ROPE_YARN, dtype=torch.float32),
    "yarn-mscale-f32": dict(
        kind="Qwen2", heads=2, kv_heads=1, head_dim=16, positions=64, rope=ROPE_YARN | YARN_MSCALE,
        dtype=torch.float32,
    ),
    "qwen2-f32": dict(kind="Qwen2", heads=4, kv_heads=2, theta=1e6, tied=True, dtype=torch.float32),
    "qwen2-window-f32": dict(kind="Qwen2", heads=2, kv_heads=1, window=5, dtype=torch.float32),
    "mistral-f32": dict(kind="Mistral", heads=4, kv_heads=2, head_dim=6, window=6, dtype=torch.float32),
    "sharded-bf16": dict(kind="Mistral", heads=2, kv_heads=1, window=None, dtype=torch.bfloat16, shards="4KB"),
}


def llama_config(case):
    classes = {"Llama": transformers.LlamaConfig, "Mistral": transformers.MistralConfig, "Qwen2": transformers.Qwen2Config}
    settings = dict(
        vocab_size=VOCAB,
        hidden_size=case.get("hidden", 16),
        intermediate_size=28,
        num_hidden_layers=2,
        num_attention_heads=case["heads"],
        num_key_value_heads=case["kv_heads"],
        max_position_embeddings=case.get("positions", N_POSITIONS),
        rms_norm_eps=1e-5,
        tie_word_embeddings=case.get("tied", False),
        rope_parameters={"rope_theta": case.get("theta", 10000.0)} | case.get("rope", {"rope_type": "default"}),
        bos_token_id=VOCAB - 1,
        eos_token_id=[VOCAB - 1, VOCAB - 2],
        pad_token_id=None,
    )
    if "head_dim" in case:
        settings["head_dim"] = case["head_dim"]
    if "window" in case:
        settings["sliding_window"] = case["window"]
        if case["kind"] == "Qwen2":
            settings |= dict(use_sliding_window=True, max_window_layers=0)
    if case.get("biases"):
        settings |= dict(attention_bias=True, mlp_bias=True)
    config = classes[case["kind"]](**settings)
    config.architectures = [case["kind"] + "ForCausalLM"]
    return config


def as_older_programs_wrote(path, key):
    """Moves the rope fields of a config.json to where transformers 4 put them."""
    config = json.loads(path.read_text())
    rope = config.pop("rope_parameters")
    config["rope_theta"] = rope.pop("rope_theta")
    config["rope_scaling"] = {key if name == "rope_type" else name: value for name, value in rope.items()}
    path.write_text(json.dumps(config, indent=2) + "\n")


def save_llama(model, case, folder):
    model = model.to(case["dtype"])
    if "shards" in case:
        model.save_pretrained(folder, max_shard_size=case["shards"])
    else:
        model.config.dtype = case["dtype"]
        model.config.save_pretrained(folder)
        tensors = {}
        for name, tensor in model.state_dict().items():
            if name == "lm_head.weight" and model.config.tie_word_embeddings:
                continue
            tensors[name if case.get("prefix", True) else name.removeprefix("model.")] = tensor.clone().contiguous()
        if case.get("buffers"):
            for layer in range(model.config.num_hidden_layers):
                tensors[f"layers.{layer}.self_attn.rotary_emb.inv_freq"] = torch.ones(case["head_dim"] // 2)
        save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    if "old" in case:
        as_older_programs_wrote(folder / "config.json", case["old"])


def read_back_llama(folder):
    """The model as stored, in F64; as read_back, the weights are placed by name here."""
    config = transformers.AutoConfig.from_pretrained(folder)
    config._attn_implementation = "eager"
    model = transformers.AutoModelForCausalLM.from_config(config)
    named = {}
    for file in sorted(folder.glob("model*.safetensors")):
        for name, tensor in load_file(file).items():
            if not name.endswith("inv_freq"):
                known = name.startswith("model.") or name == "lm_head.weight"
                named[name if known else "model." + name] = tensor.double()
    if config.tie_word_embeddings:
        named["lm_head.weight"] = named["model.embed_tokens.weight"]
    model = model.double()
    model.load_state_dict(named, strict=True)
    return model.eval()


def make_llama_models():
    for seed, (name, case) in enumerate(LLAMA_CASES.items(), start=1):
        folder = HERE / "llama" / name
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        config = llama_config(case)
        model = transformers.AutoModelForCausalLM.from_config(config)
        randomise(model, 50 + seed)
        save_llama(model, case, folder)
        generator = torch.Generator().manual_seed(150 + seed)
        lengths = (1, 7, config.max_position_embeddings)
        prompts = [torch.randint(VOCAB, (n,), generator=generator).tolist() for n in lengths]
        logits = reference_logits(read_back_llama(folder), prompts)
        save_golden(folder / "golden.safetensors", prompts, logits)
        size = sum(file.stat().st_size for file in folder.iterdir())
        print(f"{name}: {size} bytes, standard deviation of the logits {logits[-1].std():.3g}")


def make_demo(folder):
    text = "It is a truth universally acknowledged, that"
    weights = folder / "model.safetensors"
    tokenizer = transformers.GPT2Tokenizer(str(folder / "vocab.json"), str(folder / "merges.txt"))
    ids = tokenizer(text)["input_ids"]
    model = read_back(folder)
    logits = reference_logits(model, [ids])
    digest = "sha256:" + hashlib.sha256(weights.read_bytes()).hexdigest()
    save_golden(HERE / "demo.safetensors", [ids], logits, text=text, model=digest)
    print(json.dumps({"text": text, "ids": ids, "model": digest}))
    make_demo_generations(folder, model, digest)
    make_demo_beams(folder, model, digest)


# top_k, top_p, min_p, temperature, repetition penalty
SAMPLING_CASES = [
    (0, 1.0, 0.0, 1.0, 1.0),
    (0, 1.0, 0.0, 0.7, 1.0),
    (0, 1.0, 0.0, 3.0, 1.0),
    (5, 1.0, 0.0, 1.0, 1.0),
    (1, 1.0, 0.0, 1.3, 1.0),
    (100, 1.0, 0.0, 1.0, 1.0),  # more than there are
    (0, 0.9, 0.0, 1.0, 1.0),
    (0, 0.05, 0.0, 1.0, 1.0),
    (0, 1e-6, 0.0, 5.0, 1.0),  # one token is kept whatever is asked for
    (0, 0.999, 0.0, 2.0, 1.0),
    (0, 1.0, 0.1, 1.0, 1.0),
    (0, 1.0, 0.99, 0.5, 1.0),
    (0, 1.0, 0.0, 1.0, 1.3),
    (0, 1.0, 0.0, 1.0, 0.6),  # rewards what is repeated
    (10, 0.8, 0.0, 0.9, 1.0),
    (20, 0.95, 0.05, 1.2, 1.1),
    (7, 0.5, 0.3, 0.8, 2.0),
    (0, 0.7, 0.2, 1.5, 1.5),
]


def make_sampling():
    """The filters, in the order in which generate() applies them."""
    generator = torch.Generator().manual_seed(21)
    scale = torch.tensor([0.5, 2.0, 4.0, 8.0]).unsqueeze(1)
    logits = torch.randn(4, VOCAB, generator=generator) * scale
    lengths = [1, 7, 24, 12]
    histories = [torch.randint(VOCAB, (length,), generator=generator) for length in lengths]
    histories[1][3:] = histories[1][0]  # an id that comes often counts once
    histories[3][0] = logits[3].argmax()
    cases = []
    for top_k, top_p, min_p, temperature, penalty in SAMPLING_CASES:
        steps = transformers.LogitsProcessorList()
        if penalty != 1:
            steps.append(transformers.RepetitionPenaltyLogitsProcessor(penalty))
        if temperature != 1:
            steps.append(transformers.TemperatureLogitsWarper(temperature))
        if top_k != 0:
            steps.append(transformers.TopKLogitsWarper(top_k))
        if top_p != 1:
            steps.append(transformers.TopPLogitsWarper(top_p))
        if min_p != 0:
            steps.append(transformers.MinPLogitsWarper(min_p))
        rows = [steps(ids.unsqueeze(0), row.unsqueeze(0))[0] for ids, row in zip(histories, logits)]
        cases.append(torch.stack(rows).log_softmax(-1))
    padded = torch.full((len(lengths), max(lengths)), -1, dtype=torch.int64)
    for row, ids in zip(padded, histories):
        row[: len(ids)] = ids
    tensors = {
        "logits": logits,
        "history": padded,
        "settings": torch.tensor(SAMPLING_CASES, dtype=torch.float64),
        "log_probs": torch.stack(cases).contiguous(),
    }
    save_file(tensors, HERE / "sampling.safetensors", metadata=versions())
    kept = torch.stack(cases).isfinite().sum(-1)
    print("tokens kept per case and row:", kept.tolist())


RAGGED = (3, 7, 12, 19)
BOOK = (
    "It is a truth universally acknowledged, that a single man in possession of a good fortune, must be in want "
    "of a wife. "
    "However little known the feelings or views of such a man may be on his first entering a neighbourhood"
)


def ragged_prompts(folder):
    """Four prompts of RAGGED tokens, each from another place of a text."""
    tokenizer = transformers.GPT2Tokenizer(str(folder / "vocab.json"), str(folder / "merges.txt"))
    ids = tokenizer(BOOK)["input_ids"]
    return [ids[start : start + length] for start, length in zip((0, 5, 11, 2), RAGGED)]


def greedy_batch(model, prompts, n_new):
    """Greedy generation of a left-padded batch by generate(); eos is the pad and never stops it."""
    pad = model.config.eos_token_id
    width = max(len(ids) for ids in prompts)
    tokens = torch.tensor([[pad] * (width - len(ids)) + ids for ids in prompts])
    mask = torch.tensor([[0] * (width - len(ids)) + [1] * len(ids) for ids in prompts])
    out = model.generate(
        tokens,
        attention_mask=mask,
        generation_config=transformers.GenerationConfig(
            max_new_tokens=n_new,
            do_sample=False,
            num_beams=1,
            pad_token_id=pad,
            bos_token_id=pad,
            eos_token_id=None,
            return_dict_in_generate=True,
            output_logits=True,
        ),
    )
    logits = torch.stack(out.logits, dim=1)  # [batch, n_new, vocab]
    return out.sequences[:, width:], logits


def make_demo_generations(folder, model, digest, n_new=64, steps=(0, 1, 40)):
    """demo_generations.safetensors: `prompt.I` (I64, [n_prompt]) for four ragged prompts; `alone.I` and
    `batch.I` (I64, [64]), the greedy answer of prompt I by itself and as a row of the left-padded batch;
    `logits.steps` (I64, [3]), `logits.batch` and `logits.alone` (F32, [4, 3, vocab]), the logits from which
    those new tokens were taken (0 = by the prefill)."""
    prompts = ragged_prompts(folder)
    with torch.no_grad():
        batch, batch_logits = greedy_batch(model, prompts, n_new)
        alone = [greedy_batch(model, [ids], n_new) for ids in prompts]
    tensors = {"logits.steps": torch.tensor(steps, dtype=torch.int64)}
    for i, ids in enumerate(prompts):
        tensors[f"prompt.{i}"] = torch.tensor(ids, dtype=torch.int64)
        tensors[f"alone.{i}"] = alone[i][0][0].clone()
        tensors[f"batch.{i}"] = batch[i].clone()
    tensors["logits.batch"] = batch_logits[:, list(steps)].float().contiguous()
    tensors["logits.alone"] = torch.stack([logits[0, list(steps)] for _, logits in alone]).float().contiguous()
    save_file(tensors, HERE / "demo_generations.safetensors", metadata=versions() | {"model": digest})
    top = torch.cat([logits for _, logits in alone]).topk(2).values
    print("batched = alone:", [bool((batch[i] == alone[i][0][0]).all()) for i in range(len(prompts))])
    print("largest difference of the logits:", float((tensors["logits.batch"] - tensors["logits.alone"]).abs().max()))
    print("smallest margin of the greedy tokens:", float((top[..., 0] - top[..., 1]).min()))


def make_demo_beams(folder, model, digest, n_new=16, n_beams=4):
    """demo_beams.safetensors: for two prompts, `prompt.I` (I64, [n_prompt]), `sequences.I` (I64, [4, 16]), the
    four beams of generate(num_beams=4, length_penalty=0) from the best down, which never stop early, and
    `log_probs.I` (F64, [4]), each the sum of its tokens' log-probabilities, computed by one forward pass."""
    tensors = {}
    for i, ids in enumerate(ragged_prompts(folder)[1:3]):
        with torch.no_grad():
            out = model.generate(
                torch.tensor([ids]),
                attention_mask=torch.ones(1, len(ids), dtype=torch.int64),
                generation_config=transformers.GenerationConfig(
                    max_new_tokens=n_new,
                    do_sample=False,
                    num_beams=n_beams,
                    num_return_sequences=n_beams,
                    length_penalty=0.0,
                    early_stopping=False,
                    pad_token_id=model.config.eos_token_id,
                    bos_token_id=model.config.eos_token_id,
                    eos_token_id=None,
                    return_dict_in_generate=True,
                    output_scores=True,
                ),
            )
            logits = model(out.sequences).logits[:, len(ids) - 1 : -1].double()
        new = out.sequences[:, len(ids) :]
        sums = logits.log_softmax(-1).gather(-1, new.unsqueeze(-1)).squeeze(-1).sum(-1)
        tensors[f"prompt.{i}"] = torch.tensor(ids, dtype=torch.int64)
        tensors[f"sequences.{i}"] = new.contiguous()
        tensors[f"log_probs.{i}"] = sums
        print("beams:", sums.tolist(), "generate says", out.sequences_scores.tolist())
    save_file(tensors, HERE / "demo_beams.safetensors", metadata=versions() | {"model": digest})


# type: where its blocks hold 16-bit floats, which must be finite
GGUF_TYPES = {
    "F32": None,
    "F16": [0],
    "BF16": None,
    "Q4_0": [0],
    "Q4_1": [0, 2],
    "Q5_0": [0],
    "Q5_1": [0, 2],
    "Q8_0": [0],
    "Q2_K": [80, 82],
    "Q3_K": [108],
    "Q4_K": [0, 2],
    "Q5_K": [0, 2],
    "Q6_K": [208],
}


def random_blocks(name, size, n_block, generator):
    """Blocks of random bits: every bit of the packed fields is exercised, and scales of all magnitudes, signs and
    subnormals. F32 and BF16 avoid the exponent of infinities and NaN."""
    blocks = torch.randint(256, (n_block, size), dtype=torch.uint8, generator=generator).numpy()
    if name in ("F32", "BF16"):
        blocks[:, -1] &= 0xBF  # the top exponent bit is off
    for offset in GGUF_TYPES[name] or []:
        blocks[:, offset + 1] &= 0xBF
        blocks[0, offset : offset + 2] = (1, 0x80)  # the smallest subnormal, negative
        blocks[1, offset : offset + 2] = (0, 0x80)  # negative zero
        blocks[2, offset : offset + 2] = (0xFF, 0x7B)  # the largest
    return blocks


def make_gguf():
    """ggml_types.safetensors: see the top."""
    from gguf import GGML_QUANT_SIZES, GGMLQuantizationType, quants

    generator = torch.Generator().manual_seed(4)
    tensors = {}
    for name in GGUF_TYPES:
        kind = GGMLQuantizationType[name]
        elements, size = GGML_QUANT_SIZES[kind]
        blocks = random_blocks(name, size, {1: 64, 32: 16, 256: 6}[elements], generator)
        values = quants.dequantize(blocks.reshape(1, -1), kind).reshape(-1)
        tensors[f"{name}.blocks"] = torch.from_numpy(blocks.reshape(-1).copy())
        tensors[f"{name}.values"] = torch.from_numpy(values.astype("float32"))
        assert values.size == blocks.shape[0] * elements and abs(values).max() < float("inf")
    save_file(tensors, HERE / "ggml_types.safetensors", metadata={"gguf": importlib.metadata.version("gguf")})


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--demo", type=Path, help="folder of the demo model: make its files only")
    parser.add_argument("--sampling", action="store_true", help="make sampling.safetensors only")
    parser.add_argument("--gguf", action="store_true", help="make ggml_types.safetensors only")
    parser.add_argument("--llama", action="store_true", help="make the models of the Llama family only")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    if arguments.demo is not None:
        make_demo(arguments.demo)
    elif arguments.sampling:
        make_sampling()
    elif arguments.gguf:
        make_gguf()
    elif arguments.llama:
        make_llama_models()
    else:
        make_tiny_models()
        make_llama_models()
        make_sampling()


if __name__ == "__main__":
    main()
