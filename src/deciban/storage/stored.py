"""What a stored model may be made of: the classes that a file may name, and whether their fields are of their types.

>>> known("Moments").__name__, fits((1.5, 2), tuple[float, ...]), fits(None, int | str)
('Moments', True, False)
"""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from functools import cache
from importlib import import_module
from numbers import Integral, Real
from types import UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

from deciban import families
from deciban.errors import ModelFileError

# whose frozen dataclasses models hold, beside all families and tallies; looked through in this order, the quickest to
# import first
ROOMS = (
    "tallies",
    "classifiers.origin",
    "schema",
    "calibration",
    "coded",
    "covariance",
    "families.best_of",
    "ranges",
    "weighing.weights",
    "solvers.sgd",
    "text.word_tally",
    "text.kept_texts",
    "text.word_weights",
    "inference.likelihood",
    "networks.network",
    "inference.separation",
    "inference.regularisation_path",
)


@cache
def known(name: str) -> type:
    """The dataclass of that name: a family, or a frozen public one of the ROOMS."""
    own = {family.__name__: family for family in families.find().values()}
    if name in own:
        return own[name]
    for room in ROOMS:
        thing: Any = getattr(import_module(f"deciban.{room}"), name, None)
        if not name.startswith("_") and _frozen(thing) and thing.__module__.startswith(f"deciban.{room}"):
            return thing
    raise ModelFileError(
        f"no part of a model is called {name[:80]!r}\n\nhint: deciban.storage.stored.ROOMS says where to look"
    )


def _frozen(thing: Any) -> bool:
    return isinstance(thing, type) and is_dataclass(thing) and getattr(thing, "__dataclass_params__").frozen  # noqa: B009


@cache
def types_of(cls: type) -> dict[str, Any]:
    hints = get_type_hints(cls)
    return {field.name: hints[field.name] for field in fields(cls)}


def fits(value: Any, hint: Any) -> bool:
    """Whether a value is of an annotated type.

    >>> fits((1.5, 2), tuple[float, ...]), fits(None, int | str)
    (True, False)
    """
    origin, args = get_origin(hint), get_args(hint)
    if hint is Any:
        return True
    if origin in (Union, UnionType):
        return any(fits(value, arg) for arg in args)
    if origin is tuple and args and args[-1] is not Ellipsis:
        return isinstance(value, tuple) and len(value) == len(args) and all(map(fits, value, args))
    if origin in (tuple, list):
        return isinstance(value, origin) and all(fits(item, args[0]) for item in value)
    return isinstance(value, {float: Real, int: Integral}.get(hint, origin or hint))


def check_fields(thing: Any) -> Any:
    """A dataclass whose fields are of their types."""
    cls: Any = type(thing)
    for name, hint in types_of(cls).items():
        if not fits(value := getattr(thing, name), hint):
            raise unfit(f"{cls.__name__}.{name}", value)
    return thing


def unfit(where: str, value: Any) -> ModelFileError:
    return ModelFileError(
        f"`{where}` holds {type(value).__module__}.{type(value).__qualname__}, which no model file can hold there\n\n"
        "hint: use plain numbers, texts, lists and arrays"
    )


@cache
def covariances() -> dict[str, type]:
    """scikit-learn's estimators of covariances, which a model may have as a setting."""
    module = import_module("sklearn.covariance")
    found = {name: getattr(module, name) for name in module.__all__}
    return {name: thing for name, thing in found.items() if isinstance(thing, type)}


@cache
def vectorizers() -> dict[str, type]:
    """The vectorisers that a model may have as a setting."""
    module = import_module("deciban.text.vectorizers")
    return {name: getattr(module, name) for name in ("CountVectorizer", "HashingVectorizer", "TfidfVectorizer")}
