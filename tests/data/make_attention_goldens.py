#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes attentions.safetensors: the attention weights of the tiny models that make_goldens.py made.

    pip install torch transformers safetensors
    python3 make_attention_goldens.py

For each of the models, with the second prompt of its golden.safetensors: `MODEL.ids` (I64, [T]) and `MODEL.weights`
(F32, [n_layer, n_head, T, T]), what transformers gives for `output_attentions`, computed in F64.
"""

import torch
from safetensors.torch import load_file, save_file

from make_goldens import HERE, read_back, read_back_llama, versions

MODELS = (
    "gpt2/plain-f32",
    "gpt2/scaled-bf16",
    "llama/two-kv-heads-bf16",
    "llama/mistral-f32",
    "llama/yarn-mscale-f32",
    "llama/qwen2-f32",
)


def main():
    tensors = {}
    for name in MODELS:
        folder = HERE / name
        model = read_back(folder) if name.startswith("gpt2/") else read_back_llama(folder)
        ids = load_file(folder / "golden.safetensors")["prompt.1"]
        with torch.no_grad():
            attentions = model(ids[None], output_attentions=True).attentions
        tensors[name + ".ids"] = ids
        tensors[name + ".weights"] = torch.stack([layer[0] for layer in attentions]).float().contiguous()
    save_file(tensors, HERE / "attentions.safetensors", metadata=versions())
    for name, tensor in tensors.items():
        print(name, tuple(tensor.shape))


if __name__ == "__main__":
    main()
