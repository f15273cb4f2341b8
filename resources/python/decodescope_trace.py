# SPDX-License-Identifier: GPL-3.0-or-later
"""Records what a decoder did, so that `decodescope-cli diagnose` can say whether it is right.

With a Hugging Face model:

    from decodescope_trace import record
    with record(model, "my_run"):
        model.generate(**inputs, max_new_tokens=16, do_sample=False)

From a loop of your own, after every forward call:

    from decodescope_trace import Trace
    with Trace("my_run", model="path/to/the/model") as trace:
        trace.text("A", all_ids, prompt_length=7)          # what the request is meant to consist of
        trace.call([[1, 2, 3]], request="A", text_start=0, position_ids=[[0, 1, 2]],
                   cache_length_before=0, cache_length_after=3, logits=logits)

Everything but the ids is optional: what is not given is unknown, and is not judged. Ids, positions and masks
may be nested lists, NumPy arrays or PyTorch tensors; logits too, [batch, tokens or 1, vocabulary]. Needs
nothing but the standard library. The result is a folder with `trace.json` and `trace.safetensors`.
"""

import array
import contextlib
import functools
import inspect
import json
import os
import shutil
import struct
import sys
import time

SCHEMA = "decodescope.trace/1"
_DTYPES = {"float32": "F32", "float16": "F16", "bfloat16": "BF16"}


def _lists(values):
    """Nested lists of plain numbers and texts."""
    if hasattr(values, "tolist"):
        return values.tolist()
    if isinstance(values, str) or not hasattr(values, "__len__"):
        return values
    return [_lists(value) for value in values]


def _shape(values):
    shape = []
    while hasattr(values, "__len__"):
        shape.append(len(values))
        values = values[0]
    return shape


def _flat(values, out):
    for value in values:
        if hasattr(value, "__len__"):
            _flat(value, out)
        else:
            out.append(float(value))


def _tensor_bytes(values):
    """Safetensors dtype, shape and little-endian bytes of logits."""
    if hasattr(values, "detach"):
        values = values.detach().cpu().contiguous()
        name = str(values.dtype).removeprefix("torch.")
        shape = list(values.shape)
        if name in _DTYPES:
            with contextlib.suppress(Exception):  # PyTorch without NumPy
                raw = values.view(dtype=getattr(sys.modules["torch"], "int16")) if name == "bfloat16" else values
                return _DTYPES[name], shape, raw.numpy().tobytes()
        values = values.double().flatten().tolist()
    elif hasattr(values, "tobytes") and str(values.dtype) in _DTYPES:
        if sys.byteorder == "little":
            return _DTYPES[str(values.dtype)], list(values.shape), values.tobytes()
        shape, values = list(values.shape), values.flatten().tolist()
    else:
        shape, nested, values = _shape(values), values, []
        _flat(nested, values)
    floats = array.array("f", values)
    if sys.byteorder == "big":
        floats.byteswap()
    return "F32", shape, floats.tobytes()


