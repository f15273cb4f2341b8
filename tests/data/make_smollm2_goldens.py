#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes smollm2.json: what transformers generates, greedily, from the SmolLM2 that `decodescope-cli get smollm2` fetches.

    python3 -m venv V && V/bin/pip install torch transformers gguf
    V/bin/python tests/data/make_smollm2_goldens.py PATH/TO/SmolLM2-135M-Instruct.Q4_1.gguf

The weights are dequantised to f32 by the reference itself, so both sides compute with the same numbers.
"""
import json
import sys
from pathlib import Path

import torch
import transformers

PROMPTS = [
    "It is a truth universally acknowledged",
    "def fibonacci(n):\n",
    "<|im_start|>user\nWhat is the capital of France?<|im_end|>\n<|im_start|>assistant\n",
]
NEW_TOKENS = 40


def main() -> None:
    path = Path(sys.argv[1])
    load = {"pretrained_model_name_or_path": str(path.parent), "gguf_file": path.name}
    tokenizer = transformers.AutoTokenizer.from_pretrained(**load)
    model = transformers.AutoModelForCausalLM.from_pretrained(**load, dtype=torch.float32)
    cases = []
    for text in PROMPTS:
        prompt = tokenizer(text, return_tensors="pt").input_ids
        with torch.inference_mode():
            ids = prompt
            margins = []
            for _ in range(NEW_TOKENS):
                logits = model(ids).logits[0, -1].double()
                best = logits.topk(2).values
                margins.append(float(best[0] - best[1]))
                ids = torch.cat([ids, logits.argmax().view(1, 1)], 1)
        new = ids[0, prompt.shape[1]:].tolist()
        cases.append({
            "prompt": text,
            "prompt_ids": prompt[0].tolist(),
            "new_ids": new,
            "text": tokenizer.decode(new),
            "smallest_margin": min(margins),
        })
    out = {
        "made_with": f"transformers {transformers.__version__}, torch {torch.__version__.split('+')[0]}",
        "file": path.name,
        "cases": cases,
    }
    (Path(__file__).parent / "smollm2.json").write_text(json.dumps(out, indent=1, ensure_ascii=True) + "\n")


if __name__ == "__main__":
    main()
