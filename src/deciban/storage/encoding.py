"""Values as JSON and arrays: numbers, texts, sequences, mappings, arrays, and this library's frozen dataclasses.

What JSON has is itself; all else is an object with one tag: {"float": "nan"}, {"tuple": [...]}, {"array": name}, …
Long sequences of one type are arrays too. What stands in two places is written once: {"same": 3} is the fourth array or
dataclass of the file. Only classes that `known` finds are ever made, by their names and with fields of their types.

>>> import numpy as np
>>> from deciban.storage.decoding import Decoder
>>> from deciban.tallies import Labels
>>> encoder = Encoder()
>>> node = encoder.encode((Labels(np.array([2.0, 1.0])), float("inf")), "state")
>>> node
{'tuple': [{'of': 'Labels', 'with': {'n': {'array': 'state.0.n'}}}, {'float': 'inf'}]}
>>> Decoder(encoder.arrays).decode(node)
(Labels(n=array([2., 1.])), inf)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from functools import singledispatchmethod
from types import NoneType
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator

from deciban import ingest
from deciban.classifiers.origin import Origin
from deciban.inference.observed import Observed
from deciban.storage import tensors
from deciban.storage.stored import check_fields, covariances, known, unfit, vectorizers
from deciban.tallies import Tally

LONG = 64  # items from which a sequence of one type is an array


class Encoder:
    """Collects `arrays` by name while values become JSON."""

    def __init__(self, inside: Callable[[Encoder, Any, str], Any] | None = None) -> None:
        self.inside = inside  # what makes JSON of a model inside of a model
        self.arrays: dict[str, np.ndarray] = {}
        self._places: dict[int, int] = {}
        self._weights: dict[tuple[tuple[int, ...], bytes], np.ndarray] = {}  # of the classes, in tallies
        self._kept: list[Any] = []  # what has a place stays alive, so that no other thing gets its id

    def encode(self, value: Any, where: str) -> Any:
        """`where` names its arrays, and the culprit where something cannot be stored."""
        if id(value) in self._places:
            return {"same": self._places[id(value)]}
        return self._encode(value, where)

    def _placed(self, value: Any, node: Any) -> Any:
        self._places[id(value)] = len(self._places)
        self._kept.append(value)
        return node

    def _shared(self, n: np.ndarray) -> np.ndarray:
        """The same weights of the classes that another tally has, if one has: they are stored once, whether the tallies
        came from one pass over the rows or were changed since."""
        return self._weights.setdefault((n.shape, n.tobytes()), n)

    def _put(self, a: np.ndarray, where: str) -> str:
        name = where
        while name in self.arrays:
            name += "'"
        self.arrays[name] = a
        return name

    @singledispatchmethod
    def _encode(self, value: Any, where: str) -> Any:
        if is_dataclass(value) and not isinstance(value, type) and known(type(value).__name__) is type(value):
            parts = {f.name: getattr(value, f.name) for f in fields(value)}
            if isinstance(value, Tally):
                parts["n"] = self._shared(value.n)
            node = {"of": type(value).__name__, "with": self.members(parts, where)}
            return self._placed(check_fields(value), node)
        if sparse.issparse(value):
            own = sparse.csr_matrix(value)
            return {"sparse": [self.encode(part, where) for part in (own.data, own.indices, own.indptr, own.shape)]}
        if type(value) in covariances().values():
            return {"covariance": type(value).__name__, "with": self.members(value.get_params(deep=False), where)}
        if type(value) in vectorizers().values():
            usual = type(value)().get_params(deep=False)  # among them a dtype that is a class, which no file holds
            own = {name: part for name, part in value.get_params(deep=False).items() if part is not usual[name]}
            return {"vectorizer": type(value).__name__, "with": self.members(own, where)}
        if isinstance(value, type):
            raise unfit(where, value)
        if self.inside is not None and isinstance(value, BaseEstimator):
            return {"model": self.inside(self, value, where)}
        if hasattr(value, "__array__") or hasattr(value, "__array_namespace__"):
            return self._encode(np.asarray(ingest.local(value)), where)
        raise unfit(where, value)

    def members(self, parts: Mapping[str, Any], where: str) -> dict[str, Any]:
        return {name: self.encode(value, f"{where}.{name}") for name, value in parts.items()}

    @_encode.register(NoneType)
    @_encode.register(bool)
    @_encode.register(str)
    def _(self, value: Any, where: str) -> Any:
        return value

    @_encode.register
    def _(self, value: int, where: str) -> Any:
        return value if abs(value) < 1 << 1000 else {"int": hex(value)}  # JSON readers have limits

    @_encode.register
    def _(self, value: float, where: str) -> Any:
        return value if np.isfinite(value) else {"float": repr(float(value))}

    @_encode.register
    def _(self, value: bytes, where: str) -> Any:
        return {"bytes": value.hex()}

    @_encode.register
    def _(self, value: np.dtype, where: str) -> Any:
        return {"dtype": value.name}

    @_encode.register
    def _(self, value: np.generic, where: str) -> Any:
        if value.dtype.kind not in "biuf":
            raise unfit(where, value)
        return {"scalar": [value.dtype.name, self.encode(value.item(), where)]}

    @_encode.register
    def _(self, value: list, where: str) -> Any:
        kinds = set(map(type, value)) if len(value) >= LONG else set()
        if kinds == {str}:
            texts = [text.encode("utf-8", "surrogatepass") for text in value]
            letters = np.frombuffer(b"".join(texts), dtype=np.uint8)
            ends = np.cumsum([len(text) for text in texts], dtype=np.int64)
            return {"texts": [self._put(letters, f"{where}.letters"), self._put(ends, f"{where}.ends")]}
        if kinds == {float} or (kinds == {int} and min(value) >= -(1 << 63) and max(value) < 1 << 63):
            return {"numbers": self._put(np.array(value), where)}
        return [self.encode(item, f"{where}.{i}") for i, item in enumerate(value)]

    @_encode.register
    def _(self, value: tuple, where: str) -> Any:
        return {"tuple": self._encode(list(value), where)}

    @_encode.register
    def _(self, value: Mapping, where: str) -> Any:
        return {"dict": [self._encode(list(value), f"{where}.keys"), self._encode(list(value.values()), where)]}

    @_encode.register
    def _(self, value: np.ndarray, where: str) -> Any:
        if value.dtype.kind in "OUT":
            items = self._encode(value.ravel().tolist(), where)
            kind: Any = value.dtype.itemsize // 4 if value.dtype.kind == "U" else value.dtype.kind
            return self._placed(value, {"objects": items, "shape": list(value.shape), "kind": kind})
        if tensors.little(value.dtype) not in tensors.NAMES:
            raise unfit(where, value.dtype.type())
        if value.flags.c_contiguous:
            return self._placed(value, {"array": self._put(value, where)})
        axes = np.argsort([-abs(step) for step in value.strides], kind="stable").tolist()
        name = self._put(np.ascontiguousarray(value.transpose(axes)), where)  # sums depend on how numbers lie
        return self._placed(value, {"array": name, "axes": axes})

    @_encode.register
    def _(self, value: Origin, where: str) -> Any:
        return {"of": "Origin", "with": {"dtype": self.encode(value.dtype, where)}}  # models come back to NumPy

    @_encode.register
    def _(self, value: Observed, where: str) -> Any:
        """What the rows say, never the rows."""
        state = value.__getstate__()
        return {"observed": self.members({name: state[name] for name in state if not name.startswith("_")}, where)}
