"""Values as JSON and arrays: numbers, texts, sequences, sets, mappings, arrays, and this library's frozen dataclasses.

What JSON has is itself; all else is an object with one tag: {"float": "nan"}, {"tuple": [...]}, {"array": name}, …
Long sequences of one type are arrays too. What occurs in two places is written once: {"same": 3} is the fourth array or
dataclass of the file.

>>> import numpy as np
>>> from deciban.tallies import ClassWeights
>>> encoder = Encoder()
>>> node = encoder.encode((ClassWeights(np.array([2.0, 1.0])), float("inf")), "state")
>>> node
{'tuple': [{'of': 'ClassWeights', 'with': {'weight': {'array': 'state.0.weight'}}}, {'float': 'inf'}]}
>>> Decoder(encoder.arrays).decode(node)
(ClassWeights(weight=array([2., 1.])), inf)

A file may have been written by anybody. Decoding runs nothing but the constructors of classes that the registry has,
and their fields must be of the annotated types. A name, tag or array that is wrong ends in an error; which one it is
does not matter, `model_file` makes a `ModelFileError` of all of them.

>>> Decoder({}).decode({"tuple": [1, {"float": "nan"}]})
(1, nan)
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from functools import cache, cached_property, singledispatchmethod
from hashlib import sha256
from numbers import Integral, Real
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator

from deciban.errors import ModelFileError
from deciban.rows import inputs
from deciban.rows.readers import ArrayKind
from deciban.storage import registry, tensors
from deciban.tallies.exact import BLOCK, ExactSums
from deciban.tallies.exact_tables import ExactTable, canonical


@cache
def types_of(cls: type) -> dict[str, Any]:
    hints = get_type_hints(cls)
    return {field.name: hints[field.name] for field in fields(cls)}


def matches_annotation(value: Any, hint: Any) -> bool:
    """Whether a value is of an annotated type.

    >>> matches_annotation((1.5, 2), tuple[float, ...]), matches_annotation(None, int | str)
    (True, False)
    """
    origin, args = get_origin(hint), get_args(hint)
    if hint is Any:
        return True
    if origin in (Union, UnionType):
        return any(matches_annotation(value, arg) for arg in args)
    if origin is tuple and args and args[-1] is not Ellipsis:
        return isinstance(value, tuple) and len(value) == len(args) and all(map(matches_annotation, value, args))
    if origin in (tuple, list):
        return isinstance(value, origin) and all(matches_annotation(item, args[0]) for item in value)
    return isinstance(value, {float: Real, int: Integral}.get(hint, origin or hint))


def check_fields(thing: Any) -> Any:
    """A dataclass whose fields are of their types."""
    cls: Any = type(thing)
    for name, hint in types_of(cls).items():
        if not matches_annotation(value := getattr(thing, name), hint):
            raise unsupported_value(f"{cls.__name__}.{name}", value)
    return thing


def unsupported_value(where: str, value: Any) -> ModelFileError:
    return ModelFileError(
        f"`{where}` holds {type(value).__module__}.{type(value).__qualname__}, which no model file can hold there\n\n"
        "hint: use plain numbers, texts, lists and arrays"
    )


LONG = 64  # items from which a sequence of one type is an array


class Encoder:
    """Collects `arrays` by name while values become JSON."""

    def __init__(self, inside: Callable[[Encoder, Any, str], Any] | None = None, rows: bool = True) -> None:
        self.inside = inside  # makes JSON of a model inside of a model
        self.rows = rows  # whether training rows are stored, where a state keeps them
        self.rows_kept = 0  # training rows that can be read from what was encoded
        self.arrays: dict[str, np.ndarray] = {}
        self._places: dict[Any, int] = {}  # by identity, and by content: a file does not show what was shared in memory
        self._nodes: dict[int, int] = {}  # the place of each node that has one
        self._kept: list[Any] = []  # what has a place stays alive, so that no other thing gets its id

    def encode(self, value: Any, where: str) -> Any:
        """`where` names its arrays, and the value that cannot be stored in the error."""
        if id(value) in self._places:
            return {"same": self._places[id(value)]}
        if registry.keeps_rows(value):
            if not self.rows:
                return self._encode(value.without_rows(), where)
            self.rows_kept = max(self.rows_kept, value.rows_kept)
        return self._encode(value, where)

    def _placed(self, value: Any, content: Any, node: Callable[[], Any]) -> Any:
        """The node of a value; a reference where a value of the same content was encoded before."""
        place = self._places.get(content)
        if place is None:
            out = node()
            place = self._places[content] = self._nodes[id(out)] = len(self._nodes)
        else:
            out = {"same": place}
        self._places[id(value)] = place
        self._kept += [value, out]
        return out

    def _content(self, node: Any) -> str:
        """What a node stands for, whether its parts were encoded with it or before."""

        def referring(part: Any) -> Any:
            if isinstance(part, dict):
                place = self._nodes.get(id(part))
                return {"same": place} if place is not None else {name: referring(own) for name, own in part.items()}
            return list(map(referring, part)) if isinstance(part, list) else part

        return json.dumps(referring(node), sort_keys=True)

    def _put(self, a: np.ndarray, where: str) -> str:
        name = where
        while name in self.arrays:
            name += "'"
        self.arrays[name] = a
        return name

    @singledispatchmethod
    def _encode(self, value: Any, where: str) -> Any:
        if is_dataclass(value) and not isinstance(value, type) and registry.is_stored_as(value, type(value).__name__):
            parts = {f.name: getattr(value, f.name) for f in fields(value)}
            hints = types_of(type(value))
            parts = {name: canonical(part) if hints[name] == ExactTable else part for name, part in parts.items()}
            node = {"of": type(value).__name__, "with": self.members(parts, where)}
            return self._placed(check_fields(value), self._content(node), lambda: node)
        if registry.is_training_rows(value):  # what the rows imply, never the rows
            state = value.__getstate__()
            return {"observed": self.members({name: state[name] for name in sorted(state) if name[0] != "_"}, where)}
        if sparse.issparse(value):
            own = sparse.csr_matrix(value)
            return {"sparse": [self.encode(part, where) for part in (own.data, own.indices, own.indptr, own.shape)]}
        if type(value) in registry.covariances().values():
            return {"covariance": type(value).__name__, "with": self.members(value.get_params(deep=False), where)}
        if registry.is_vectorizer(value):
            usual = type(value)().get_params(deep=False)  # among them a dtype that is a class, which no file holds
            own = {name: part for name, part in value.get_params(deep=False).items() if part is not usual[name]}
            return {"vectorizer": type(value).__name__, "with": self.members(own, where)}
        if isinstance(value, type):
            raise unsupported_value(where, value)
        if self.inside is not None and isinstance(value, BaseEstimator):
            return {"model": self.inside(self, value, where)}
        if hasattr(value, "__array__") or hasattr(value, "__array_namespace__"):
            return self._encode(np.asarray(inputs.to_numpy(value)), where)
        raise unsupported_value(where, value)

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
            raise unsupported_value(where, value)
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

    @_encode.register(set)
    @_encode.register(frozenset)
    def _(self, value: Any, where: str) -> Any:
        items = sorted(value, key=lambda item: (type(item).__name__, repr(item)))  # an order that no hash decides
        return {type(value).__name__: self._encode(items, where)}

    @_encode.register
    def _(self, value: Mapping, where: str) -> Any:
        return {"dict": [self._encode(list(value), f"{where}.keys"), self._encode(list(value.values()), where)]}

    @_encode.register
    def _(self, value: np.ndarray, where: str) -> Any:
        if value.dtype.kind in "OUT":
            items = self._encode(value.ravel().tolist(), where)
            kind: Any = value.dtype.itemsize // 4 if value.dtype.kind == "U" else value.dtype.kind
            node = {"objects": items, "shape": list(value.shape), "kind": kind}
            return self._placed(value, self._content(node), lambda: node)
        if tensors.little(value.dtype) not in tensors.NAMES:
            raise unsupported_value(where, value.dtype.type())
        axes = None
        if not value.flags.c_contiguous:  # sums depend on how numbers lie
            axes = np.argsort([-abs(step) for step in value.strides], kind="stable").tolist()
        lying = value if axes is None else np.ascontiguousarray(value.transpose(axes))
        digest = sha256(lying.reshape(-1).view(np.uint8)).digest()  # type: ignore[arg-type]
        content = (str(value.dtype), value.shape, str(axes), digest)
        order = {} if axes is None else {"axes": axes}
        return self._placed(value, content, lambda: {"array": self._put(lying, where), **order})

    @_encode.register
    def _(self, value: ExactSums, where: str) -> Any:
        whole = np.concatenate([value.low, value.count, value.limbs])
        content = (value.shape, sha256(whole.view(np.uint8)).digest())  # type: ignore[arg-type]
        return self._placed(value, content, lambda: {"exact": [*value.shape, self._put(whole, where)]})

    @_encode.register
    def _(self, value: ArrayKind, where: str) -> Any:
        return {"of": "ArrayKind", "with": {"dtype": self.encode(value.dtype, where)}}  # models come back to NumPy


LARGEST = 1 << 30  # bytes of an array of texts, and of what exact sums are rounded to
MOST_ZEROS = 1 << 10  # sums that a byte of a file may stand for
WIDTH = 64  # letters that an array of texts keeps room for, whether used or not


class Decoder:
    """Makes values of JSON and arrays, or refuses: an array must be used as what it is, and every tag be known."""

    def __init__(
        self,
        arrays: Mapping[str, np.ndarray],
        inside: Callable[[Decoder, dict], Any] | None = None,
        size: float = np.inf,
    ):
        self.inside = inside  # makes a model inside of a model from JSON
        self.size = size  # bytes of the file
        self.arrays = arrays
        self._placed: list[Any] = []

    def decode(self, node: Any) -> Any:
        if isinstance(node, list):
            return [self.decode(item) for item in node]
        if not isinstance(node, dict):
            return node
        tag = next(iter(node))
        if tag not in TAGS:
            raise ModelFileError(f"a value tagged {tag[:80]!r}\n\nhint: there is no such tag")
        return TAGS[tag](self, *node.values())

    def members(self, node: dict) -> dict[str, Any]:
        return {name: self.decode(value) for name, value in node.items()}

    def check_columns(self, number: Any) -> None:
        """Refuse a number of columns for which the file is too small."""
        if isinstance(number, int) and number > self.size:
            raise ModelFileError(f"{number} columns in {self.size} bytes\n\nhint: save the model again")

    def _keep(self, value: Any) -> Any:
        self._placed.append(value)
        return value

    def tag_same(self, place: int) -> Any:
        return self._placed[range(len(self._placed))[place]]

    def tag_of(self, name: str, members: dict) -> Any:
        cls = registry.stored_type(name)
        out = check_fields(cls(**self.members(members)))
        if isinstance(out, ArrayKind):
            if out != ArrayKind(out.dtype) or not isinstance(out.dtype, np.dtype | None):
                raise unsupported_value("ArrayKind", out.library)
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

    def tag_set(self, items: Any) -> set:
        return set(self._list(items))

    def tag_frozenset(self, items: Any) -> frozenset:
        return frozenset(self._list(items))

    def tag_dict(self, pair: list) -> dict:
        keys, values = (self._list(part) for part in pair)
        return dict(zip(keys, values, strict=True))

    def _list(self, node: Any) -> list:
        out = self.decode(node)
        if not isinstance(out, list):
            raise unsupported_value("a sequence", out)
        return out

    def tag_numbers(self, name: str) -> list:
        return self._flat(name, "fi").tolist()

    def tag_texts(self, names: list) -> list[str]:
        letters, ends = self._flat(names[0], "u").tobytes(), self._flat(names[1], "i")
        if len(ends) == 0 or (np.diff(ends, prepend=0) < 0).any() or ends[-1] != len(letters):
            raise unsupported_value("texts", ends)
        starts = [0, *ends[:-1].tolist()]
        return [letters[a:b].decode("utf-8", "surrogatepass") for a, b in zip(starts, ends.tolist(), strict=True)]

    def _flat(self, name: str, kinds: str) -> np.ndarray:
        a = self.arrays[name]
        if a.ndim != 1 or a.dtype.kind not in kinds:
            raise unsupported_value(name, a)
        return a

    def tag_objects(self, items: Any, shape: list, kind: Any) -> np.ndarray:
        values = self._list(items)
        out = np.empty(len(values), dtype=object)
        out[:] = values
        if kind != "O":
            longest = max(map(len, values), default=1)
            if 4 * longest * len(values) > LARGEST:
                raise ModelFileError(f"{len(values)} texts of {longest} letters\n\nhint: save the model again")
            if kind != "T":
                kind = f"U{max(longest, min(kind, WIDTH), 1)}"
            out = np.array(["".join([value]) for value in values], dtype=kind)
        return self._keep(out.reshape(shape))

    def tag_array(self, name: str, axes: list | None = None) -> np.ndarray:
        a = self.arrays[name]
        return self._keep(a if axes is None else a.transpose(np.argsort(axes)))

    def tag_exact(self, parts: list) -> ExactSums:
        k, d, name = parts
        whole, blocks = self._flat(name, "i"), -(-d // BLOCK)
        if not (isinstance(k, int) and isinstance(d, int) and min(k, d) >= 0 and 2 * blocks <= len(whole)):
            raise unsupported_value(name, whole)
        if k * d > max(LARGEST // 8, MOST_ZEROS * self.size):
            raise ModelFileError(f"{k} classes of {d} columns in {self.size} bytes\n\nhint: save the model again")
        return self._keep(ExactSums(k, d, whole[:blocks], whole[blocks : 2 * blocks], whole[2 * blocks :]))

    def tag_sparse(self, parts: list) -> Any:
        data, indices, indptr, shape = self.decode(parts)
        out = sparse.csr_matrix((data, indices, indptr), shape=shape)
        out.check_format(full_check=True)
        return out

    def tag_covariance(self, name: str, members: dict) -> Any:
        return registry.covariances()[name](**self.members(members))

    def tag_vectorizer(self, name: str, members: dict) -> Any:
        return registry.vectorizer(name)(**self.members(members))

    def tag_model(self, parts: dict) -> Any:
        if self.inside is None:
            raise ModelFileError("a model where none can be\n\nhint: save the model again")
        return self.inside(self, parts)

    def tag_observed(self, members: dict) -> Any:
        parts, cls = self.members(members), registry.training_rows()
        out = cls(None, None, None, parts["theta"], parts["k"], parts["intercept"])
        settable = {*vars(out), *(name for name, value in vars(cls).items() if isinstance(value, cached_property))}
        unknown = [name for name in parts if name.startswith("_") or name not in settable]
        if unknown:
            raise unsupported_value(f"TrainingRows.{unknown[0][:80]}", None)
        out.__dict__.update(parts)
        return out


TAGS: dict[str, Callable] = {
    name.removeprefix("tag_"): method for name, method in vars(Decoder).items() if name.startswith("tag_")
}
