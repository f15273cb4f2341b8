# SPDX-License-Identifier: GPL-3.0-or-later
"""Example: records a greedy run of a Hugging Face model, and the same by a loop of one's own.

    python3 example_trace.py MODEL_FOLDER OUTPUT_FOLDER
    decodescope-cli diagnose OUTPUT_FOLDER/generate
    decodescope-cli diagnose OUTPUT_FOLDER/loop
"""

import os
import sys

import torch
from transformers import AutoModelForCausalLM

from decodescope_trace import Trace, record


def main(model_folder, output):
    model = AutoModelForCausalLM.from_pretrained(model_folder, dtype=torch.float32).eval()
    prompt = torch.tensor([[5, 9, 2, 7, 11, 3, 8]])

    # The library's own loop: nothing to do but to switch the recorder on.
    with torch.no_grad(), record(model, os.path.join(output, "generate"), requests=["A"]) as trace:
        ids = model.generate(prompt, attention_mask=torch.ones_like(prompt), max_new_tokens=8, do_sample=False,
                             pad_token_id=0, eos_token_id=None)
        trace.text("A", ids[0], prompt_length=prompt.shape[1])

    # A loop of one's own says what it does. What it does not know it leaves out.
    with torch.no_grad(), Trace(os.path.join(output, "loop"), model=model_folder) as trace:
        text, cache, fed, start = prompt, None, prompt, 0
        for _ in range(8):
            positions = torch.arange(start, start + fed.shape[1])[None]
            result = model(fed, past_key_values=cache, position_ids=positions, use_cache=True)
            trace.call(fed, request="A", text_start=start, position_ids=positions, cache_length_before=start,
                       cache_length_after=start + fed.shape[1], logits=result.logits)
            start += fed.shape[1]
            cache, fed = result.past_key_values, result.logits[:, -1:].argmax(-1)
            text = torch.cat([text, fed], dim=1)
        trace.text("A", text[0], prompt_length=prompt.shape[1])


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(sys.argv[1], sys.argv[2])
