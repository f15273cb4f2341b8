#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes the traces that `diagnose` is tested with: runs of PyTorch and Hugging Face transformers over the tiny models of
this folder, written down by the recorder that is installed with the program.

    pip install torch transformers
    python3 make_traces.py [FOLDER]       # default: traces/

generate-f32, generate-f16, batch, beams: the library's own loop, which is right; the batch has prompts of 3 and 7 tokens,
padded on the left. restart, no-mask, left-pad: hand-made loops that are wrong: positions that restart at 0 in every call;
no causal mask for a chunk after a prefix; left padding with a mask but without position ids.
"""

import sys
from pathlib import Path

import torch
from transformers import AutoModelForCausalLM

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent.parent / "resources" / "python"))
from decodescope_trace import record  # noqa: E402

MODELS = {"gpt2": HERE / "gpt2" / "plain-f32", "llama": HERE / "llama" / "qwen2-f32"}
PROMPT = [5, 9, 2, 7, 11, 3, 8]
OTHER = [4, 1, 6]
PAD = 0


def load(folder, dtype=torch.float32):
    return AutoModelForCausalLM.from_pretrained(folder, dtype=dtype, attn_implementation="eager").eval()


def generate(model, out, prompts, **more):
    width = max(map(len, prompts))
    ids = torch.tensor([[PAD] * (width - len(p)) + p for p in prompts])
    mask = torch.tensor([[0] * (width - len(p)) + [1] * len(p) for p in prompts])
    with record(model, out, **more.pop("recorder", {})) as trace:
        result = model.generate(ids, attention_mask=mask, max_new_tokens=6, do_sample=False, pad_token_id=PAD,
                                eos_token_id=None, **more)
        if "num_beams" not in more:
            for i, prompt in enumerate(prompts):
                trace.text("AB"[i], result[i, width - len(prompt):], len(prompt))


def restart(model, out):
    with record(model, out, requests=["A"]) as trace:
        text, fed, cache = list(PROMPT), torch.tensor([PROMPT]), None
        for _ in range(5):
            positions = torch.arange(fed.shape[1])[None]
            result = model(fed, past_key_values=cache, position_ids=positions, use_cache=True)
            cache, fed = result.past_key_values, result.logits[:, -1:].argmax(-1)
            text.append(int(fed))
        trace.text("A", text, len(PROMPT))


def no_mask(model, out):
    with record(model, out, requests=["A"]) as trace:
        prefix, chunk = torch.tensor([PROMPT]), torch.tensor([[12, 20, 14, 31, 16]])
        cache = model(prefix, use_cache=True).past_key_values
        everything = torch.zeros(1, 1, chunk.shape[1], prefix.shape[1] + chunk.shape[1])
        positions = torch.arange(7, 12)[None]
        model(chunk, past_key_values=cache, attention_mask=everything, position_ids=positions, use_cache=True)
        trace.text("A", PROMPT + chunk[0].tolist(), 12)


def left_pad(model, out):
    ids = torch.tensor([[PAD] * 4 + OTHER, PROMPT])
    mask = torch.tensor([[0] * 4 + [1] * 3, [1] * 7])
    with record(model, out, requests=["A", "B"]) as trace:
        texts, cache, fed = [list(OTHER), list(PROMPT)], None, ids
        for _ in range(5):
            # Without ids, the model numbers the columns.
            result = model(fed, past_key_values=cache, attention_mask=mask, use_cache=True)
            cache, fed = result.past_key_values, result.logits[:, -1:].argmax(-1)
            mask = torch.cat([mask, torch.ones(2, 1, dtype=mask.dtype)], dim=1)
            for text, token in zip(texts, fed[:, 0].tolist()):
                text.append(token)
        trace.text("A", texts[0], 3)
        trace.text("B", texts[1], 7)


def main(out):
    for name, folder in MODELS.items():
        model = load(folder)
        generate(model, out / f"{name}-generate-f32", [PROMPT], recorder={"requests": ["A"]})
        generate(load(folder, torch.float16), out / f"{name}-generate-f16", [PROMPT],
                 recorder={"requests": ["A"], "path": folder})
        generate(model, out / f"{name}-batch", [OTHER, PROMPT], recorder={"requests": ["A", "B"]})
        generate(model, out / f"{name}-beams", [PROMPT], num_beams=3)
        restart(model, out / f"{name}-restart")
        no_mask(model, out / f"{name}-no-mask")
        left_pad(model, out / f"{name}-left-pad")


if __name__ == "__main__":
    torch.manual_seed(0)
    with torch.no_grad():
        main(Path(sys.argv[1]) if len(sys.argv) > 1 else HERE / "traces")
