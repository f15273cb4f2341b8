#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes the tiny models of make_goldens.py as GGUF files, and one of mixed tensor types with logits of its own.

    pip install torch transformers safetensors gguf
    python3 make_gguf_models.py

gguf/FAMILY.NAME.gguf is the model FAMILY/NAME; its logits are in FAMILY/NAME/golden.safetensors. Tensors are named,
ordered and turned as programs that convert to GGUF do: of the architecture llama the rows of the query and key
projections are reordered for rotary pairs of neighbours, and llama3 scaling becomes the tensor rope_freqs.weight.

gguf/mixed.gguf has tensors of every quantised type. Blocks are random bits with small scales; the package gguf turns
them into the numbers with which transformers computes gguf/mixed.safetensors, in F64 as make_goldens.py does.
"""

import json
import math
from pathlib import Path

import gguf
import numpy
import torch
import transformers
from gguf import GGML_QUANT_SIZES, GGMLQuantizationType
from safetensors.torch import load_file

from make_goldens import GGUF_TYPES, HERE, VOCAB, llama_config, randomise, reference_logits, save_golden

GPT2 = ["plain-f32", "sharded-f16"]  # the others use what GGUF files cannot say
LLAMA = [
    "one-kv-head-f32", "two-kv-heads-bf16", "untied-f16", "biases-f32", "linear-old-f32", "llama3-f32", "yarn-f32",
    "qwen2-f32", "qwen2-window-f32", "mistral-f32",
]
GPT2_NAMES = {
    "wte": "token_embd", "wpe": "position_embd", "ln_f": "output_norm", "lm_head": "output", "ln_1": "attn_norm",
    "attn.c_attn": "attn_qkv", "attn.c_proj": "attn_output", "ln_2": "ffn_norm", "mlp.c_fc": "ffn_up",
    "mlp.c_proj": "ffn_down",
}
LLAMA_NAMES = {
    "embed_tokens": "token_embd", "norm": "output_norm", "lm_head": "output", "input_layernorm": "attn_norm",
    "self_attn.q_proj": "attn_q", "self_attn.k_proj": "attn_k", "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output", "post_attention_layernorm": "ffn_norm", "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up", "mlp.down_proj": "ffn_down",
}  # fmt: skip


def gguf_name(name, names, layer):
    """(name in GGUF, name of the part) of a tensor of a Hugging Face folder."""
    name = name.removeprefix("transformer.").removeprefix("model.")
    part, _, suffix = name.rpartition(".")
    if not part.startswith(layer):
        return f"{names[part]}.{suffix}", part
    _, number, part = part.split(".", 2)
    return f"blk.{number}.{names[part]}.{suffix}", part


def as_neighbours(rows, n_head):
    """Reorders the rows of every head, so that row 2 i + j is what was row j * head_dim / 2 + i."""
    head_dim = rows.shape[0] // n_head
    order = [
        head * head_dim + j * head_dim // 2 + i
        for head in range(n_head)
        for i in range(head_dim // 2)
        for j in range(2)
    ]
    return rows[order]


def add_tensor(writer, name, tensor):
    if tensor.dtype == torch.bfloat16:
        raw = tensor.contiguous().view(torch.uint8).numpy()
        writer.add_tensor(name, raw, raw_dtype=GGMLQuantizationType.BF16)
    else:
        writer.add_tensor(name, tensor.contiguous().numpy())


def write(writer):
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def stored_tensors(folder):
    tensors = {}
    for file in sorted(folder.glob("model*.safetensors")):
        tensors.update(load_file(file))
    return tensors


def write_gpt2(name):
    folder = HERE / "gpt2" / name
    config = json.loads((folder / "config.json").read_text())
    assert config["activation_function"] == "gelu_new" and not config["scale_attn_by_inverse_layer_idx"]
    writer = gguf.GGUFWriter(HERE / "gguf" / f"gpt2.{name}.gguf", "gpt2")
    writer.add_context_length(config["n_positions"])
    writer.add_embedding_length(config["n_embd"])
    writer.add_block_count(config["n_layer"])
    writer.add_feed_forward_length(config["n_inner"] or 4 * config["n_embd"])
    writer.add_head_count(config["n_head"])
    writer.add_layer_norm_eps(config["layer_norm_epsilon"])
    writer.add_eos_token_id(config["eos_token_id"])
    for key, tensor in stored_tensors(folder).items():
        new, part = gguf_name(key, GPT2_NAMES, "h.")
        turned = part.startswith(("attn.", "mlp.")) and key.endswith("weight")
        add_tensor(writer, new, tensor.T if turned else tensor)
    write(writer)


def add_llama_keys(writer, config, arch):
    head_dim = config.get("head_dim") or config["hidden_size"] // config["num_attention_heads"]
    writer.add_context_length(config["max_position_embeddings"])
    writer.add_embedding_length(config["hidden_size"])
    writer.add_block_count(config["num_hidden_layers"])
    writer.add_feed_forward_length(config["intermediate_size"])
    writer.add_head_count(config["num_attention_heads"])
    writer.add_head_count_kv(config["num_key_value_heads"])
    writer.add_key_length(head_dim)
    writer.add_value_length(head_dim)
    writer.add_layer_norm_rms_eps(config["rms_norm_eps"])
    writer.add_rope_dimension_count(head_dim)
    rope = config.get("rope_parameters") or config["rope_scaling"] | {"rope_theta": config["rope_theta"]}
    writer.add_rope_freq_base(rope["rope_theta"])
    kind = rope.get("rope_type") or rope.get("type")
    if kind in ("linear", "yarn"):
        writer.add_rope_scaling_type(gguf.RopeScalingType(kind))
        writer.add_rope_scaling_factor(rope["factor"])
    if kind == "yarn":
        writer.add_rope_scaling_orig_ctx_len(rope["original_max_position_embeddings"])
        writer.add_float32(f"{arch}.rope.scaling.yarn_beta_fast", rope["beta_fast"])
    if kind == "llama3":
        writer.add_tensor("rope_freqs.weight", llama3_divisors(rope, head_dim))
    if config.get("sliding_window"):
        writer.add_sliding_window(config["sliding_window"])
    eos = config["eos_token_id"]
    for key, token in zip(("eos", "eot"), eos if isinstance(eos, list) else [eos]):
        writer.add_uint32(f"tokenizer.ggml.{key}_token_id", token)


def llama3_divisors(rope, head_dim):
    divisors = []
    for i in range(0, head_dim, 2):
        wavelength = 2 * math.pi * rope["rope_theta"] ** (i / head_dim)
        turns = rope["original_max_position_embeddings"] / wavelength
        low, high = rope["low_freq_factor"], rope["high_freq_factor"]
        if turns > high:
            divisors.append(1.0)
        elif turns < low:
            divisors.append(rope["factor"])
        else:
            keep = (turns - low) / (high - low)
            divisors.append(1 / ((1 - keep) / rope["factor"] + keep))
    return numpy.array(divisors, dtype=numpy.float32)


def write_llama(name):
    folder = HERE / "llama" / name
    config = json.loads((folder / "config.json").read_text())
    arch = "qwen2" if config["model_type"] == "qwen2" else "llama"
    writer = gguf.GGUFWriter(HERE / "gguf" / f"llama.{name}.gguf", arch)
    add_llama_keys(writer, config, arch)
    heads = {"self_attn.q_proj": config["num_attention_heads"], "self_attn.k_proj": config["num_key_value_heads"]}
    for key, tensor in stored_tensors(folder).items():
        if key.endswith("inv_freq"):
            continue
        new, part = gguf_name(key, LLAMA_NAMES, "layers.")
        if arch == "llama" and part in heads:
            tensor = as_neighbours(tensor, heads[part])
        add_tensor(writer, new, tensor)
    write(writer)


def small_blocks(name, n_value, generator, spread):
    """Blocks of random bits whose scales make values of about that spread."""
    elements, size = GGML_QUANT_SIZES[GGMLQuantizationType[name]]
    blocks = torch.randint(256, (n_value // elements, size), dtype=torch.uint8, generator=generator).numpy()
    largest = {"Q4_0": 8, "Q4_1": 8, "Q5_0": 16, "Q5_1": 16, "Q8_0": 128, "Q2_K": 24, "Q3_K": 64, "Q4_K": 256,
               "Q5_K": 512, "Q6_K": 2048}[name]  # fmt: skip
    scale = numpy.array([spread / largest, -spread / 2], dtype=numpy.float16)
    if name in ("Q2_K", "Q4_K", "Q5_K"):
        scale[1] = spread / 48  # what the other field multiplies with is subtracted
    for which, offset in enumerate(GGUF_TYPES[name]):
        blocks[:, offset : offset + 2] = scale[which : which + 1].view(numpy.uint8)
    return blocks


MIXED = {  # every quantised type; a row of 32 takes the small blocks, one of 256 all of them
    "embed_tokens": ["Q6_K"], "self_attn.q_proj": ["Q4_K", "Q2_K"], "self_attn.k_proj": ["Q3_K", "Q5_K"],
    "self_attn.v_proj": ["Q5_K", "Q8_0"], "self_attn.o_proj": ["Q4_0", "Q8_0"], "mlp.gate_proj": ["Q4_K", "Q3_K"],
    "mlp.up_proj": ["Q6_K", "Q4_1"], "mlp.down_proj": ["Q5_0", "Q5_1"],
}  # fmt: skip


def write_mixed():
    case = dict(kind="Llama", heads=4, kv_heads=2, head_dim=8, hidden=256, tied=True)
    config = llama_config(case)
    config.intermediate_size = 32
    model = transformers.AutoModelForCausalLM.from_config(config, attn_implementation="eager")
    randomise(model, 80)
    generator = torch.Generator().manual_seed(81)
    writer = gguf.GGUFWriter(HERE / "gguf" / "mixed.gguf", "llama")
    add_llama_keys(writer, config.to_dict(), "llama")
    heads = {"self_attn.q_proj": 4, "self_attn.k_proj": 2}
    values = {}
    for key, tensor in model.state_dict().items():
        if key == "lm_head.weight":
            continue
        new, part = gguf_name(key, LLAMA_NAMES, "layers.")
        if part not in MIXED:
            values[key] = tensor
            add_tensor(writer, new, tensor.float())
            continue
        layer = int(key.split(".")[2]) if ".layers." in key else 0
        name = MIXED[part][layer]
        kind = GGMLQuantizationType[name]
        spread = 0.5 if part == "embed_tokens" else tensor.shape[1] ** -0.5
        blocks = small_blocks(name, tensor.numel(), generator, spread).reshape(tensor.shape[0], -1)
        numbers = torch.from_numpy(gguf.quants.dequantize(blocks, kind).reshape(tensor.shape))
        if part in heads:  # the file holds the reordered rows
            order = torch.argsort(as_neighbours(torch.arange(tensor.shape[0]), heads[part]))
            numbers = numbers[order]
        values[key] = numbers
        writer.add_tensor(new, blocks, raw_dtype=kind)
        print(f"{new}: {name}, spread {numbers.std():.3g} for {spread:.3g}")
    write(writer)
    values["lm_head.weight"] = values["model.embed_tokens.weight"]
    model = model.double()
    model.load_state_dict({key: tensor.double() for key, tensor in values.items()}, strict=True)
    prompts = [torch.randint(VOCAB, (n,), generator=generator).tolist() for n in (1, 7, 32)]
    logits = reference_logits(model.eval(), prompts)
    save_golden(HERE / "gguf" / "mixed.safetensors", prompts, logits)
    print(f"mixed: standard deviation of the logits {logits[-1].std():.3g}")


def main():
    torch.set_num_threads(1)
    (HERE / "gguf").mkdir(exist_ok=True)
    for name in GPT2:
        write_gpt2(name)
    for name in LLAMA:
        write_llama(name)
    write_mixed()


if __name__ == "__main__":
    main()
