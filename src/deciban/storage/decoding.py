"""Values again, from what `encoding` made of them, with suspicion: a file may have been written by anybody.

Nothing is run but the constructors of classes that `stored.known` finds; a name, tag or array that is not as it should
be ends in an error (of whatever kind: `modelfile` makes one of them all).

>>> Decoder({}).decode({"tuple": [1, {"float": "nan"}]})
(1, nan)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from scipy import sparse

from deciban.classifiers.origin import Origin
from deciban.errors import ModelFileError
from deciban.inference.observed import Observed
from deciban.storage import tensors
from deciban.storage.stored import check_fields, covariances, known, unfit, vectorizers

WIDTH = 64  # letters that an array of texts keeps room for, whether used or not


class Decoder:
    """Makes values of JSON and arrays, or refuses: an array must be used as what it is, and every tag be known."""

    def __init__(self, arrays: Mapping[str, np.ndarray], inside: Callable[[Decoder, dict], Any] | None = None):
        self.inside = inside  # what makes a model inside of a model of JSON
        self.arrays = arrays
        self._placed: list[Any] = []

    def decode(self, node: Any) -> Any:
        if isinstance(node, list):
            return [self.decode(item) for item in node]
        if not isinstance(node, dict):
            return node
        tag = next(iter(node))
        make = getattr(self, f"tag_{tag}", None)
        if make is None:
            raise ModelFileError(f"a value tagged {tag[:80]!r}\n\nhint: there is no such tag")
        return make(*node.values())

    def members(self, node: dict) -> dict[str, Any]:
        return {name: self.decode(value) for name, value in node.items()}

    def _keep(self, value: Any) -> Any:
        self._placed.append(value)
        return value

    def tag_same(self, place: int) -> Any:
        return self._placed[range(len(self._placed))[place]]

    def tag_of(self, name: str, members: dict) -> Any:
        cls = known(name)
        out = check_fields(cls(**self.members(members)))
        if isinstance(out, Origin):
            if out != Origin(out.dtype):
                raise unfit("Origin", out.library)
            return out
        return self._keep(out)

    def tag_float(self, text: str) -> float:
        return {"inf": np.inf, "-inf": -np.inf, "nan": np.nan}[text]

    def tag_int(self, text: str) -> int:
        return int(text, 16)

    def tag_bytes(self, text: str) -> bytes:
        return bytes.fromhex(text)

    def tag_dtype(self, name: str) -> np.dtype:
        return np.dtype({"float16": "f2", "float32": "f4", "float64": "f8"}[name])

    def tag_scalar(self, pair: list) -> Any:
        name, value = pair
        return next(dtype for dtype in tensors.NAMES if dtype.name == name).type(self.decode(value))

    def tag_tuple(self, items: Any) -> tuple:
        return tuple(self._list(items))

    def tag_dict(self, pair: list) -> dict:
        keys, values = (self._list(part) for part in pair)
        return dict(zip(keys, values, strict=True))

    def _list(self, node: Any) -> list:
        out = self.decode(node)
        if not isinstance(out, list):
            raise unfit("a sequence", out)
        return out

    def tag_numbers(self, name: str) -> list:
        return self._flat(name, "fi").tolist()

    def tag_texts(self, names: list) -> list[str]:
        letters, ends = self._flat(names[0], "u").tobytes(), self._flat(names[1], "i")
        if len(ends) == 0 or (np.diff(ends, prepend=0) < 0).any() or ends[-1] != len(letters):
            raise unfit("texts", ends)
        starts = [0, *ends[:-1].tolist()]
        return [letters[a:b].decode("utf-8", "surrogatepass") for a, b in zip(starts, ends.tolist(), strict=True)]

    def _flat(self, name: str, kinds: str) -> np.ndarray:
        a = self.arrays[name]
        if a.ndim != 1 or a.dtype.kind not in kinds:
            raise unfit(name, a)
        return a

    def tag_objects(self, items: Any, shape: list, kind: Any) -> np.ndarray:
        values = self._list(items)
        out = np.empty(len(values), dtype=object)
        out[:] = values
        if kind != "O":
            longest = max(map(len, values), default=1)
            if kind != "T":
                kind = f"U{max(longest, min(kind, WIDTH), 1)}"
            out = np.array(["".join([value]) for value in values], dtype=kind)
        return self._keep(out.reshape(shape))

    def tag_array(self, name: str, axes: list | None = None) -> np.ndarray:
        a = self.arrays[name]
        return self._keep(a if axes is None else a.transpose(np.argsort(axes)))

    def tag_sparse(self, parts: list) -> Any:
        data, indices, indptr, shape = self.decode(parts)
        out = sparse.csr_matrix((data, indices, indptr), shape=shape)
        out.check_format(full_check=True)
        return out

    def tag_covariance(self, name: str, members: dict) -> Any:
        return covariances()[name](**self.members(members))

    def tag_vectorizer(self, name: str, members: dict) -> Any:
        return vectorizers()[name](**self.members(members))

    def tag_model(self, parts: dict) -> Any:
        if self.inside is None:
            raise ModelFileError("a model where none can be\n\nhint: save the model again")
        return self.inside(self, parts)

    def tag_observed(self, members: dict) -> Observed:
        parts = self.members(members)
        out = Observed(None, None, None, parts["theta"], parts["k"], parts["intercept"])
        strange = [
            name for name in parts if name.startswith("_") or not (name in out.__dict__ or hasattr(Observed, name))
        ]
        if strange:
            raise unfit(f"Observed.{strange[0][:80]}", None)
        out.__dict__.update(parts)
        return out
