"""Models in files: one file, safetensors with a JSON header, never pickle; loading runs nothing that a file brings.

A file holds the model's *tally*, so a loaded model can be updated, merged and forgotten from like the one that was
saved, and says the same of every row, to the last bit. What cannot be made of a tally is stored too: coefficients,
calibration, settings that leave-one-out chose. Rows are never stored.

The header has the format (a later one is refused), the version of the library, the class, its settings, what it learned
(column names, levels, classes, and where the arrays are) and `about`: rows, date, source, metrics.

>>> import pathlib, tempfile
>>> from deciban import GaussianNB
>>> path = pathlib.Path(tempfile.mkdtemp()) / "small.deciban"
>>> save(GaussianNB().fit([[0.0], [1.0], [4.0]], ["a", "a", "b"]), path, source="three rows")
>>> load(path).partial_fit([[5.0]], ["b"]).predict([[4.4]]).tolist(), model_info(path)["rows"]
(['b'], 3.0)
"""

from __future__ import annotations

import copy
import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import fields, replace
from datetime import UTC, datetime
from functools import reduce
from importlib import import_module
from io import BytesIO
from operator import add
from typing import Any, BinaryIO

import numpy as np
from sklearn.utils.validation import check_is_fitted

from deciban.classifiers.base import Generative
from deciban.errors import MergeError, ModelFileError, NotAdditiveError
from deciban.model_file import tensors, validation
from deciban.model_file.codec import Decoder, Encoder, unsupported_value
from deciban.models.model import Known, State
from deciban.rows import inputs

FORMAT = 1
STATE = ("classes", "tally", "calibration", "weights", "closed")  # what is stored of a state beside reader and `known`
_TRANSIENT = (
    "_state",  # stored apart
    "_metadata_request",  # scikit-learn's, of meta-estimators
    *("_seen", "_reader"),  # views of a tally of words, and what reads texts for it: made again
)


def save(
    model: Any,
    path: str | os.PathLike | BinaryIO,
    *,
    metrics: Mapping[str, Any] | None = None,
    source: str | None = None,
    target: str | None = None,
    text: str | None = None,
) -> None:
    """Write a fitted model to a file, `name.deciban`, whole or not at all: an older file of that name stays until then.
    Or to a file that is open for writing bytes, such as `io.BytesIO()`.

    `metrics` (numbers by name), `source` (where the rows came from), `target` (the column of the classes) and
    `text` (that of the texts) are kept beside it, for `model_info` to tell.

    >>> import tempfile, os
    >>> from deciban import LogisticRegression
    >>> path = os.path.join(tempfile.mkdtemp(), "model.deciban")
    >>> save(LogisticRegression().fit([[0.0], [1.0]], [0, 1]), path, metrics={"accuracy": 1.0})
    >>> load(path).predict([[0.9]]).tolist()
    [1]
    """
    if not isinstance(path, str | os.PathLike) and not hasattr(path, "write"):
        raise ModelFileError(f"{path!r:.80} is no file to write to\n\nhint: give a path, or a file open for bytes")
    cls = _own_class(model)
    check_is_fitted(model)
    validation.check_model(model)
    encoder = Encoder(_inside)
    parts = {
        **_model_parts(encoder, model),
        "about": _about(model, metrics, source=source, target=target, text=text),
    }
    metadata = {"deciban": str(FORMAT), "library": _library().__version__, "class": cls.__name__}
    texts = {key: json.dumps(part, separators=(",", ":"), allow_nan=False) for key, part in parts.items()}
    tensors.write(path, metadata | texts, encoder.arrays)


def load(path: str | os.PathLike | BinaryIO | bytes) -> Any:
    """The model in a file: it predicts, updates, merges and forgets as the one that was saved. The file may also be
    open for reading bytes, or be these bytes.

    >>> import tempfile, os
    >>> from deciban import GaussianNB
    >>> path = os.path.join(tempfile.mkdtemp(), "model.deciban")
    >>> save(GaussianNB().fit([[0.0], [1.0], [4.0]], ["a", "a", "b"]), path)
    >>> load(path).forget([[1.0]], ["a"]).class_count_.tolist()
    [1.0, 1.0]

    A model as bytes, for a database or a message:

    >>> import io
    >>> save(load(path), file := io.BytesIO())
    >>> load(file.getvalue()).predict([[4.0]]).tolist()
    ['b']
    """
    return _read(path, _model)


