#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Trains DecodeScope's demo model: a GPT-2-architecture decoder that writes like Jane Austen.

Everything comes from Debian 12:
    apt-get install --no-install-recommends python3-torch r-base-core r-cran-janeaustenr
    Rscript -e 'writeLines(janeaustenr::austen_books()$text, "austen.txt")'
    /usr/bin/python3 train.py austen.txt out/ --minutes 60

Writes a Hugging Face GPT-2 folder: config.json, generation_config.json, model.safetensors (F16), vocab.json, merges.txt, plus
training.json (loss curve, settings, corpus hash). The corpus is in the public domain (six novels, 1811-1818).
"""
import argparse, collections, hashlib, json, math, re, struct, time
from pathlib import Path

import torch
from torch import nn
from torch.nn import functional as F

# GPT-2's split rule; [^\W\d_] is Python's spelling of a Unicode letter.
SPLIT = re.compile(r"'s|'t|'re|'ve|'m|'ll|'d| ?[^\W\d_]+| ?\d+| ?(?:[^\s\w]|_)+|\s+(?!\S)|\s+")


def byte_alphabet():
    """GPT-2's printable spelling of the 256 bytes: {byte: character}."""
    keep = list(range(33, 127)) + list(range(161, 173)) + list(range(174, 256))
    table, extra = {b: chr(b) for b in keep}, 0
    for b in range(256):
        if b not in table:
            table[b] = chr(256 + extra)
            extra += 1
    return table


def unwrap(text):
    """Joins hard-wrapped lines; a blank line stays a paragraph break."""
    paragraphs = re.split(r"\n\s*\n", text.replace("\r", ""))
    joined = (re.sub(r"\s+", " ", p).strip() for p in paragraphs)
    return "\n\n".join(p for p in joined if p)


def learn_bpe(text, n_merges):
    """Byte-pair merges, most frequent first, over the pieces of SPLIT."""
    alphabet = byte_alphabet()
    words = collections.Counter("".join(alphabet[b] for b in w.encode()) for w in SPLIT.findall(text))
    pieces = [[list(w), n] for w, n in words.items()]
    pairs, where = collections.Counter(), collections.defaultdict(set)
    for i, (p, n) in enumerate(pieces):
        for a, b in zip(p, p[1:]):
            pairs[a, b] += n
            where[a, b].add(i)
    merges = []
    while len(merges) < n_merges:
        best = max(pairs, key=lambda ab: (pairs[ab], ab))
        if pairs[best] < 2:
            break
        merges.append(best)
        for i in list(where[best]):
            p, n = pieces[i]
            for ab in zip(p, p[1:]):
                pairs[ab] -= n
                where[ab].discard(i)
            q, k = [], 0
            while k < len(p):
                if k + 1 < len(p) and (p[k], p[k + 1]) == best:
                    q.append(p[k] + p[k + 1])
                    k += 2
                else:
                    q.append(p[k])
                    k += 1
            pieces[i][0] = q
            for ab in zip(q, q[1:]):
                pairs[ab] += n
                where[ab].add(i)
        del pairs[best]
    return merges


class Tokenizer:
    def __init__(self, merges):
        self.alphabet = byte_alphabet()
        self.merges = merges
        symbols = list(self.alphabet.values()) + [a + b for a, b in merges] + ["<|endoftext|>"]
        self.vocab = {s: i for i, s in enumerate(symbols)}
        self.rank = {m: i for i, m in enumerate(merges)}
        self.memo = {}

    def encode(self, text):
        ids = []
        for w in SPLIT.findall(text):
            if w not in self.memo:
                p = [self.alphabet[b] for b in w.encode()]
                while len(p) > 1:
                    r, k = min((self.rank.get(ab, math.inf), k) for k, ab in enumerate(zip(p, p[1:])))
                    if r == math.inf:
                        break
                    p[k:k + 2] = [p[k] + p[k + 1]]
                self.memo[w] = [self.vocab[s] for s in p]
            ids += self.memo[w]
        return ids

    def decode(self, ids):
        back, spelling = {c: b for b, c in self.alphabet.items()}, {i: s for s, i in self.vocab.items()}
        return bytes(back[c] for i in ids for c in spelling[i]).decode("utf-8", "replace")


