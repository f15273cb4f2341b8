#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes the reference ids that the tokenizers are compared with: the folder tokenizer/.

The ids come from an independent implementation, the package tokenizers:

    pip install tokenizers
    python3 make_tokenizer_goldens.py

`strings.json` is a list of texts. `NAME.tokenizer.json` is a small tokenizer of the kind that the models of that name
have, trained here. `NAME.golden.json` holds what the package makes of every text: `text` (ids, special tokens as plain
text, nothing around), `prompt` (special tokens taken as such, ids around it) and `decoded` (the text's tokens decoded;
left out where it is the text itself). `scores.golden.json` has a vocabulary with scores, as GGUF files have it:
`tokens`, `scores` and `types` besides; the package gets the scores as the order of all pairs that make a token.
"""

import importlib.metadata
import json
import random
from pathlib import Path

from tokenizers import (
    AddedToken,
    Regex,
    Tokenizer,
    decoders,
    models,
    normalizers,
    pre_tokenizers,
    processors,
    trainers,
)

HERE = Path(__file__).resolve().parent / "tokenizer"
N_RANDOM = 200
CONTRACTION = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)"
REST = r" ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
LLAMA3 = CONTRACTION + r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}|" + REST
QWEN2 = CONTRACTION + r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}|" + REST

TRICKY = [
    "", " ", "  ", "\n", "\r\n", "\t", "a", "Hello world", " Hello world", "Hello world ", "a  b", "a   ", "\tx", " \tx",
    "a\r\nb", "a\r\n\r\nb", "a\n\r\n \r\rb", "\n\n", "\n\n\n", "\n \n", "\n\n  x", " \n \nx", "x \n", "x \n ", "x\n  \ty",
    "I'll we've he's they're I'm you'd don't", "I'LL WE'VE HE'S THEY'RE I'M YOU'D DON'T", "don\u2019t", "''s 'sx 'llx 'Lx",
    "'\u017f", "'\u017fx", "a'\u017f b'\u017f\u017f", "\u212a'\u212a", "1234567890", "123 456", "1,234.56", "abc123def", "a1b22c333d4444",
    " 1  12   123", "foo_bar", "def f(x):\n    return x+1\n", "!!!???...", " ...", "...\r\n\r\n...", " !\n!", "?!\n\n  x", "#\t#",
    "caf\u00e9", "cafe\u0301", "e\u0301\u0323 e\u0323\u0301", "\u1100\u1161\u11a8", "\uac00\u11a8", "\u212b \u2126", "\u0344\u0958",
    "\U0001f600", "\U0001f468\u200d\U0001f469\u200d\U0001f467", "\u4f60\u597d\uff0c\u4e16\u754c", "\u0645\u0631\u062d\u0628\u0627",
    "\u0928\u092e\u0938\u094d\u0924\u0947", "a\u00a0b", "x\u00a0\u00a0y", "a\u0085b", "\u0085\u0085a", "a\u3000b", "a\u2028b", "\u2028\u2029x",
    "a\u200bb", "a\u180eb", "\ufeffHello", "a\u0000b", "a\u001cb", "\u007f", "\u00bd \u2167 \u0663", "\u0661\u0662\u0663\u0664\u0665", "x\u00b2y\u2460z",
    "\u0967\u0968 \u3007 \U0001d7d8\U0001d7d9", "\u0120Hello", "\u2581 \u2581a", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
    "antidisestablishmentarianism", "https://example.com/a?b=c&d=1", "# #", "\ufffd\ufffd", "w048 7tuijk dsdfhu", "\U0010fffd\ue000",
    "<|endoftext|>", "Hi<|endoftext|>there", "Hi <|endoftext|> there", "<|endoftext|><|endoftext|>", "<|endoftext", "<|endoftext|>|>",
    "a \n <left>  \tb", "a <right> \n b", "a  <both>  b", "<both> <both>", "x<word>y <word> <word>! _<word> \u00e9<word> <word>\u0301", "<word><word>",
    "caf\u00e9<ha\u0308>x <h\u00e4> <ha\u0308>", "<think>hm</think>", "<|im_start|>user\nHi<|im_end|>\n", "<s>Hi</s> there</s>", "<s> <s>a", "two words", "a two words b",
    "twotwo words", "<unk>", "<0x41><0x0A>", "\u1e9b\u0323",
]  # fmt: skip
FRAGMENTS = [
    "the", " the", "The", " of", "and", "ing", " a", "I", "'s", "'T", "'ll", "'\u017f", "'", "\u2019", " ", "  ", "\n", "\r\n", "\r", "\t", "\u00a0", "\u0085",
    "\u2028", "\u3000", "0", "7", "12", " 2024", "\u0663", "\u00bd", "\u2167", ".", ",", " (", ")", "!?", " -", "_", "#", "<|", "|>", "\u00e9", "e\u0301", "\u0301", "\u00df",
    "\u0416\u0438", "\u4f60\u597d", "\u3042", "\uac00", "\u1100\u1161", "\u0928\u0947", "\U0001f600", "\u200d", "\ufeff", "\u0000", "x", "zq", "\u2581",
    "<|endoftext|>", "<left>", "<right>", "<both>", "<word>", "<think>", "</s>", "<h\u00e4>", "two words",
]  # fmt: skip
CORPUS = [
    "It is a truth universally acknowledged, that a single man in possession of a good fortune, must be in want of a wife.",
    "The quick brown fox jumps over the lazy dog; the dog doesn't mind. They'll see, he's sure: it's what they've been doing.",
    "def add(a, b):\n    return a + b\n\n\nfor i in range(100):\n    print(add(i, 1))\n",
    "In 1812 and 2024 there were 365 or 366 days, 12 months and 1,440 minutes a day.",
    "Le caf\u00e9 est \u00e0 c\u00f4t\u00e9. Stra\u00dfe, \u00c4rger, \u00dcbung. \u0416\u0438\u0437\u043d\u044c \u2014 \u044d\u0442\u043e \u0441\u043e\u043d.",
    "\u4f60\u597d\uff0c\u4e16\u754c\u3002\u4f60\u597d\u5417\uff1f \u3042\u308a\u304c\u3068\u3046 \uc548\ub155 \u0645\u0631\u062d\u0628\u0627 \u0928\u092e\u0938\u094d\u0924\u0947",
    "aaaa aaaaaaaa !!! ... --- === https://example.com/index.html?x=1&y=2 \U0001f600\U0001f600",
]  # fmt: skip


def strings():
    generator = random.Random(11)
    made = [
        "".join(generator.choice(FRAGMENTS) for _ in range(generator.randint(2, 14))) for _ in range(N_RANDOM)
    ]
    return TRICKY + made


def flagged():
    """Added tokens with their flags varied."""
    return [
        AddedToken("<left>", lstrip=True, normalized=False, special=True),
        AddedToken("<right>", rstrip=True, normalized=False, special=True),
        AddedToken("<both>", lstrip=True, rstrip=True, normalized=False, special=True),
        AddedToken("<word>", single_word=True, normalized=False, special=True),
        AddedToken("<think>", normalized=False, special=False),
        AddedToken("two words", normalized=True, special=False),
        AddedToken("two", single_word=True, normalized=True, special=False),
        AddedToken("<h\u00e4>", normalized=True, special=False),
    ]


def add(tokenizer, *tokens):
    for token in tokens:
        if token.special:
            tokenizer.add_special_tokens([token])
        else:
            tokenizer.add_tokens([token])


def special(content):
    return AddedToken(content, normalized=False, special=True)


def train_byte_level(pre_tokenizer, size, normalizer=None, first=(), **model):
    tokenizer = Tokenizer(models.BPE(**model))
    if normalizer is not None:
        tokenizer.normalizer = normalizer
    tokenizer.pre_tokenizer = pre_tokenizer
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=size,
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        special_tokens=list(first),
        show_progress=False,
    )
    tokenizer.train_from_iterator(CORPUS, trainer)
    return tokenizer


def edited(tokenizer, change):
    data = json.loads(tokenizer.to_str())
    change(data)
    return Tokenizer.from_str(json.dumps(data)), data


def around(tokenizer, before):
    return processors.TemplateProcessing(
        single=f"{before} $A", special_tokens=[(before, tokenizer.token_to_id(before))]
    )


def make_gpt2():
    tokenizer = train_byte_level(pre_tokenizers.ByteLevel(add_prefix_space=False), 420)
    tokenizer.post_processor = processors.ByteLevel(trim_offsets=False)
    add(tokenizer, special("<|endoftext|>"))

    def older(data):  # merges as older programs wrote them
        data["model"]["merges"] = [" ".join(pair) for pair in data["model"]["merges"]]

    return edited(tokenizer, older)


def make_prefixed():
    tokenizer = train_byte_level(pre_tokenizers.ByteLevel(add_prefix_space=True), 400)
    tokenizer.post_processor = processors.ByteLevel(trim_offsets=True)
    add(tokenizer, special("<|endoftext|>"), *flagged())
    return edited(tokenizer, lambda data: None)


def split_by(pattern):
    return pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(pattern), "isolated", invert=False),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )


def make_llama3():
    tokenizer = train_byte_level(split_by(LLAMA3), 420)

    def whole_words(data):  # tokens that no merges lead to, found because merges are ignored
        model = data["model"]
        model["ignore_merges"] = True
        for word in ["\u0120universally", "antidisestablishmentarianism", "456", "\u010a\u010a\u010a"]:
            model["vocab"].setdefault(word, len(model["vocab"]))

    tokenizer, _ = edited(tokenizer, whole_words)
    add(tokenizer, special("<|begin_of_text|>"), special("<|endoftext|>"), *flagged())
    tokenizer.post_processor = processors.Sequence(
        [processors.ByteLevel(trim_offsets=False), around(tokenizer, "<|begin_of_text|>")]
    )
    return edited(tokenizer, lambda data: None)


def make_qwen2():
    tokenizer = train_byte_level(
        split_by(QWEN2), 420, normalizers.NFC(), continuing_subword_prefix="", end_of_word_suffix=""
    )
    tokenizer.post_processor = processors.ByteLevel(trim_offsets=False)
    add(tokenizer, special("<|endoftext|>"), special("<|im_start|>"), special("<|im_end|>"), *flagged())
    return edited(tokenizer, lambda data: None)


def make_smollm2():
    pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Digits(individual_digits=True),
            pre_tokenizers.ByteLevel(add_prefix_space=False, trim_offsets=True, use_regex=True),
        ]
    )
    first = [special(text) for text in ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]]
    return edited(train_byte_level(pre_tokenizer, 420, first=first), lambda data: None)


def train_sentence_piece():
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=True, byte_fallback=True))
    tokenizer.normalizer = normalizers.Sequence([normalizers.Prepend("\u2581"), normalizers.Replace(" ", "\u2581")])
    # Training has no other way to bring words apart; the model itself merges over whole texts.
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="never")
    first = ["<unk>", "<s>", "</s>"] + [f"<0x{byte:02X}>" for byte in range(256)]
    trainer = trainers.BpeTrainer(vocab_size=560, special_tokens=first, show_progress=False, limit_alphabet=70)
    tokenizer.train_from_iterator(CORPUS, trainer)
    return tokenizer


def make_llama2(metaspace=None):
    tokenizer = train_sentence_piece()

    def finish(data):
        data["added_tokens"] = data["added_tokens"][:3]
        data["pre_tokenizer"] = None

    tokenizer, _ = edited(tokenizer, finish)
    tokenizer.decoder = decoders.Sequence(
        [decoders.Replace("\u2581", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
    )
    tokenizer.post_processor = around(tokenizer, "<s>")
    if metaspace is not None:

        def no_normalizer(data):
            data["normalizer"] = None

        tokenizer, _ = edited(tokenizer, no_normalizer)
        tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme=metaspace, split=False)
    add(tokenizer, *flagged())
    return edited(tokenizer, lambda data: None)


def make_scores():
    """Tokens, scores and types, and the tokenizer that the package can make of them."""
    trained, data = make_llama2()
    vocab = data["model"]["vocab"]
    tokens = sorted(vocab, key=vocab.get)
    scores = [0.0 if id < 259 else float(259 - id) for id in range(len(tokens))]
    types = [2, 3, 3] + [6] * 256 + [1] * (len(tokens) - 259)
    pairs = []
    for id in range(259, len(tokens)):
        cuts = [(tokens[id][:at], tokens[id][at:]) for at in range(1, len(tokens[id]))]
        pairs += [cut for cut in cuts if all(part in vocab for part in cut)]
    data["model"]["merges"] = pairs
    data["added_tokens"] = data["added_tokens"][:3]
    return Tokenizer.from_str(json.dumps(data)), dict(tokens=tokens, scores=scores, types=types)


def golden(tokenizer, texts, more):
    def ids(text, as_text):
        tokenizer.encode_special_tokens = as_text
        return tokenizer.encode(text, add_special_tokens=not as_text).ids

    data = dict(reference="tokenizers " + importlib.metadata.version("tokenizers"), **more)
    data["text"] = [ids(text, True) for text in texts]
    data["prompt"] = [ids(text, False) for text in texts]
    decoded = [tokenizer.decode(row, skip_special_tokens=False) for row in data["text"]]
    data["decoded"] = {i: text for i, text in enumerate(decoded) if text != texts[i]}
    return data


def write(name, data, **style):
    text = json.dumps(data, ensure_ascii=True, **style)
    (HERE / name).write_text(text + "\n", encoding="ascii")


def main():
    HERE.mkdir(exist_ok=True)
    texts = strings()
    write("strings.json", texts, indent=0)
    makers = {
        "gpt2": make_gpt2,
        "prefixed": make_prefixed,
        "llama3": make_llama3,
        "qwen2": make_qwen2,
        "smollm2": make_smollm2,
        "llama2": make_llama2,
        "metaspace": lambda: make_llama2("first"),
    }
    for name, make in makers.items():
        tokenizer, data = make()
        write(f"{name}.tokenizer.json", data, separators=(",", ":"))
        write(f"{name}.golden.json", golden(tokenizer, texts, {}), separators=(",", ":"))
    tokenizer, more = make_scores()
    write("scores.golden.json", golden(tokenizer, texts, more), separators=(",", ":"))


if __name__ == "__main__":
    main()