def model_info(path: str | os.PathLike | BinaryIO | bytes) -> dict[str, Any]:
    """What a file tells of its model: class, settings, columns, classes, rows, date, source, metrics, versions.

    >>> import tempfile, os
    >>> from deciban import GaussianNB
    >>> path = os.path.join(tempfile.mkdtemp(), "model.deciban")
    >>> save(GaussianNB().fit([[0.0], [1.0]], ["a", "b"]), path, source="weather.csv", metrics={"accuracy": 0.9})
    >>> told = model_info(path)
    >>> told["class"], told["source"], told["metrics"], told["classes"]
    ('GaussianNB', 'weather.csv', {'accuracy': 0.9}, ['a', 'b'])
    """
    return _read(path, _info)


def merge(*models: Any) -> Any:
    """The model of all rows of all models, which may be models or paths of files, one by one or as one iterable. Files
    are read one at a time.

    >>> from deciban import GaussianNB
    >>> parts = [GaussianNB().fit([[0.0], [1.0]], ["a", "b"]), GaussianNB().fit([[2.0], [4.0]], ["a", "c"])]
    >>> merge(parts).class_count_.tolist(), merge(*parts).classes_.tolist()
    ([2.0, 1.0, 1.0], ['a', 'b', 'c'])
    """
    given: Iterable[Any] = models
    if len(models) == 1 and isinstance(models[0], str | os.PathLike):
        raise MergeError(f"one path, {str(models[0])!r}, where several models were expected\n\nhint: give a list")
    if len(models) == 1 and isinstance(models[0], Iterable):
        given = models[0]
    try:
        return reduce(_plus, (load(m) if isinstance(m, str | os.PathLike) else copy.copy(m) for m in given))
    except TypeError as error:
        if "empty iterable" not in str(error):
            raise
        raise MergeError("no models to merge\n\nhint: give a list of models, or of paths") from None


def _plus(a: Any, b: Any) -> Any:
    if type(a) is not type(b):
        raise MergeError(
            f"one model is a {type(a).__name__}, the other a {type(b).__name__}\n\nhint: merge models of one class"
        )
    if not hasattr(a, "__add__"):
        raise NotAdditiveError(
            f"{type(a).__name__} models do not add up: their coefficients are no sums over rows\n\n"
            "hint: fit one on all rows, or go on with `partial_fit`"
        )
    return add(a, b)


# writing


def _own_class(model: Any) -> Any:
    cls: Any = type(model)
    if _public(cls.__name__) is not cls:
        raise ModelFileError(
            f"a {cls.__module__}.{cls.__name__} is no classifier of this library\n\n"
            "hint: save the classifier inside it; the whole goes through joblib.dump"
        )
    return cls


def _model_parts(encoder: Encoder, model: Any, where: str = "") -> dict[str, Any]:
    settings = model.get_params(deep=False)
    if getattr(model, "_reads_texts", False):
        model._settle()
    learned = {key: value for key, value in vars(model).items() if key not in settings and key not in _TRANSIENT}
    return {
        "settings": encoder.members(settings, f"{where}settings"),
        "learned": encoder.members(learned, f"{where}learned"),
        "fitted": _state_parts(encoder, model, settings, where) if "_state" in vars(model) else None,
    }


def _inside(encoder: Encoder, model: Any, where: str) -> dict[str, Any]:
    """A model that another one is made of, fitted or not."""
    if _public(type(model).__name__) is not type(model):
        raise unsupported_value(where, model)
    return {"class": type(model).__name__, **_model_parts(encoder, model, f"{where}.")}


def _state_parts(encoder: Encoder, model: Generative, settings: dict, where: str) -> dict[str, Any]:
    """The state, and settings that were changed after it was learned: it keeps those that it was learned with."""
    state = model._state
    own = {
        "reader": {name: getattr(state.reader, name) for name in state.reader.LEARNED},
        "known": {field.name: getattr(state.known, field.name) for field in fields(Known)},
        **{name: getattr(state, name) for name in STATE},
    }
    then = {key: value for key, value in state.spec.settings.items() if settings[key] is not value}
    return {"state": encoder.members(own, f"{where}fitted"), "then": encoder.members(then, f"{where}then")}


def _about(model: Any, metrics: Mapping[str, Any] | None, **origin: str | None) -> dict[str, Any]:
    encoder = Encoder()
    count = (
        np.asarray(inputs.to_numpy(model.class_count_), dtype=np.float64) if hasattr(model, "class_count_") else None
    )
    told = {
        "rows": None if count is None else float(count.sum()),
        "date": datetime.now(UTC).isoformat(timespec="seconds") if getattr(model, "_dated", True) else None,
        **{name: None if value is None else str(value) for name, value in origin.items()},
        "metrics": None if metrics is None else dict(metrics),
    }
    out = encoder.members(told, "about")
    if encoder.arrays:
        raise ModelFileError("`metrics` holds arrays\n\nhint: give numbers by name, such as {'accuracy': 0.9}")
    return out