class Trace:
    """Writes one trace. Use it as a context manager, or call `close`."""

    def __init__(self, folder, model=None, window=None, sinks=0):
        self.folder = os.fspath(folder)
        os.makedirs(self.folder, exist_ok=True)
        self._document = {"schema": SCHEMA, "created_by": "decodescope_trace.py"}
        if model is not None:
            model = os.fspath(model)
            if os.path.isdir(model):
                model = os.path.relpath(model, self.folder)
            self._document["model"] = {"path": model}
        if window:
            self._document["window"] = {"size": int(window), "sinks": int(sinks)}
        self._texts = {}
        self._calls = []
        self._header = {}
        self._data_path = os.path.join(self.folder, "trace.safetensors.part")
        self._data = open(self._data_path, "wb")
        self._bytes = 0

    def text(self, request, ids, prompt_length=0):
        """What a request was meant to consist of: prompt and new tokens."""
        self._texts[request] = {"ids": _lists(ids), "prompt_length": int(prompt_length)}

    def call(self, input_ids, logits=None, **stated):
        """One forward call. `stated`: any other field of a call, by its name; `attention_mask=None` says that
        there was none. Returns the index of the call."""
        call = {"input_ids": _lists(input_ids)}
        for name, value in stated.items():
            if name == "attention_mask" or value is not None:
                call[name] = _lists(value)
        if logits is not None:
            dtype, shape, raw = _tensor_bytes(logits)
            name = f"logits.{len(self._calls)}"
            self._header[name] = {"dtype": dtype, "shape": shape,
                                  "data_offsets": [self._bytes, self._bytes + len(raw)]}
            self._data.write(raw)
            self._bytes += len(raw)
            call["logits"] = name
        self._calls.append(call)
        return len(self._calls) - 1

    def close(self):
        """Writes the files. A trace without calls is not written."""
        if self._data is None:
            return
        self._data.close()
        self._data = None
        if self._header:
            header = json.dumps(self._header, separators=(",", ":")).encode()
            header += b" " * (-len(header) % 8)
            path = os.path.join(self.folder, "trace.safetensors")
            with open(path + ".new", "wb") as file, open(self._data_path, "rb") as data:
                file.write(struct.pack("<Q", len(header)))
                file.write(header)
                shutil.copyfileobj(data, file)
            os.replace(path + ".new", path)
        os.remove(self._data_path)
        if not self._calls:
            return
        if self._texts:
            self._document["texts"] = self._texts
        lines = ",\n    ".join(json.dumps(call) for call in self._calls)
        text = json.dumps(self._document, indent=2)[:-2] + ',\n  "calls": [\n    ' + lines + "\n  ]\n}\n"
        path = os.path.join(self.folder, "trace.json")
        with open(path + ".new", "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(path + ".new", path)

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.close()


def _cache_length(cache):
    """Entries that a cache of any make holds; None = cannot be known."""
    if cache is None:
        return 0
    with contextlib.suppress(Exception):
        if hasattr(cache, "get_seq_length"):
            return int(cache.get_seq_length())
        return int(cache[0][0].shape[-2]) if len(cache) else 0
    return None


def _cache_bytes(cache, length):
    """Bytes of keys and values when the tensors hold just the entries; None = cannot be known."""
    with contextlib.suppress(Exception):
        if hasattr(cache, "layers"):
            tensors = [t for layer in cache.layers for t in (layer.keys, layer.values)]
        elif hasattr(cache, "key_cache"):
            tensors = list(cache.key_cache) + list(cache.value_cache)
        else:
            tensors = [t for layer in cache for t in layer[:2]]
        if tensors and all(t.shape[-2] == length for t in tensors):
            return sum(t.numel() * t.element_size() for t in tensors)
    return None


def _cache_in(values):
    """The cache among a call's arguments or results, whatever the version calls it."""
    for name in ("past_key_values", "cache", "cache_params"):
        with contextlib.suppress(AttributeError):
            value = values.get(name) if isinstance(values, dict) else getattr(values, name)
            if value is not None:
                return value
    return None


def _is_integers(value):
    return hasattr(value, "dtype") and "int" in str(value.dtype) and len(getattr(value, "shape", ())) in (1, 2)


class _Watch:
    """Sees the forward calls of one Hugging Face model."""

    POSITION_MODULES = ("wpe", "embed_positions", "position_embedding", "position_embeddings", "rotary_emb")

    def __init__(self, model, trace, logits, requests):
        self.model = model
        self.trace = trace
        self.logits = logits
        self.requests = requests
        self.positions = None
        self.parents = None
        self.original = model.forward
        self.handles = []
        self.caches = []

    def start(self):
        signature = inspect.signature(self.original)

        @functools.wraps(self.original)
        def forward(*args, **kwargs):
            return self.forward(signature, args, kwargs)

        self.model.forward = forward
        for name, module in self.model.named_modules():
            if name.rsplit(".", 1)[-1] in self.POSITION_MODULES:
                self.handles.append(module.register_forward_pre_hook(self.saw_positions, with_kwargs=True))

    def stop(self):
        if self.model.__dict__.get("forward") is not None:
            del self.model.forward
        for handle in self.handles:
            handle.remove()
        for cache in self.caches:
            with contextlib.suppress(AttributeError):
                del cache.reorder_cache

    def saw_positions(self, module, args, kwargs):
        for value in (*args, *kwargs.values()):
            if self.positions is None and _is_integers(value):
                self.positions = value.detach().clone()

    def watch_order(self, cache):
        """Beams: row i goes on from row parents[i] of the call before."""
        if not hasattr(cache, "reorder_cache") or "reorder_cache" in getattr(cache, "__dict__", {}):
            return
        original = cache.reorder_cache

        def reorder_cache(beam_idx, *args, **kwargs):
            self.parents = _lists(beam_idx)
            return original(beam_idx, *args, **kwargs)

        with contextlib.suppress(AttributeError):
            cache.reorder_cache = reorder_cache
            self.caches.append(cache)

    def forward(self, signature, args, kwargs):
        given = signature.bind_partial(*args, **kwargs).arguments
        given = {**given.pop("kwargs", {}), **given}
        ids = given.get("input_ids")
        if ids is None:
            return self.original(*args, **kwargs)
        batch, width = ids.shape
        cache = _cache_in(given)
        before = _cache_length(cache)
        call = {"cache_length_before": before, "parents": self.parents, "requests": self.requests}
        self.parents = None
        if before == 0:
            call["parents"] = None
        mask = given.get("attention_mask")
        if mask is None:
            call["attention_mask"] = None
        elif len(mask.shape) == 2:
            call["attention_mask"] = mask.int()
        self.positions = None
        start = time.monotonic_ns()
        try:
            output = self.original(*args, **kwargs)
        except Exception as error:
            self.trace.call(ids, error=str(error) or type(error).__name__, **call)
            raise
        call["step_ns"] = time.monotonic_ns() - start
        used = self.positions if self.positions is not None else given.get("position_ids")
        if used is not None:
            used = used.reshape(1, -1) if len(used.shape) == 1 else used
            if used.shape[-1] == width and used.shape[0] in (1, batch):
                call["position_ids"] = used.expand(batch, width)
        cache = _cache_in(output)
        after = _cache_length(cache)
        call["cache_length_after"] = after
        if cache is not None and after is not None:
            size = _cache_bytes(cache, after)
            if size is not None:
                call["cache_bytes"] = size
            self.watch_order(cache)
        logits = getattr(output, "logits", None)
        if self.logits == "none":
            logits = None
        elif logits is not None and (self.logits == "last" or logits.shape[1] != width):
            # What is left out are the columns before the last one.
            logits = logits[:, -1:, :]
            call["logits_rows"] = "last"
            call["logits_columns"] = [width - 1] * batch
        self.trace.call(ids, logits=logits, **call)
        return output


@contextlib.contextmanager
def record(model, folder, logits="all", requests=None, path=None):
    """Records every forward call that a Hugging Face decoder makes until the block ends; yields the `Trace`,
    whose `text` says what the requests are meant to consist of. `logits`: "all", "last" or "none".
    `requests`: a name per row. `path`: the model's folder, where it was not loaded from one."""
    if path is None:
        path = getattr(getattr(model, "config", None), "_name_or_path", None) or None
        path = path if path and os.path.isdir(path) else None
    with Trace(folder, model=path) as trace:
        watch = _Watch(model, trace, logits, requests)
        watch.start()
        try:
            yield trace
        finally:
            watch.stop()