class Block(nn.Module):
    def __init__(self, d, heads, dropout):
        super().__init__()
        self.heads = heads
        self.ln_1, self.ln_2 = nn.LayerNorm(d), nn.LayerNorm(d)
        self.c_attn, self.c_proj = nn.Linear(d, 3 * d), nn.Linear(d, d)
        self.c_fc, self.mlp_proj = nn.Linear(d, 4 * d), nn.Linear(4 * d, d)
        self.drop = nn.Dropout(dropout)

    def forward(self, x, mask):                                     # x [B, T, d]
        b, t, d = x.shape
        q, k, v = (z.view(b, t, self.heads, d // self.heads).transpose(1, 2) for z in self.c_attn(self.ln_1(x)).split(d, 2))
        if hasattr(F, "scaled_dot_product_attention"):              # PyTorch 2: no T x T matrix
            # In f32 also under --bf16: its backward pass is several times faster on a CPU and loses no accuracy.
            with torch.autocast("cpu", enabled=False):
                y = F.scaled_dot_product_attention(q.float(), k.float(), v.float(), is_causal=True)
        else:
            y = ((q @ k.transpose(2, 3)) / math.sqrt(d // self.heads) + mask[:t, :t]).softmax(-1) @ v
        y = y.transpose(1, 2).reshape(b, t, d)
        x = x + self.drop(self.c_proj(y))
        h = F.gelu(self.c_fc(self.ln_2(x)), approximate="tanh")
        return x + self.drop(self.mlp_proj(h))


class GPT2(nn.Module):
    def __init__(self, vocab, d, layers, heads, positions, dropout):
        super().__init__()
        self.wte, self.wpe = nn.Embedding(vocab, d), nn.Embedding(positions, d)
        self.h = nn.ModuleList(Block(d, heads, dropout) for _ in range(layers))
        self.ln_f, self.drop = nn.LayerNorm(d), nn.Dropout(dropout)
        self.register_buffer("mask", torch.full((positions, positions), -1e9).triu(1), persistent=False)
        for name, p in self.named_parameters():
            if p.dim() == 2:
                nn.init.normal_(p, 0.0, 0.02 / math.sqrt(2 * layers) if "proj" in name else 0.02)
        for m in self.modules():
            if isinstance(m, nn.Linear):
                nn.init.zeros_(m.bias)

    def forward(self, ids, offset=0):                               # ids [B, T] -> logits [B, T, vocab]
        x = self.drop(self.wte(ids) + self.wpe(torch.arange(offset, offset + ids.shape[1])))
        for block in self.h:
            x = block(x, self.mask)
        return self.ln_f(x) @ self.wte.weight.t()


def save(model, tok, cfg, out, log):
    """Writes the Hugging Face layout; Conv1D weights are stored [in, out]."""
    t = {"wte.weight": model.wte.weight, "wpe.weight": model.wpe.weight,
         "ln_f.weight": model.ln_f.weight, "ln_f.bias": model.ln_f.bias}
    for i, b in enumerate(model.h):
        p = f"h.{i}."
        for n, m in (("ln_1", b.ln_1), ("ln_2", b.ln_2)):
            t[p + n + ".weight"], t[p + n + ".bias"] = m.weight, m.bias
        for n, m in (("attn.c_attn", b.c_attn), ("attn.c_proj", b.c_proj), ("mlp.c_fc", b.c_fc), ("mlp.c_proj", b.mlp_proj)):
            t[p + n + ".weight"], t[p + n + ".bias"] = m.weight.t(), m.bias
    header, blob = {"__metadata__": {"format": "pt"}}, b""
    for name in sorted(t):
        data = t[name].detach().contiguous().half().numpy().tobytes()
        header[name] = {"dtype": "F16", "shape": list(t[name].shape), "data_offsets": [len(blob), len(blob) + len(data)]}
        blob += data
    head = json.dumps(header, separators=(",", ":")).encode()
    head += b" " * (-len(head) % 8)
    (out / "model.safetensors").write_bytes(struct.pack("<Q", len(head)) + head + blob)
    eot = tok.vocab["<|endoftext|>"]
    config = {"architectures": ["GPT2LMHeadModel"], "model_type": "gpt2", "vocab_size": len(tok.vocab), "n_positions": cfg.positions,
              "n_ctx": cfg.positions, "n_embd": cfg.d, "n_layer": cfg.layers, "n_head": cfg.heads, "n_inner": None,
              "activation_function": "gelu_new", "layer_norm_epsilon": 1e-5, "tie_word_embeddings": True,
              "bos_token_id": eot, "eos_token_id": eot, "torch_dtype": "float16"}
    (out / "config.json").write_text(json.dumps(config, indent=2) + "\n")
    (out / "generation_config.json").write_text(json.dumps({"bos_token_id": eot, "eos_token_id": eot}, indent=2) + "\n")
    (out / "vocab.json").write_text(json.dumps(tok.vocab, ensure_ascii=False) + "\n", encoding="utf-8")
    (out / "merges.txt").write_text("#version: 0.2\n" + "".join(f"{a} {b}\n" for a, b in tok.merges), encoding="utf-8")
    (out / "training.json").write_text(json.dumps(log, indent=1) + "\n")


def load(model, folder):
    """Puts the weights that `save` wrote back into `model`; returns the log of the run that wrote them."""
    blob = (folder / "model.safetensors").read_bytes()
    n = struct.unpack("<Q", blob[:8])[0]
    header, data = json.loads(blob[8:8 + n]), blob[8 + n:]

    def put(name, target, transpose=False):
        entry = header[name]
        begin, end = entry["data_offsets"]
        value = torch.frombuffer(bytearray(data[begin:end]), dtype=torch.float16).float().view(entry["shape"])
        target.data.copy_(value.t() if transpose else value)

    put("wte.weight", model.wte.weight)
    put("wpe.weight", model.wpe.weight)
    norms = [("ln_f", model.ln_f)]
    for i, b in enumerate(model.h):
        p = f"h.{i}."
        norms += [(p + "ln_1", b.ln_1), (p + "ln_2", b.ln_2)]
        for n, m in (("attn.c_attn", b.c_attn), ("attn.c_proj", b.c_proj), ("mlp.c_fc", b.c_fc), ("mlp.c_proj", b.mlp_proj)):
            put(p + n + ".weight", m.weight, transpose=True)
            put(p + n + ".bias", m.bias)
    for name, norm in norms:
        put(name + ".weight", norm.weight)
        put(name + ".bias", norm.bias)
    return json.loads((folder / "training.json").read_text())


def main():
    a = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    a.add_argument("corpus", type=Path)
    a.add_argument("out", type=Path)
    a.add_argument("--minutes", type=float, default=60)
    a.add_argument("--vocab", type=int, default=2048)
    a.add_argument("--d", type=int, default=256)
    a.add_argument("--layers", type=int, default=6)
    a.add_argument("--heads", type=int, default=8)
    a.add_argument("--positions", type=int, default=1024)
    a.add_argument("--lr", type=float, default=2e-3)
    a.add_argument("--dropout", type=float, default=0.1, help="0 for a few passes over the corpus, 0.1 for many")
    a.add_argument("--batch", type=int, default=16, help="rows of 256 tokens per step")
    a.add_argument("--resume", type=Path, help="go on from the weights of this folder, written by an earlier run of the same shape")
    a.add_argument("--bf16", action="store_true", help="matrix products in bfloat16 (needs AMX or AVX512_BF16 to pay off)")
    a.add_argument("--threads", type=int, default=torch.get_num_threads())
    cfg = a.parse_args()
    torch.manual_seed(0)
    torch.set_num_threads(cfg.threads)
    cfg.out.mkdir(parents=True, exist_ok=True)
    raw = cfg.corpus.read_text(encoding="utf-8")
    text = unwrap(raw)
    start = time.time()
    tok = Tokenizer(learn_bpe(text, cfg.vocab - 257))
    ids = torch.tensor(tok.encode(text))
    cut = int(len(ids) * 0.98)
    train, held = ids[:cut], ids[cut:]
    print(f"{len(text)} characters, {len(ids)} tokens, vocabulary {len(tok.vocab)}, {time.time() - start:.0f} s", flush=True)

    model = GPT2(len(tok.vocab), cfg.d, cfg.layers, cfg.heads, cfg.positions, cfg.dropout)
    params = sum(p.numel() for p in model.parameters())
    decay = [p for p in model.parameters() if p.dim() == 2]
    rest = [p for p in model.parameters() if p.dim() != 2]
    fused = {"fused": True} if tuple(int(p) for p in torch.__version__.split(".")[:2]) >= (2, 4) else {}
    opt = torch.optim.AdamW([{"params": decay, "weight_decay": 0.1}, {"params": rest, "weight_decay": 0.0}], lr=cfg.lr, betas=(0.9, 0.98), **fused)
    log = {"corpus_sha256": hashlib.sha256(raw.encode()).hexdigest(), "parameters": params, "tokens": len(ids),
           "settings": {k: str(v) if isinstance(v, Path) else v for k, v in vars(cfg).items()}, "torch": torch.__version__, "curve": []}

    if cfg.resume:
        log["resumed_from"] = load(model, cfg.resume)

    def batch(source, b, t):
        s = torch.randint(0, len(source) - t - 1, (b,))
        return torch.stack([source[i:i + t] for i in s]), torch.stack([source[i + 1:i + t + 1] for i in s])

    def held_out_loss():
        model.eval()
        with torch.no_grad():
            losses = []
            for i in range(0, len(held) - 513, 512):
                logits = model(held[None, i:i + 512])
                losses.append(F.cross_entropy(logits[0], held[i + 1:i + 513]).item())
        model.train()
        return sum(losses) / len(losses)

    # Short windows at random position offsets train every position cheaply; the last sixth uses full-length windows.
    if cfg.resume:
        log["held_out_loss_at_start"] = round(held_out_loss(), 4)
        print("held-out loss at the start", log["held_out_loss_at_start"], flush=True)
    step, seen, begin, limit = 0, 0, time.time(), cfg.minutes * 60
    model.train()
    while True:
        done = (time.time() - begin) / limit
        if done >= 1:
            break
        b, t = (cfg.batch, 256) if done < 5 / 6 else (max(1, cfg.batch // 4), cfg.positions)
        offset = int(torch.randint(0, cfg.positions - t + 1, (1,))) if t < cfg.positions and step % 2 else 0
        for g in opt.param_groups:
            g["lr"] = cfg.lr * min(1, (step + 1) / 100) * (0.05 + 0.95 * 0.5 * (1 + math.cos(math.pi * done)))
        x, y = batch(train, b, t)
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=cfg.bf16):
            logits = model(x, offset)
        loss = F.cross_entropy(logits.float().flatten(0, 1), y.flatten())
        opt.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        opt.step()
        step += 1
        seen += b * t
        if step % 100 == 0:
            log["curve"].append({"step": step, "seconds": round(time.time() - begin), "tokens_seen": seen, "train_loss": round(loss.item(), 4)})
            if step % 500 == 0:
                log["curve"][-1]["held_out_loss"] = round(held_out_loss(), 4)
            print(log["curve"][-1], flush=True)
    log["held_out_loss"] = round(held_out_loss(), 4)
    model.eval()
    ids = torch.tensor([tok.encode("It is a truth universally acknowledged, that")])
    with torch.no_grad():
        for _ in range(120):
            p = (model(ids[:, -cfg.positions:])[:, -1] / 0.8).softmax(-1)
            ids = torch.cat([ids, torch.multinomial(p, 1)], 1)
    log["sample"] = tok.decode(ids[0].tolist())
    print(log["held_out_loss"], log["sample"], flush=True)
    save(model, tok, cfg, cfg.out, log)


if __name__ == "__main__":
    main()