# reading


def _read(path: str | os.PathLike | BinaryIO | bytes, make: Any) -> Any:
    """What `make` makes of a file that is as it should be; an error that names the file, if it is not."""
    name = os.fspath(path) if isinstance(path, str | os.PathLike) else "the bytes"
    try:
        with _opened(path) as file:
            header = tensors.Header.of(file)
            _check_format(header.metadata)
            return make(header.metadata, Decoder(header.arrays(file), _from_inside))
    except (OSError, MemoryError):
        raise
    except ModelFileError as error:
        raise ModelFileError(f"{name}: {error}") from None
    except Exception as error:  # a right checksum and a wrong content: made on purpose, so anything may be wrong
        raise ModelFileError(
            f"{name}: its content makes no model ({type(error).__name__}: {error})\n\nhint: save the model again"
        ) from error


def _opened(path: str | os.PathLike | BinaryIO | bytes) -> BinaryIO:
    if isinstance(path, str | os.PathLike):
        return open(path, "rb", buffering=0)
    whole = path.read() if hasattr(path, "read") else path
    if not isinstance(whole, bytes | bytearray | memoryview):
        raise ModelFileError(
            f"no bytes, but {type(whole).__name__}\n\nhint: give a path, bytes, or a file open for reading bytes"
        )
    return BytesIO(whole)


def _check_format(metadata: dict[str, str]) -> None:
    told = metadata.get("deciban", "")
    if not (told.isascii() and told.isdigit() and len(told) < 10):
        raise ModelFileError("a safetensors file, but no model of this library\n\nhint: write models by deciban.save")
    if int(told) > FORMAT:
        raise ModelFileError(
            f"its format is {told}, that of deciban {metadata.get('library', '?')[:40]}, and this one "
            f"({_library().__version__}) knows formats up to {FORMAT}\n\n"
            "hint: install a later version, `pip install -U deciban`"
        )


def _model(metadata: dict[str, str], decoder: Decoder) -> Any:
    model = _rebuild(metadata["class"], *_parts(metadata, decoder))
    validation.check_model(model)
    return model


def _from_inside(decoder: Decoder, node: dict) -> Any:
    """A model that another one is made of, fitted or not."""
    return _rebuild(node["class"], *_decoded(node["settings"], node["learned"], node["fitted"], decoder))


def _rebuild(name: str, settings: dict, learned: dict, fitted: dict | None) -> Any:
    cls = _public(name)
    if cls is None:
        raise ModelFileError(
            f"no classifier is called {name[:80]!r}\n\nhint: install a later version, `pip install -U deciban`"
        )
    model = cls(**settings)  # a constructor only stores; a setting that an older file does not have is at its default
    model.__dict__.update(learned)
    if fitted is not None:
        found, then = fitted["state"], cls(**{**settings, **fitted["then"]})
        reader, own = replace(then._reader(), **found["reader"]), {name: found[name] for name in STATE}
        model.__dict__["_state"] = State(spec=then._spec(), reader=reader, known=Known(**found["known"]), **own)
    return model


def _parts(metadata: dict[str, str], decoder: Decoder) -> tuple[dict, dict, dict | None]:
    settings, learned, fitted = (json.loads(metadata[key]) for key in ("settings", "learned", "fitted"))
    return _decoded(settings, learned, fitted, decoder)


def _decoded(settings: dict, learned: dict, fitted: dict | None, decoder: Decoder) -> tuple[dict, dict, dict | None]:
    """(settings, what was learned, state), in the order in which they were written."""
    told, found = decoder.members(settings), decoder.members(learned)
    return told, found, None if fitted is None else {key: decoder.members(fitted[key]) for key in ("state", "then")}


def _info(metadata: dict[str, str], decoder: Decoder) -> dict[str, Any]:
    settings, learned, _ = _parts(metadata, decoder)
    return {
        "class": metadata["class"],
        "settings": settings,
        "columns": _columns(learned),
        "classes": learned["classes_"].tolist(),
        **Decoder({}).members(json.loads(metadata["about"])),
        "format": int(metadata["deciban"]),
        "library": metadata["library"],
    }


def _columns(learned: dict[str, Any]) -> list:
    if "_words" in learned:
        return learned["_words"].terms.strings()
    names = learned.get("feature_names_in_")
    return list(range(learned["n_features_in_"])) if names is None else names.tolist()


def _library() -> Any:
    return import_module("deciban")


def _public(name: str) -> Any:
    """The classifier of that name, or None."""
    found = getattr(_library(), name) if name in _library().__all__ else None
    return found if isinstance(found, type) and hasattr(found, "predict_proba") else None
