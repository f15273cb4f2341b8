#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes the reference logits that the engine's forward pass is compared with.

The numbers come from an independent implementation, PyTorch and Hugging Face transformers:

    pip install torch transformers safetensors
    python3 make_goldens.py                          # the tiny random models: gpt2/*/
    python3 make_goldens.py --demo ../../resources/models/demo   # demo.safetensors

The tests need none of these packages: they read the committed files.

Each folder gpt2/NAME is a model as Hugging Face programs write it, with `golden.safetensors` beside it:
`prompt.I` (I64, [T]) and `logits.I` (F32, [T, vocab]) for several prompts. Weights stored in F16 or BF16
are read back from the file first, so the reference sees the rounded weights; it then computes in F64.
Every parameter is random, biases and norms included, so that a part which is left out shows.
"""

import argparse
import hashlib
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
            if "ln_" in name and name.endswith("weight"):
                parameter.copy_(1 + 0.2 * noise)
            elif name.endswith("bias"):
                parameter.copy_(0.2 * noise)
            elif "wte" in name or "wpe" in name or "lm_head" in name:
                parameter.copy_(0.5 * noise)
            else:
                parameter.copy_(noise / parameter.shape[0] ** 0.5)


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
    metadata |= {"torch": torch.__version__, "transformers": transformers.__version__}
    save_file(tensors, path, metadata=metadata)


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


def make_demo(folder):
    text = "It is a truth universally acknowledged, that"
    weights = folder / "model.safetensors"
    tokenizer = transformers.GPT2Tokenizer(str(folder / "vocab.json"), str(folder / "merges.txt"))
    ids = tokenizer(text)["input_ids"]
    logits = reference_logits(read_back(folder), [ids])
    digest = hashlib.sha256(weights.read_bytes()).hexdigest()
    save_golden(HERE / "demo.safetensors", [ids], logits, text=text, model="sha256:" + digest)
    print(json.dumps({"text": text, "ids": ids, "model": digest}))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--demo", type=Path, help="folder of the demo model: make demo.safetensors only")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    if arguments.demo is not None:
        make_demo(arguments.demo)
    else:
        make_tiny_models()


if __name__ == "__main__":
    main()
